//! A write by HTTP: the request as it was rendered, sent once, and what its answer means.
//!
//! The status alone is never success: without a usable id a 2xx is *unknown* (`docs/connectors.md#per-record-errors`: Zoho
//! and `HubSpot` answer 200 and 207 with the refusal inside). What follows from an outcome is the gate's business.

use domain::tree::Tree;
use evidence::Facts;
use minijinja::Value;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Body, Method, Request, Url};

use super::client::{Answer, NoAnswer};
use super::{Call, Http, Outcome, Rendered, Report, Template, parse_url, scene};

/// How much of an answer is kept as evidence.
const KEPT_MAX: usize = 64 * 1024;
/// How long a target is left alone that says *too many* and not for how long, in ms.
pub(super) const TOO_MANY_MS: i64 = 1_000;
/// How many characters of a refusal are told.
const TOLD_MAX: usize = 200;
/// Bytes of a record's id. It goes into addresses and into every entry about the record.
const ID_MAX: usize = 512;
/// A shorter part of a whole header is no secret, but a word (`Bearer`, `Basic`).
const PART_MIN: usize = 8;

/// The headers of one request, and what in them must not be told.
pub(super) struct Headers {
    map: HeaderMap,
    secrets: Vec<String>,
}

impl Http {
    pub(super) async fn send_write(&self, call: &Call) -> Report<Outcome> {
        let not_sent = |why: String| Report::bare(Outcome::NotSent { why, retry_after_ms: None });
        let (request, headers) = match self.prepared(call) {
            Ok(prepared) => prepared,
            Err(why) => return not_sent(why),
        };
        if self.clock.now() >= call.deadline {
            return not_sent("the deadline had passed before the send".to_owned());
        }
        match self.client.write(request, call.deadline, &self.clock).await {
            Ok(answer) => headers.report(&answer, self.meaning(&answer, &headers)),
            Err(NoAnswer::NotSent(why)) => not_sent(why),
            Err(NoAnswer::Lost(why)) => Report::bare(Outcome::Unknown(why)),
        }
    }

    fn prepared(&self, call: &Call) -> Result<(Request, Headers), String> {
        let rendered: Rendered =
            serde_json::from_slice(&call.rendered).map_err(|_| "what was rendered is no request of this target".to_owned())?;
        let method = rendered.method.parse::<Method>().map_err(|e| e.to_string())?;
        let headers = self.headers(call, None)?;
        let mut request = headers.request(method, parse_url("write.url", &rendered.url)?);
        let content_type = HeaderValue::from_str(&rendered.content_type).map_err(|_| "write.content_type is no header".to_owned())?;
        request.headers_mut().insert(CONTENT_TYPE, content_type);
        *request.body_mut() = Some(Body::from(rendered.body));
        Ok((request, headers))
    }

    /// Renders the headers anew for each request, so that a rotated secret is the present one.
    pub(super) fn headers(&self, call: &Call, id: Option<&str>) -> Result<Headers, String> {
        let scene = scene(&call.key, &call.scene, id);
        let (mut map, mut whole) = (HeaderMap::new(), Vec::new());
        for (name, template) in &self.headers {
            let (text, mut value) = Self::header(name, template, &scene)?;
            if template.is_secret() {
                value.set_sensitive(true);
                whole.extend(text.split_whitespace().filter(|part| part.len() >= PART_MIN).map(str::to_owned));
            }
            map.insert(name.clone(), value);
        }
        Ok(Headers { map, secrets: self.told.forms(&whole) })
    }

    /// One header's text, and the header.
    pub(super) fn header(name: &HeaderName, template: &Template, scene: &Value) -> Result<(String, HeaderValue), String> {
        let text = template.render(scene)?;
        let value = HeaderValue::from_bytes(text.as_bytes()).map_err(|_| format!("headers.{name}: no header may hold this"))?;
        Ok((text, value))
    }

    fn meaning(&self, answer: &Answer, headers: &Headers) -> Outcome {
        let told = || format!("status {}", answer.status);
        match answer.status {
            401 | 403 => Outcome::Closed(told()),
            429 => Outcome::NotSent { why: told(), retry_after_ms: answer.retry_after_ms.or(Some(TOO_MANY_MS)) },
            status if self.not_executed.contains(&status) => Outcome::NotSent { why: told(), retry_after_ms: answer.retry_after_ms },
            409 => Outcome::Conflict,
            200..=299 => match answer.body.as_deref().map_err(Clone::clone).and_then(|body| self.id_in(body)) {
                Ok(id) => Outcome::Applied(id),
                Err(why) => Outcome::Unknown(format!("{}, {why}", told())),
            },
            300..=399 => Outcome::Unknown(format!("{}: a redirect is not success", told())),
            408 | 425 => Outcome::Unknown(told()),
            400..=499 => match &answer.body {
                Ok(body) => Outcome::Refused(format!("{}: {}", told(), shortened(&headers.without_secrets(body)))),
                Err(why) => Outcome::Unknown(format!("{}, {why}", told())),
            },
            _ => Outcome::Unknown(told()),
        }
    }

    fn id_in(&self, body: &[u8]) -> Result<String, String> {
        let tree = parsed(body)?;
        for (pointer, wanted) in &self.write.ok {
            if tree.at(pointer).and_then(Tree::leaf) != Some(wanted) {
                return Err(format!("but {pointer} is not what write.ok asks for"));
            }
        }
        tree.at(&self.write.id).and_then(id).ok_or_else(|| "a 2xx without an id".to_owned())
    }
}

impl Headers {
    /// A request that carries them.
    pub(super) fn request(&self, method: Method, url: Url) -> Request {
        let mut request = Request::new(method, url);
        *request.headers_mut() = self.map.clone();
        request
    }

    /// What came of it, with the answer as evidence.
    pub(super) fn report<T>(&self, answer: &Answer, what: T) -> Report<T> {
        let body = answer.body.as_ref().ok().map(|body| {
            let mut kept = self.without_secrets(body);
            kept.truncate(KEPT_MAX);
            kept
        });
        let cut = answer.body.as_ref().err().map(String::as_str);
        Report { what, facts: Facts::new().with("status", answer.status).maybe("body_not_whole", cut), body }
    }

    /// The bytes, without what our own headers hold: some APIs repeat a request in their answer.
    fn without_secrets(&self, bytes: &[u8]) -> Vec<u8> {
        super::told::without(bytes, &self.secrets)
    }
}

/// An answer's JSON. What is wrong with it is told, what stands in it is not.
pub(super) fn parsed(body: &[u8]) -> Result<Tree, String> {
    let text = std::str::from_utf8(body).map_err(|_| "the answer is not UTF-8".to_owned())?;
    Tree::from_json(text).map_err(|_| "the answer is not JSON".to_owned())
}

/// An id: a text that says something, or a number with all its digits.
pub(super) fn id(tree: &Tree) -> Option<String> {
    match tree {
        Tree::Text(text) if !text.trim().is_empty() && text.len() <= ID_MAX => Some(text.clone()),
        Tree::Number(digits) if digits.len() <= ID_MAX => Some(digits.clone()),
        Tree::Text(_) | Tree::Number(_) | Tree::Null | Tree::Bool(_) | Tree::List(_) | Tree::Map(_) => None,
    }
}

fn shortened(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(TOLD_MAX * 4)]);
    text.chars().filter(|c| !c.is_control()).take(TOLD_MAX).collect()
}
