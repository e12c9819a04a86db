//! What an operator does: decisions, replays, pauses; each attributed in the journal.

use super::*;

async fn conflict(app: &App) -> String {
    app.book.deliver("website", "s1", "Avery", "one").await;
    app.book.deliver("website", "s1", "Avery", "other").await;
    ids(&app.get("/api/v1/review?state=open").await.1)[0].clone()
}

#[tokio::test]
async fn a_conflict_is_decided_once_and_the_journal_names_who() {
    let app = App::start().await;
    let id = conflict(&app).await;
    let path = format!("/api/v1/review/{id}");
    let (status, body) = app.post(&path, &json!({"decision": "same", "by": "anna"})).await;
    assert_eq!((status, &body["decision"], &body["decisions"]), (StatusCode::OK, &json!("same (by anna)"), &json!([])));
    let (status, body) = app.post(&path, &json!({"decision": "same"})).await;
    assert_eq!((status, &body["code"]), (StatusCode::CONFLICT, &json!("does-not-fit")));
    let journal = app.get("/api/v1/journal").await.1;
    let decided = journal["items"].as_array().unwrap().iter().find(|entry| entry["kind"] == "review.decided").unwrap().clone();
    assert_eq!(decided["actor"], "anna");
}

#[tokio::test]
async fn a_decision_that_is_miswritten_is_refused_and_changes_nothing() {
    let app = App::start().await;
    let id = conflict(&app).await;
    let path = format!("/api/v1/review/{id}");
    let wrong = [
        (json!({}), 400, "bad-body"),
        (json!({"decision": "maybe"}), 400, "bad-body"),
        (json!({"decision": "same", "who": "anna"}), 400, "bad-body"),
        (json!({"decision": "same", "by": "anna@example.com"}), 400, "bad-body"),
        (json!({"decision": "it_is"}), 400, "bad-body"),
        (json!({"decision": "approve", "reason": 7}), 400, "bad-body"),
        (json!({"decision": "dismiss"}), 409, "does-not-fit"),
    ];
    for (body, status, code) in wrong {
        let (answered, problem) = app.post(&path, &body).await;
        assert_eq!((answered.as_u16(), problem["code"].as_str()), (status, Some(code)), "{body}");
    }
    assert_eq!(app.post("/api/v1/review/rev_none", &json!({"decision": "same"})).await.0, StatusCode::NOT_FOUND);
    let form = Request::post(&path).header("host", "localhost").header("content-type", "text/plain");
    let (status, body) = read(app.send(form.body(Body::from(r#"{"decision":"same"}"#)).unwrap()).await).await;
    assert_eq!((status.as_u16(), &body["code"]), (415, &json!("not-json")));
    let long = json!({"decision": "dismiss", "reason": "x".repeat(70 << 10)});
    assert_eq!(app.post(&path, &long).await.1["code"], "body-unreadable");
    assert_eq!(ids(&app.get("/api/v1/review?state=open").await.1), [id]);
}

#[tokio::test]
async fn a_refused_record_is_ended_by_the_id_that_a_person_found() {
    let app = App::start().await;
    app.book.deliver("website", "s1", "Avery", "one").await;
    app.work().await;
    let items = app.get("/api/v1/review?state=open").await.1["items"].clone();
    let offered: Vec<&str> = items[0]["decisions"].as_array().unwrap().iter().map(|d| d["decision"].as_str().unwrap()).collect();
    assert_eq!((&items[0]["kind"], offered), (&json!("effect"), vec!["again", "not_there", "it_is", "dismiss"]));
    let path = format!("/api/v1/review/{}", items[0]["id"].as_str().unwrap());
    let (status, _) = app.post(&path, &json!({"decision": "it_is", "external_id": "d-7", "by": "anna"})).await;
    assert_eq!(status, StatusCode::OK);
    let (_, dossier) = app.get("/api/v1/enquiries/d-7").await;
    assert_eq!((&dossier["enquiry"]["state"], &dossier["effects"][0]["state"]), (&json!("settled"), &json!("unverified")));
    assert_eq!(dossier["effects"][0]["key"], "website:submission:s1");
}

#[tokio::test]
async fn every_decision_that_is_offered_is_taken() {
    for decision in ["again", "not_there", "it_is", "dismiss"] {
        let app = App::start().await;
        app.book.deliver("website", "s1", "Avery", "one").await;
        app.work().await;
        let id = ids(&app.get("/api/v1/review?state=open").await.1)[0].clone();
        let mut body = json!({"decision": decision});
        if decision == "it_is" {
            body["external_id"] = json!("d-7");
        }
        let (status, answer) = app.post(&format!("/api/v1/review/{id}"), &body).await;
        let waits = decision == "not_there";
        assert_eq!(status, if waits { StatusCode::CONFLICT } else { StatusCode::OK }, "{decision}: {answer}");
        assert!(!waits || answer["detail"].as_str().unwrap().contains("settle"), "the clock stands before its not_before");
    }
}

#[tokio::test]
async fn a_replay_begins_a_run_and_keeps_the_key() {
    let app = App::start().await;
    let id = app.book.deliver("website", "s1", "Avery", "one").await.enquiry.unwrap().to_string();
    app.work().await;
    let before = app.get(&format!("/api/v1/enquiries/{id}")).await.1["enquiry"].clone();
    let (status, after) = app.post("/api/v1/enquiries/website:submission:s1/replay", &json!({})).await;
    assert_eq!((status, &after["key"]), (StatusCode::OK, &before["key"]));
    assert_ne!(after["run"], before["run"]);
    let bare = Request::post(format!("/api/v1/enquiries/{id}/replay")).header("host", "localhost").body(Body::empty()).unwrap();
    assert_eq!(read(app.send(bare).await).await.0, StatusCode::OK, "a body is not needed");
    assert_eq!(app.post("/api/v1/enquiries/enq_none/replay", &json!({})).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_delivery_is_read_again_in_the_callers_name() {
    let app = App::start().await;
    let (_, body) = app.post("/api/v1/deliveries/dlv_1/replay", &json!({"separate": true, "by": "anna"})).await;
    assert_eq!((&body["by"], &body["separate"]), (&json!("anna"), &json!(true)));
    let (_, body) = app.post("/api/v1/deliveries/dlv_1/replay", &json!({})).await;
    assert_eq!((&body["by"], &body["separate"]), (&json!("operator"), &json!(false)));
    for (id, status) in [("dlv_none", 404), ("dlv_done", 409), ("dlv_later", 503)] {
        assert_eq!(app.post(&format!("/api/v1/deliveries/{id}/replay"), &json!({})).await.0.as_u16(), status);
    }
}

#[tokio::test]
async fn a_target_is_paused_and_goes_on() {
    let app = App::start().await;
    let (_, body) = app.post("/api/v1/targets/crm/pause", &json!({"reason": "moving", "by": "anna"})).await;
    assert_eq!((&body["state"], &body["why"]), (&json!("paused"), &json!("moving")));
    assert_eq!(app.get("/api/v1/targets").await.1["items"][0]["state"], "paused");
    let (_, body) = app.post("/api/v1/targets/crm/resume", &json!({})).await;
    assert_eq!((&body["state"], &body["why"]), (&json!("open"), &Value::Null));
    assert_eq!(app.post("/api/v1/targets/erp/pause", &json!({})).await.0, StatusCode::NOT_FOUND);
}
