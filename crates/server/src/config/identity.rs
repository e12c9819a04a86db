//! A source's `identity`: where the key of the original event is read.
//!
//! A place whose value differs from one attempt to the next is refused: with it, every retry would be a new enquiry.

use domain::identity::{Place, TimeRule};

use super::auth::Auth;
use super::place::place;
use super::section::Section;
use super::units::Period;

/// What a source's identity is read from: an id, else the event time, else the content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Where the provider's id of the event stands; several places make one id together.
    pub submission: Vec<Place>,
    /// The event time, and what narrows it.
    pub time: Option<TimeRule>,
    /// How long a copy under a `content` key counts as the same event.
    pub content_window: Period,
}

/// Headers that are new with each delivery or attempt. `webhook-id` and `svix-id` stay the same, and are ids of the event.
const FLEETING_HEADERS: [&str; 19] = [
    "date",
    "i-twilio-idempotency-token",
    "request-id",
    "stripe-signature",
    "svix-signature",
    "svix-timestamp",
    "traceparent",
    "webhook-signature",
    "webhook-timestamp",
    "x-amzn-trace-id",
    "x-b3-traceid",
    "x-correlation-id",
    "x-github-delivery",
    "x-hubspot-request-timestamp",
    "x-request-id",
    "x-shopify-webhook-id",
    "x-slack-request-timestamp",
    "x-slack-retry-num",
    "x-slack-retry-reason",
];

/// Names in a body that are new with each delivery or attempt, without case, `_` and `-`.
const FLEETING_NAMES: [&str; 16] = [
    "attempt",
    "attemptcount",
    "attemptid",
    "attemptnumber",
    "attempts",
    "deliveryattempt",
    "deliveryid",
    "executionid",
    "requestid",
    "retries",
    "retry",
    "retrycount",
    "retrynum",
    "retrynumber",
    "sendtime",
    "sentat",
];

impl Identity {
    /// What holds where the source says nothing.
    pub(super) fn by_default(auth: &Auth) -> Self {
        let submission = match auth {
            // The scheme promises an id that stays the same over all attempts.
            Auth::StandardWebhooks { .. } => vec![Place::Header("webhook-id".to_owned())],
            _ => Vec::new(),
        };
        Self { submission, time: None, content_window: Period::secs(600) }
    }

    pub(super) fn read(section: &Section<'_>) -> Self {
        let submission = section.each("submission", lasting_place);
        let at = section.parsed_by("time", lasting_place);
        let with = section.each("with", lasting_place);
        if section.has("with") && !section.has("time") {
            section.problem("with", "`with` narrows a `time`: name that too, or list all places under `submission`");
        }
        if section.has("submission") && submission.is_empty() && section.values("submission").is_empty() {
            section.problem("submission", "`submission` is empty: name at least one place, e.g. /submission_id");
        }
        Self {
            submission,
            time: at.map(|at| TimeRule { at, with }),
            content_window: section.parsed("content").unwrap_or(Period::secs(600)),
        }
    }

    /// Whether its id is read from headers alone: the same for everything that one body carries.
    pub(super) fn is_one_for_all_items(&self) -> bool {
        !self.submission.is_empty() && self.submission.iter().all(|place| matches!(place, Place::Header(_)))
    }
}

fn lasting_place(text: &str) -> Result<Place, String> {
    let place = place(text)?;
    let is_fleeting = match &place {
        Place::Header(name) => FLEETING_HEADERS.contains(&name.as_str()),
        Place::Body(pointer) => pointer.0.last().is_some_and(|name| FLEETING_NAMES.contains(&bare(name).as_str())),
    };
    if is_fleeting {
        return Err(format!(
            "`{text}` differs with each delivery or attempt, so every retry would be a new enquiry: \
             name the id of the submission or event itself"
        ));
    }
    Ok(place)
}

fn bare(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}
