//! `[qualifier]`: who turns an enquiry's text into a structured result, and how often it is tried.

use super::secret::SecretRef;
use super::section::Section;
use super::units::Period;

/// The `[qualifier]` section.
#[derive(Clone, Debug)]
pub struct Qualifier {
    /// Who qualifies.
    pub kind: QualifierKind,
    /// The model server's address; unused by the rules.
    pub base_url: Option<String>,
    /// The model's name; unused by the rules.
    pub model: Option<String>,
    /// The model server's key; unused by the rules.
    pub api_key: Option<SecretRef>,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QualifierKind {
    /// The embedded rules.
    Rules,
}

impl Qualifier {
    pub(super) fn read(section: &Section<'_>) -> Self {
        Self {
            kind: section.parsed_by("kind", kind).unwrap_or(QualifierKind::Rules),
            base_url: base_url(section),
            model: section.text("model"),
            api_key: section.secret("api_key"),
            attempts: section.whole("attempts", 1..=20).unwrap_or(3),
            backoff: section.parsed("backoff").unwrap_or(Period::secs(1)),
            timeout: section.parsed("timeout").unwrap_or(Period::secs(30)),
            min_confidence: section.share("min_confidence").unwrap_or(0.7),
        }
    }
}

fn kind(text: &str) -> Result<QualifierKind, String> {
    match text {
        "rules" => Ok(QualifierKind::Rules),
        "openai" | "anthropic" => Err(format!("kind {text} comes later; use rules")),
        other => Err(format!("there is no kind `{other}`; use rules")),
    }
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
    Some(text.trim_end_matches('/').to_owned())
}
