//! Errors as RFC 9457 tells them: `application/problem+json` with a stable `code`. The form only; which error is which
//! problem is said by those who answer.

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use serde_json::json;

/// An error's answer. `code` is for programs and never changes; `title` names the kind, `detail` the case. Neither holds
/// a secret or anything a sender sent.
pub fn problem(status: StatusCode, code: &str, title: &str, detail: &str) -> Response {
    let body = json!({
        "type": format!("urn:oncebook:problem:{code}"),
        "title": title,
        "status": status.as_u16(),
        "detail": detail,
        "code": code,
    });
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    response
}

/// The same, with one more header.
pub fn problem_with(mut response: Response, name: header::HeaderName, value: HeaderValue) -> Response {
    response.headers_mut().insert(name, value);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_problem_has_its_five_members_and_its_type() {
        let response = problem(StatusCode::NOT_FOUND, "unknown-source", "No such source", "There is none.");
        assert_eq!(response.status(), StatusCode::NOT_FOUND);
        assert_eq!(response.headers()[header::CONTENT_TYPE], "application/problem+json");
        let bytes = axum::body::to_bytes(response.into_body(), 4096).await.unwrap();
        let body: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(
            body,
            json!({"type": "urn:oncebook:problem:unknown-source", "title": "No such source", "status": 404,
                   "detail": "There is none.", "code": "unknown-source"})
        );
    }
}
