//! From `[qualifier]` to the qualifier itself: the rules, or a model over the one HTTP client.

use std::sync::Arc;

use async_trait::async_trait;
use domain::time::Clock;

use super::secret;
use crate::config::{Config, Problem, QualifierKind, Secret};
use crate::effects::http::Questions;
use crate::qualify::Qualifier;
use crate::qualify::openai::{ANSWER_MAX, Broken, Line, OpenAi, OpenAiParams, Said};
use crate::qualify::rules::Rules;

/// Hosts of `OpenAI`'s own, and of those that serve its API unchanged.
const OPENAIS_OWN: [&str; 2] = ["api.openai.com", ".openai.azure.com"];

/// The qualifier that is configured; what stands in its way is named in `wrong`.
pub(super) fn qualifier(
    config: &Config,
    clock: &Arc<dyn Clock>,
    env: &dyn Fn(&str) -> Option<String>,
    wrong: &mut Vec<Problem>,
) -> Arc<dyn Qualifier> {
    match &config.qualifier.kind {
        QualifierKind::Rules => Arc::new(Rules),
        QualifierKind::OpenAi { base_url, model } => match questions(config, base_url, clock, env) {
            Ok(questions) => {
                let host = url::Url::parse(base_url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
                let params = OpenAiParams {
                    model: model.clone(),
                    max_tokens: config.qualifier.max_tokens,
                    is_openais_own: OPENAIS_OWN.iter().any(|own| if own.starts_with('.') { host.ends_with(own) } else { host == *own }),
                    timeout_ms: config.qualifier.timeout.ms(),
                    address: told(base_url),
                };
                Arc::new(OpenAi::new(params, Arc::new(Asked(questions))))
            }
            Err((key, why)) => {
                wrong.push(config.problem(key, why));
                Arc::new(Rules)
            }
        },
    }
}

/// The address as a log may have it: who has the log is not to be let in by it.
fn told(base_url: &str) -> String {
    let Ok(url) = url::Url::parse(base_url) else { return String::new() };
    format!("{}{}", url.origin().ascii_serialization(), url.path())
}

fn questions(
    config: &Config,
    base_url: &str,
    clock: &Arc<dyn Clock>,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Questions, (&'static str, String)> {
    let key = config.qualifier.api_key.as_ref().map(|key| secret(key, env)).transpose().map_err(|why| ("qualifier.api_key", why))?;
    let url = format!("{base_url}/chat/completions");
    let timeout_ms = config.qualifier.timeout.ms();
    Questions::new(&url, key.as_ref().map(Secret::expose), timeout_ms, ANSWER_MAX, Arc::clone(clock)).map_err(|why| ("qualifier", why))
}

/// The HTTP client, as a qualifier knows it.
struct Asked(Questions);

#[async_trait]
impl Line for Asked {
    async fn ask(&self, body: Vec<u8>) -> Result<Said, String> {
        let reply = self.0.ask(body).await?;
        Ok(Said {
            status: reply.status,
            retry_after_ms: reply.retry_after_ms,
            request_id: reply.request_id,
            body: reply.body,
            broken: reply.cut.map(|too_large| if too_large { Broken::TooLarge } else { Broken::Lost }),
        })
    }

    fn hush(&self, text: String) -> String {
        self.0.hush(&text)
    }
}

/// Whether a template may print a model's draft: it names it, or takes the qualification as a whole, where the draft stands
/// among the rest. Every other use names a member right behind a dot.
pub(super) fn may_hold_a_draft(template: &str) -> bool {
    let members = template.match_indices("qualification").map(|(at, root)| {
        let behind = template[at + root.len()..].trim_start();
        let member = behind.strip_prefix('.').map(str::trim_start);
        member.map_or("", |member| member.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or_default())
    });
    members.into_iter().any(|member| member.is_empty() || member == "reply_draft") || template.contains("debug(")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i12_the_address_in_the_log_lets_nobody_in() {
        assert_eq!(told("https://user:sesame@models.example.com/v1?key=sesame#sesame"), "https://models.example.com/v1");
        assert_eq!(told("http://127.0.0.1:8080/v1"), "http://127.0.0.1:8080/v1");
    }

    #[test]
    fn a_draft_is_found_however_a_template_takes_it() {
        for with in [
            "{{ qualification.reply_draft }}",
            "{{ qualification . reply_draft }}",
            "{{ qualification['reply_draft'] }}",
            "{{ qualification|tojson }}",
            "{% set q = qualification %}{{ q.summary }}",
            "{% for name in qualification %}{% endfor %}",
            "{{ debug() }}",
        ] {
            assert!(may_hold_a_draft(with), "{with}");
        }
        for without in ["Hello", "{{ enquiry.summary }}", "{{ qualification.summary }} {{ qualification.budget or 'open' }}"] {
            assert!(!may_hold_a_draft(without), "{without}");
        }
    }
}
