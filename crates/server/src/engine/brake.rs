//! Who is not written to, and how often anybody is: by keyed digests of addresses, which an erasure leaves standing.
//!
//! What exceeds them is held for a person; nothing here drops a message.

use domain::gate::{Hold, StepKind};
use domain::time::UtcMs;
use evidence::{Draft, Facts};
use serde::{Deserialize, Serialize};
use store::{Error, Kept, Step, Store};

use super::work::Work;
use super::{Action, Engine, Refused};

const LIST: &str = "do-not-contact:";

/// An address on the do-not-contact list, as far as the book knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// The keyed digest of the address.
    pub digest: String,
    /// Since when.
    pub at: UtcMs,
    /// Who put it there.
    pub by: String,
    /// Why.
    pub why: String,
}

impl Listed {
    /// The list of a book, by digest, after one of them.
    pub async fn page(store: &dyn Store, after: Option<&str>, limit: usize) -> Result<Vec<Self>, Error> {
        let after = after.map(|digest| format!("{LIST}{digest}"));
        let rows = store.kept_under(LIST, after.as_deref(), limit).await?;
        rows.iter().map(|(_, text)| read(text)).collect()
    }
}

/// One message that may have gone to an address.
#[derive(Debug, Serialize, Deserialize)]
struct Sent {
    effect: String,
    at: UtcMs,
}

impl Engine {
    /// Puts an address on the do-not-contact list, or takes it off. Attributed and journalled; the journal has the digest.
    pub async fn list_address(&self, address: &str, why: Option<&str>, who: &str) -> Result<Option<Listed>, Refused> {
        let address = address.trim();
        let is_address = address.split_once('@').is_some_and(|(name, host)| !name.is_empty() && !host.is_empty());
        if !is_address || address.chars().any(char::is_whitespace) {
            return Err(Refused::misfit("that is no e-mail address"));
        }
        let digest = self.digest_of(address);
        let name = format!("{LIST}{digest}");
        let was = self.parts.store.kept(&name).await?;
        let at = self.now();
        let listed = why.map(|why| Listed { digest: digest.clone(), at, by: who.to_owned(), why: why.to_owned() });
        match (&was, &listed) {
            (Some(_), Some(_)) => return Err(Refused::misfit("the address is on the list already")),
            (None, None) => return Err(Refused::misfit("the address is not on the list")),
            (Some(_), None) | (None, Some(_)) => {}
        }
        let kind = if listed.is_some() { "contact.listed" } else { "contact.unlisted" };
        // A reason is a person's words, and stays out of the journal.
        let facts = Facts::new().with("digest", digest);
        let entry = Draft { at, enquiry: None, kind: kind.to_owned(), actor: who.to_owned(), facts, blobs: Vec::new() };
        let is = listed.as_ref().map(text).transpose()?;
        self.parts.store.commit(Step { at, kept: vec![Kept { name, was, is }], entries: vec![entry], ..Step::default() }).await?;
        Ok(listed)
    }

    /// The list, by digest, after one of them.
    pub async fn listed(&self, after: Option<&str>, limit: usize) -> Result<Vec<Listed>, Error> {
        Listed::page(&*self.parts.store, after, limit).await
    }

    pub(super) async fn is_listed(&self, work: &Work) -> Result<bool, Error> {
        let Some(digest) = self.digest_to(work) else { return Ok(false) };
        Ok(self.parts.store.kept(&format!("{LIST}{digest}")).await?.is_some())
    }

    /// Whether the address had as many of the action's messages as are allowed.
    pub(super) async fn had_enough(&self, work: &Work, action: &Action) -> Result<bool, Error> {
        let Some((most, _)) = action.per_address else { return Ok(false) };
        let Some((_, _, sent)) = self.sent(work).await? else { return Ok(false) };
        let others = sent.iter().filter(|sent| sent.effect != work.effect.id.as_str()).count();
        Ok(others >= usize::try_from(most).unwrap_or(usize::MAX))
    }

    /// What an intent to send a message adds to the count of its address: once, however often it is tried.
    pub(super) async fn counted(&self, work: &Work, index: usize) -> Result<Option<Kept>, Error> {
        if work.effect.steps[index].kind != StepKind::Message {
            return Ok(None);
        }
        let Some((name, was, mut sent)) = self.sent(work).await? else { return Ok(None) };
        let effect = work.effect.id.to_string();
        // Others may have been counted since it was let through: then it goes through the door anew.
        let most = self.action(&work.effect.action).and_then(|action| action.per_address).map_or(u32::MAX, |(most, _)| most);
        let others = sent.iter().filter(|sent| sent.effect != effect).count();
        if others >= usize::try_from(most).unwrap_or(usize::MAX) && !work.effect.released.contains(&Hold::PerAddress) {
            return Err(Error::Conflict("its address had its last message meanwhile"));
        }
        if !sent.iter().any(|sent| sent.effect == effect) {
            sent.push(Sent { effect, at: self.now() });
        }
        Ok(Some(Kept { name, was, is: Some(text(&sent)?) }))
    }

    /// The action's messages to the address that are recent enough to count; where they are kept, and as what.
    async fn sent(&self, work: &Work) -> Result<Option<(String, Option<String>, Vec<Sent>)>, Error> {
        let within = self.action(&work.effect.action).and_then(|action| action.per_address).map(|(_, within)| within);
        let (Some(within), Some(digest)) = (within, self.digest_to(work)) else { return Ok(None) };
        let name = format!("sent:{}:{digest}", work.effect.action);
        let was = self.parts.store.kept(&name).await?;
        let mut sent: Vec<Sent> = was.as_deref().map(read).transpose()?.unwrap_or_default();
        let now = self.now();
        sent.retain(|sent| now.since(sent.at) < within);
        Ok(Some((name, was, sent)))
    }

    fn digest_to(&self, work: &Work) -> Option<String> {
        let address = work.enquiry.fields.as_ref()?.contact.email.as_deref()?;
        Some(self.digest_of(address))
    }

    /// Letters are compared without their case: people write an address as they like.
    fn digest_of(&self, address: &str) -> String {
        let address = address.trim().to_lowercase();
        self.parts.store.secret().fingerprint("do-not-contact", [address.as_bytes()]).to_string()
    }
}

fn text<T: Serialize>(record: &T) -> Result<String, Error> {
    serde_json::to_string(record).map_err(|e| Error::Corrupt(format!("a record cannot be written: {e}")))
}

fn read<T: for<'a> Deserialize<'a>>(text: &str) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|e| Error::Corrupt(format!("kept: a record cannot be read: {e}")))
}
