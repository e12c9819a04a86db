//! What intake knows of a source, as plain values that the composition root fills from the configuration.
//!
//! Also where a delivery of it carries its request id and attempt counter, which are evidence and never identity, and what
//! the record of a kept delivery can still say of its headers.

use domain::identity::{Headers, Place, Rule};
use domain::tree::{Pointer, Tree};

use super::map::Mapping;
use super::signature::Auth;

/// One source, as intake needs it.
#[derive(Clone, Debug)]
pub struct SourceSetup {
    /// The immutable id that keys carry. The name under which it is reached may change.
    pub id: String,
    /// The client whose enquiries these are, where there are several.
    pub client: Option<String>,
    /// How its deliveries prove themselves.
    pub auth: Auth,
    /// The identity rule in force. Pointers count from the item where there are `items`.
    pub rule: Rule,
    /// Every earlier version of it: a delivery is looked up under these too (I8).
    pub earlier: Vec<Rule>,
    /// The way its enquiries come by, where the mapping names no other.
    pub channel: String,
    /// Where the fields stand.
    pub map: Mapping,
    /// Where the items of a batch stand.
    pub items: Option<Pointer>,
    /// A place that is true in a sender's test.
    pub test: Option<Place>,
    /// Where the provider's id of the request stands; the usual headers if `None`. Counts from the whole body.
    pub request_id: Option<Place>,
    /// Where the attempt counter stands; the usual headers if `None`. Counts from the whole body.
    pub attempt: Option<Place>,
    /// How long a copy under a `content` key is the same event, in ms.
    pub content_window_ms: i64,
    /// How long an enquiry with equal fields is a look-alike, in ms.
    pub look_alike_window_ms: i64,
    /// A look-alike's effects wait for a person.
    pub hold_look_alikes: bool,
    /// The longest body that is taken, in bytes; one that comes packed may be no longer when it is unpacked.
    pub body_max: usize,
}

/// A message's own id comes before a request's, and `x-request-id` last: proxies on the way set that one.
const REQUEST_ID_HEADERS: [&str; 7] =
    ["webhook-id", "svix-id", "x-shopify-webhook-id", "x-github-delivery", "i-twilio-idempotency-token", "idempotency-key", "x-request-id"];
const ATTEMPT_HEADERS: [&str; 5] = ["x-slack-retry-num", "x-attempt", "x-attempt-number", "x-retry-count", "x-retry-num"];

/// The names of one and the same id in the Standard Webhooks scheme.
const MESSAGE_ID_HEADERS: [&str; 2] = ["webhook-id", "svix-id"];

/// A text longer than this (in bytes) is no id and no counter, and would only fill the journal.
const EVIDENCE_MAX: usize = 256;

impl SourceSetup {
    /// The provider's id of the request.
    pub(super) fn request_id(&self, headers: &Headers, body: Option<&Tree>) -> Option<String> {
        evidence(self.request_id.as_ref(), &REQUEST_ID_HEADERS, headers, body)
    }

    /// The provider's attempt counter.
    pub(super) fn attempt(&self, headers: &Headers, body: Option<&Tree>) -> Option<String> {
        evidence(self.attempt.as_ref(), &ATTEMPT_HEADERS, headers, body)
    }

