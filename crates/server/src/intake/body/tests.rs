//! Bodies as they come: what is read, and what is said of what is not.

use domain::tree::Pointer;

use domain::digest::Digest;

use super::*;

const FORM: Option<&str> = Some("application/x-www-form-urlencoded");
const JSON: Option<&str> = Some("application/json; charset=utf-8");

fn leaf(tree: &Tree, pointer: &str) -> Option<String> {
    tree.at(&Pointer::parse(pointer).unwrap()).and_then(Tree::leaf).map(str::to_owned)
}

const MAX: usize = 1 << 20;

fn body(content_type: Option<&str>, bytes: &[u8]) -> Result<Body, Unreadable> {
    super::read(content_type, None, bytes, MAX)
}

fn read(content_type: Option<&str>, bytes: &[u8]) -> Result<Tree, Unreadable> {
    body(content_type, bytes).map(|body| body.tree().unwrap().clone())
}

fn repaired(content_type: Option<&str>, bytes: &[u8]) -> Vec<(String, u32)> {
    body(content_type, bytes).unwrap().repairs.on_record().into_iter().collect()
}

fn why(content_type: Option<&str>, bytes: &[u8]) -> String {
    body(content_type, bytes).unwrap_err().to_string()
}

#[test]
fn json_is_read_by_its_type_or_by_its_first_byte() {
    for content_type in
        [JSON, Some("application/cloudevents+json"), Some("Text/Plain"), None, Some("application/octet-stream"), Some("text/json")]
    {
        let tree = read(content_type, b" \r\n{\"a\":1.10}").unwrap();
        assert_eq!(leaf(&tree, "/a").as_deref(), Some("1.10"), "{content_type:?}");
    }
    assert!(matches!(read(JSON, b"[1]"), Ok(Tree::List(_))));
}

