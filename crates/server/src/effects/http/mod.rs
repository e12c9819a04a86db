//! The target `http`: any JSON API, described by templates and pointers.
//!
//! Here its [`params`] are checked and the request is rendered, once. [`check`] tries the headers before there is an
//! enquiry, [`client`] sends, [`write`] reads the answer to a write, [`find`] looks up by key, [`read`] reads back. One API's habits (its limits, its search lag) are the
//! configuration's to say; nothing here knows a vendor.

mod check;
mod client;
mod find;
mod params;
mod question;
mod read;
#[cfg(test)]
mod tests;
mod told;
mod write;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use domain::enquiry::Fields;
use domain::gate::{Find, Limits, StepKind};
use domain::time::Clock;
use domain::tree::Pointer;
use reqwest::header::{CONTENT_TYPE, HeaderName};
use reqwest::{Method, Url};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use self::client::Client;
pub use self::params::{FindParams, HttpParams, LookUpParams, ReadParams, WriteParams};
pub use self::question::{Questions, Reply};

use self::told::Told;
use super::template::{Place, Secrets, Template, scene};
use super::{Call, Found, Outcome, ReadBack, Report, Target};

/// The target `http`.
pub struct Http {
    timeout_ms: i64,
    settle_ms: i64,
    limits: Limits,
    clock: Arc<dyn Clock>,
    client: Client,
    headers: Vec<(HeaderName, Template)>,
    told: Told,
    write: Write,
    class: Find,
    look_up: Option<LookUp>,
    read: Option<Read>,
    not_executed: Vec<u16>,
}

struct Write {
    method: Method,
    url: Template,
    body: Template,
    content_type: String,
    id: Pointer,
    ok: BTreeMap<Pointer, String>,
}

struct LookUp {
    method: Method,
    url: Template,
    body: Option<Template>,
    params: LookUpParams,
}

struct Read {
    method: Method,
    url: Template,
    key: Pointer,
    expect: Vec<(Pointer, Template)>,
}

/// What is rendered once and kept: the request, but for its headers (they may hold secrets), and what to expect of it.
#[derive(Debug, Serialize, Deserialize)]
struct Rendered {
    method: String,
    url: String,
    content_type: String,
    body: String,
    expect: BTreeMap<Pointer, String>,
}

impl Http {
    /// Compiles the templates and builds the client. The error names every mistake, each with the key of the configuration.
    pub fn new(params: HttpParams) -> Result<Self, String> {
        let mut faults = Faults::default();
        for status in params.not_executed.iter().filter(|status| !(400..600).contains(*status)) {
            faults.note(format!("not_executed: {status} is no status of a refusal (400 to 599)"));
        }
        let client = faults.keep(Client::build(params.timeout_ms));
        let told = Told::default();
        let secrets = told.listening(params.secrets);
        let headers = params.headers.iter().filter_map(|(name, source)| faults.keep(header(name, source, &secrets))).collect();
        let write = Write::compile(params.write, &mut faults);
        let (class, look_up) = params.find.and_then(|find| faults.keep(classed(find))).unwrap_or((Find::None, None));
        let look_up = look_up.and_then(|look_up| LookUp::compile(look_up, &mut faults));
        let read = params.read.and_then(|read| Read::compile(read, &mut faults));
        // A part that is not there has left a fault behind.
        let (Some(client), Some(write), true) = (client, write, faults.0.is_empty()) else { return Err(faults.0.join("; ")) };
        Ok(Self {
            timeout_ms: params.timeout_ms,
            settle_ms: params.settle_ms,
            limits: params.limits,
            client,
            clock: params.clock,
            headers,
            told,
            write,
            class,
            look_up,
            read,
            not_executed: params.not_executed,
        })
    }
}

/// The mistakes that were met: one run names them all.
#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    fn note(&mut self, why: String) {
        self.0.push(why);
    }

    fn keep<T>(&mut self, made: Result<T, String>) -> Option<T> {
        made.map_err(|why| self.note(why)).ok()
    }
}

