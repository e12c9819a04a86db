//! A delivery as an operator sees it: how it came, what we made of it, and what it was suppressed for.

use std::collections::BTreeMap;

use data_encoding::BASE64;
use serde::Serialize;
use store::{Arrived, Delivery};

use super::At;

/// Every verdict, for filters.
pub const VERDICTS: [&str; 8] = ["accepted", "redelivery", "conflict", "look_alike", "quarantined", "test", "ignored", "refused"];

/// One delivery, or one item of a batch delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeliveryView {
    /// Its id.
    pub id: String,
    /// Which item, from 0.
    pub item: u32,
    /// The source's id.
    pub source: String,
    /// When it arrived.
    pub arrived_at: At,
    /// Who sent it, as far as the connection says.
    pub remote: Option<String>,
    /// The provider's request id.
    pub request_id: Option<String>,
    /// The provider's attempt counter.
    pub attempt: Option<String>,
    /// The declared content type.
    pub content_type: Option<String>,
    /// The declared content encoding.
    pub content_encoding: Option<String>,
    /// SHA-256 of the raw header block.
    pub header_digest: String,
    /// SHA-256 of the raw body.
    pub body_sha256: String,
    /// The body's length in bytes.
    pub body_len: u64,
    /// What had to be mended to read the body, by kind, and how often. The body is kept as it came.
    pub repairs: BTreeMap<String, u32>,
    /// What we made of it: one of [`VERDICTS`].
    pub verdict: &'static str,
    /// Why, where it is not plain.
    pub reason: Option<String>,
    /// The enquiry it carries.
    pub enquiry: Option<String>,
    /// The enquiry's key.
    pub key: Option<String>,
    /// The key rests on content alone: a person can undo the suppression.
    pub weak_key: bool,
    /// Nothing was carried out for it, because it had been for the first.
    pub duplicate_suppressed: bool,
    /// What it was suppressed for; absent where it was not.
    #[serde(flatten)]
    pub suppression: Option<Suppression>,
}

/// What a suppressed delivery was suppressed for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Suppression {
    /// The run that the first delivery began.
    pub first_run: Option<String>,
    /// The first delivery.
    pub first_delivery: Option<String>,
    /// When the first was accepted.
    pub first_at: Option<At>,
    /// When this one was attempted: its arrival.
    pub attempted_at: At,
}

/// A whole arrival: its items and the raw body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ArrivalView {
    /// The delivery's id.
    pub id: String,
    /// One record per item.
    pub items: Vec<DeliveryView>,
    /// The raw body, unless it was pruned or erased.
    pub body: Option<BodyView>,
}

/// A raw body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BodyView {
    /// `text` or `base64`.
    pub encoding: &'static str,
    /// The body, in that encoding.
    pub value: String,
}

impl DeliveryView {
    /// The view of a record.
    pub fn of(delivery: &Delivery) -> Self {
        Self {
            id: delivery.id.to_string(),
            item: delivery.item,
            source: delivery.source.clone(),
            arrived_at: At(delivery.at),
            remote: delivery.remote.clone(),
            request_id: delivery.request_id.clone(),
            attempt: delivery.attempt.clone(),
            content_type: delivery.content_type.clone(),
            content_encoding: delivery.content_encoding.clone(),
            header_digest: delivery.header_digest.to_string(),
            body_sha256: delivery.body_sha256.to_string(),
            body_len: delivery.body_len,
            repairs: delivery.repairs.clone(),
            verdict: delivery.verdict.as_str(),
            reason: delivery.reason.clone(),
            enquiry: delivery.enquiry.as_ref().map(ToString::to_string),
            key: delivery.key.clone(),
            weak_key: delivery.weak,
            duplicate_suppressed: delivery.duplicate_suppressed,
            suppression: delivery.duplicate_suppressed.then(|| Suppression::of(delivery)),
        }
    }
}

/// What was mended, in words: `1 lone surrogate, 2 nul`. `None` if nothing was.
pub fn mended(repairs: &BTreeMap<String, u32>) -> Option<String> {
    let told: Vec<String> = repairs.iter().map(|(kind, count)| format!("{count} {}", kind.replace('_', " "))).collect();
    (!told.is_empty()).then(|| told.join(", "))
}

impl Suppression {
    fn of(delivery: &Delivery) -> Self {
        Self {
            first_run: delivery.first_run.as_ref().map(ToString::to_string),
            first_delivery: delivery.first_delivery.as_ref().map(ToString::to_string),
            first_at: delivery.first_at.map(At),
            attempted_at: At(delivery.at),
        }
    }
}

impl ArrivalView {
    /// The view of an arrival, under the id it was asked for by.
    pub fn of(id: &str, arrived: Arrived) -> Self {
        let items = arrived.items.iter().map(DeliveryView::of).collect();
        Self { id: id.to_owned(), items, body: arrived.body.map(|body| BodyView::of(body.bytes)) }
    }
}

impl BodyView {
    fn of(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(value) => Self { encoding: "text", value },
            Err(error) => Self { encoding: "base64", value: BASE64.encode(error.as_bytes()) },
        }
    }
}
