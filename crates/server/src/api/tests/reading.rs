//! Lists, filters, names and every way of asking wrongly.

use super::*;

#[tokio::test]
async fn pages_follow_each_other_without_gap_or_overlap() {
    let app = App::start().await;
    for n in 0..5 {
        app.book.deliver("website", &format!("s{n}"), "Avery", "hello").await;
    }
    for list in ["enquiries", "deliveries", "journal"] {
        let all = app.get(&format!("/api/v1/{list}")).await.1["items"].as_array().unwrap().clone();
        let walked = walk(&app, list).await;
        assert_eq!(walked, all, "{list}");
        assert!(all.len() >= 5);
    }
}

/// The whole list, two records at a time.
async fn walk(app: &App, list: &str) -> Vec<Value> {
    let (mut walked, mut path) = (Vec::new(), format!("/api/v1/{list}?limit=2"));
    loop {
        let (status, page) = app.get(&path).await;
        assert_eq!(status, StatusCode::OK);
        walked.extend(page["items"].as_array().unwrap().clone());
        let Some(cursor) = page["next_cursor"].as_str() else { return walked };
        path = format!("/api/v1/{list}?limit=2&cursor={cursor}");
    }
}

#[tokio::test]
async fn filters_filter() {
    let app = App::start().await;
    let first = app.book.deliver("website", "s1", "Avery", "hello").await;
    app.book.deliver("website", "s1", "Avery", "hello").await;
    let held = app.book.deliver("website", "s1", "Avery", "other").await.enquiry.unwrap().to_string();
    app.book.deliver("ads", "s1", "Avery", "hello").await;
    let enquiry = first.enquiry.unwrap().to_string();
    assert_eq!(ids(&app.get("/api/v1/enquiries?state=held").await.1), [held]);
    assert_eq!(ids(&app.get("/api/v1/enquiries?source=ads").await.1).len(), 1);
    assert_eq!(ids(&app.get("/api/v1/enquiries?source=ads&state=&cursor=").await.1).len(), 1, "an empty value asks nothing");
    assert_eq!(ids(&app.get("/api/v1/deliveries?state=redelivery").await.1).len(), 1);
    for name in ["look-alike", "look_alike"] {
        assert_eq!(ids(&app.get(&format!("/api/v1/deliveries?state={name}")).await.1).len(), 0);
    }
    for name in ["at-most-once", "at_most_once"] {
        assert_eq!(app.get(&format!("/api/v1/effects?state={name}")).await.0, StatusCode::OK);
    }
    assert_eq!(ids(&app.get(&format!("/api/v1/deliveries?enquiry={enquiry}")).await.1).len(), 2);
    assert_eq!(ids(&app.get("/api/v1/review?state=open").await.1).len(), 1);
    assert_eq!(ids(&app.get("/api/v1/review?state=closed").await.1).len(), 0);
    let journal = app.get(&format!("/api/v1/journal?enquiry={enquiry}")).await.1;
    assert!(journal["items"].as_array().unwrap().iter().all(|entry| entry["enquiry"] == enquiry.as_str()));
}

#[tokio::test]
async fn what_cannot_be_asked_is_refused_with_a_code() {
    let app = App::start().await;
    let wrong = [
        ("/api/v1/enquiries?limit=0", 400, "bad-parameter"),
        ("/api/v1/enquiries?limit=1001", 400, "bad-parameter"),
        ("/api/v1/enquiries?limit=many", 400, "bad-parameter"),
        ("/api/v1/enquiries?stat=held", 400, "bad-parameter"),
        ("/api/v1/enquiries?state=hold", 400, "bad-parameter"),
        ("/api/v1/enquiries?state=held&state=review", 400, "bad-parameter"),
        ("/api/v1/effects?source=website", 400, "bad-parameter"),
        ("/api/v1/deliveries?enquiry=website:submission:s1", 400, "bad-parameter"),
        ("/api/v1/enquiries?cursor=x", 400, "bad-cursor"),
        ("/api/v1/journal?cursor=7", 400, "bad-cursor"),
        ("/api/v1/desk/deals?cursor=x", 400, "bad-cursor"),
        ("/api/v1/enquiries/enq_none", 404, "not-found"),
        ("/api/v1/enquiries/%FF", 400, "bad-parameter"),
        ("/api/v1/deliveries/dlv_none", 404, "not-found"),
        ("/api/v1/nothing", 404, "no-route"),
        ("/api/v1/desk/contacts", 503, "desk-unavailable"),
    ];
    for (path, status, code) in wrong {
        let (answered, body) = app.get(path).await;
        assert_eq!((answered.as_u16(), body["code"].as_str()), (status, Some(code)), "{path}");
    }
}

