//! What a look-up by key proves, and what it does not.

use super::*;

async fn looked(script: impl FnOnce(&str) -> Vec<Reply>, next: bool) -> (Report<Found>, Fake) {
    let fake = Fake::new(script);
    let mut params = params(&fake.base);
    if next {
        params.find.as_mut().unwrap().look_up.as_mut().unwrap().next = Some(pointer("/next"));
    }
    let target = http(params);
    (target.look_up(&call(&target)).await, fake)
}

fn page(records: &str, next: &str) -> Reply {
    Reply::says(200, &format!(r#"{{"results": [{records}], "next": {next}}}"#))
}

const OURS: &str = r#"{"id": 7, "external_key": "website:submission:lead 77"}"#;
const OTHER: &str = r#"{"id": 8, "external_key": "website:submission:lead 7"}"#;

#[tokio::test]
async fn only_a_record_with_our_key_byte_for_byte_counts() {
    let (report, fake) = looked(|_| vec![page(&format!("{OTHER},{OURS}"), "null")], false).await;
    assert_eq!(report.what, Found::Records(vec!["7".to_owned()]));
    assert_eq!(fake.asked()[0].line.trim(), "GET /deals?external_key=website%3Asubmission%3Alead%2077 HTTP/1.1");
    let (report, _) = looked(|_| vec![page(&format!("{OURS},{OURS},{}", OURS.replace('7', "9").replace("99", "77")), "null")], false).await;
    assert_eq!(report.what, Found::Records(vec!["7".to_owned(), "9".to_owned()]));
}

#[tokio::test]
async fn an_answer_that_proves_nothing_says_so() {
    let cases = [
        (200, page(OTHER, "null"), "configure find.next"),
        (200, Reply::says(200, r#"{"results": null}"#), "no list"),
        (200, Reply::says(200, r#"{"error": "x"}"#), "no list"),
        (200, Reply::says(200, "<html>"), "not JSON"),
        (200, page(r#"{"id": null, "external_key": "website:submission:lead 77"}"#, "null"), "no id"),
        (202, Reply::says(202, r#"{"results": []}"#), "202"),
        (206, Reply::says(206, r#"{"results": []}"#), "206"),
        (302, Reply::says(302, ""), "302"),
        (404, Reply::says(404, "<html>nginx</html>"), "404"),
    ];
    for (status, reply, words) in cases {
        let (report, _fake) = looked(|_| vec![reply], false).await;
        assert!(matches!(&report.what, Found::CannotTell(why) if why.contains(words)), "{status} {words}: {:?}", report.what);
    }
}

/// A target that is away, or has no time, says nothing about the record: it is asked again, and no person is.
#[tokio::test]
async fn no_answer_is_told_from_one_that_proves_nothing() {
    let cases = [
        (Reply::says(429, ""), "429"),
        (Reply::says(500, ""), "500"),
        (Reply::says(503, ""), "503"),
        (Reply::Cuts(200, r#"{"results": []}"#.to_owned()), ""),
        (Reply::Drops, ""),
    ];
    for (reply, words) in cases {
        let (report, _fake) = looked(|_| vec![reply], false).await;
        assert!(matches!(&report.what, Found::Unanswered { why, .. } if why.contains(words)), "{words}: {:?}", report.what);
    }
}

#[tokio::test]
async fn an_empty_list_is_an_absence_and_a_401_closes() {
    assert_eq!(looked(|_| vec![page("", "null")], false).await.0.what, Found::Absent);
    assert!(matches!(looked(|_| vec![Reply::says(401, "")], false).await.0.what, Found::Closed(_)));
}

#[tokio::test]
async fn a_404_is_an_absence_only_at_the_address_of_the_one_record() {
    let ask = async |url: &str, body: &str| {
        let fake = Fake::new(|_| vec![Reply::says(404, body)]);
        let mut params = params(&fake.base);
        params.find.as_mut().unwrap().look_up.as_mut().unwrap().url = format!("{}{url}", fake.base);
        let target = http(params);
        target.look_up(&call(&target)).await.what
    };
    for body in [r#"{"message": "no such deal"}"#, ""] {
        for own in ["/deals/{{ key }}", "/deals/{{ key|urlencode }}/record?full=1", "/deals/{% if true %}k-{{ key }}{% endif %}"] {
            assert_eq!(ask(own, body).await, Found::Absent, "{own}");
        }
        for shared in ["/dea1s?external_key={{ key }}", "/v9/search", "/deals/{{ action }}?q={{ key }}", "/deals#{{ key }}"] {
            let found = ask(shared, body).await;
            assert!(matches!(&found, Found::CannotTell(why) if why.contains("find.url")), "{shared}: {found:?}");
        }
    }
    assert!(matches!(ask("/deals/{{ key }}", "<html>nginx</html>").await, Found::CannotTell(_)));
}

#[tokio::test]
async fn every_page_is_followed() {
    let found = |base: &str| vec![page(OTHER, &format!("\"{base}/deals?page=2\"")), page(OTHER, "\"?page=3\""), page(OURS, "null")];
    let (report, fake) = looked(found, true).await;
    assert_eq!(report.what, Found::Records(vec!["7".to_owned()]));
    assert_eq!(report.facts.get("pages"), Some(&json!(3)));
    assert_eq!(fake.asked()[2].line.trim(), "GET /deals?page=3 HTTP/1.1");
    let (report, _) = looked(|_| vec![page(OTHER, "\"?page=2\""), page(OTHER, "\"\"")], true).await;
    assert_eq!(report.what, Found::Absent);
}

#[tokio::test]
async fn pages_that_cannot_be_followed_prove_nothing() {
    let elsewhere = |base: &str| vec![page(OURS, &format!("\"{}\"", base.replace("127.0.0.1", "localhost")))];
    let circle = |_: &str| vec![page("", "\"?page=2\"")];
    let ends = |_: &str| vec![page("", "\"?page=2\""), Reply::says(404, "")];
    let cases =
        [(looked(elsewhere, true).await, "another origin"), (looked(circle, true).await, "circle"), (looked(ends, true).await, "404")];
    for ((report, _fake), words) in cases {
        assert!(matches!(&report.what, Found::CannotTell(why) if why.contains(words)), "{words}: {:?}", report.what);
    }
}

#[tokio::test]
async fn a_search_is_posted_and_a_single_object_is_a_list_of_one() {
    let fake = Fake::new(|_| vec![Reply::says(200, OURS)]);
    let mut params = params(&fake.base);
    let look_up = params.find.as_mut().unwrap().look_up.as_mut().unwrap();
    look_up.method = "POST".to_owned();
    look_up.body = Some(r#"{"filter": "{{ key }}"}"#.to_owned());
    look_up.records = pointer("");
    let target = http(params);
    assert_eq!(target.look_up(&call(&target)).await.what, Found::Records(vec!["7".to_owned()]));
    assert_eq!(fake.asked()[0].body, r#"{"filter": "website:submission:lead 77"}"#);
    assert!(fake.asked()[0].head.contains("content-type: application/json"));
}

#[tokio::test]
async fn a_target_without_a_look_up_cannot_tell() {
    let mut blind = params("http://127.0.0.1:1");
    blind.find = None;
    let target = http(blind);
    assert!(matches!(target.look_up(&call(&target)).await.what, Found::CannotTell(_)));
}
