//! What a person can order, as the API is asked for it and as it is reported once it is done.

use serde_json::{Value, json};

use crate::engine::Decision;

/// What is to be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// A decision on an open review item.
    Decide { item: String, decision: Decision },
    /// A delivery that was suppressed under a weak key becomes an enquiry of its own.
    Separate { delivery: String },
    /// A quarantined or refused delivery is read again.
    ReadAgain { delivery: String },
    /// A new run of an enquiry.
    Replay { enquiry: String },
    /// Nothing more is sent to a target.
    Pause { target: String, reason: String },
    /// A target is sent to again.
    Resume { target: String },
}

impl Order {
    /// Where it is posted, below `/api/v1`.
    pub(super) fn path(&self) -> Vec<&str> {
        match self {
            Self::Decide { item, .. } => vec!["review", item],
            Self::Separate { delivery } | Self::ReadAgain { delivery } => vec!["deliveries", delivery, "replay"],
            Self::Replay { enquiry } => vec!["enquiries", enquiry, "replay"],
            Self::Pause { target, .. } => vec!["targets", target, "pause"],
            Self::Resume { target } => vec!["targets", target, "resume"],
        }
    }

    /// What is posted there.
    pub(super) fn body(&self, by: &str) -> Value {
        match self {
            Self::Decide { decision, .. } => match decision {
                Decision::Dismiss(why) => json!({"decision": "dismiss", "reason": why, "by": by}),
                Decision::ItIs(id) => json!({"decision": "it_is", "external_id": id, "by": by}),
                plain => json!({"decision": plain.word(), "by": by}),
            },
            Self::Separate { .. } => json!({"separate": true, "by": by}),
            Self::ReadAgain { .. } => json!({"separate": false, "by": by}),
            Self::Replay { .. } | Self::Resume { .. } => json!({"by": by}),
            Self::Pause { reason, .. } => json!({"reason": reason, "by": by}),
        }
    }

    /// That it was done. `answer` is the record as the book then has it; of a delivery, the verdict on it.
    pub(super) fn done(&self, answer: &Value) -> String {
        match self {
            Self::Decide { item, decision } => match decision {
                Decision::Approve => format!("{item}: approved"),
                Decision::Dismiss(why) => format!("{item}: dismissed ({why})"),
                Decision::Same => format!("{item}: the same enquiry, revised"),
                Decision::Separate => format!("{item}: an enquiry of its own"),
                Decision::NotThere => format!("{item}: not there"),
                Decision::ItIs(id) => format!("{item}: it is {id}"),
                Decision::Again => format!("{item}: looked at again"),
            },
            Self::Separate { delivery } | Self::ReadAgain { delivery } => format!("{delivery}: read again{}", verdicts(answer)),
            Self::Replay { enquiry } => format!("{enquiry}: a new run begins, under the same key"),
            Self::Pause { target, .. } => format!("{target}: paused"),
            Self::Resume { target } => format!("{target}: resumed"),
        }
    }

    /// What a person should know next. The work itself is a server's: one runs, or is still to be started.
    pub(super) fn next(&self, server: Option<&str>, answer: &Value, program: &str) -> Vec<String> {
        let follows = match (self, server) {
            (Self::Pause { target, .. }, _) => Some(format!("Its effects wait until `{program} resume {target}`.")),
            (Self::Decide { decision: Decision::Dismiss(_), .. }, None) => None,
            _ if !brings_work(answer) => None,
            (_, Some(url)) => Some(format!("The server at {url} goes on from there.")),
            (_, None) => Some(format!("The work itself is done when `{program} serve` runs.")),
        };
        still_quarantined(answer, program).into_iter().chain(follows).collect()
    }
}

/// What was made of a delivery that was read again: one verdict, or one for each item of a batch.
fn verdicts(answer: &Value) -> String {
    let one = |item: &Value| {
        let verdict = item["verdict"].as_str()?.replace('_', "-");
        let more = item["key"].as_str().or(item["reason"].as_str());
        Some(more.map_or_else(|| verdict.clone(), |more| format!("{verdict}, {more}")))
    };
    match answer["items"].as_array() {
        Some(items) => [String::new()].into_iter().chain(items.iter().filter_map(one)).collect::<Vec<_>>().join("\n  "),
        None => one(answer).map(|said| format!(": {said}")).unwrap_or_default(),
    }
}

/// What was said of each item of a delivery; of one that is no batch, of itself.
fn items(answer: &Value) -> &[Value] {
    answer["items"].as_array().map_or(std::slice::from_ref(answer), Vec::as_slice)
}

/// How many items of a delivery that was read again are still not understood, and of how many.
pub(super) fn quarantined(answer: &Value) -> (usize, usize) {
    let items = items(answer);
    (items.iter().filter(|item| item["verdict"] == "quarantined").count(), items.len())
}