#[tokio::test]
async fn a_route_that_is_not_there_is_named_by_its_whole_path() {
    let app = App::start().await;
    let (_, body) = app.get("/api/v1/nothing/here?limit=2").await;
    assert_eq!(body["detail"], "nothing is at /api/v1/nothing/here");
    let bare = Router::new().fallback(no_route).oneshot(Request::get("/nothing").body(Body::empty()).unwrap()).await.unwrap();
    assert_eq!(read(bare).await.1["detail"], "nothing is at /nothing");
}

#[tokio::test]
async fn another_method_is_told_which_are_allowed() {
    let app = App::start().await;
    for (method, path, allowed) in
        [("POST", "/api/v1/enquiries", "GET"), ("GET", "/api/v1/review/rev_1", "POST"), ("PUT", "/healthz", "GET")]
    {
        let request = Request::builder().method(method).uri(path).header("host", "localhost").body(Body::empty()).unwrap();
        let response = app.send(request).await;
        assert!(response.headers()["allow"].to_str().unwrap().contains(allowed), "{path}");
        assert_eq!(read(response).await.1["code"], "method-not-allowed");
    }
}

#[tokio::test]
async fn an_enquiry_is_found_by_any_of_its_names() {
    let app = App::start().await;
    let first = app.book.deliver("website", "a/b", "Avery", "hello").await;
    let enquiry = first.enquiry.unwrap().to_string();
    for name in [enquiry.as_str(), first.id.as_str(), "website:submission:a%2Fb"] {
        let (status, body) = app.get(&format!("/api/v1/enquiries/{name}")).await;
        assert_eq!((status, &body["enquiry"]["id"]), (StatusCode::OK, &json!(enquiry)), "{name}");
        assert_eq!(body["timeline"][0]["kind"], "delivery.received");
    }
    let (_, body) = app.get(&format!("/api/v1/deliveries/{}", first.id)).await;
    assert_eq!((&body["body"]["value"], &body["items"][0]["verdict"]), (&json!("hello"), &json!("accepted")));
}

#[tokio::test]
async fn the_desk_is_read_where_there_is_one() {
    let app = App::start().await;
    assert_eq!(ids(&app.get("/api/v1/desk/deals?key=website:submission:s1").await.1), ["deal-1"]);
    assert_eq!(ids(&app.get("/api/v1/desk/deals?key=other").await.1), [""; 0]);
    let without = App::start_with(None).await;
    assert_eq!(without.get("/api/v1/desk/deals").await.1["code"], "no-desk");
}

#[tokio::test]
async fn nobody_comes_in_from_elsewhere_and_probes_answer_anybody() {
    let app = App::start().await;
    for path in ["/api/v1/enquiries", "/api/v1/nothing"] {
        let response = app.send(Request::get(path).header("host", "book.example.com").body(Body::empty()).unwrap()).await;
        assert_eq!(response.headers()["www-authenticate"], "Bearer");
        let (status, body) = read(response).await;
        assert_eq!((status, &body["code"]), (StatusCode::UNAUTHORIZED, &json!("unauthorized")));
    }
    for path in ["/healthz", "/readyz"] {
        let response = app.send(Request::get(path).body(Body::empty()).unwrap()).await;
        assert_eq!(read(response).await.0, StatusCode::OK);
    }
}
