//! Who may use API and console (INTERFACE, *access*).
//!
//! Without any token they are open, but only to this machine itself: we listen on loopback and nobody was told a public
//! address, and the request neither came through a proxy nor from a page of another site. `Host` and `Origin` are looked
//! at because a browser on this machine would carry a foreign page's request to us (DNS rebinding, cross-site forms).
//! Otherwise a bearer token is asked for.

use std::net::{Ipv4Addr, Ipv6Addr};

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use domain::digest::Digest;
use http::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, StatusCode, Uri};
use subtle::ConstantTimeEq as _;

use super::problem::{Problem, problem};
use super::whole::{self, await_body};
use crate::config::Secret;
use crate::views::Viewer;

#[cfg(test)]
mod tests;

/// Who may come in.
#[derive(Clone, Debug)]
pub struct Access {
    is_private: bool,
    bearers: Vec<Bearer>,
}

/// Somebody with a token. Only the token's digest is kept.
#[derive(Clone, Debug)]
pub struct Bearer {
    name: String,
    client: Option<String>,
    digest: Digest,
}

impl Bearer {
    /// The bearer of this token, as the configuration names it.
    pub fn new(name: impl Into<String>, client: Option<String>, token: &Secret) -> Self {
        Self { name: name.into(), client, digest: Digest::sha256(token.expose().as_bytes()) }
    }
}

impl Access {
    /// `is_private`: the server listens on loopback and has no `public_url` (config's `Server::is_private`).
    pub fn new(is_private: bool, bearers: Vec<Bearer>) -> Self {
        Self { is_private, bearers }
    }

    /// Who this request is from; the reason where it may not come in.
    pub fn judge(&self, uri: &Uri, headers: &HeaderMap) -> Result<Viewer, &'static str> {
        if self.bearers.is_empty() {
            return if self.is_private {
                is_of_this_machine(uri, headers).map(|()| Viewer::default())
            } else {
                Err("no token is configured, and this server can be reached from elsewhere: configure a [[token]]")
            };
        }
        let given = one(headers, &AUTHORIZATION).ok().flatten().and_then(bearer_token).ok_or("a bearer token is needed")?;
        let given = Digest::sha256(given.as_bytes());
        // Every token is compared, and digests are: neither which one matched nor its length shows in the time it takes.
        let mut found = None;
        for bearer in &self.bearers {
            if bool::from(bearer.digest.as_bytes().ct_eq(given.as_bytes())) {
                found = Some(bearer);
            }
        }
        let bearer = found.ok_or("the bearer token is none of those configured")?;
        Ok(Viewer { token: Some(bearer.name.clone()), client: bearer.client.clone() })
    }
}

/// The router behind this access: API and console alike. Whoever comes in is in the request's extensions, as [`Viewer`].
pub fn guard(router: Router, access: Access) -> Router {
    // Of a request that is not let in no body is awaited.
    router.layer(middleware::from_fn_with_state(whole::places(), await_body)).layer(middleware::from_fn_with_state(access, enter))
}

async fn enter(State(access): State<Access>, mut request: Request, next: Next) -> Response {
    match access.judge(request.uri(), request.headers()) {
        Ok(viewer) => {
            request.extensions_mut().insert(viewer);
            next.run(request).await
        }
        Err(why) => denied(why).into_response(),
    }
}

fn denied(why: &'static str) -> Problem {
    problem(StatusCode::UNAUTHORIZED, "unauthorized", "Not let in", why).with(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
}

fn bearer_token(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Whether the request was made on this machine, by a program or a page of this machine.
fn is_of_this_machine(uri: &Uri, headers: &HeaderMap) -> Result<(), &'static str> {
    if headers.keys().any(is_forwarding) {
        return Err("without a token only this machine itself is let in, and the request came through a proxy");
    }
    let host = one(headers, &HOST)?;
    if !host.is_some_and(is_loopback) || uri.authority().is_some_and(|authority| !is_loopback(authority.as_str())) {
        return Err("without a token only this machine itself is let in, and the request's Host is another");
    }
    if !one(headers, &ORIGIN)?.is_none_or(is_loopback_origin) {
        return Err("without a token only this machine itself is let in, and the request's Origin is another site");
    }
    let site = headers.get_all("sec-fetch-site");
    if site.iter().any(|site| site.as_bytes().eq_ignore_ascii_case(b"cross-site")) {
        return Err("without a token only this machine itself is let in, and the request comes from another site's page");
    }
    Ok(())
}

/// The header's value, if it is there once and is text.
fn one<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, &'static str> {
    let mut values = headers.get_all(name).iter();
    let (first, second) = (values.next(), values.next());
    match (first.map(HeaderValue::to_str), second) {
        (None, _) => Ok(None),
        (Some(Ok(value)), None) => Ok(Some(value)),
        (Some(_), _) => Err("a header that access rests on is there twice, or is no text"),
    }
}

fn is_forwarding(name: &HeaderName) -> bool {
    let name = name.as_str();
    matches!(name, "forwarded" | "x-real-ip" | "via") || name.starts_with("x-forwarded-")
}

/// `localhost`, 127.0.0.0/8 or `[::1]`, with any port or none. An address is parsed, so that a name which only begins like
/// one does not pass.
fn is_loopback(host: &str) -> bool {
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((address, port)) => return address.parse() == Ok(Ipv6Addr::LOCALHOST) && is_port(port),
            None => return false,
        },
        None => host.find(':').map_or((host, ""), |colon| host.split_at(colon)),
    };
    let is_local = name.eq_ignore_ascii_case("localhost") || name.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback());
    is_local && is_port(port)
}

/// `:1234`, or nothing.
fn is_port(text: &str) -> bool {
    text.is_empty() || text.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok())
}

fn is_loopback_origin(origin: &str) -> bool {
    origin.split_once("://").is_some_and(|(scheme, host)| matches!(scheme, "http" | "https") && is_loopback(host))
}
