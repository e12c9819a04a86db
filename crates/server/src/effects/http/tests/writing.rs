//! What an answer to a write means, and how often anything is sent.

use super::*;

async fn written(reply: Reply) -> (Report<Outcome>, Fake) {
    let fake = Fake::new(|_| vec![reply]);
    let target = http(params(&fake.base));
    (target.write(&call(&target)).await, fake)
}

fn unknown(outcome: &Outcome, words: &str) -> bool {
    matches!(outcome, Outcome::Unknown(why) if why.contains(words))
}

#[tokio::test]
async fn a_record_is_written_with_its_key_once() {
    let (report, fake) = written(Reply::says(201, r#"{"id": 6084250982513018472, "x": "…"}"#)).await;
    assert_eq!(report.what, Outcome::Applied("6084250982513018472".to_owned()));
    assert_eq!(report.facts.get("status"), Some(&json!(201)));
    assert!(report.body.is_some());
    let asked = fake.asked();
    assert_eq!((asked.len(), asked[0].line.trim()), (1, "POST /deals HTTP/1.1"));
    assert_eq!(asked[0].body, r#"{"external_key": "website:submission:lead 77", "title": "Ten \"chairs\""}"#);
    assert!(asked[0].head.contains("content-type: application/json") && asked[0].head.contains("authorization: bearer very-secret-token"));
    assert!(!asked[0].head.contains("idempotency-key"));
}

#[tokio::test]
async fn a_success_without_an_id_is_unknown() {
    let bodies = [
        r#"{"status":"COMPLETE","results":[{"id":"501"}],"numErrors":1,"errors":[{"status":"error"}]}"#,
        r#"{"data":[{"code":"DUPLICATE_DATA","details":{"id":"554023000000527002"},"status":"error"}]}"#,
        r#"{"id": null}"#,
        r#"{"id": ""}"#,
        r#"{"id": true}"#,
        r#"{"id": {"x": 1}}"#,
        "<html><body>nginx</body></html>",
        &format!(r#"{{"id": "{}"}}"#, "i".repeat(513)),
        "",
    ];
    for (body, status) in bodies.into_iter().zip([207, 200, 200, 200, 200, 200, 200, 200, 204]) {
        let (report, fake) = written(Reply::says(status, body)).await;
        assert!(matches!(report.what, Outcome::Unknown(_)), "{body}: {:?}", report.what);
        assert_eq!(fake.asked().len(), 1, "{body}");
    }
}

#[tokio::test]
async fn an_id_beside_an_error_counts_only_where_the_answer_says_ok() {
    let fake = Fake::new(|_| {
        vec![
            Reply::says(200, r#"{"data":[{"code":"DUPLICATE_DATA","details":{"id":"5540"},"status":"error"}]}"#),
            Reply::says(200, r#"{"data":[{"code":"SUCCESS","details":{"id":"5541"},"status":"success"}]}"#),
        ]
    });
    let mut params = params(&fake.base);
    params.write.id = pointer("/data/0/details/id");
    params.write.ok = BTreeMap::from([(pointer("/data/0/status"), "success".to_owned())]);
    let target = http(params);
    assert!(unknown(&target.write(&call(&target)).await.what, "/data/0/status"));
    assert_eq!(target.write(&call(&target)).await.what, Outcome::Applied("5541".to_owned()));
}

#[tokio::test]
async fn each_status_means_what_the_protocol_says() {
    let not_sent = |ms| Outcome::NotSent { why: String::new(), retry_after_ms: ms };
    let cases = [
        (Reply::says(401, ""), Outcome::Closed(String::new())),
        (Reply::says(403, ""), Outcome::Closed(String::new())),
        (Reply::Says(429, "Retry-After: 12\r\n".to_owned(), String::new()), not_sent(Some(12_000))),
        (Reply::Says(429, "Retry-After: Thu, 01 Jan 1970 00:00:30 GMT\r\n".to_owned(), String::new()), not_sent(Some(30_000))),
        (Reply::says(429, ""), not_sent(Some(1_000))),
        (Reply::says(503, "busy"), not_sent(None)),
        (Reply::says(409, r#"{"message":"Contact already exists. Existing ID: 6001"}"#), Outcome::Conflict),
        (Reply::says(422, "no"), Outcome::Refused(String::new())),
        (Reply::says(404, "no"), Outcome::Refused(String::new())),
        (Reply::says(302, r#"{"id": 1}"#), Outcome::Unknown(String::new())),
        (Reply::says(408, ""), Outcome::Unknown(String::new())),
        (Reply::says(425, ""), Outcome::Unknown(String::new())),
        (Reply::says(500, ""), Outcome::Unknown(String::new())),
        (Reply::says(502, "<html>nginx</html>"), Outcome::Unknown(String::new())),
        (Reply::Drops, Outcome::Unknown(String::new())),
        (Reply::Cuts(200, r#"{"id": 1}"#.to_owned()), Outcome::Unknown(String::new())),
        (Reply::Cuts(422, "no".to_owned()), Outcome::Unknown(String::new())),
        (Reply::Cuts(429, String::new()), not_sent(Some(1_000))),
    ];
    for (n, (reply, expected)) in cases.into_iter().enumerate() {
        let (report, fake) = written(reply).await;
        let without_words = match report.what.clone() {
            Outcome::NotSent { retry_after_ms, .. } => not_sent(retry_after_ms),
            Outcome::Closed(_) => Outcome::Closed(String::new()),
            Outcome::Refused(_) => Outcome::Refused(String::new()),
            Outcome::Unknown(_) => Outcome::Unknown(String::new()),
            as_it_is @ (Outcome::Applied(_) | Outcome::Conflict) => as_it_is,
        };
        assert_eq!(without_words, expected, "case {n}: {:?}", report.what);
        assert_eq!(fake.asked().len(), 1, "case {n}: sent once, and no redirect followed");
    }
}

#[tokio::test]
async fn a_redirect_leads_nowhere() {
    let fake = Fake::new(|base| vec![Reply::Says(307, format!("Location: {base}/elsewhere\r\n"), String::new())]);
    let target = http(params(&fake.base));
    assert!(unknown(&target.write(&call(&target)).await.what, "redirect"));
    assert_eq!(fake.asked().len(), 1);
}

#[tokio::test]
async fn a_silence_is_unknown_and_is_not_asked_again() {
    let fake = Fake::new(|_| vec![Reply::Waits]);
    let mut params = params(&fake.base);
    params.timeout_ms = 100;
    let target = http(params);
    assert!(matches!(target.write(&call(&target)).await.what, Outcome::Unknown(_)));
    assert_eq!(fake.asked().len(), 1);
}

#[tokio::test]
async fn without_a_connection_nothing_is_done() {
    let closed = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let target = http(params(&closed));
    let Outcome::NotSent { why, .. } = target.write(&call(&target)).await.what else { panic!("it was sent") };
    assert!(why.contains("refused") && !why.contains("/deals"), "{why}");
}

#[tokio::test]
async fn after_the_deadline_nothing_is_sent() {
    // The second clock passes the deadline between the first look and the connection; a third look never sends.
    for (begun, step) in [(5_000, 0), (4_999, 1)] {
        let fake = Fake::new(|_| vec![Reply::says(200, r#"{"id": 1}"#)]);
        let mut params = params(&fake.base);
        params.clock = Arc::new(Hands { now: AtomicI64::new(begun), step });
        let target = http(params);
        let outcome = target.write(&call(&target)).await.what;
        assert!(matches!(&outcome, Outcome::NotSent { why, .. } if why.contains("deadline")), "{outcome:?}");
        assert_eq!(fake.asked().len(), 0);
    }
}

#[tokio::test]
async fn each_write_has_a_connection_of_its_own() {
    // On a pooled one hyper may send again by itself, and nobody would look at the deadline.
    let fake = Fake::new(|_| vec![Reply::Keeps(200, r#"{"id": 1}"#.to_owned())]);
    let target = http(params(&fake.base));
    for _ in 0..3 {
        assert_eq!(target.write(&call(&target)).await.what, Outcome::Applied("1".to_owned()));
    }
    assert_eq!(fake.asked().len(), 3);
}

#[tokio::test]
async fn words_of_a_refusal_are_short_clean_and_without_our_secrets() {
    let body = format!("no\r\n\u{1b}[31m: Bearer very-secret-token {}", "ü".repeat(300));
    let (report, _fake) = written(Reply::says(400, &body)).await;
    let Outcome::Refused(why) = report.what else { panic!("{:?}", report.what) };
    assert!(why.starts_with("status 400: no[31m: Bearer [secret] üü") && why.chars().count() <= 220, "{why}");
    assert!(!String::from_utf8(report.body.unwrap()).unwrap().contains("very-secret-token"));
}

#[tokio::test]
async fn kept_evidence_is_bounded() {
    let (report, _fake) = written(Reply::says(200, &format!(r#"{{"x": "{}", "id": 7}}"#, "y".repeat(100_000)))).await;
    assert_eq!(report.what, Outcome::Applied("7".to_owned()));
    assert_eq!(report.body.unwrap().len(), 64 * 1024);
}

#[tokio::test]
async fn a_missing_secret_sends_nothing() {
    let fake = Fake::new(|_| vec![Reply::says(200, r#"{"id": 1}"#)]);
    let mut params = params(&fake.base);
    let gone = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let now = Arc::clone(&gone);
    params.secrets =
        Arc::new(
            move |reference| {
                if now.load(Ordering::SeqCst) { Err(format!("{reference} is not set")) } else { Ok("very-secret-token".to_owned()) }
            },
        );
    let target = http(params);
    let call = call(&target);
    gone.store(true, Ordering::SeqCst);
    assert!(matches!(target.write(&call).await.what, Outcome::NotSent { why, .. } if why.contains("env:CRM_TOKEN")));
    assert_eq!(fake.asked().len(), 0);
    // Before anything was planned to be sent, a person is asked instead.
    assert!(target.render(KEY, &scene_json()).unwrap_err().contains("env:CRM_TOKEN"));
}
