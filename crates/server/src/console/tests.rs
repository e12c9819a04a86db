//! Pages over a real book.

use std::collections::BTreeMap;

use async_trait::async_trait;
use axum::Extension;
use axum::body::Body;
use domain::enquiry::Fields;
use domain::time::SeededEntropy;
use tower::ServiceExt as _;

use super::*;
use crate::engine::{Conditions, Parts, hasty};
use crate::qualify::{Evidence, Failure, Qualified, Qualifier, QualifyError};
use crate::stops::Stops;
use crate::views::fixture::{Book, Still};

struct Silent;

#[async_trait]
impl Qualifier for Silent {
    fn name(&self) -> String {
        "silent".to_owned()
    }

    async fn qualify(&self, _: &Fields) -> Result<Qualified, QualifyError> {
        let why = "there is no model".to_owned();
        Err(QualifyError { kind: Failure::Unreachable, why, retry_after_ms: None, evidence: Evidence::default() })
    }
}

/// An engine without targets, and a qualifier that never answers: every enquiry goes to review.
async fn engine(book: &Book) -> Arc<Engine> {
    let parts = Parts {
        store: Arc::clone(&book.store),
        clock: Arc::new(Still),
        entropy: Arc::new(SeededEntropy::new(1)),
        targets: BTreeMap::new(),
        actions: Vec::new(),
        qualifier: Arc::new(Silent),
        conditions: Conditions::compile(Vec::new()).unwrap(),
        settings: hasty(),
        wake: Arc::default(),
        stops: Arc::new(Stops::none()),
    };
    Arc::new(Engine::new(parts).await.unwrap())
}

/// Says what it was asked for, and reads nothing.
struct Echo;

#[async_trait]
impl Redeliver for Echo {
    async fn redeliver(&self, delivery: &str, by: &str, separate: bool) -> Result<serde_json::Value, RedeliverRefused> {
        match delivery {
            "dlv_none" => Err(RedeliverRefused::Unknown),
            "dlv_done" => Err(RedeliverRefused::DoesNotFit("there is nothing to replay".to_owned())),
            "dlv_later" => Err(RedeliverRefused::Unavailable { retry_after_s: 7 }),
            _ => Ok(serde_json::json!({"delivery": format!("dlv_{by}_{separate}")})),
        }
    }
}

struct App {
    book: Book,
    engine: Arc<Engine>,
    bare: Router,
}

impl App {
    async fn start() -> Self {
        let book = Book::open();
        let engine = engine(&book).await;
        let state = ConsoleState {
            reader: Reader::new(Arc::clone(&book.store)),
            engine: Arc::clone(&engine),
            redeliver: Arc::new(Echo),
            clock: Arc::new(Still),
            targets: vec![TargetSetup { name: "crm".to_owned(), kind: "http".to_owned(), mode: "live".to_owned() }],
            sources: vec!["website".to_owned()],
        };
        Self { book, engine, bare: router(state) }
    }

    async fn send(&self, request: Request) -> (Response, String) {
        let seen = self.bare.clone().layer(Extension(Viewer::default()));
        let mut response = seen.oneshot(request).await.unwrap();
        let body = std::mem::take(response.body_mut());
        let bytes = axum::body::to_bytes(body, 1 << 20).await.unwrap();
        (response, String::from_utf8(bytes.to_vec()).unwrap())
    }

    async fn get(&self, path: &str) -> (StatusCode, String) {
        let (response, text) = self.send(Request::get(path).body(Body::empty()).unwrap()).await;
        (response.status(), text)
    }

    async fn decide(&self, review: &str, form: &'static str, headers: &[(&str, &str)]) -> (Response, String) {
        self.post(&format!("/console/review/{review}"), form, headers).await
    }

    async fn post(&self, path: &str, form: &'static str, headers: &[(&str, &str)]) -> (Response, String) {
        let request = Request::post(path).header("host", "localhost:8484");
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        self.send(request.body(Body::from(form)).unwrap()).await
    }

    async fn conflict(&self) -> String {
        self.book.deliver("website", "s1", "Avery", "one").await;
        self.book.deliver("website", "s1", "Avery", "other").await;
        let query = crate::views::Query { limit: 1, ..Default::default() };
        let found = self.bare_reader().reviews(&query, Still.now()).await.unwrap();
        found.items[0].id.clone()
    }

    fn bare_reader(&self) -> Reader {
        Reader::new(Arc::clone(&self.book.store))
    }
}