#[async_trait]
impl Target for Http {
    fn kind(&self) -> &'static str {
        "http"
    }

    fn steps(&self, _: &Fields) -> Vec<StepKind> {
        vec![StepKind::Record]
    }

    fn find(&self, _: StepKind) -> Find {
        self.class
    }

    fn reads(&self, _: StepKind) -> bool {
        self.read.is_some() || self.look_up.is_some()
    }

    fn settle_ms(&self) -> i64 {
        self.settle_ms
    }

    fn timeout_ms(&self) -> i64 {
        self.timeout_ms
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    fn render(&self, key: &str, scene_json: &Json) -> Result<Vec<u8>, String> {
        let scene = scene(key, scene_json, None);
        // Headers are rendered anew for each request and never kept; whether they can be shows here, where a person is asked.
        for (name, template) in &self.headers {
            Self::header(name, template, &scene)?;
        }
        let url = self.write.url.render(&scene)?;
        parse_url("write.url", &url)?;
        let body = self.write.body.render(&scene)?;
        if is_json(&self.write.content_type)
            && let Err(e) = serde_json::from_str::<serde::de::IgnoredAny>(&body)
        {
            return Err(format!("write.body: the result is not JSON (line {}, column {})", e.line(), e.column()));
        }
        let expect = self.read.iter().flat_map(|read| &read.expect);
        let expect = expect.map(|(pointer, template)| Ok((pointer.clone(), template.render(&scene)?))).collect::<Result<_, String>>()?;
        let (method, content_type) = (self.write.method.to_string(), self.write.content_type.clone());
        serde_json::to_vec(&Rendered { method, url, content_type, body, expect }).map_err(|e| e.to_string())
    }

    async fn write(&self, call: &Call) -> Report<Outcome> {
        self.send_write(call).await
    }

    async fn look_up(&self, call: &Call) -> Report<Found> {
        self.look(call).await
    }

    async fn read_back(&self, call: &Call, id: &str) -> Report<ReadBack> {
        match &self.read {
            Some(read) => self.read_by_id(read, call, id).await,
            None => self.read_by_key(call, id).await,
        }
    }
}

/// The class that the engine obeys, and the look-up that it needs.
fn classed(find: FindParams) -> Result<(Find, Option<LookUpParams>), String> {
    let looks = find.look_up.is_some();
    let class = match find.consistency {
        Find::Upsert { .. } => Find::Upsert { looks },
        Find::Window { window_ms, .. } => Find::Window { window_ms, looks },
        Find::None => return Err("find: a target that cannot be asked has no find at all".to_owned()),
        class @ (Find::Unique | Find::Strong | Find::Lagging { .. }) if looks => class,
        Find::Unique | Find::Strong | Find::Lagging { .. } => return Err("find.url: this consistency needs a look-up".to_owned()),
    };
    Ok((class, find.look_up))
}

impl Write {
    fn compile(params: WriteParams, faults: &mut Faults) -> Option<Self> {
        let content_type = params.content_type.to_ascii_lowercase();
        let place = match content_type.as_str() {
            "application/x-www-form-urlencoded" => Place::Url,
            kind if is_json(kind) => Place::Json,
            _ => Place::Text,
        };
        let method = faults.keep(method("write.method", &params.method));
        let url = faults.keep(Template::compile("write.url", &params.url, Place::Url));
        let body = faults.keep(Template::compile("write.body", &params.body, place));
        Some(Self { method: method?, url: url?, body: body?, content_type, id: params.id, ok: params.ok })
    }
}

impl LookUp {
    fn compile(params: LookUpParams, faults: &mut Faults) -> Option<Self> {
        let method = faults.keep(method("find.method", &params.method));
        let url = faults.keep(Template::compile("find.url", &params.url, Place::Url));
        let body = params.body.as_ref().map(|body| Template::compile("find.body", body, Place::Json)).transpose();
        let body = faults.keep(body);
        Some(Self { method: method?, url: url?, body: body?, params })
    }
}

impl Read {
    fn compile(params: ReadParams, faults: &mut Faults) -> Option<Self> {
        let method = faults.keep(method("read.method", &params.method));
        let url = faults.keep(Template::compile("read.url", &params.url, Place::Url));
        let expected = params.expect.iter().filter_map(|(pointer, source)| {
            let template = Template::compile(&format!("read.expect.{pointer}"), source, Place::Text);
            Some((pointer.clone(), faults.keep(template)?))
        });
        let expect = expected.collect();
        Some(Self { method: method?, url: url?, expect, key: params.key })
    }
}

fn method(name: &str, text: &str) -> Result<Method, String> {
    text.to_ascii_uppercase().parse().map_err(|_| format!("{name}: '{text}' is no HTTP method"))
}

fn header(name: &str, source: &str, secrets: &Secrets) -> Result<(HeaderName, Template), String> {
    let parsed: HeaderName = name.parse().map_err(|_| format!("headers: '{name}' is no header's name"))?;
    if parsed == CONTENT_TYPE {
        return Err("headers: the body's type is said in write.content_type".to_owned());
    }
    Ok((parsed, Template::header(&format!("headers.{name}"), source, secrets)?))
}

fn is_json(content_type: &str) -> bool {
    let kind = content_type.split(';').next().unwrap_or_default().trim();
    kind == "application/json" || kind.ends_with("+json")
}

/// The text is not repeated in the error: a query may hold what nobody should read.
fn parse_url(name: &str, text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|e| format!("{name}: the result is no URL ({e})"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(format!("{name}: the result is no http or https URL"));
    }
    Ok(url)
}
