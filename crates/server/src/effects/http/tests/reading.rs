//! Reading back, by id and by key.

use super::*;

async fn read(status: u16, body: &str, by_key: bool) -> ReadBack {
    let fake = Fake::new(|_| vec![Reply::says(status, body)]);
    let mut params = params(&fake.base);
    if by_key {
        params.read = None;
    }
    let target = http(params);
    let report = target.read_back(&call(&target), "a/7").await;
    if !by_key {
        assert_eq!(fake.asked()[0].line.trim(), "GET /deals/a%2F7 HTTP/1.1");
    }
    report.what
}

#[tokio::test]
async fn a_record_is_compared_by_key_and_by_what_is_expected() {
    let same = r#"{"external_key": "website:submission:lead 77", "title": "Ten \"chairs\"", "stage": "won"}"#;
    assert_eq!(read(200, same, false).await, ReadBack::Same);
    let edited = same.replace("Ten", "Eleven");
    assert_eq!(read(200, &edited, false).await, ReadBack::Differs("/title".to_owned()));
    let cases = [(same.replace("77", "78"), "another"), (r#"{"title": "x"}"#.to_owned(), "none")];
    for (body, words) in cases {
        let ReadBack::Differs(what) = read(200, &body, false).await else { panic!("{body}") };
        assert!(what.starts_with("key: ") && what.contains(words), "{what}");
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_told_apart_from_what_is_gone() {
    for status in [404, 410] {
        assert_eq!(read(status, "", false).await, ReadBack::Gone);
    }
    assert!(matches!(read(403, "", false).await, ReadBack::Closed(_)));
    for (status, body) in [(200, "<html>"), (500, "{}"), (302, "")] {
        assert!(matches!(read(status, body, false).await, ReadBack::Failed(_)), "{status}");
    }
}

#[tokio::test]
async fn without_a_read_the_look_up_reads_back() {
    let record = |id: &str| format!(r#"{{"id": "{id}", "external_key": "website:submission:lead 77"}}"#);
    let results = |records: &[String]| format!(r#"{{"results": [{}]}}"#, records.join(","));
    assert_eq!(read(200, &results(&[record("a/7")]), true).await, ReadBack::Same);
    assert_eq!(read(200, &results(&[]), true).await, ReadBack::Gone);
    let ReadBack::Differs(what) = read(200, &results(&[record("a/7"), record("b")]), true).await else { panic!("a double was not told") };
    assert!(what.contains("a/7, b"), "{what}");
    assert!(matches!(read(200, &results(&[record("b")]), true).await, ReadBack::Differs(_)));
    assert!(matches!(read(500, "", true).await, ReadBack::Failed(_)));
    assert!(matches!(read(401, "", true).await, ReadBack::Closed(_)));
}

#[tokio::test]
async fn an_expected_empty_field_may_be_null_or_missing() {
    let fake = Fake::new(|_| vec![Reply::says(200, r#"{"external_key": "website:submission:lead 77", "phone": null}"#)]);
    let mut params = params(&fake.base);
    let expect = &mut params.read.as_mut().unwrap().expect;
    *expect = BTreeMap::from([
        (pointer("/phone"), "{{ qualification.budget }}".to_owned()),
        (pointer("/fax"), "{{ qualification.budget }}".to_owned()),
    ]);
    let target = http(params);
    assert_eq!(target.read_back(&call(&target), "7").await.what, ReadBack::Same);
}
