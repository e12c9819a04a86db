//! A kept delivery, read again: once its rule or mapping is mended, once a person lets an unauthentic one in, or once a
//! person says that a suppression under a weak key was a second enquiry.
//!
//! Headers are not kept, only their digest. What reads a header cannot be read again, except the message's id, which is
//! on record; rather than guess a key, a replay that would need more is refused with the header's name (I8).

use domain::digest::Digest;
use domain::ids::DeliveryId;
use store::{Arrival, Arrived, Delivery, Item, Verdict};

use super::answer::Answer;
use super::arrive::{Intake, RETRY_AFTER_S, blob};
use super::body;
use super::reading::{Read, Reader};

/// Why a delivery was not read again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// No delivery of that id.
    #[error("there is no delivery of that id")]
    Unknown,
    /// Its source is configured no more.
    #[error("the source `{0}` is not configured")]
    NoSource(String),
    /// Its verdict leaves nothing to be read again.
    #[error("there is nothing to replay: only what is quarantined, refused or suppressed under a weak key can be read again")]
    NothingToReplay,
    /// It is a suppression under a weak key, and was not asked to be separated.
    #[error("the delivery was suppressed under a weak key: replay it as a separate enquiry, or leave it")]
    OnlySeparately,
    /// It is no suppression under a weak key.
    #[error("there is nothing to separate: only a suppression under a weak key can be undone")]
    NothingToSeparate,
    /// Its body is erased or was pruned.
    #[error("the delivery's body is not kept any more")]
    BodyGone,
    /// What was kept is not what arrived.
    #[error("the kept body is not the one that arrived: run `oncebook evidence verify`")]
    BodyDiffers,
    /// Something reads a header, and headers are not kept.
    #[error("the source reads the header `{0}`, which is not kept with a delivery: let the sender deliver it again")]
    NeedsHeader(String),
    /// The book could not be read or written.
    #[error("the book cannot be used now: try again in {retry_after_s} s")]
    Unavailable {
        /// In how many seconds.
        retry_after_s: u32,
    },
}

impl Intake {
    /// Reads a kept delivery again under the current rule, in the name of a person. `as_separate` undoes a suppression
    /// under a weak key: the item becomes an enquiry of its own.
    pub async fn replay(&self, delivery: &str, by: &str, as_separate: bool) -> Result<Answer, ReplayError> {
        let kept = self.store.delivery(delivery).await.map_err(|error| unavailable(delivery, &error))?;
        let Arrived { items: kept, body } = kept.ok_or(ReplayError::Unknown)?;
        let first = kept.first().ok_or(ReplayError::Unknown)?;
        permit(&kept, as_separate)?;
        let source = self.sources.values().find(|source| source.id == first.source);
        let source = source.ok_or_else(|| ReplayError::NoSource(first.source.clone()))?;
        let body = body.ok_or(ReplayError::BodyGone)?;
        if Digest::sha256(&body.bytes) != first.body_sha256 {
            return Err(ReplayError::BodyDiffers);
        }
        let headers = source.kept_headers(first.request_id.as_deref()).map_err(ReplayError::NeedsHeader)?;
        let now = self.clock.now();
        // The windows count from the arrival: what was the same event then is not another one for being read late.
        let (arrived, secret, entropy) = (first.at, self.store.secret(), &*self.entropy);
        let reader = Reader { source, headers: &headers, arrived, now, secret, entropy };
        let read = body::read(first.content_type.as_deref(), first.content_encoding.as_deref(), &body.bytes, source.body_max);
        let Read { items, files, repairs } = reader.items(read);
        let repairs = repairs.on_record();
        let items = only_open(&kept, items, as_separate)?;
        let body = if as_separate || body.digest() != first.body { blob(body.bytes, entropy) } else { body };
        // The blob that was nobody's becomes the new enquiry's, as it is, and ages with that (I12). A suppressed copy's is
        // another enquiry's, with which it ages: a separate enquiry has its own, under a nonce of its own; and so has what was
        // refused when no nonces were kept.
        // What was made of it before is the store's to leave out.
        let delivery = Delivery { id: DeliveryId::draw(now, entropy), item: 0, at: now, body: body.digest(), repairs, ..first.clone() };
        let undoes = as_separate.then(|| first.id.clone());
        let arrival = Arrival { delivery, body, files, items, by: Some(by.to_owned()), undoes, take_until: None };
        self.enter(source, arrival).await.map_err(|refused| match refused {
            store::Error::Conflict(_) if as_separate => ReplayError::NothingToSeparate,
            _ => ReplayError::Unavailable { retry_after_s: RETRY_AFTER_S },
        })
    }
}

/// Whether a record is open to this kind of replay.
fn is_open(kept: &Delivery, as_separate: bool) -> bool {
    if as_separate { kept.duplicate_suppressed && kept.weak } else { matches!(kept.verdict, Verdict::Quarantined | Verdict::Refused) }
}

fn permit(kept: &[Delivery], as_separate: bool) -> Result<(), ReplayError> {
    match kept.iter().any(|item| is_open(item, as_separate)) {
        true => Ok(()),
        false if as_separate => Err(ReplayError::NothingToSeparate),
        false if kept.iter().any(|item| is_open(item, true)) => Err(ReplayError::OnlySeparately),
        false => Err(ReplayError::NothingToReplay),
    }
}

/// Of a batch only what is open is entered again. Where the body falls into other items than it did, nobody can say which
/// is which: all are entered, and those that were before are redeliveries of themselves.
fn only_open(kept: &[Delivery], items: Vec<Item>, as_separate: bool) -> Result<Vec<Item>, ReplayError> {
    if items.len() != kept.len() {
        return if as_separate { Err(ReplayError::NothingToSeparate) } else { Ok(items) };
    }
    let again = |(item, kept): (Item, &Delivery)| match item {
        _ if !is_open(kept, as_separate) => {
            Item::Aside { verdict: Verdict::Ignored, reason: format!("read before, in delivery {}", kept.id) }
        }
        Item::Enquiry(mut proposal) => {
            proposal.separate = as_separate;
            Item::Enquiry(proposal)
        }
        Item::Aside { .. } => item,
    };
    Ok(items.into_iter().zip(kept).map(again).collect())
}

fn unavailable(delivery: &str, error: &store::Error) -> ReplayError {
    tracing::error!(delivery, %error, "a kept delivery could not be read");
    ReplayError::Unavailable { retry_after_s: RETRY_AFTER_S }
}