#[tokio::test]
async fn i12_what_a_sender_wrote_is_text_on_every_page() {
    let app = App::start().await;
    let evil = "<script>alert(1)</script>\"><img src=x onerror=alert(2)>";
    let id = app.book.deliver("<b>site</b>", evil, evil, evil).await.enquiry.unwrap().to_string();
    app.book.deliver("<b>site</b>", evil, evil, "other").await;
    let kept = app.book.quarantine("<b>site</b>", format!("\u{1b}[2J{evil}").as_bytes()).await;
    let held = app.bare_reader().deliveries(&crate::views::Query { limit: 9, ..Default::default() }).await.unwrap();
    let held = held.items.iter().find(|delivery| delivery.verdict == "conflict").unwrap().enquiry.clone().unwrap();
    while app.engine.work_once().await.unwrap() {}
    let pages = [
        "/console".to_owned(),
        format!("/console/enquiries/{id}"),
        format!("/console/enquiries/{held}"),
        "/console/review".to_owned(),
        "/console?source=%3Cb%3E".to_owned(),
        "/console/deliveries".to_owned(),
        format!("/console/deliveries/{kept}"),
    ];
    for path in pages {
        let (status, page) = app.get(&path).await;
        assert_eq!(status, StatusCode::OK);
        assert!(!page.contains("<script") && !page.contains("<img") && !page.contains("<b>"), "{path}: {page}");
    }
    let (_, page) = app.get(&format!("/console/enquiries/{id}")).await;
    assert!(page.contains("&lt;script&gt;") && page.contains("<bdi dir=\"auto\">"));
    let (_, page) = app.get(&format!("/console/deliveries/{kept}")).await;
    assert!(page.contains("<pre dir=\"auto\">\u{241b}[2J&lt;script&gt;"), "{page}");
}

#[tokio::test]
async fn every_answer_carries_its_headers_and_none_comes_without_a_viewer() {
    let app = App::start().await;
    let paths = ["/", "/console", "/console/", "/console/review", "/console/deliveries", "/console/enquiries/none", "/console/nothing"];
    for path in paths {
        let (response, _) = app.send(Request::get(path).body(Body::empty()).unwrap()).await;
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        assert!(header("content-security-policy").starts_with("default-src 'none'; style-src 'unsafe-inline'; form-action 'self'"));
        assert_eq!((header("x-content-type-options"), header("cache-control")), ("nosniff".to_owned(), "no-store".to_owned()));
        assert_eq!(header("referrer-policy"), "same-origin");
        let bare = app.bare.clone().oneshot(Request::get(path).body(Body::empty()).unwrap()).await.unwrap();
        assert_eq!(bare.status(), StatusCode::FORBIDDEN, "{path}");
    }
    let (response, _) = app.send(Request::post("/console").body(Body::empty()).unwrap()).await;
    assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert!(response.headers().contains_key("allow"));
}

#[tokio::test]
async fn the_list_filters_pages_and_counts() {
    let app = App::start().await;
    for n in 0..55 {
        app.book.deliver("website", &format!("s{n}"), &format!("Person {n};"), "hello").await;
    }
    app.book.deliver("ads", "s1", "Somebody Else", "hello").await;
    app.conflict().await;
    app.book.store.commit(paused()).await.unwrap();
    let (_, page) = app.get("/console").await;
    assert!(page.contains("Somebody Else") && page.contains("Review (2)") && page.contains("moving house"));
    let (_, page) = app.get("/console?source=website&state=accepted").await;
    assert!(!page.contains("Somebody Else") && page.contains("Person 54;"));
    let older = page.split("href=\"").filter_map(|part| part.split_once('"')).find(|(link, _)| link.contains("cursor=")).unwrap().0;
    let (_, page) = app.get(&older.replace("&amp;", "&")).await;
    assert!(page.contains("Person 0;") && !page.contains("Person 54;") && !page.contains("Somebody Else") && page.contains("Newest"));
    assert_eq!(app.get("/console?cursor=x").await.0, StatusCode::BAD_REQUEST);
}

fn paused() -> store::Step {
    let state = store::TargetState { name: "crm".to_owned(), paused: Some((Still.now(), "moving house".to_owned())) };
    store::Step { at: Still.now(), targets: vec![state], ..store::Step::default() }
}

