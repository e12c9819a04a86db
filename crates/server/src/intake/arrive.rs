//! One delivery's way in: authentic or not, read, handed to the store, answered.
//!
//! An authentic delivery ends durable or in a refusal that makes its sender come again (I1); nothing in between. The verdict
//! is the store's, inside its transaction. HTTP is in [`super::routes`].

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use domain::digest::{BookSecret, Digest};
use domain::enquiry::Enquiry;
use domain::identity::Headers;
use domain::ids::DeliveryId;
use domain::planted::{self, Bug};
use domain::time::{Clock, Entropy, UtcMs};
use evidence::Blob;
use store::{Arrival, Delivery, Item, Lease, Receipt, Store, Verdict};
use tokio::sync::Notify;
use tokio_util::task::TaskTracker;

use super::answer::Answer;
use super::body::{self, Body};
use super::reading::{Read, Reader};
use super::room::{Room, Taking};
use super::signature::NotAuthentic;
use super::source::SourceSetup;

/// How many unauthentic deliveries a source's ring keeps, and for how long.
const RING_KEEP: u32 = 100;
const RING_AGE_MS: i64 = 7 * 24 * 60 * 60 * 1000;

/// A body of more bytes than this is large, and so is one that is packed, whatever it holds.
const LARGE: usize = 64 << 10;

/// When a sender should come again after the book could not be written.
pub(super) const RETRY_AFTER_S: u32 = 5;

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Raw {
    /// Its headers in the order they came, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Its body, byte for byte.
    pub body: Bytes,
    /// Who sent it, as far as the connection says.
    pub remote: Option<String>,
}

/// Why a delivery got no verdict.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No source of that name.
    #[error("there is no source of that name")]
    UnknownSource,
    /// The proof does not hold. It is in the source's ring, if that could be written.
    #[error("the delivery is not authentic: {why}")]
    NotAuthentic {
        /// Which check failed.
        why: NotAuthentic,
        /// What `WWW-Authenticate` says, where HTTP has a name for the scheme.
        challenge: Option<&'static str>,
    },
    /// It could not be made durable: the sender must send again.
    #[error("the delivery could not be made durable: send it again in {retry_after_s} s")]
    Unavailable {
        /// In how many seconds.
        retry_after_s: u32,
    },
    /// There was no room for it in time: nothing of it was kept, and the sender must send again.
    #[error("there is no room for the delivery: send it again soon")]
    Busy,
}

/// The way in to one book.
pub struct Intake {
    /// Every source, by the name it is reached under.
    pub sources: BTreeMap<String, SourceSetup>,
    /// The book.
    pub store: Arc<dyn Store>,
    /// Where "now" comes from.
    pub clock: Arc<dyn Clock>,
    /// Where ids and nonces come from.
    pub entropy: Arc<dyn Entropy>,
    /// Told of every arrival that may have brought work.
    pub accepted: Arc<Notify>,
    /// Who may work on what arrives at once; without it everything waits in the book.
    pub worker: Option<Arc<dyn Worker>>,
    /// What is being entered, also for senders that have hung up: a stop waits for it.
    pub entering: TaskTracker,
    /// Room for bodies.
    pub room: Arc<Room>,
    /// Room for bodies whose headers already say that they are not authentic, and which are kept in the ring at most.
    pub strangers: Arc<Room>,
    /// A large body is read while no other one is: its tree may take many times its size. One piece of room, so that
    /// sources take turns at it.
    pub large: Arc<Room>,
}

/// Who works on what is entered.
pub trait Worker: Send + Sync {
    /// A place for one enquiry; `None`: there is none, and the work waits in the book.
    fn place(&self) -> Option<Box<dyn Place>>;
}

/// A place that is kept for what is being entered.
pub trait Place: Send {
    /// Until when the enquiry is to be leased.
    fn until(&self) -> UtcMs;

    /// Works on it.
    fn work(self: Box<Self>, lease: Lease<Enquiry>);
}

impl Intake {
    /// The source of that name, or else of that id: a renamed source is still reached where its senders know it.
    pub fn source(&self, name: &str) -> Option<&SourceSetup> {
        self.sources.get(name).or_else(|| self.sources.values().find(|source| source.id == name))
    }

    /// Takes one delivery, once there is room for it.
    pub async fn deliver(self: &Arc<Self>, source: &str, raw: Raw) -> Result<Answer, Refusal> {
        let id = &self.source(source).ok_or(Refusal::UnknownSource)?.id;
        let mut room = Taking::new(&self.room, id, &self.clock);
        if room.has(raw.body.len()).await { self.deliver_in(room, source, raw).await } else { Err(Refusal::Busy) }
    }

