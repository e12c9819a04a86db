//! What a sender is answered: the verdict on its delivery, readable by any engine.
//!
//! Always 200 with no top-level `error` key: a client that takes such a key for a failure would send again.

use domain::ids::{DeliveryId, EnquiryId, RunId};
use domain::time::UtcMs;
use serde_json::{Map, Value};
use store::{Delivery, Receipt, Verdict};

/// The answer to one arrival.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The records of it: one, or one per item of a batch, in order.
    pub items: Vec<Delivery>,
    /// The source sends batches: its answers always have `items`, also for a batch of one.
    pub batch: bool,
}

impl Answer {
    /// The answer that a receipt gives.
    pub fn new(receipt: Receipt, batch: bool) -> Self {
        Self { items: receipt.items, batch }
    }

    /// The delivery that is answered.
    pub fn delivery(&self) -> Option<&DeliveryId> {
        self.items.first().map(|item| &item.id)
    }

    /// The body of the answer.
    pub fn json(&self) -> Value {
        let delivery = Value::from(self.delivery().map(DeliveryId::as_str));
        match self.items.as_slice() {
            [only] if !self.batch => {
                let mut members = item_json(only);
                members.insert("delivery".to_owned(), delivery);
                Value::Object(members)
            }
            items => {
                let items: Vec<Value> = items.iter().map(|item| Value::Object(item_json(item))).collect();
                Value::Object(Map::from_iter([("delivery".to_owned(), delivery), ("items".to_owned(), Value::from(items))]))
            }
        }
    }
}

/// What is said of one item.
fn item_json(item: &Delivery) -> Map<String, Value> {
    let mut members = Map::new();
    let mut say = |name: &str, value: Value| {
        members.insert(name.to_owned(), value);
    };
    say("verdict", Value::from(item.verdict.as_str()));
    say("enquiry", Value::from(item.enquiry.as_ref().map(EnquiryId::as_str)));
    say("key", Value::from(item.key.as_deref()));
    if item.duplicate_suppressed {
        say("duplicate_suppressed", Value::from(true));
    }
    // Without the first delivery the run on record is this item's own.
    if matches!(item.verdict, Verdict::Redelivery | Verdict::Conflict) && item.first_delivery.is_some() {
        say("first_run", Value::from(item.first_run.as_ref().map(RunId::as_str)));
        say("first_delivery", Value::from(item.first_delivery.as_ref().map(DeliveryId::as_str)));
        say("first_at", Value::from(item.first_at.map(UtcMs::rfc3339)));
        say("attempted_at", Value::from(item.at.rfc3339()));
    }
    if item.weak {
        say("weak_key", Value::from(true));
    }
    // A test and an ignored item say why they are none of our work, as a quarantined one says what to mend.
    if matches!(item.verdict, Verdict::Quarantined | Verdict::Test | Verdict::Ignored) {
        say("reason", Value::from(item.reason.as_deref()));
    }
    members
}

#[cfg(test)]
mod tests {
    use domain::digest::Digest;
    use serde_json::json;

    use super::*;

    fn delivery(verdict: Verdict) -> Delivery {
        Delivery {
            id: DeliveryId::parse("dlv_2").unwrap(),
            item: 0,
            source: "website".to_owned(),
            at: UtcMs(1_772_442_904_120),
            remote: None,
            request_id: None,
            attempt: None,
            content_type: None,
            content_encoding: None,
            header_digest: Digest::ZERO,
            body_sha256: Digest::ZERO,
            body: Digest::ZERO,
            body_len: 2,
            repairs: std::collections::BTreeMap::new(),
            verdict,
            reason: None,
            enquiry: EnquiryId::parse("enq_1"),
            key: Some("website:submission:77".to_owned()),
            duplicate_suppressed: false,
            weak: false,
            first_run: RunId::parse("run_1"),
            first_delivery: None,
            first_at: None,
        }
    }

    fn redelivery() -> Delivery {
        Delivery {
            duplicate_suppressed: true,
            weak: true,
            first_delivery: DeliveryId::parse("dlv_1"),
            first_at: Some(UtcMs(0)),
            ..delivery(Verdict::Redelivery)
        }
    }

    fn answer(items: Vec<Delivery>, batch: bool) -> Value {
        Answer { items, batch }.json()
    }

    #[test]
    fn an_accepted_delivery_gets_the_four_members() {
        assert_eq!(
            answer(vec![delivery(Verdict::Accepted)], false),
            json!({"verdict": "accepted", "delivery": "dlv_2", "enquiry": "enq_1", "key": "website:submission:77"})
        );
    }

    #[test]
    fn a_redelivery_names_the_first_and_both_times() {
        assert_eq!(
            answer(vec![redelivery()], false),
            json!({"verdict": "redelivery", "delivery": "dlv_2", "enquiry": "enq_1", "key": "website:submission:77",
                   "duplicate_suppressed": true, "weak_key": true, "first_run": "run_1", "first_delivery": "dlv_1",
                   "first_at": "1970-01-01T00:00:00.000Z", "attempted_at": "2026-03-02T09:15:04.120Z"})
        );
    }

    #[test]
    fn a_conflict_names_the_first_and_suppresses_nothing() {
        let conflict = Delivery { first_delivery: DeliveryId::parse("dlv_1"), ..delivery(Verdict::Conflict) };
        let told = answer(vec![conflict], false);
        assert_eq!(told["first_delivery"], "dlv_1");
        assert_eq!(told.get("duplicate_suppressed"), None);
    }

    #[test]
    fn a_quarantined_delivery_says_why_and_never_error() {
        let kept = Delivery { reason: Some("the body is empty".to_owned()), enquiry: None, key: None, ..delivery(Verdict::Quarantined) };
        let told = answer(vec![kept], false);
        assert_eq!(told["reason"], "the body is empty");
        assert_eq!(told["enquiry"], Value::Null);
        assert_eq!(told.get("error"), None);
    }

    #[test]
    fn a_batch_answers_with_items_also_when_it_is_one() {
        let told = answer(vec![delivery(Verdict::Accepted), redelivery()], true);
        assert_eq!(told["delivery"], "dlv_2");
        assert_eq!(told["items"][1]["duplicate_suppressed"], true);
        assert_eq!(told["items"][0].get("delivery"), None);
        assert_eq!(answer(vec![delivery(Verdict::Accepted)], true)["items"].as_array().unwrap().len(), 1);
    }
}