#[tokio::test]
async fn a_page_tells_the_whole_story_suppressions_included() {
    let app = App::start().await;
    let first = app.book.deliver("website", "s1", "Avery", "one").await;
    app.book.deliver("website", "s1", "Avery", "one").await;
    while app.engine.work_once().await.unwrap() {}
    let (_, page) = app.get("/console/enquiries/website:submission:s1").await;
    let run = first.first_run.unwrap().to_string();
    assert!(page.contains(&format!("href=\"/console/deliveries/{}\"", first.id)), "its deliveries are linked");
    assert!(page.contains("Duplicate suppressed") && page.contains(&run) && page.contains("brought a known event again"));
    assert!(page.contains("Arrival to result") && page.contains("0 ms") && page.contains("Every try failed"));
    assert!(page.contains("Try 1 of silent gave no result"));
    assert_eq!(app.get("/console/enquiries/none").await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_decision_goes_round_and_leads_back() {
    let app = App::start().await;
    let review = app.conflict().await;
    let (_, page) = app.get("/console/review").await;
    assert!(page.contains("A separate enquiry") && page.contains(&format!("action=\"/console/review/{review}\"")));
    let own = [("origin", "http://localhost:8484"), ("sec-fetch-site", "same-origin")];
    let (response, _) = app.decide(&review, "decision=separate&by=anna&back=queue", &own).await;
    assert_eq!((response.status(), &response.headers()["location"]), (StatusCode::SEE_OTHER, &HeaderValue::from_static("/console/review")));
    let (_, page) = app.get(&format!("/console/enquiries/{review}")).await;
    assert!(page.contains("separate (by anna)") && !page.contains("<form method=\"post\""));
    let (response, page) = app.decide(&review, "decision=separate", &own).await;
    assert!(response.status() == StatusCode::CONFLICT && page.contains("decided before"));
}

#[tokio::test]
async fn a_form_of_another_site_or_of_nonsense_is_not_taken() {
    let app = App::start().await;
    let review = app.conflict().await;
    for headers in
        [("origin", "https://example.com"), ("origin", "http://localhost:3000"), ("origin", "null"), ("sec-fetch-site", "same-site")]
    {
        let (response, _) = app.decide(&review, "decision=same", &[headers]).await;
        assert_eq!(response.status(), StatusCode::FORBIDDEN, "{headers:?}");
    }
    for form in [
        "decision=dismiss",
        "decision=dismiss&reason=+",
        "",
        "decision=maybe",
        "decision=it_is",
        "decision=it_is&external_id=+",
        "decision=same&by=a%40example.com",
    ] {
        let (response, _) = app.decide(&review, form, &[]).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{form}");
    }
    assert_eq!(app.decide("rev_none", "decision=same", &[]).await.0.status(), StatusCode::NOT_FOUND);
    let open = app.bare_reader().open_items(9, Still.now()).await.unwrap();
    assert_eq!(open.count, 1, "nothing was decided");
}

#[tokio::test]
async fn the_root_and_a_last_slash_lead_to_the_console() {
    let app = App::start().await;
    for path in ["/", "/console/"] {
        let (response, _) = app.send(Request::get(path).body(Body::empty()).unwrap()).await;
        assert_eq!(
            (response.status(), &response.headers()["location"]),
            (StatusCode::PERMANENT_REDIRECT, &HeaderValue::from_static("/console"))
        );
    }
}

#[tokio::test]
async fn a_held_conflict_stands_beside_the_first_with_both_bodies() {
    let app = App::start().await;
    app.conflict().await;
    let (_, page) = app.get("/console/enquiries/website:submission:s1~2").await;
    let (_, beside) = page.split_once("The two, side by side").unwrap();
    for part in ["<div class=\"message\" dir=\"auto\">one</div>", "<div class=\"message\" dir=\"auto\">other</div>", "differs", "Avery"] {
        assert!(beside.contains(part), "{part} in {beside}");
    }
    let bodies: Vec<&str> =
        beside.split("<pre dir=\"auto\">").skip(1).filter_map(|part| part.split_once("</pre>")).map(|(b, _)| b).collect();
    assert_eq!(bodies, ["one", "other"]);
    assert_eq!(beside.matches("differs").count(), 1, "only the message differs");
    let (_, first) = app.get("/console/enquiries/website:submission:s1").await;
    assert!(!first.contains("side by side"));
}

#[tokio::test]
async fn the_queue_says_whom_and_what_an_item_is_about() {
    let app = App::start().await;
    app.conflict().await;
    let (_, page) = app.get("/console/review").await;
    for part in ["Avery, a@example.com", "other", "website:submission:s1~2"] {
        assert!(page.contains(part), "{part} in {page}");
    }
    assert!(!page.contains("Nothing came of"));
    app.book.quarantine("website", b"broken").await;
    let (_, page) = app.get("/console/review").await;
    assert!(page.contains("Nothing came of: 1 delivery quarantined") && page.contains("/console/deliveries?state=quarantined"));
}

#[tokio::test]
async fn dismissing_asks_for_a_reason_and_nothing_else_does() {
    let app = App::start().await;
    app.book.deliver("website", "s1", "Avery", "one").await;
    while app.engine.work_once().await.unwrap() {}
    let (_, page) = app.get("/console/review").await;
    let forms: Vec<&str> =
        page.split("<form method=\"post\"").skip(1).filter_map(|part| part.split_once("</form>")).map(|(f, _)| f).collect();
    let with = |decision: &str| forms.iter().find(|form| form.contains(&format!("value=\"{decision}\""))).unwrap();
    assert!(with("dismiss").contains("name=\"reason\"") && with("dismiss").contains("required"));
    assert!(!with("approve").contains("required"), "{forms:?}");
}

#[tokio::test]
async fn deliveries_are_listed_by_verdict_and_read_again() {
    let app = App::start().await;
    app.book.deliver("website", "s1", "Avery", "one").await;
    let kept = app.book.quarantine("website", b"broken").await;
    let refused = app.book.refuse("website", b"forged").await;
    let (_, page) = app.get("/console/deliveries").await;
    assert!(
        page.contains(&kept) && page.contains("website:submission:s1") && page.contains("the body is no JSON") && !page.contains(&refused)
    );
    let (_, page) = app.get("/console/deliveries?state=quarantined").await;
    assert!(page.contains(&kept) && !page.contains("website:submission:s1"));
    let (_, page) = app.get("/console/deliveries?state=refused").await;
    assert!(page.contains(&refused) && !page.contains(&kept));
    let path = format!("/console/deliveries/{kept}");
    let (_, page) = app.get(&path).await;
    for part in ["Read it again", &format!("action=\"{path}/replay\""), "<pre dir=\"auto\">broken</pre>", "192.0.2.7", "req-1"] {
        assert!(page.contains(part), "{part} in {page}");
    }
    assert!(!page.contains("An enquiry of its own"));
    let own = [("origin", "http://localhost:8484")];
    let (response, _) = app.post(&format!("{path}/replay"), "by=anna", &own).await;
    let to = &response.headers()["location"];
    assert_eq!((response.status(), to), (StatusCode::SEE_OTHER, &HeaderValue::from_static("/console/deliveries/dlv_anna_false")));
    let (response, _) = app.post(&format!("{path}/replay"), "by=anna&separate=yes", &own).await;
    assert_eq!(response.headers()["location"], "/console/deliveries/dlv_anna_true");
    assert_eq!(app.post(&format!("{path}/replay"), "", &[("origin", "https://example.com")]).await.0.status(), StatusCode::FORBIDDEN);
    for (id, status) in [("dlv_none", 404), ("dlv_done", 409), ("dlv_later", 503)] {
        let (response, _) = app.post(&format!("/console/deliveries/{id}/replay"), "", &own).await;
        assert_eq!(response.status().as_u16(), status, "{id}");
    }
    assert_eq!(app.get("/console/deliveries/dlv_nothing").await.0, StatusCode::NOT_FOUND);
    assert_eq!(app.get("/console/deliveries?cursor=x").await.0, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn an_effect_of_a_paused_target_says_what_it_waits_for() {
    let effect = domain::gate::Effect::planned(
        &domain::identity::Key::new("website", domain::identity::Basis::Submission, vec!["s1".to_owned()]),
        "deal",
        "crm",
        0,
        &[domain::gate::StepKind::Record],
        Still.now(),
    );
    let view = crate::views::EffectView::of(&effect);
    let frame = |paused| Frame { open_items: 0, paused };
    let open = show::effects::effects(std::slice::from_ref(&view), &frame(Vec::new())).into_string();
    assert!(open.contains("Next try") && !open.contains("paused"));
    let paused = frame(vec![("crm".to_owned(), "moving house".to_owned())]);
    let waits = show::effects::effects(&[view], &paused).into_string();
    assert!(waits.contains("target crm is paused") && waits.contains("moving house") && !waits.contains("Next try"));
}
