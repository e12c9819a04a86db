//! Bodies as the first books have them: each must still be found there (I8).
//!
//! The keys and digests below are literals that the readers of those books gave; what they could not read is not here.

use domain::identity::{Judgement, Known, judge};
use domain::ids::EnquiryId;

use super::*;

/// By an id, else by the time; no place of the contact, as rules had it before they named them.
fn by_id() -> SourceSetup {
    SourceSetup { body_max: 4096, ..setup() }
}

/// By the time, with the contact's places.
fn by_time() -> SourceSetup {
    let place = |text: &str| Place::parse(text).unwrap();
    let contact = ContactPlaces { email: Some(place("/email")), phone: None, name: Some(place("/name")) };
    let time = TimeRule { at: place("/at"), with: vec![place("/form")] };
    SourceSetup { rule: Rule { time: Some(time), contact: Some(contact), ..Rule::default() }, ..by_id() }
}

fn sent(kind: &str, body: &[u8]) -> Raw {
    let headers = if kind.is_empty() { vec![] } else { vec![("content-type".to_owned(), kind.to_owned())] };
    Raw { headers, body: Bytes::copy_from_slice(body), remote: None }
}

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";

/// Its name, its type and itself; its key by either source, and the begin of its content's digest.
type Case = (&'static str, &'static str, &'static [u8], &'static str, &'static str, &'static str);