    /// Takes one delivery in the room that it has until it is durable.
    pub(super) async fn deliver_in(self: &Arc<Self>, room: Taking, source: &str, raw: Raw) -> Result<Answer, Refusal> {
        let (intake, source) = (Arc::clone(self), source.to_owned());
        // A task of its own: a sender that hangs up takes its request's task along, and with it the room that is still filled
        // and the work that was leased.
        let taken = self.entering.spawn(async move { intake.take(&source, raw, room).await });
        taken.await.unwrap_or_else(|error| {
            tracing::error!(%error, "our own code failed on a delivery");
            Err(Refusal::Unavailable { retry_after_s: RETRY_AFTER_S })
        })
    }

    async fn take(&self, source: &str, raw: Raw, room: Taking) -> Result<Answer, Refusal> {
        let source = self.source(source).ok_or(Refusal::UnknownSource)?;
        let now = self.clock.now();
        if let Err(why) = source.auth.verify(&raw.headers, &raw.body, now) {
            self.keep_refused(source, raw, &why, now).await;
            return Err(Refusal::NotAuthentic { why, challenge: source.auth.challenge() });
        }
        let encoding = declared(&raw.headers, "content-encoding");
        let is_packed = body::is_packed(encoding.as_deref(), &raw.body);
        let (arrival, _room) = if is_packed || raw.body.len() > LARGE {
            self.read_large(source, raw, now, room, is_packed).await?
        } else {
            (arrival(source, &raw, now, self.store.secret(), &*self.entropy), room)
        };
        let entered = enter(self.entry(source, arrival)).await;
        answer(source, entered).map_err(|_| Refusal::Unavailable { retry_after_s: RETRY_AFTER_S })
    }

    /// Reads a large body beside the runtime's threads, where everybody else is served, while no other one is read. One that
    /// is packed takes room for what it is unpacked first.
    async fn read_large(
        &self,
        source: &SourceSetup,
        raw: Raw,
        now: UtcMs,
        mut room: Taking,
        is_packed: bool,
    ) -> Result<(Arrival, Taking), Refusal> {
        let failed = |error| {
            tracing::error!(%error, "a large body could not be read");
            Refusal::Unavailable { retry_after_s: RETRY_AFTER_S }
        };
        if is_packed {
            let (turn, packed, max) = (self.turn(source).await?, raw.clone(), source.body_max);
            let measure = move || {
                let _turn = turn;
                body::unpacked_len(declared(&packed.headers, "content-encoding").as_deref(), &packed.body, max)
            };
            let unpacked = tokio::task::spawn_blocking(measure).await.map_err(failed)?;
            if !room.has(raw.body.len() + unpacked).await {
                return Err(Refusal::Busy);
            }
        }
        let (turn, source) = (self.turn(source).await?, source.clone());
        let (store, entropy) = (Arc::clone(&self.store), Arc::clone(&self.entropy));
        // What is begun here goes on whoever waits for it: it holds its turn and its room itself.
        let read = move || {
            let _turn = turn;
            (arrival(&source, &raw, now, store.secret(), &*entropy), room)
        };
        tokio::task::spawn_blocking(read).await.map_err(failed)
    }

    /// A turn at what only one large body may do at a time.
    async fn turn(&self, source: &SourceSetup) -> Result<Taking, Refusal> {
        let mut turn = Taking::new(&self.large, &source.id, &self.clock);
        if turn.has(1).await { Ok(turn) } else { Err(Refusal::Busy) }
    }

    /// Makes an arrival durable though nobody waits for it any more, wakes who works on it, and answers.
    pub(super) async fn enter(&self, source: &SourceSetup, arrival: Arrival) -> Result<Answer, store::Error> {
        let entered = self.entering.spawn(enter(self.entry(source, arrival))).await;
        answer(source, entered.unwrap_or_else(|e| Err(store::Error::Unavailable(format!("entering stopped: {e}")))))
    }

    fn entry(&self, source: &SourceSetup, mut arrival: Arrival) -> Entry {
        let brings_work = arrival.items.iter().any(|item| matches!(item, Item::Enquiry(_)));
        // One place is for one enquiry: a batch waits in the book.
        let is_one = brings_work && arrival.items.len() == 1;
        let place = self.worker.as_ref().filter(|_| is_one).and_then(|worker| worker.place());
        arrival.take_until = place.as_ref().map(|place| place.until());
        let (store, accepted) = (Arc::clone(&self.store), Arc::clone(&self.accepted));
        Entry { source: source.id.clone(), arrival, brings_work, place, store, accepted }
    }

