//! The qualifier `openai`: any server that speaks the `OpenAI` chat completions protocol (`docs/connectors.md#models`).
//!
//! [`text`] makes of an enquiry what the model may read, [`request`] asks, [`answer`] tells refusal, truncation and error
//! apart before anything is parsed, [`result`] takes the content whole or not at all, [`supported`] drops facts that do not
//! stand in the enquiry. The HTTP client is not here: a [`Line`] is handed in.

mod addressed;
mod answer;
mod html;
mod request;
mod result;
mod supported;
#[cfg(test)]
mod tests;
mod text;

use async_trait::async_trait;
use domain::enquiry::{Fields, Qualification};
use evidence::Facts;

use self::text::Given;
use super::{Evidence, Failure, Qualified, Qualifier, QualifyError};

pub use self::request::{PROMPT, PROMPT_NAME};
pub use self::text::MESSAGE_MAX;

/// More of an answer is neither read nor kept: what fits the schema is a few KiB.
pub const ANSWER_MAX: usize = 256 * 1024;

/// The way to the model's server. Asking changes nothing there, so an answer that is lost may be asked for again.
#[async_trait]
pub trait Line: Send + Sync {
    /// Posts the body as JSON to the chat completions of the configured server. `Err`: why there is no answer at all, in
    /// words that hold no secret.
    async fn ask(&self, body: Vec<u8>) -> Result<Said, String>;

    /// A text of an answer without any secret of ours, however it was escaped on the way.
    fn hush(&self, text: String) -> String {
        text
    }
}

/// What the server said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The HTTP status.
    pub status: u16,
    /// The wait it asked for, in ms.
    pub retry_after_ms: Option<i64>,
    /// Its own id of the request, from the answer's head.
    pub request_id: Option<String>,
    /// The body as far as it came and is kept: at most [`ANSWER_MAX`] bytes, secrets masked.
    pub body: Vec<u8>,
    /// Why the body is not whole, if it is not.
    pub broken: Option<Broken>,
}

/// Why a body is not whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// It is longer than [`ANSWER_MAX`].
    TooLarge,
    /// The connection ended, or the time was over.
    Lost,
}

/// What the configuration says.
#[derive(Clone, Debug)]
pub struct OpenAiParams {
    /// The model's name.
    pub model: String,
    /// The most tokens that an answer may have.
    pub max_tokens: u32,
    /// Whether the server is `OpenAI`'s own, which names two things differently from those that imitate it.
    pub is_openais_own: bool,
    /// The longest that one try takes, in ms.
    pub timeout_ms: i64,
    /// Where the line leads, for the log: without user, password and query.
    pub address: String,
}

/// The qualifier.
pub struct OpenAi {
    params: OpenAiParams,
    line: std::sync::Arc<dyn Line>,
}

impl OpenAi {
    /// A qualifier that asks over this line.
    pub fn new(params: OpenAiParams, line: std::sync::Arc<dyn Line>) -> Self {
        Self { params, line }
    }

    async fn try_once(&self, given: &Given) -> (Facts, Vec<u8>, Result<Qualification, Refusal>) {
        let facts = given.facts().with("model", self.params.model.as_str()).with("prompt", PROMPT_NAME);
        if given.is_empty() {
            return (facts, Vec::new(), Err(Refusal::of(Failure::Rejected, "there is no text to read")));
        }
        let said = match self.line.ask(request::body(&self.params, given)).await {
            Ok(said) => said,
            Err(why) => return (facts, Vec::new(), Err(Refusal::of(Failure::Unreachable, why))),
        };
        let told = answer::told(&said);
        let facts = told.facts(facts);
        let read = told.content.and_then(|content| result::read(&content, given)).map(|result| self.hushed(result));
        let read = read.map_err(|refusal| Refusal { retry_after_ms: said.retry_after_ms, ..refusal });
        (facts, said.body, read)
    }
}

impl OpenAi {
    /// The result without a secret that the server may have echoed in escapes, which only reading takes off.
    fn hushed(&self, result: Qualification) -> Qualification {
        let hush = |text| self.line.hush(text);
        Qualification {
            summary: hush(result.summary),
            budget: result.budget.map(hush),
            contact_facts: result.contact_facts.into_iter().map(hush).collect(),
            unsupported: result.unsupported.into_iter().map(hush).collect(),
            reply_draft: result.reply_draft.map(hush),
            ..result
        }
    }
}

/// Why there is no result, before the evidence is put beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Refusal {
    kind: Failure,
    why: String,
    retry_after_ms: Option<i64>,
}

impl Refusal {
    fn of(kind: Failure, why: impl Into<String>) -> Self {
        Self { kind, why: why.into(), retry_after_ms: None }
    }
}

#[async_trait]
impl Qualifier for OpenAi {
    fn name(&self) -> String {
        format!("openai/{}", self.params.model)
    }

    fn address(&self) -> Option<&str> {
        Some(&self.params.address)
    }

    fn timeout_ms(&self) -> i64 {
        self.params.timeout_ms
    }

    async fn qualify(&self, fields: &Fields) -> Result<Qualified, QualifyError> {
        let given = Given::of(fields);
        let (facts, answer, read) = self.try_once(&given).await;
        match read {
            Ok(result) => {
                let facts = facts.with("unsupported", result.unsupported.len());
                Ok(Qualified { result, suspect: given.suspect, evidence: Evidence { answer, facts } })
            }
            Err(Refusal { kind, why, retry_after_ms }) => {
                Err(QualifyError { kind, why, retry_after_ms, evidence: Evidence { answer, facts } })
            }
        }
    }
}