#[rustfmt::skip]
const CASES: &[Case] = &[
    ("json", JSON, br#"{"id":"77","at":"2026-03-02T09:15:04Z","form":"f","email":"A@b.c","message":"hi"}"#,
     "submission:77", "time:2026-03-02T09:15:04Z,5c203afeabe02f85505e115170e5b7f3,f", "8f8458ee0044a162"),
    ("json-mark", JSON, b"\xEF\xBB\xBF{\"id\":\"77\",\"at\":\"2026-03-02T09:15:04Z\",\"form\":\"f\",\"email\":\"A@b.c\",\"message\":\"hi\"}",
     "submission:77", "time:2026-03-02T09:15:04Z,5c203afeabe02f85505e115170e5b7f3,f", "8f8458ee0044a162"),
    ("json-charset", "application/json; charset=iso-8859-1", "{\"id\":\"7\u{e9}\",\"at\":1772442904,\"email\":\"a@b.c\",\"message\":\"\u{e9}\"}".as_bytes(),
     "submission:7é", "time:2026-03-02T09:15:04Z,5c203afeabe02f85505e115170e5b7f3,", "499fe152ac504704"),
    ("suffix", "application/vnd.lead+json", br#"{"id":77,"at":"2026-03-02T09:15:04Z","message":"hi"}"#,
     "submission:77", "time:2026-03-02T09:15:04Z,-,", "e4ed732873313e9f"),
    ("plain-json", "text/plain; charset=utf-8", br#" {"id":77,"at":"2026-03-02T09:15:04Z","message":"hi"}"#,
     "submission:77", "time:2026-03-02T09:15:04Z,-,", "e4ed732873313e9f"),
    ("no-type", "", b"\xEF\xBB\xBF {\"id\":77,\"at\":\"2026-03-02T09:15:04Z\",\"message\":\"hi\"}",
     "submission:77", "time:2026-03-02T09:15:04Z,-,", "e4ed732873313e9f"),
    ("octets", "application/octet-stream", br#"{"id":77,"at":"2026-03-02T09:15:04Z","message":"hi"}"#,
     "submission:77", "time:2026-03-02T09:15:04Z,-,", "e4ed732873313e9f"),
    ("form-json", FORM, br#"{"id":77,"at":"2026-03-02T09:15:04Z","message":"hi"}"#,
     "submission:77", "time:2026-03-02T09:15:04Z,-,", "e4ed732873313e9f"),
    ("numbers", JSON, br#"{"id":6084250982513018472,"at":1772442904120,"form":1.10,"email":7e3,"message":-0}"#,
     "submission:6084250982513018472", "time:2026-03-02T09:15:04.12Z,84260c14c0e3fde9756cc65437b4c0e0,1.10", "7af7e71b286a1ff6"),
    ("inexact", JSON, br#"{"id":1.0,"at":1772442904.5,"form":true,"message":1e3}"#,
     "submission:1.0", "time:2026-03-02T09:15:04.5Z,-,true", "76ceb2c4f78b3a1d"),
    ("repeated-names", JSON, br#"{"id":"a","id":"b","at":"x","at":"2026-03-02T09:15:04Z","email":"a@b.c","email":"d@e.f","message":"hi"}"#,
     "submission:b", "time:2026-03-02T09:15:04Z,0f547e59d1edaaa729d3144a4ea8ede8,", "256afc427dd64a60"),
    ("nul", JSON, br#"{"id":"a\u0000","at":"2026-03-02T09:15:04Z","form":"\u0000","email":"a\u0000@b.c","message":"h\u0000i"}"#,
     "submission:a%00", "time:2026-03-02T09:15:04Z,b0195e0244576e533851b5e68927737d,%00", "7ca1174fac712443"),
    ("replaced", JSON, "{\"id\":\"\u{FFFD}\",\"at\":\"2026-03-02T09:15:04Z\",\"message\":\"\u{FFFD}\"}".as_bytes(),
     "submission:\u{FFFD}", "time:2026-03-02T09:15:04Z,-,", "7a5ef19277a362f7"),
    ("escapes", JSON, br#"{"id":"\ud83d\ude00\u00e9","at":"2026-03-02T09:15:04Z","message":"e\u0301\r\n x"}"#,
     "submission:😀é", "time:2026-03-02T09:15:04Z,-,", "f11d73af6daebe9c"),
    ("coarse", JSON, br#"{"at":"2026-03-02T09:15Z","form":["f"],"email":"a@b.c","message":"hi"}"#,
     "time:2026-03-02T09:15:00Z,5c203afeabe02f85505e115170e5b7f3,4e0e5988da851dd878f2f1e71a41fbb6", "time:2026-03-02T09:15:00Z,5c203afeabe02f85505e115170e5b7f3,,4e0e5988da851dd878f2f1e71a41fbb6", "4e0e5988da851dd8"),
    ("form", FORM, b"id=77&at=2026-03-02T09%3A15%3A04Z&form=a+b&email=A%40b.c&message=h%C3%A9%0D%0Ax%&x[y][]=1&x[y][]=2&\r\n",
     "submission:77", "time:2026-03-02T09:15:04Z,5c203afeabe02f85505e115170e5b7f3,a%20b", "2b5856e468699b40"),
    ("form-mark", FORM, b"\xEF\xBB\xBFid=77&at=2026-03-02T09:15:04Z&message=hi",
     "submission:77", "time:2026-03-02T09:15:04Z,-,", "e4ed732873313e9f"),
    ("form-clashes", FORM, b"id=77&id[a]=1&a[]=1&a=2&a[b]=3&=x&b&message=hi&at=2026-03-02T09:15:04Z",
     "time:2026-03-02T09:15:04Z,-", "time:2026-03-02T09:15:04Z,-,", "bdd4744fc45918e2"),
    ("form-charset", "application/x-www-form-urlencoded; charset=iso-8859-1", b"id=7%C3%A9&at=2026-03-02T09:15:04Z&message=%C3%A9",
     "submission:7é", "time:2026-03-02T09:15:04Z,-,", "903a8891d336760d"),
    ("form-own-charset", FORM, b"_charset_=windows-1252&id=7%C3%A9&at=2026-03-02T09:15:04Z&message=%C3%A9",
     "submission:7é", "time:2026-03-02T09:15:04Z,-,", "986e77450efc065d"),
    ("form-2022-jp", "application/x-www-form-urlencoded; charset=iso-2022-jp", b"id=%1B$B46;v%1B(B&at=2026-03-02T09:15:04Z&form=%1B$B46%1B(B&name=%1B$B46;v%1B(B&message=x",
     "submission:%1B$B46;v%1B(B", "time:2026-03-02T09:15:04Z,2af35e418e6fd0ee8a9163980b7f71b5,%1B$B46%1B(B", "d4b1dc1f48194880"),
    ("form-2022-jp-raw", "application/x-www-form-urlencoded; charset=iso-2022-jp", b"id=7&at=2026-03-02T09:15:04Z&form=\x1B$B46\x1B(B&message=x",
     "submission:7", "time:2026-03-02T09:15:04Z,-,%1B$B46%1B(B", "ba9a40c397ecbaaa"),
    ("form-2022-jp-own", FORM, b"_charset_=iso-2022-jp&at=2026-03-02T09:15:04Z&message=%1B$B46%1B(B",
     "time:2026-03-02T09:15:04Z,-", "time:2026-03-02T09:15:04Z,-,", "4258c5255aa301ab"),
    ("json-2022-jp-escaped", "application/json; charset=iso-2022-jp", br#"{"id":"7","at":"2026-03-02T09:15:04Z","message":"\u001b$B46\u001b(B"}"#,
     "submission:7", "time:2026-03-02T09:15:04Z,-,", "195f9b5fe5df42d8"),
    ("form-2022-kr", "application/x-www-form-urlencoded; charset=iso-2022-kr", b"id=7&at=2026-03-02T09:15:04Z&message=%1B$)C",
     "submission:7", "time:2026-03-02T09:15:04Z,-,", "17c47a0daf1170ff"),
    ("form-utf-16", "application/x-www-form-urlencoded; charset=utf-16", b"id=7&at=2026-03-02T09:15:04Z&message=%1Bab",
     "submission:7", "time:2026-03-02T09:15:04Z,-,", "be22451cc59e94f1"),
    ("form-2022-kr-raw", "application/x-www-form-urlencoded; charset=iso-2022-kr", b"id=7&at=2026-03-02T09:15:04Z&message=\x1B$)C",
     "submission:7", "time:2026-03-02T09:15:04Z,-,", "17c47a0daf1170ff"),
    ("form-zeros", FORM, b"i\0d\0=\x007\0&id=8&message=x&at=2026-03-02T09:15:04Z",
     "submission:8", "time:2026-03-02T09:15:04Z,-,", "6b6c74d3ca9df74b"),
    ("form-like-json", FORM, b"{\"m\":\"x\n\"}&id=7&at=2026-03-02T09:15:04Z&message=hi",
     "submission:7", "time:2026-03-02T09:15:04Z,-,", "05d46ebaa68b4977"),
    ("form-mended-json", FORM, b"{\"id\":\"9\",\"message\":\"x\n&id=7&message=hi&at=2026-03-02T09:15:04Z&z=\"}",
     "submission:7", "time:2026-03-02T09:15:04Z,-,", "6cfe85462014827b"),
    ("form-lone-half", FORM, b"{\"id\":\"9\",\"message\":\"\\ud83d&id=7&message=hi&at=2026-03-02T09:15:04Z&z=\"}",
     "submission:7", "time:2026-03-02T09:15:04Z,-,", "b0c02bef1dba6da8"),
    ("form-nul-behind", FORM, b"{\"id\":\"9&id=7&message=hi&at=2026-03-02T09:15:04Z&z=\"}\0",
     "submission:7", "time:2026-03-02T09:15:04Z,-,", "315a51f56a28d832"),
    ("form-like-multipart", FORM, b"--b\r\nContent-Disposition: form-data; name=\"id\"\r\n\r\n9&id=7&message=hi&at=2026-03-02T09:15:04Z\r\n--b--\r\n",
     "submission:7", "", "bf2b7bdc1b7db475"),
    ("id-twice-equal", FORM, b"id=77&id=77&at=2026-03-02T09:15:04Z&email=a@b.c&message=hi",
     "time:2026-03-02T09:15:04Z,5c203afeabe02f85505e115170e5b7f3", "time:2026-03-02T09:15:04Z,5c203afeabe02f85505e115170e5b7f3,", "141431d007e65f1b"),
    ("id-twice", FORM, b"id=77&id=78&email=a@b.c&message=hi",
     "content:be16c18e65079ebf9d7099d8c4f0831c", "content:be16c18e65079ebf9d7099d8c4f0831c", "be16c18e65079ebf"),
    ("id-list", JSON, br#"{"id":["b","b"],"at":"2026-03-02T09:15:04Z","email":"a@b.c","message":"hi"}"#,
     "time:2026-03-02T09:15:04Z,5c203afeabe02f85505e115170e5b7f3", "time:2026-03-02T09:15:04Z,5c203afeabe02f85505e115170e5b7f3,", "9965f7091c196510"),
    ("id-list-of-one", JSON, br#"{"id":["b"],"at":"2026-03-02T09:15:04Z","message":"hi"}"#,
     "time:2026-03-02T09:15:04Z,-", "time:2026-03-02T09:15:04Z,-,", "7a2dc6e03dcf2e3f"),
    ("id-switches", JSON, br#"{"id":[true,false],"at":"2026-03-02T09:15:04Z","message":"hi"}"#,
     "time:2026-03-02T09:15:04Z,-", "time:2026-03-02T09:15:04Z,-,", "c85ea10b41470f7e"),
    ("id-switch", JSON, br#"{"id":true,"at":"2026-03-02T09:15:04Z","message":"hi"}"#,
     "time:2026-03-02T09:15:04Z,-", "time:2026-03-02T09:15:04Z,-,", "246c59c5e37ccca6"),
    ("time-list", JSON, br#"{"at":["2026-03-02T09:15:03Z","2026-03-02T09:15:04Z"],"form":"f","email":"a@b.c","message":"hi"}"#,
     "content:da997fb7da47a19ed165363da7754cc2", "content:da997fb7da47a19ed165363da7754cc2", "da997fb7da47a19e"),
    ("time-list-of-none", JSON, br#"{"at":["2026-03-02T09:15:03Z","soon"],"email":"a@b.c","message":"hi"}"#,
     "content:2038c727a85907834c68eacc6a6ae9a7", "content:2038c727a85907834c68eacc6a6ae9a7", "2038c727a8590783"),
    ("time-list-local", JSON, br#"{"at":["2026-03-02T09:15:03","2026-03-02T09:15:04"],"email":"a@b.c","message":"hi"}"#,
     "content:ee867bbb13754a5f751b3d70dae963d2", "content:ee867bbb13754a5f751b3d70dae963d2", "ee867bbb13754a5f"),
    ("with-list", JSON, br#"{"at":"2026-03-02T09:15:04Z","form":["f","g"],"email":"a@b.c","message":"hi"}"#,
     "time:2026-03-02T09:15:04Z,5c203afeabe02f85505e115170e5b7f3", "time:2026-03-02T09:15:04Z,5c203afeabe02f85505e115170e5b7f3,", "63594d25126cdce9"),
    ("id-and-time-lists", JSON, br#"{"id":["a","b"],"at":["2026-03-02T09:15:04Z","2026-03-02T09:15:04Z"],"form":[1,1],"message":"hi"}"#,
     "content:0bdd7d33245081035a10daaa400bfd90", "content:0bdd7d33245081035a10daaa400bfd90", "0bdd7d3324508103"),
    ("handle-mailbox", JSON, br#"{"at":"2026-03-02T09:15:04Z","email":"Avery <A@b.c>","message":"hi"}"#,
     "time:2026-03-02T09:15:04Z,ca18383a0fdeddddf3a84de845ad47c7", "time:2026-03-02T09:15:04Z,ca18383a0fdeddddf3a84de845ad47c7,", "302b0b3cda461975"),
    ("handle-controls", JSON, br#"{"at":"2026-03-02T09:15:04Z","email":"a\u0007@b.c","message":"hi"}"#,
     "time:2026-03-02T09:15:04Z,1f15e43d5d05510f912533fcfedae7b6", "time:2026-03-02T09:15:04Z,1f15e43d5d05510f912533fcfedae7b6,", "dcf3f0b01cc56363"),
    ("handle-list", JSON, br#"{"at":"2026-03-02T09:15:04Z","email":["a@b.c","d@e.f"],"message":"hi"}"#,
     "time:2026-03-02T09:15:04Z,d5083b93763399a43db2cbd2130319f8", "time:2026-03-02T09:15:04Z,d5083b93763399a43db2cbd2130319f8,", "0846ad0b6a965551"),
    ("handle-name-controls", JSON, br#"{"at":"2026-03-02T09:15:04Z","name":"A\u0001 B","message":"hi"}"#,
     "time:2026-03-02T09:15:04Z,50f293d35ad7f343395bdcaae4768d77", "time:2026-03-02T09:15:04Z,50f293d35ad7f343395bdcaae4768d77,", "0ad9620c19d7672f"),
    ("only-controls", JSON, br#"{"at":"2026-03-02T09:15:04Z","message":"\u0001"}"#,
     "time:2026-03-02T09:15:04Z,-", "time:2026-03-02T09:15:04Z,-,", "77c77bad3ad40202"),
    ("handle-only-controls", JSON, br#"{"at":"2026-03-02T09:15:04Z","email":"\u0001","name":"B","message":"x"}"#,
     "time:2026-03-02T09:15:04Z,0079fe04ffd67033fcb2f55e10028166", "time:2026-03-02T09:15:04Z,0079fe04ffd67033fcb2f55e10028166,", "2242bff558c0d586"),
];

