//! `[server]`: where we listen, what the outside calls us, where our files are.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use super::section::Section;
use super::units::{Period, Size};

/// The `[server]` section.
#[derive(Clone, Debug)]
pub struct Server {
    /// The address and port to listen on.
    pub listen: SocketAddr,
    /// What providers call us, and signed against; without the last slash.
    pub public_url: Option<String>,
    /// Where book, desk and outbox are. Relative to the working directory.
    pub data_dir: PathBuf,
    /// The longest body that is taken.
    pub body_max: Size,
    /// Bytes of bodies that are held at once.
    pub in_flight_max: Size,
    /// Connections at once.
    pub connections_max: usize,
    /// The longest that a connection may take to say the head of its next request.
    pub head_timeout: Period,
    /// The longest that an answer may wait for its reader to take any of it.
    pub answer_timeout: Period,
}

impl Server {
    pub(super) fn read(section: &Section<'_>) -> Self {
        Self {
            listen: section.parsed_by("listen", listen).unwrap_or_else(|| (Ipv4Addr::LOCALHOST, 8484).into()),
            public_url: section.parsed_by("public_url", public_url),
            data_dir: section.text("data_dir").unwrap_or_else(|| "oncebook-data".to_owned()).into(),
            body_max: section.parsed("body_max").unwrap_or(Size::mib(1)),
            in_flight_max: section.parsed("in_flight_max").unwrap_or(Size::mib(16)),
            connections_max: section.whole("connections_max", 1..=65_536).unwrap_or(1_024),
            head_timeout: section.parsed("head_timeout").unwrap_or(Period::secs(30)),
            answer_timeout: section.parsed("answer_timeout").unwrap_or(Period::secs(30)),
        }
    }

    /// Whether only this machine can reach us: we listen on loopback, and nobody was told a public address.
    pub fn is_private(&self) -> bool {
        self.listen.ip().is_loopback() && self.public_url.is_none()
    }
}

fn listen(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| format!("`{text}` is no address to listen on: write an IP address and a port, e.g. 127.0.0.1:8484"))
}

fn public_url(text: &str) -> Result<String, String> {
    let wrong = || "`public_url` takes the address that providers post to, e.g. https://intake.example.com".to_owned();
    let url = url::Url::parse(text).map_err(|_| wrong())?;
    let is_plain = url.query().is_none() && url.fragment().is_none() && url.username().is_empty() && url.password().is_none();
    if matches!(url.scheme(), "http" | "https") && url.has_host() && is_plain {
        Ok(text.trim_end_matches('/').to_owned())
    } else {
        Err(wrong())
    }
}