#[test]
fn c037_big_ids_keep_every_digit_and_neighbours_stay_two() {
    let one = read(JSON, br#"{"id":9007199254740993}"#).unwrap();
    let two = read(JSON, br#"{"id":9007199254740992}"#).unwrap();
    assert_eq!(leaf(&one, "/id").as_deref(), Some("9007199254740993"));
    assert_ne!(one, two);
}

#[test]
fn a_byte_order_mark_is_no_content() {
    assert_eq!(leaf(&read(JSON, b"\xEF\xBB\xBF{\"a\":\"x\"}").unwrap(), "/a").as_deref(), Some("x"));
    assert_eq!(leaf(&read(FORM, b"\xEF\xBB\xBFa=x").unwrap(), "/a").as_deref(), Some("x"));
    assert_eq!(why(JSON, b"\xEF\xBB\xBF"), "the body is empty");
}

#[test]
fn what_is_unreadable_is_told_without_its_values() {
    assert_eq!(why(JSON, b""), "the body is empty");
    assert_eq!(why(None, b" \n"), "the body is empty");
    assert_eq!(why(JSON, b"\"avery@example.com\""), "the body is a single JSON value, and neither an object nor a list");
    assert_eq!(why(None, b"Hello"), "the body has no content type, and is no JSON object or list");
    assert_eq!(why(Some("application/octet-stream"), b"\x01\x02"), "the body is application/octet-stream, and is no JSON object or list");
    assert!(why(Some("multipart/form-data; boundary=x"), b"--x").contains("called multipart"));
    assert!(why(Some("application/xml"), b"<a/>").contains("application/xml"));
    let broken = why(JSON, b"{\"email\":\"avery@example.com\",");
    assert!(broken.starts_with("the body is not JSON: ") && broken.contains("line 1"), "{broken}");
    let in_an_escape = why(JSON, br#"{"message":"secret avery \ud83"}"#);
    for words in [broken, in_an_escape] {
        assert!(!words.contains("avery") && !words.contains("secret"), "{words}");
    }
    let deep = format!("{}{}", "[".repeat(2000), "]".repeat(2000));
    assert!(why(JSON, deep.as_bytes()).contains("nested deeper"));
}

#[test]
fn a_content_type_cannot_smuggle_text_into_the_reason() {
    let words = why(Some("evil\" <script>\n; x"), b"x");
    assert!(!words.contains(['<', '"', '\n']), "{words}");
}

#[test]
fn a_form_is_read_with_its_escapes() {
    let tree = read(FORM, b"name=Avery+Sample&message=caf%C3%A9+%26+100%25&sent=50%&empty=&flag&&\r\n").unwrap();
    assert_eq!(leaf(&tree, "/name").as_deref(), Some("Avery Sample"));
    assert_eq!(leaf(&tree, "/message").as_deref(), Some("café & 100%"));
    assert_eq!(leaf(&tree, "/sent").as_deref(), Some("50%"));
    assert_eq!(leaf(&tree, "/empty").as_deref(), Some(""));
    assert_eq!(leaf(&tree, "/flag").as_deref(), Some(""));
}

#[test]
fn nested_names_become_members_and_elements() {
    let tree = read(FORM, b"f[email][value]=a%40example.com&f%5Bname%5D=Avery&tags[]=x&tags[]=y&o[][n]=1&o[][n]=2&i[0][n]=3").unwrap();
    assert_eq!(leaf(&tree, "/f/email/value").as_deref(), Some("a@example.com"));
    assert_eq!(leaf(&tree, "/f/name").as_deref(), Some("Avery"));
    assert_eq!(leaf(&tree, "/tags/1").as_deref(), Some("y"));
    assert_eq!(leaf(&tree, "/o/1/n").as_deref(), Some("2"));
    assert_eq!(leaf(&tree, "/i/0/n").as_deref(), Some("3"));
}

#[test]
fn a_name_that_comes_again_is_a_list_and_nothing_is_dropped() {
    let tree = read(FORM, b"a=1&a=2&a=3&b=1&b[c]=2&odd[=4&[x]=5&e[f]g=6").unwrap();
    assert_eq!(leaf(&tree, "/a/2").as_deref(), Some("3"));
    assert_eq!(leaf(&tree, "/b/c").as_deref(), Some("2"));
    assert_eq!(leaf(&tree, "/odd[").as_deref(), Some("4"));
    assert_eq!(leaf(&tree, "/[x]").as_deref(), Some("5"));
    assert_eq!(leaf(&tree, "/e[f]g").as_deref(), Some("6"));
    let Tree::Map(members) = tree else { panic!("a form is a map") };
    assert_eq!(members.iter().filter(|(name, _)| name == "b").count(), 2);
}

#[test]
fn a_form_that_is_not_utf_8_is_read_by_its_charset_or_mended() {
    let latin = Some("application/x-www-form-urlencoded; charset=iso-8859-1");
    assert_eq!(leaf(&read(latin, b"a=1&name=caf%E9").unwrap(), "/name").as_deref(), Some("café"));
    assert_eq!(leaf(&read(FORM, b"_charset_=windows-1252&name=caf%E9").unwrap(), "/name").as_deref(), Some("café"));
    // A wrong label, which is common: what is valid UTF-8 is UTF-8.
    assert_eq!(leaf(&read(latin, b"name=caf%C3%A9").unwrap(), "/name").as_deref(), Some("café"));
    for bytes in [&b"a=1&b=caf%E9"[..], b"a=1&b=caf\xE9"] {
        assert_eq!(leaf(&read(FORM, bytes).unwrap(), "/b").as_deref(), Some("caf\u{FFFD}"));
        assert_eq!(repaired(FORM, bytes), [("undecodable".to_owned(), 1)]);
    }
    // The replacement character itself is valid, and may have been typed.
    assert_eq!(repaired(FORM, b"a=%EF%BF%BD"), []);
}

#[test]
fn what_was_replaced_is_told_apart() {
    let lost = |bytes: &[u8]| match body(JSON, bytes).unwrap().marked {
        Some(Content::One(marked)) => marked.lost(&[]),
        other => other.map(|_| Digest::ZERO),
    };
    let (one, other) = (lost(b"{\"a\":\"\xE9\"}"), lost(b"{\"a\":\"\xE8\"}"));
    assert!(one.is_some() && one != other);
    assert_eq!(one, lost(b"{\"sent\":2,\"a\":\"\xE9\"}"));
    assert_ne!(lost(br#"{"a":"\ud83d"}"#), lost(br#"{"a":"\ud83e"}"#));
    assert_eq!(lost(b"{\"a\":\"x\"}"), None);
}

#[test]
fn utf_16_is_read_with_and_without_a_mark() {
    let text = r#"{"name":"Zo\u00eb Sämple 😀"}"#;
    let (little, big): (Vec<u8>, Vec<u8>) =
        (text.encode_utf16().flat_map(u16::to_le_bytes).collect(), text.encode_utf16().flat_map(u16::to_be_bytes).collect());
    let marked = |mark: &[u8], bytes: &[u8]| [mark, bytes].concat();
    for bytes in [little.clone(), big.clone(), marked(b"\xFF\xFE", &little), marked(b"\xFE\xFF", &big)] {
        assert_eq!(leaf(&read(JSON, &bytes).unwrap(), "/name").as_deref(), Some("Zoë Sämple 😀"));
        assert!(repaired(JSON, &bytes).contains(&("transcoded".to_owned(), 1)));
    }
    let form: Vec<u8> = "a=1&b=x".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(leaf(&read(FORM, &form).unwrap(), "/b").as_deref(), Some("x"));
    // Cut in the middle of a unit.
    assert_eq!(leaf(&read(Some("text/plain"), &marked(b"\xFF\xFE", b"a\0b")).unwrap(), "/text").as_deref(), Some("a\u{FFFD}"));
}

#[test]
fn a_declared_charset_is_honoured_where_the_bytes_are_no_utf_8() {
    let sjis = Some("application/json; charset=Shift_JIS");
    assert_eq!(leaf(&read(sjis, b"{\"a\":\"\x93\xFA\x96\x7B\"}").unwrap(), "/a").as_deref(), Some("日本"));
    let seven_bits = Some("text/plain; charset=iso-2022-jp");
    assert_eq!(leaf(&read(seven_bits, b"\x1B$BF|K\\\x1B(B").unwrap(), "/text").as_deref(), Some("日本"));
    assert_eq!(leaf(&read(Some("text/plain; charset=nonsense"), b"x").unwrap(), "/text").as_deref(), Some("x"));
}

#[test]
fn half_an_emoji_raw_control_characters_and_a_closing_nul_are_mended() {
    assert_eq!(leaf(&read(JSON, br#"{"a":"40 \ud83d"}"#).unwrap(), "/a").as_deref(), Some("40 \u{FFFD}"));
    assert_eq!(repaired(JSON, br#"{"\udc00":1}"#), [("lone_surrogate".to_owned(), 1)]);
    assert_eq!(leaf(&read(JSON, b"{\"a\":\"two\nlines\"}").unwrap(), "/a").as_deref(), Some("two\nlines"));
    assert_eq!(repaired(JSON, b"{\"a\":\"x\0\"}\0"), [("control_character".to_owned(), 1), ("nul".to_owned(), 2)]);
    assert_eq!(repaired(JSON, br#"{"a\u0000":"x\u0000"}"#), [("nul".to_owned(), 2)]);
    assert_eq!(repaired(FORM, b"a%00=x%00"), [("nul".to_owned(), 2)]);
    assert_eq!(repaired(JSON, br#"{"a":1,"a":1}"#), [("repeated_name".to_owned(), 1)]);
}

#[test]
fn what_is_called_wrongly_is_read_as_what_it_is() {
    let multipart = b"--X\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n--X--\r\n";
    let types = [None, JSON, FORM, Some("text/plain"), Some("text/html"), Some("application/octet-stream"), Some("application/xml")];
    for content_type in types {
        assert_eq!(leaf(&read(content_type, br#"{"a":"x"}"#).unwrap(), "/a").as_deref(), Some("x"), "{content_type:?}");
        assert_eq!(leaf(&read(content_type, b"b=1&a=x").unwrap(), "/a").as_deref(), Some("x"), "{content_type:?}");
        assert_eq!(leaf(&read(content_type, multipart).unwrap(), "/a").as_deref(), Some("x"), "{content_type:?}");
    }
    for content_type in [Some("multipart/form-data"), Some("multipart/form-data; boundary=Y")] {
        assert_eq!(leaf(&read(content_type, br#"{"a":"x"}"#).unwrap(), "/a").as_deref(), Some("x"));
        assert_eq!(repaired(content_type, b"a=x"), [("declared_type".to_owned(), 1)]);
        assert_eq!(leaf(&read(content_type, multipart).unwrap(), "/a").as_deref(), Some("x"));
    }
    let marked = [b"\xEF\xBB\xBF", &multipart[..]].concat();
    assert_eq!(leaf(&read(Some("multipart/form-data; boundary=X"), &marked).unwrap(), "/a").as_deref(), Some("x"));
    assert_eq!(repaired(JSON, br#"{"a":"x"}"#), []);
    assert_eq!(repaired(FORM, br#"{"a":"x"}"#), [("declared_type".to_owned(), 1)]);
}

#[test]
fn plain_text_is_a_text() {
    let plain = |text: &str| leaf(&read(Some("text/plain; charset=utf-8"), text.as_bytes()).unwrap(), "/text");
    for text in ["Hello,\nwe need 40 chairs & 4 tables.", "a=1", "x = y & z = 1", "{not json", "[1, 2", "100 %"] {
        assert_eq!(plain(text).as_deref(), Some(text));
    }
}

#[test]
fn lines_are_read_one_by_one() {
    let lines = |content_type: &str, text: &str| match body(Some(content_type), text.as_bytes()).unwrap().content {
        Content::Lines(lines) => lines.into_iter().map(|(line, _)| line.is_ok()).collect::<Vec<_>>(),
        Content::One(tree) => panic!("one tree: {tree:?}"),
    };
    for kind in ["application/x-ndjson", "application/jsonl", "application/json", "text/plain", "application/octet-stream"] {
        assert_eq!(lines(kind, "{\"a\":1}\r\n\n{\"a\":2}\n{\"a\":\n"), [true, true, false], "{kind}");
    }
    assert_eq!(lines("application/x-ndjson", "{\"a\":1}"), [true]);
    assert_eq!(lines("application/x-ndjson", "no\n{\"a\":2}\n7"), [false, true, false]);
    // One value over several lines, and a list, are no lines.
    let one = read(Some("application/x-ndjson"), b"{\n\"a\":\n1}").unwrap();
    assert_eq!(leaf(&one, "/a").as_deref(), Some("1"));
    assert!(matches!(read(Some("application/x-ndjson"), b"[{\"a\":1}]"), Ok(Tree::List(_))));
    assert!(why(JSON, b"{\"a\":1}\ngarbage").contains("not JSON"));
    assert!(why(JSON, b"{\"a\":1}{\"a\":2}").contains("not JSON"));
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut packed, bytes).unwrap();
    packed.finish().unwrap()
}

#[test]
fn packed_bodies_are_unpacked_up_to_a_bound() {
    let json = br#"{"a":"x"}"#;
    let zlib = {
        let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        std::io::Write::write_all(&mut packed, json).unwrap();
        packed.finish().unwrap()
    };
    let bare = zlib[2..zlib.len() - 4].to_vec();
    let unpacked = |encoding: Option<&str>, bytes: &[u8]| super::read(JSON, encoding, bytes, 64).map(|body| body.repairs.on_record());
    for (encoding, bytes) in [
        ("gzip", gzip(json)),
        ("X-GZip", gzip(json)),
        ("deflate", zlib),
        ("deflate", bare),
        ("gzip, gzip", gzip(&gzip(json))),
        ("identity", json.to_vec()),
    ] {
        assert_eq!(unpacked(Some(encoding), &bytes).unwrap().len(), 0, "{encoding}");
    }
    for (encoding, bytes) in [(None, gzip(json)), (Some("gzip"), json.to_vec()), (Some("deflate"), json.to_vec())] {
        assert_eq!(unpacked(encoding, &bytes).unwrap().into_keys().collect::<Vec<_>>(), ["declared_encoding"], "{encoding:?}");
    }
    let why = |encoding: &str, bytes: &[u8]| unpacked(Some(encoding), bytes).unwrap_err().to_string();
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(64));
    assert_eq!(why("gzip", &gzip(long.as_bytes())), "the body is compressed, and unpacked it is longer than 64 bytes");
    assert!(why("gzip", &gzip(json)[..20]).contains("breaks off or is damaged"));
    assert_eq!(why("br", b"\x8B\x05\x80\xFF"), "the body is compressed with br, which is not read: kept for later");
    assert!(why("gzip, gzip, gzip", b"\x8B\x05\x80\xFF").contains("more than 2 times"));
}

#[test]
fn a_megabyte_of_brackets_is_told() {
    for bytes in [vec![b'['; 1 << 20], br#"{"a":"#.repeat(1 << 18)] {
        for content_type in [JSON, FORM, None, Some("application/x-ndjson")] {
            drop(body(content_type, &bytes));
        }
        assert!(why(JSON, &bytes).contains("the body is"));
    }
}

#[test]
fn a_form_is_bounded() {
    let form = |pairs: usize| vec!["a=1"; pairs].join("&").into_bytes();
    assert!(read(FORM, &form(1000)).is_ok());
    assert_eq!(why(FORM, &form(1001)), "the form has more than 1000 pairs");
    let nested = |depth: usize| format!("a{}=1", "[b]".repeat(depth - 1)).into_bytes();
    assert!(read(FORM, &nested(16)).is_ok());
    assert_eq!(why(FORM, &nested(17)), "the name of pair 1 nests deeper than 16 levels");
}

#[test]
fn json_that_is_called_a_form_is_still_json() {
    assert_eq!(leaf(&read(FORM, br#"{"email":"a@example.com"}"#).unwrap(), "/email").as_deref(), Some("a@example.com"));
    assert_eq!(leaf(&read(FORM, b"{x=1").unwrap(), "/{x").as_deref(), Some("1"));
}
