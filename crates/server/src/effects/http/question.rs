//! A question put to a server by POST that changes nothing there: how a model is asked. Here because HTTP clients are made
//! nowhere else; what is asked and what an answer means is the asker's.

use std::sync::Arc;

use domain::time::Clock;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Response, Url};

use super::client::{reading, retry_after, span, words};
use super::told::{Told, without};
use crate::effects::template::Secrets;

/// Where a provider writes its own id of a request.
const REQUEST_IDS: [&str; 3] = ["x-request-id", "request-id", "cf-ray"];

/// Where questions go: one address, with the one header that lets us in.
pub struct Questions {
    client: Client,
    url: Url,
    authorization: Option<HeaderValue>,
    told: Told,
    body_max: usize,
    clock: Arc<dyn Clock>,
}

/// What was answered.
#[derive(Debug)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The wait that was asked for, in ms.
    pub retry_after_ms: Option<i64>,
    /// The server's own id of the request.
    pub request_id: Option<String>,
    /// The body, as far as it came and fits, with our secret masked.
    pub body: Vec<u8>,
    /// `Some(true)`: the body is longer than was to be read; `Some(false)`: it broke off.
    pub cut: Option<bool>,
}

impl Questions {
    /// Questions to this address, each answered within `timeout_ms`, of which at most `body_max` bytes are read. The errors
    /// name no secret.
    pub fn new(url: &str, key: Option<&str>, timeout_ms: i64, body_max: usize, clock: Arc<dyn Clock>) -> Result<Self, String> {
        let told = Told::default();
        let authorization = match key {
            Some(key) => {
                let key = key.to_owned();
                let remembered: Secrets = told.listening(Arc::new(move |_| Ok(key.clone())));
                let mut value = HeaderValue::from_str(&format!("Bearer {}", remembered("key")?))
                    .map_err(|_| "the key has characters that no HTTP header may have".to_owned())?;
                value.set_sensitive(true);
                Some(value)
            }
            None => None,
        };
        let url = Url::parse(url).map_err(|e| format!("no address: {e}"))?;
        Ok(Self { client: reading(span(timeout_ms))?, url, authorization, told, body_max, clock })
    }

    /// Asks once. `Err`: there is no answer at all, and why.
    pub async fn ask(&self, body: Vec<u8>) -> Result<Reply, String> {
        let mut request = self.client.post(self.url.clone()).header(CONTENT_TYPE, "application/json").body(body);
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        let response = request.send().await.map_err(|e| words(&e.without_url()))?;
        Ok(self.read(response).await)
    }

    /// A text that was read from an answer, our secret masked.
    pub fn hush(&self, text: &str) -> String {
        String::from_utf8_lossy(&without(text.as_bytes(), &self.told.forms(&[]))).into_owned()
    }

    async fn read(&self, mut response: Response) -> Reply {
        let (status, headers) = (response.status().as_u16(), response.headers());
        let retry_after_ms = wait(headers, &*self.clock);
        let request_id = REQUEST_IDS.iter().find_map(|name| headers.get(*name)?.to_str().ok()).map(str::to_owned);
        let mut body = Vec::new();
        let cut = loop {
            match response.chunk().await {
                Ok(None) => break None,
                Ok(Some(chunk)) => {
                    let room = self.body_max - body.len();
                    body.extend_from_slice(&chunk[..chunk.len().min(room)]);
                    if chunk.len() > room {
                        break Some(true);
                    }
                }
                Err(_) => break Some(false),
            }
        };
        Reply { status, retry_after_ms, request_id, body: without(&body, &self.told.forms(&[])), cut }
    }
}

/// `OpenAI` says it in milliseconds too, which is the closer word.
fn wait(headers: &HeaderMap, clock: &dyn Clock) -> Option<i64> {
    let closer = headers.get("retry-after-ms").and_then(|value| value.to_str().ok()?.trim().parse::<u32>().ok());
    closer.map(i64::from).or_else(|| retry_after(headers, clock.now()))
}
