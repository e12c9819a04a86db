//! Reading a chat completion: what the server says about its answer comes before the answer itself.
//!
//! A status, a refusal and a truncation are told apart here; what the content says is [`result`](super::result)'s.

use evidence::Facts;
use serde::Deserialize;

use super::{Broken, Refusal, Said};
use crate::qualify::Failure;

/// An id longer than this is none.
const ID_MAX: usize = 100;
/// What `finish_reason` may be; anything else is journalled as `other`, for its text is the server's.
const FINISHES: [&str; 5] = ["stop", "length", "content_filter", "tool_calls", "function_call"];

/// A completion, as far as we read it. Servers add what they like.
#[derive(Deserialize)]
struct Completion {
    id: Option<String>,
    #[serde(default)]
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    finish_reason: Option<String>,
    message: Message,
}

#[derive(Deserialize)]
struct Message {
    content: Option<String>,
    refusal: Option<String>,
}

/// What the server told.
pub(super) struct Told {
    status: u16,
    finish: Option<&'static str>,
    request_id: Option<String>,
    pub(super) content: Result<String, Refusal>,
}

impl Told {
    /// What the journal may know of it, beside what is known already.
    pub(super) fn facts(&self, facts: Facts) -> Facts {
        facts.with("status", self.status).maybe("finish_reason", self.finish).maybe("request_id", self.request_id.as_deref())
    }
}

/// Reads it. The content is there only where the server says that it is whole.
pub(super) fn told(said: &Said) -> Told {
    let completion = serde_json::from_slice::<Completion>(&said.body).ok();
    let choice = completion.as_ref().and_then(|c| c.choices.first());
    let named = choice.and_then(|choice| choice.finish_reason.as_deref());
    let finish = named.map(|word| FINISHES.into_iter().find(|known| *known == word).unwrap_or("other"));
    let own_id = completion.as_ref().and_then(|c| c.id.as_deref());
    let request_id = said.request_id.as_deref().or(own_id).filter(|id| is_plain(id)).map(str::to_owned);
    let content = match (refused(said), &completion, choice) {
        (Some(refusal), ..) => Err(refusal),
        (None, None, _) => Err(Refusal::of(Failure::Invalid, "the answer is no chat completion")),
        (None, Some(_), None) => Err(Refusal::of(Failure::Invalid, "the answer has no choices")),
        (None, Some(_), Some(choice)) => content(choice, finish),
    };
    Told { status: said.status, finish, request_id, content }
}

/// What the status and the transfer say, if they say that there is no answer.
fn refused(said: &Said) -> Option<Refusal> {
    let status = said.status;
    let refusal = match status {
        200..=299 => match said.broken? {
            Broken::TooLarge => Refusal::of(Failure::Invalid, "the answer is larger than any result"),
            Broken::Lost => Refusal::of(Failure::Unreachable, "the answer broke off on its way"),
        },
        401 | 403 => Refusal::of(Failure::Rejected, format!("the model's server does not let us in ({status}): look at qualifier.api_key")),
        404 => {
            Refusal::of(Failure::Rejected, "the model's server knows no such address or model (404): look at qualifier.base_url and model")
        }
        408 | 409 | 425 | 429 | 500.. => Refusal::of(Failure::Unreachable, format!("the model's server answered {status}")),
        300..=399 => {
            Refusal::of(Failure::Rejected, format!("the model's server sends us elsewhere ({status}): look at qualifier.base_url"))
        }
        _ => Refusal::of(Failure::Rejected, format!("the model's server refuses the question ({status})")),
    };
    Some(refusal)
}

fn content(choice: &Choice, finish: Option<&str>) -> Result<String, Refusal> {
    let refusal = choice.message.refusal.as_deref().is_some_and(|words| !words.trim().is_empty());
    match finish {
        _ if refusal => Err(Refusal::of(Failure::Refused, "the model declined")),
        Some("content_filter") => Err(Refusal::of(Failure::Refused, "the provider's content filter stopped the answer")),
        Some("length") => Err(Refusal::of(Failure::Truncated, "the answer was cut off at the token limit")),
        // One that says nothing of how it ended is taken for whole: its content shows whether it is.
        Some("stop") | None => match choice.message.content.as_deref().filter(|text| !text.trim().is_empty()) {
            Some(text) => Ok(text.to_owned()),
            None => Err(Refusal::of(Failure::Invalid, "the answer is empty")),
        },
        Some(_) => Err(Refusal::of(Failure::Invalid, "the answer ended in another way than as a text")),
    }
}

/// Ids go into the journal: nothing but what ids are made of.
fn is_plain(id: &str) -> bool {
    (1..=ID_MAX).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:".contains(&b))
}
