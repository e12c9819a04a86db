//! Speaking to the server that holds the book: for the commands that write while it runs.
//!
//! A server on this machine, found by the address that it noted in the data directory. One try, no redirect, no proxy:
//! what got no answer may have been carried out, and is said so instead of being sent again.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use reqwest::header::CONTENT_TYPE;
use serde_json::Value;
use url::Url;

use super::{CliError, environment};
use crate::app::ADDRESS_FILE;
use crate::config::Config;

const TIMEOUT: Duration = Duration::from_secs(10);

/// A server that runs.
pub(super) struct Server {
    address: SocketAddr,
    token: Option<String>,
}

/// The address that a running server noted; one that ended badly may have left its own.
pub(super) fn noted_address(config: &Config) -> Option<SocketAddr> {
    let text = std::fs::read_to_string(config.server.data_dir.join(ADDRESS_FILE)).ok()?;
    let address: SocketAddr = text.trim().parse().ok()?;
    // Listening everywhere is no address to speak to.
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    Some(SocketAddr::new(ip, address.port()))
}

impl Server {
    /// The server that holds the book, which could not be opened here because `held`.
    pub(super) fn running(config: &Config, held: &str) -> Result<Self, CliError> {
        let note = config.server.data_dir.join(ADDRESS_FILE);
        let address = noted_address(config).ok_or_else(|| {
            CliError::Said(format!(
                "{held}, and no server's address is noted in {}: if `oncebook serve` is just starting or another command \
                 is at work, try again in a moment",
                note.display()
            ))
        })?;
        Ok(Self { address, token: environment("ONCEBOOK_TOKEN") })
    }

    /// Where it listens.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Posts to its API; its answer, or its refusal in words.
    pub(super) async fn post(&self, path: &[&str], body: &Value) -> Result<Value, CliError> {
        let mut request = client()?.post(self.at(path)?).header(CONTENT_TYPE, "application/json").body(body.to_string());
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        let answer = request.send().await.map_err(|error| self.silent(&error))?;
        let status = answer.status();
        let text = answer.text().await.map_err(|error| self.silent(&error))?;
        let answer: Value = serde_json::from_str(&text).unwrap_or_default();
        if status.is_success() { Ok(answer) } else { Err(refused(status, &answer)) }
    }

    /// Names are a stranger's as well as ours: each is one segment, whatever is in it.
    fn at(&self, path: &[&str]) -> Result<Url, CliError> {
        let mut url = Url::parse(&self.url()).map_err(|e| CliError::Said(format!("{}: {e}", self.url())))?;
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.clear().extend(["api", "v1"]).extend(path);
        }
        Ok(url)
    }

    fn silent(&self, error: &reqwest::Error) -> CliError {
        let url = self.url();
        CliError::Said(if error.is_connect() {
            format!("the book is open in another process, and nothing answers at {url}: look whether `oncebook serve` still runs")
        } else {
            format!("{url} did not answer: whether it was carried out is not known. Look with `oncebook review` or `oncebook show`")
        })
    }
}

#[expect(clippy::disallowed_methods, reason = "effects/http.rs builds the client for targets; this one speaks to our own server only")]
fn client() -> Result<reqwest::Client, CliError> {
    let builder = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).timeout(TIMEOUT);
    builder.build().map_err(|error| CliError::Said(format!("no HTTP client: {error}")))
}

/// A refusal in words: the problem's title and detail, and what to do where that is not said.
fn refused(status: reqwest::StatusCode, problem: &Value) -> CliError {
    let part = |name: &str| problem[name].as_str().filter(|text| !text.is_empty());
    let said = match (part("title"), part("detail")) {
        (Some(title), Some(detail)) => format!("{title}: {detail}"),
        (Some(only), None) | (None, Some(only)) => only.to_owned(),
        (None, None) => format!("the server answered {status}"),
    };
    let next = match status.as_u16() {
        401 | 403 => "\nSet ONCEBOOK_TOKEN to a token that may do this.",
        _ => "",
    };
    CliError::Said(format!("{said}{next}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn server(address: &str) -> Server {
        Server { address: address.parse().unwrap(), token: None }
    }

    #[test]
    fn a_name_is_one_segment_of_the_path() {
        let url = server("127.0.0.1:8484").at(&["targets", "crm/../x y", "pause"]).unwrap();
        assert_eq!(url.as_str(), "http://127.0.0.1:8484/api/v1/targets/crm%2F..%2Fx%20y/pause");
        assert_eq!(server("[::1]:8484").at(&["review"]).unwrap().as_str(), "http://[::1]:8484/api/v1/review");
    }

    #[test]
    fn a_problem_is_said_as_title_and_detail() {
        let status = reqwest::StatusCode::CONFLICT;
        let problem = json!({"title": "Does not fit", "detail": "the item was decided before", "code": "does_not_fit"});
        assert_eq!(refused(status, &problem).to_string(), "Does not fit: the item was decided before");
        assert_eq!(refused(status, &Value::Null).to_string(), "the server answered 409 Conflict");
        assert!(refused(reqwest::StatusCode::UNAUTHORIZED, &problem).to_string().contains("ONCEBOOK_TOKEN"));
    }
}