    /// The headers as rules read them: under the Standard Webhooks scheme the message's id has its standard name, also
    /// where it came by Svix's, so that a rule finds it whichever of the two the sender uses.
    pub(super) fn read_headers(&self, headers: &Headers) -> Vec<(String, String)> {
        let mut read = headers.to_vec();
        let value = |wanted: &str| headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone());
        if matches!(self.auth, Auth::StandardWebhooks { .. })
            && value("webhook-id").is_none()
            && let Some(id) = value("svix-id")
        {
            read.push(("webhook-id".to_owned(), id));
        }
        read
    }

    /// The headers that a kept delivery needs to be read again, as far as its record can stand for them. The record has
    /// the request id: that is the message's id, unless the source takes it from elsewhere. `Err` names a header that is
    /// read and not on record: without it the delivery might get another key than its sender's copies (I8).
    pub(super) fn kept_headers(&self, request_id: Option<&str>) -> Result<Vec<(String, String)>, String> {
        let mut kept = Vec::new();
        for name in self.headers_read() {
            let from_elsewhere = self.request_id.as_ref().is_some_and(|place| *place != Place::Header(name.to_owned()));
            let stands_in = request_id.filter(|_| MESSAGE_ID_HEADERS.contains(&name) && !from_elsewhere);
            kept.push((name.to_owned(), stands_in.ok_or(name)?.to_owned()));
        }
        Ok(kept)
    }

    /// The headers that any rule version, the mapping or the test place reads.
    fn headers_read(&self) -> Vec<&str> {
        let rules = std::iter::once(&self.rule).chain(&self.earlier);
        let mut names: Vec<&str> = rules
            .flat_map(Rule::places)
            .chain(self.map.values().flatten())
            .chain(&self.test)
            .filter_map(|place| match place {
                Place::Header(name) => Some(name.as_str()),
                Place::Body(_) => None,
            })
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// What stands at the configured place, or in the first of the usual headers.
fn evidence(place: Option<&Place>, usual: &[&str], headers: &Headers, body: Option<&Tree>) -> Option<String> {
    let found = match place {
        Some(place) => place.text(body.unwrap_or(&Tree::Null), headers),
        None => usual.iter().find_map(|wanted| headers.iter().find(|(name, _)| name == wanted)).map(|(_, value)| value.clone()),
    };
    found.filter(|text| !text.trim().is_empty() && text.len() <= EVIDENCE_MAX)
}

#[cfg(test)]
mod tests {
    use domain::identity::ContactPlaces;

    use super::super::tests::setup;
    use super::*;

    fn headers(of: &[(&str, &str)]) -> Vec<(String, String)> {
        of.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn the_messages_id_comes_before_a_proxys() {
        let source = setup();
        let sent = headers(&[("x-request-id", "proxy"), ("webhook-id", "msg_1"), ("x-slack-retry-num", "2")]);
        assert_eq!(source.request_id(&sent, None).as_deref(), Some("msg_1"));
        assert_eq!(source.attempt(&sent, None).as_deref(), Some("2"));
        assert_eq!(source.request_id(&sent[..1], None).as_deref(), Some("proxy"));
        assert_eq!(source.attempt(&sent[..1], None), None);
    }

    #[test]
    fn a_configured_place_counts_alone() {
        let source = SourceSetup { request_id: Some(Place::parse("/meta/id").unwrap()), ..setup() };
        let body = Tree::from_json(r#"{"meta":{"id":17}}"#).unwrap();
        let sent = headers(&[("webhook-id", "msg_1")]);
        assert_eq!(source.request_id(&sent, Some(&body)).as_deref(), Some("17"));
        assert_eq!(source.request_id(&sent, None), None);
        assert_eq!(source.request_id(&sent, Some(&Tree::Map(vec![]))), None);
    }

    #[test]
    fn what_is_too_long_is_no_id() {
        assert_eq!(setup().request_id(&headers(&[("webhook-id", &"x".repeat(257))]), None), None);
    }

    #[test]
    fn a_standard_webhook_has_its_id_under_either_name() {
        let source = SourceSetup { auth: Auth::StandardWebhooks { secrets: vec![] }, ..setup() };
        let read = source.read_headers(&headers(&[("svix-id", "msg_1")]));
        assert!(read.contains(&("webhook-id".to_owned(), "msg_1".to_owned())));
        assert_eq!(source.read_headers(&headers(&[("webhook-id", "msg_1"), ("svix-id", "msg_2")])).len(), 2);
        assert_eq!(setup().read_headers(&headers(&[("svix-id", "msg_1")])).len(), 1);
    }

    #[test]
    fn only_the_messages_id_can_be_read_again_from_the_record() {
        let by = |text: &str| Rule { submission: vec![Place::parse(text).unwrap()], ..Rule::default() };
        let webhook = SourceSetup { rule: by("header:webhook-id"), ..setup() };
        assert_eq!(webhook.kept_headers(Some("msg_1")), Ok(headers(&[("webhook-id", "msg_1")])));
        assert_eq!(webhook.kept_headers(None), Err("webhook-id".to_owned()));
        let elsewhere = SourceSetup { request_id: Some(Place::parse("header:x-id").unwrap()), ..webhook.clone() };
        assert_eq!(elsewhere.kept_headers(Some("msg_1")), Err("webhook-id".to_owned()));
        let other = SourceSetup { rule: by("header:x-id"), ..setup() };
        assert_eq!(other.kept_headers(Some("msg_1")), Err("x-id".to_owned()));
        let was = SourceSetup { earlier: vec![by("header:x-id")], ..webhook };
        assert_eq!(was.kept_headers(Some("msg_1")), Err("x-id".to_owned()));
        let contact = ContactPlaces { name: Some(Place::parse("header:x-name").unwrap()), ..ContactPlaces::default() };
        let named = SourceSetup { earlier: vec![Rule { contact: Some(contact), ..Rule::default() }], ..setup() };
        assert_eq!(named.kept_headers(None), Err("x-name".to_owned()));
        assert_eq!(setup().kept_headers(None), Ok(vec![]));
    }
}
