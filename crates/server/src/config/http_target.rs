//! What a target of kind `http` declares: how its record is written, found by our key, and read back.
//!
//! Texts are templates; rendering them is the effects module's. The host is never part of one: nothing that an enquiry
//! says may choose whom we call.

use domain::tree::Pointer;
use http::Method;

use super::consistency::Consistency;
use super::path::Path;
use super::place::{is_header_name, pointer};
use super::reading::Show;
use super::section::Section;

/// An HTTP API as a target.
#[derive(Clone, Debug)]
pub struct HttpTarget {
    /// Headers of every request, their values templates.
    pub headers: Vec<(String, String)>,
    /// How the record is written.
    pub write: Write,
    /// How it is found by our key. Without it an unknown outcome is a person's to decide.
    pub find: Option<Find>,
    /// How it is read back.
    pub read: Option<ReadBack>,
}

/// How a record is written.
#[derive(Clone, Debug)]
pub struct Write {
    /// The method.
    pub method: Method,
    /// Template of the address.
    pub url: String,
    /// Template of the body.
    pub body: Option<String>,
    /// Where the record's id stands in the answer.
    pub id: Pointer,
    /// Places in the answer, and what stands there if the record was written.
    pub ok: Vec<(Pointer, String)>,
    /// What the body is.
    pub content_type: String,
}

/// How a record is found by our key.
#[derive(Clone, Debug)]
pub struct Find {
    /// The look-up; absent only where the write itself is keyed (`upsert`, `window`).
    pub look_up: Option<LookUp>,
    /// How soon, and how surely, the look-up shows a record.
    pub consistency: Consistency,
}

/// A look-up by our key.
#[derive(Clone, Debug)]
pub struct LookUp {
    /// The method.
    pub method: Method,
    /// Template of the address.
    pub url: String,
    /// Where the records stand in the answer.
    pub records: Pointer,
    /// Where the id stands in a record.
    pub id: Pointer,
    /// Where our key stands in a record.
    pub key: Pointer,
    /// Where the address of the next page stands in the answer.
    pub next: Option<Pointer>,
}

/// How a record is read back.
#[derive(Clone, Debug)]
pub struct ReadBack {
    /// The method.
    pub method: Method,
    /// Template of the address.
    pub url: String,
    /// Where our key stands in the record.
    pub key: Pointer,
    /// Further places that must hold what the template says.
    pub expect: Vec<(Pointer, String)>,
}

impl HttpTarget {
    /// `None` where there is no usable `write`; the problem is noted then.
    pub(super) fn read(section: &Section<'_>) -> Option<Self> {
        section.needs("write", "a target of kind http is told how to write; without it there is nothing to find or read either");
        let write = section.table("write", Write::read);
        let find = section.table("find", Find::read);
        let read = section.table("read", ReadBack::read);
        let headers = headers(section);
        Some(Self { headers, write: write??, find: find.flatten(), read: read.flatten() })
    }
}

impl Write {
    fn read(section: &Section<'_>) -> Option<Self> {
        let (method, url) = (method(section, &[Method::POST, Method::PUT, Method::PATCH]), url(section));
        let body = section.text("body");
        let id = section.parsed_by("id", pointer).unwrap_or_else(|| Pointer(vec!["id".to_owned()]));
        let content_type = section.text("content_type").unwrap_or_else(|| "application/json".to_owned());
        let ok = places(section, "ok");
        Some(Self { method, url: url?, body, id, ok, content_type })
    }
}

impl Find {
    fn read(section: &Section<'_>) -> Option<Self> {
        section.needs("consistency", "say what a look-up proves: strong, lagging:30s, unique, upsert or window:24h");
        let consistency: Option<Consistency> = section.parsed("consistency");
        let is_keyed_write = consistency.is_some_and(Consistency::is_keyed_write);
        let asks = ["url", "records", "id", "key"].iter().any(|key| section.has(key)) || !is_keyed_write;
        let look_up = LookUp::read(section, asks);
        Some(Self { look_up, consistency: consistency? })
    }
}

