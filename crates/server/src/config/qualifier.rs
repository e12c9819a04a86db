//! `[qualifier]`: who turns an enquiry's text into a structured result, and how often it is tried.

use super::secret::SecretRef;
use super::section::Section;
use super::units::Period;

/// The `[qualifier]` section.
#[derive(Clone, Debug)]
pub struct Qualifier {
    /// Who qualifies.
    pub kind: QualifierKind,
    /// The model server's address, without a slash at its end; unused by the rules.
    pub base_url: Option<String>,
    /// The model's name; unused by the rules.
    pub model: Option<String>,
    /// The model server's key; unused by the rules.
    pub api_key: Option<SecretRef>,
    /// The most tokens that a model's answer may have; unused by the rules.
    pub max_tokens: u32,
    /// How often it is tried before the enquiry goes on without.
    pub attempts: u32,
    /// The wait after the first failure; doubled after each.
    pub backoff: Period,
    /// The longest that one try may take.
    pub timeout: Period,
    /// A result less sure than this goes to review.
    pub min_confidence: f64,
}

/// Who qualifies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QualifierKind {
    /// The embedded rules.
    Rules,
    /// A server that speaks the `OpenAI` chat completions protocol.
    OpenAi {
        /// Its address, without a slash at its end.
        base_url: String,
        /// The model's name there.
        model: String,
    },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    Rules,
    OpenAi,
}

/// While a model is tried, the enquiry's record is not written: what is longer would only be forgotten.
const TIMEOUT_MAX_MS: i64 = 10 * 60_000;
const BACKOFF_MAX_MS: i64 = 10 * 60_000;

impl Qualifier {
    pub(super) fn read(section: &Section<'_>) -> Self {
        let word = section.parsed_by("kind", word).unwrap_or(Word::Rules);
        let (base_url, model) = (base_url(section), model(section));
        let timeout = section.parsed("timeout").unwrap_or(Period::secs(30));
        if timeout.ms() == 0 || timeout.ms() > TIMEOUT_MAX_MS {
            section.problem("timeout", "`timeout` must leave some time for an answer, and at most 10m: the record waits for it, e.g. 30s");
        }
        let backoff = section.parsed("backoff").unwrap_or(Period::secs(1));
        if backoff.ms() > BACKOFF_MAX_MS {
            section.problem("backoff", "`backoff` is at most 10m: the record waits for it, e.g. 1s");
        }
        if word == Word::OpenAi {
            for (key, why) in [("base_url", "the server's address, e.g. http://127.0.0.1:8080/v1"), ("model", "its name on that server")] {
                if section.given(key).is_none() {
                    section.problem(key, format!("`{key}` is missing: a model needs {why}"));
                }
            }
        }
        let kind = match (word, &base_url, &model) {
            (Word::OpenAi, Some(base_url), Some(model)) => QualifierKind::OpenAi { base_url: base_url.clone(), model: model.clone() },
            // What is missing was named.
            _ => QualifierKind::Rules,
        };
        Self {
            kind,
            base_url,
            model,
            max_tokens: section.whole("max_tokens", 16..=65_536).unwrap_or(1_024),
            api_key: section.secret("api_key"),
            attempts: section.whole("attempts", 1..=20).unwrap_or(3),
            backoff,
            timeout,
            min_confidence: section.share("min_confidence").unwrap_or(0.7),
        }
    }
}

fn word(text: &str) -> Result<Word, String> {
    match text {
        "rules" => Ok(Word::Rules),
        "openai" => Ok(Word::OpenAi),
        "anthropic" => Err("kind anthropic comes later; use rules, or openai with a server that speaks it".to_owned()),
        other => Err(format!("there is no kind `{other}`; use rules or openai")),
    }
}

fn model(section: &Section<'_>) -> Option<String> {
    let name = section.text("model")?;
    if name.trim().is_empty() || name.len() > 200 || name.chars().any(char::is_control) {
        section.problem("model", "`model` takes the model's name on that server, on one line");
        return None;
    }
    Some(name)
}

fn base_url(section: &Section<'_>) -> Option<String> {
    let text = section.text("base_url")?;
    let url = url::Url::parse(&text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let Some(url) = url else {
        section.problem("base_url", "`base_url` takes the server's address, e.g. http://127.0.0.1:8080/v1");
        return None;
    };
    if !url.username().is_empty() || url.password().is_some() {
        section.secret_problem(section.path.key("base_url"), "a password stands in the address: give it as `api_key`, by reference");
        return None;
    }
    if url.path().trim_end_matches('/').ends_with("/chat/completions") {
        section.problem("base_url", "the address ends before /chat/completions, which is put behind it: e.g. http://127.0.0.1:8080/v1");
        return None;
    }
    if url.query().is_some() || url.fragment().is_some() {
        section.secret_problem(section.path.key("base_url"), "the address ends at its path: /chat/completions is put behind it");
        return None;
    }
    Some(text.trim_end_matches('/').to_owned())
}
