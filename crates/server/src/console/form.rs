//! A form as a browser sends it, and whether one of our own pages sent it.

use std::collections::BTreeMap;

use http::HeaderMap;
use http::header::{HOST, ORIGIN};

/// A form's fields.
pub(super) struct Form(BTreeMap<String, String>);

impl Form {
    /// Reads `application/x-www-form-urlencoded`.
    pub(super) fn read(body: &[u8]) -> Self {
        Self(form_urlencoded::parse(body).map(|(name, value)| (name.into_owned(), value.trim().to_owned())).collect())
    }

    /// The field, if anything was written in it.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }
}

/// Whether the form was sent by a page of this console, as far as the browser says. Access has let the request in; but
/// another program's page on this machine has a loopback Origin too, and is not ours.
pub(super) fn is_own(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site").is_none_or(|site| matches!(site.as_bytes(), b"same-origin" | b"none"));
    let origin = headers.get(ORIGIN).is_none_or(|origin| {
        let host = origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, host)| host);
        host.is_some() && host == headers.get(HOST).and_then(|host| host.to_str().ok())
    });
    site && origin
}