impl LookUp {
    fn read(section: &Section<'_>, asks: bool) -> Option<Self> {
        if asks {
            let why = "this consistency rests on a look-up, which needs `url`, `records`, `id` and `key`";
            for key in ["url", "records", "id", "key"] {
                section.needs(key, why);
            }
        }
        let method = method(section, &[Method::GET]);
        let url = section.has("url").then(|| url(section));
        section.knows(&["url"]);
        let [records, id, key, next] = ["records", "id", "key", "next"].map(|key| section.parsed_by(key, pointer));
        Some(Self { method, url: url??, records: records?, id: id?, key: key?, next })
    }
}

impl ReadBack {
    fn read(section: &Section<'_>) -> Option<Self> {
        section.needs("key", "say where our key stands in the record, e.g. /external_key");
        let (method, url) = (method(section, &[Method::GET]), url(section));
        let key = section.parsed_by("key", pointer);
        let expect = places(section, "expect");
        Some(Self { method, url: url?, key: key?, expect })
    }
}

/// Places, and what is to stand there.
fn places(section: &Section<'_>, name: &'static str) -> Vec<(Pointer, String)> {
    let mut places = Vec::new();
    for (path, at, text) in section.pairs(name) {
        match pointer(&at) {
            Ok(pointer) => places.push((pointer, text)),
            Err(message) => section.reading.problem(path, message, Show::Key),
        }
    }
    places
}

/// The method: the first of the possible ones, unless another is named.
fn method(section: &Section<'_>, possible: &[Method]) -> Method {
    let named = section.parsed_by("method", |text| {
        let words = || possible.iter().map(Method::as_str).collect::<Vec<_>>().join(", ");
        possible.iter().find(|method| method.as_str() == text).cloned().ok_or_else(|| format!("`{text}` is not one of {}", words()))
    });
    named.or_else(|| possible.first().cloned()).unwrap_or_default()
}

/// The template of an address, its host in clear.
fn url(section: &Section<'_>) -> Option<String> {
    section.needs("url", "write the address, e.g. https://crm.example.com/deals");
    let text = section.text("url")?;
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next()).unwrap_or_default();
    if host.contains('@') {
        let message = "a password stands in the address: send it in a header, as {{ secret('env:NAME') }}";
        section.secret_problem(section.path.key("url"), message);
        return None;
    }
    if host.is_empty() || host.contains(['{', '}', ' ']) {
        section.problem("url", "an address begins with http:// or https:// and a host; a template may only stand behind the host");
        return None;
    }
    Some(text)
}

fn headers(section: &Section<'_>) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    for (path, name, value) in section.pairs("headers") {
        if !is_header_name(&name) {
            section.reading.problem(path, format!("`{name}` is no name of a header"), Show::Key);
        } else if holds_clear_credential(&name, &value) {
            refuse_credential(section, path, &name);
        } else {
            headers.push((name, value));
        }
    }
    headers
}

fn refuse_credential(section: &Section<'_>, path: Path, name: &str) {
    let message = format!(
        "`{name}` carries a credential in clear: keep it elsewhere and write {{{{ secret('env:NAME') }}}} in its place \
         (and change the credential: this file may have been read)"
    );
    section.secret_problem(path, message);
}

/// Whether a header by its name, or by how its value begins, carries a credential that is not fetched by `secret(…)`.
fn holds_clear_credential(name: &str, value: &str) -> bool {
    let (name, value) = (name.to_ascii_lowercase(), value.trim().to_ascii_lowercase());
    let names = ["authorization", "cookie", "api-key", "apikey", "api_key", "token", "secret", "password"];
    let begins = ["bearer ", "basic ", "token "];
    let is_credential = names.iter().any(|part| name.contains(part)) || begins.iter().any(|begin| value.starts_with(begin));
    is_credential && !value.is_empty() && !value.contains("secret(")
}