/// What to do about them.
fn still_quarantined(answer: &Value, program: &str) -> Option<String> {
    let ((open, all), delivery) = (quarantined(answer), answer["delivery"].as_str()?);
    let which = if all > 1 { format!("{open} of {all} items are") } else { "It is".to_owned() };
    (open > 0).then(|| format!("{which} still quarantined: mend the source's rule, then `{program} replay {delivery}`."))
}

/// What was not understood, or is none of our work, brings none; everything else may.
fn brings_work(answer: &Value) -> bool {
    items(answer).iter().any(|item| !["quarantined", "ignored", "test"].contains(&item["verdict"].as_str().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(decision: Decision) -> Order {
        Order::Decide { item: "rev_1".to_owned(), decision }
    }

    #[test]
    fn an_order_is_posted_as_the_api_takes_it() {
        let orders = [
            decide(Decision::NotThere),
            decide(Decision::Dismiss("spam".to_owned())),
            decide(Decision::ItIs("deal-7".to_owned())),
            Order::Separate { delivery: "dlv_1".to_owned() },
            Order::ReadAgain { delivery: "dlv_1".to_owned() },
            Order::Replay { enquiry: "enq_1".to_owned() },
            Order::Pause { target: "crm".to_owned(), reason: "down".to_owned() },
            Order::Resume { target: "crm".to_owned() },
        ];
        let posted: Vec<(String, Value)> = orders.iter().map(|order| (order.path().join("/"), order.body("jo"))).collect();
        let expected = [
            ("review/rev_1", json!({"decision": "not_there", "by": "jo"})),
            ("review/rev_1", json!({"decision": "dismiss", "reason": "spam", "by": "jo"})),
            ("review/rev_1", json!({"decision": "it_is", "external_id": "deal-7", "by": "jo"})),
            ("deliveries/dlv_1/replay", json!({"separate": true, "by": "jo"})),
            ("deliveries/dlv_1/replay", json!({"separate": false, "by": "jo"})),
            ("enquiries/enq_1/replay", json!({"by": "jo"})),
            ("targets/crm/pause", json!({"reason": "down", "by": "jo"})),
            ("targets/crm/resume", json!({"by": "jo"})),
        ];
        assert_eq!(posted, expected.map(|(path, body)| (path.to_owned(), body)));
    }

    #[test]
    fn what_was_done_is_said_with_what_follows() {
        let replay = Order::Replay { enquiry: "enq_1".to_owned() };
        assert!(replay.next(None, &Value::Null, "oncebook")[0].contains("`oncebook serve`"));
        assert!(replay.next(Some("http://127.0.0.1:1"), &Value::Null, "oncebook")[0].contains("http://127.0.0.1:1"));
        assert_eq!(decide(Decision::Dismiss("spam".to_owned())).next(None, &Value::Null, "oncebook"), [""; 0]);
    }

    #[test]
    fn a_delivery_that_was_read_again_says_its_verdict() {
        let order = Order::ReadAgain { delivery: "dlv_1".to_owned() };
        let done = order.done(&json!({"verdict": "look_alike", "key": "web:submission:1"}));
        assert_eq!(done, "dlv_1: read again: look-alike, web:submission:1");
        let still = json!({"verdict": "quarantined", "reason": "not JSON", "key": null});
        assert_eq!(
            (order.done(&still).as_str(), order.next(None, &still, "oncebook")),
            ("dlv_1: read again: quarantined, not JSON", Vec::new())
        );
        let batch = json!({"items": [{"verdict": "accepted", "key": "a:b:c"}, {"verdict": "ignored"}]});
        assert_eq!(order.done(&batch), "dlv_1: read again\n  accepted, a:b:c\n  ignored");
        assert_eq!((quarantined(&batch), quarantined(&still), quarantined(&Value::Null)), ((0, 2), (1, 1), (0, 1)));
    }

    #[test]
    fn what_is_still_quarantined_is_counted_and_work_is_only_what_was_read() {
        let order = Order::ReadAgain { delivery: "dlv_1".to_owned() };
        let next = |verdicts: [&str; 3]| {
            let items: Vec<Value> = verdicts.iter().map(|verdict| json!({"verdict": verdict})).collect();
            order.next(None, &json!({"delivery": "dlv_2", "items": items}), "oncebook")
        };
        let mend = "of 3 items are still quarantined: mend the source's rule, then `oncebook replay dlv_2`.";
        assert_eq!(next(["ignored", "quarantined", "quarantined"]), [format!("2 {mend}")]);
        let both = next(["accepted", "ignored", "quarantined"]);
        assert_eq!((both.len(), &both[0]), (2, &format!("1 {mend}")));
        assert!(both[1].contains("`oncebook serve`"));
        assert_eq!(next(["ignored", "ignored", "test"]), [""; 0]);
    }
}
