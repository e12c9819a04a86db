//! What an `http` target is made of, as the configuration says it; templates are still texts.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::gate::{Find, Limits};
use domain::time::Clock;
use domain::tree::Pointer;

use crate::effects::template::Secrets;

/// What an `http` target is made of. Templates are texts, as configured.
pub struct HttpParams {
    /// How long a connection, and then the whole answer, is awaited, in ms.
    pub timeout_ms: i64,
    /// The longest a sent request may still take effect, in ms.
    pub settle_ms: i64,
    /// How many effects may be at it at a time, and how fast it may be called.
    pub limits: Limits,
    /// Headers of every request: name and template. Only these templates may ask for secrets.
    pub headers: BTreeMap<String, String>,
    /// How a record is written.
    pub write: WriteParams,
    /// How it is found by our key; without it the target cannot be asked.
    pub find: Option<FindParams>,
    /// How it is read by its id; without it the look-up reads back too.
    pub read: Option<ReadParams>,
    /// Statuses that this API documents as "not done", e.g. 503. 4xx and 5xx only.
    pub not_executed: Vec<u16>,
    /// Deadlines and Retry-After dates are measured against it.
    pub clock: Arc<dyn Clock>,
    /// What `secret('…')` in a header's template asks.
    pub secrets: Secrets,
}

/// `write = { … }`.
#[derive(Clone, Debug)]
pub struct WriteParams {
    /// `POST`, `PUT`, `PATCH`.
    pub method: String,
    /// Template of the URL.
    pub url: String,
    /// Template of the body.
    pub body: String,
    /// The body's type; `application/json` unless said otherwise.
    pub content_type: String,
    /// Where the answer holds the record's id.
    pub id: Pointer,
    /// What else a 2xx answer must hold before its id counts, e.g. `/data/0/status` = `success`: some APIs put a refusal,
    /// with the id of somebody else's record, into a 200 (`zoho_200_duplicate`).
    pub ok: BTreeMap<Pointer, String>,
}

/// `find = { … }`: how safe it is to send again, and how to ask.
#[derive(Clone, Debug)]
pub struct FindParams {
    /// The class. `Upsert` and `Window` say in `looks` whether `look_up` is there; it is set right here.
    pub consistency: Find,
    /// The look-up by key; `Unique`, `Strong` and `Lagging` cannot be without.
    pub look_up: Option<LookUpParams>,
}

/// The look-up by our key.
#[derive(Clone, Debug)]
pub struct LookUpParams {
    /// `GET`, or `POST` for a search.
    pub method: String,
    /// Template of the URL. A 404 proves absence only where its path names the key (`/deals/{{ key }}`).
    pub url: String,
    /// Template of a JSON body, for a search.
    pub body: Option<String>,
    /// Where the answer holds the list of records; empty for the body itself.
    pub records: Pointer,
    /// Where a record holds its id.
    pub id: Pointer,
    /// Where a record holds our key.
    pub key: Pointer,
    /// Where the answer holds the URL of the next page, if it comes in pages.
    pub next: Option<Pointer>,
}

/// `read = { … }`.
#[derive(Clone, Debug)]
pub struct ReadParams {
    /// Usually `GET`.
    pub method: String,
    /// Template of the URL; knows `id`.
    pub url: String,
    /// Where the answer holds our key.
    pub key: Pointer,
    /// What else must be equal: pointer and template. A null or missing field equals an empty text.
    pub expect: BTreeMap<Pointer, String>,
}