/// What is made of a delivery in a book that has the same under this key and content.
fn judged(candidate: &domain::identity::Candidate, key: &str, content: &str) -> Option<Judgement> {
    let key = candidate.keys.iter().find(|known| known.to_string() == format!("website:{key}"))?;
    let contents: Vec<_> = candidate.contents.iter().filter(|known| known.to_string().starts_with(content)).copied().collect();
    let known = Known { enquiry: EnquiryId::parse("enq_1").unwrap(), key: key.clone(), contents, accepted_at: NOW };
    Some(judge(candidate, &[known], None))
}

#[tokio::test]
async fn i8_a_body_that_an_older_book_has_is_found_in_it() {
    for (name, kind, body, id, time, content) in CASES {
        for (source, key) in [(by_id(), id), (by_time(), time)] {
            // Where the older reader found no time that it could read.
            if key.is_empty() {
                continue;
            }
            let arrival = asked(source, sent(kind, body)).await;
            let Item::Enquiry(proposal) = &arrival.items[0] else { panic!("{name}: {:?}", aside(&arrival.items[0])) };
            let candidate = &proposal.candidate;
            let judged = judged(candidate, key, content);
            assert!(matches!(judged, Some(Judgement::Redelivery { .. })), "{name} as {key}: {judged:?} of {candidate:?}");
        }
    }
}
