//! The router over a real book, a real engine and a target that refuses.

mod acting;
mod engine;
mod reading;
mod turns;

use std::sync::Arc;

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use http::{Request, Response, StatusCode};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::*;
use crate::views::fixture::{Book, Still};
use crate::views::{PageView, RedeliverRefused};

/// A desk with one deal.
struct OneDeal;

#[async_trait]
impl DeskBook for OneDeal {
    async fn deals(&self, key: Option<&str>, cursor: Option<i64>, _: usize) -> Result<PageView<Value>, String> {
        let deal = json!({"id": "deal-1", "key": "website:submission:s1", "title": "One", "created_at": "2026-03-02T09:15:04.120Z"});
        let asked = cursor.is_none() && key.is_none_or(|key| deal["key"] == key);
        Ok(PageView { items: if asked { vec![deal] } else { Vec::new() }, next_cursor: None })
    }

    async fn contacts(&self, _: Option<i64>, _: usize) -> Result<PageView<Value>, String> {
        Err("the file is locked".to_owned())
    }
}

/// Says what it was asked for.
struct Echo;

#[async_trait]
impl Redeliver for Echo {
    async fn redeliver(&self, delivery: &str, by: &str, separate: bool) -> Result<Value, RedeliverRefused> {
        match delivery {
            "dlv_none" => Err(RedeliverRefused::Unknown),
            "dlv_done" => Err(RedeliverRefused::DoesNotFit("there is nothing to replay".to_owned())),
            "dlv_later" => Err(RedeliverRefused::Unavailable { retry_after_s: 7 }),
            _ => Ok(json!({"verdict": "accepted", "delivery": delivery, "by": by, "separate": separate})),
        }
    }
}

/// A running API.
struct App {
    book: Book,
    engine: Arc<Engine>,
    router: Router,
}

impl App {
    async fn start() -> Self {
        Self::start_with(Some(Arc::new(OneDeal))).await
    }

    async fn start_with(desk: Option<Arc<dyn DeskBook>>) -> Self {
        Self::start_as(desk, Turns::new(Arc::new(Still), 4)).await
    }

    async fn start_as(desk: Option<Arc<dyn DeskBook>>, turns: Turns) -> Self {
        let book = Book::open();
        let engine = engine::over(&book).await;
        let target = TargetSetup { name: "crm".to_owned(), kind: "http".to_owned(), mode: "live".to_owned() };
        let router = router(ApiState {
            reader: Reader::new(Arc::clone(&book.store)),
            engine: Arc::clone(&engine),
            desk,
            redeliver: Arc::new(Echo),
            clock: Arc::new(Still),
            targets: vec![target],
            sources: vec!["web".to_owned()],
            access: Access::new(true, Vec::new()),
            turns,
        });
        Self { book, engine, router }
    }

    /// Does all work that is due.
    async fn work(&self) {
        while self.engine.work_once().await.unwrap() {}
    }

    async fn send(&self, request: Request<Body>) -> Response<Body> {
        self.router.clone().oneshot(request).await.unwrap()
    }

    async fn get(&self, path: &str) -> (StatusCode, Value) {
        let request = Request::get(path).header("host", "localhost:8484").body(Body::empty()).unwrap();
        read(self.send(request).await).await
    }

    async fn post(&self, path: &str, body: &Value) -> (StatusCode, Value) {
        let request = Request::post(path).header("host", "localhost").header("content-type", "application/json");
        read(self.send(request.body(Body::from(body.to_string())).unwrap()).await).await
    }
}

/// The answer's status and body, once it is known to be what every answer is: JSON, and an error a problem.
async fn read(response: Response<Body>) -> (StatusCode, Value) {
    let (status, content_type) = (response.status(), response.headers()["content-type"].to_str().unwrap().to_owned());
    let bytes = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
    let body: Value = serde_json::from_slice(&bytes).unwrap();
    if status.is_success() {
        assert_eq!(content_type, "application/json");
        assert_eq!(body.get("error"), None, "n8n would repeat the call");
    } else {
        assert_eq!(content_type, "application/problem+json", "{body}");
        assert_eq!(body["status"], status.as_u16());
        assert!(body["code"].is_string() && body["title"].is_string() && body["detail"].is_string());
    }
    (status, body)
}

fn ids(page: &Value) -> Vec<String> {
    page["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}