    /// Keeps an unauthentic delivery for a person to look at. The sender's answer is 401 whether that succeeds or not: it
    /// was never promised anything.
    async fn keep_refused(&self, source: &SourceSetup, raw: Raw, why: &NotAuthentic, now: UtcMs) {
        let request_id = source.request_id(&raw.headers, None);
        let attempt = source.attempt(&raw.headers, None);
        let blob = blob(raw.body.to_vec(), &*self.entropy);
        let record = record(source, &raw, &blob, now, &*self.entropy);
        let delivery = Delivery { verdict: Verdict::Refused, reason: Some(why.to_string()), request_id, attempt, ..record };
        tracing::warn!(source = %source.id, delivery = %delivery.id, %why, "a delivery is not authentic");
        if let Err(error) = self.store.refuse(delivery, blob, RING_KEEP, now.plus(-RING_AGE_MS)).await {
            tracing::error!(source = %source.id, %error, "an unauthentic delivery could not be kept");
        }
    }
}

/// An arrival on its way into the book, and who may work on it at once.
struct Entry {
    source: String,
    arrival: Arrival,
    brings_work: bool,
    place: Option<Box<dyn Place>>,
    store: Arc<dyn Store>,
    accepted: Arc<Notify>,
}

async fn enter(entry: Entry) -> Result<Receipt, store::Error> {
    let Entry { source, arrival, brings_work, place, store, accepted } = entry;
    let delivery = arrival.delivery.id.clone();
    let early = planted::is(Bug::AckBeforeCommit).then(|| Receipt { items: vec![arrival.delivery.clone()], taken: Vec::new() });
    let accept = store.accept(arrival).await.or_else(|error| early.ok_or(error));
    let mut receipt = accept.inspect_err(|error| tracing::error!(%source, %delivery, %error, "a delivery could not be made durable"))?;
    match (place, receipt.taken.pop()) {
        (Some(place), Some(lease)) => place.work(lease),
        _ if brings_work => accepted.notify_one(),
        _ => {}
    }
    Ok(receipt)
}

fn answer(source: &SourceSetup, entered: Result<Receipt, store::Error>) -> Result<Answer, store::Error> {
    Ok(Answer::new(entered?, source.items.is_some()))
}

/// What an authentic request asks the store to enter.
pub fn arrival(source: &SourceSetup, raw: &Raw, now: UtcMs, secret: &BookSecret, entropy: &dyn Entropy) -> Arrival {
    let declared = |name| declared(&raw.headers, name);
    let read = body::read(declared("content-type").as_deref(), declared("content-encoding").as_deref(), &raw.body, source.body_max);
    let headers = source.read_headers(&raw.headers);
    let tree = read.as_ref().ok().and_then(Body::tree);
    let (request_id, attempt) = (source.request_id(&headers, tree), source.attempt(&headers, tree));
    let reader = Reader { source, headers: &headers, arrived: now, now, secret, entropy };
    let Read { items, files, repairs } = reader.items(read);
    let repairs = repairs.on_record();
    let blob = blob(raw.body.to_vec(), entropy);
    let delivery = Delivery { request_id, attempt, repairs, ..record(source, raw, &blob, now, entropy) };
    Arrival { delivery, body: blob, files, items, by: None, undoes: None, take_until: None }
}

/// The record of a request. What an item of it turns out to be is filled in later: until then it says the least.
fn record(source: &SourceSetup, raw: &Raw, blob: &Blob, now: UtcMs, entropy: &dyn Entropy) -> Delivery {
    Delivery {
        id: DeliveryId::draw(now, entropy),
        item: 0,
        source: source.id.clone(),
        at: now,
        remote: raw.remote.clone(),
        request_id: None,
        attempt: None,
        content_type: declared(&raw.headers, "content-type"),
        content_encoding: declared(&raw.headers, "content-encoding"),
        header_digest: header_digest(&raw.headers),
        body_sha256: Digest::sha256(&raw.body),
        body: blob.digest(),
        body_len: u64::try_from(raw.body.len()).unwrap_or(u64::MAX),
        repairs: BTreeMap::new(),
        verdict: Verdict::Quarantined,
        reason: None,
        enquiry: None,
        key: None,
        duplicate_suppressed: false,
        weak: false,
        first_run: None,
        first_delivery: None,
        first_at: None,
    }
}

/// A blob of its own nonce.
pub(super) fn blob(bytes: Vec<u8>, entropy: &dyn Entropy) -> Blob {
    let mut nonce = [0_u8; 32];
    entropy.fill(&mut nonce);
    Blob { nonce, bytes }
}

/// SHA-256 of the header block: each `name: value` in the order received, joined by line feeds.
fn header_digest(headers: &Headers) -> Digest {
    let lines: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    Digest::sha256(lines.join("\n").as_bytes())
}

/// What a header declares of the body; of several of one name, all of them.
fn declared(headers: &Headers, wanted: &str) -> Option<String> {
    let values: Vec<&str> = headers.iter().filter(|(name, _)| name == wanted).map(|(_, value)| value.as_str()).collect();
    match values.as_slice() {
        [] => None,
        // Two types are no type: the first counts. Encodings are laid one upon the other.
        [first, ..] if wanted == "content-type" => Some((*first).to_owned()),
        all => Some(all.join(", ")),
    }
}
