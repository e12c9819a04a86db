//! One try of the qualifier, and what follows from it: the next try, a result, or going on without.
//!
//! Each try is a piece of work of its own. Its evidence is committed before the next one is waited for, so that a crash
//! neither loses an answer nor begins to count anew, and no worker sits through the wait. A later run (a replay) asks anew:
//! its result is kept beside what the enquiry's effects were planned with, and plans nothing.

use domain::enquiry::{Again, Enquiry, Qualification, Qualifying};
use domain::time::UtcMs;
use evidence::{Draft, Facts};
use store::{EnquiryChange, Lease, Step};

use super::Engine;
use super::entries::{self, ENGINE};
use super::plan::Doubt;
use crate::qualify::{Evidence, Qualified, QualifyError};

/// No server is obeyed longer: the record waits for the qualifier, so a wait of a day would keep the enquiry for a day.
const RETRY_AFTER_MAX_MS: i64 = 60_000;

/// What a try of the first run came to.
pub(super) enum Tried {
    /// There is a result, or there will be none; the doubt that holds outward messages, if there is one.
    Done(Option<Doubt>),
    /// The next try is due then.
    Later(UtcMs),
}

impl Engine {
    /// Tries once for the run that began at acceptance.
    pub(super) async fn qualify(&self, enquiry: &mut Enquiry, step: &mut Step) -> Tried {
        let fields = enquiry.fields.clone().unwrap_or_default();
        let outcome = self.parts.qualifier.qualify(&fields).await;
        let at = self.now();
        let took = ("arrival_to_result_ms", at.since(enquiry.accepted_at));
        let tries = enquiry.qualifying.tries.saturating_add(1);
        match outcome {
            Ok(qualified) => {
                let doubt = self.doubt(&qualified);
                self.qualified(enquiry, &qualified, (at, took), Facts::new(), step);
                enquiry.qualification = Some(qualified.result);
                enquiry.qualifying = Qualifying::default();
                enquiry.qualified_at = Some(at);
                Tried::Done(doubt)
            }
            Err(error) => {
                let due = self.next_try(&error, tries, at);
                self.not_qualified(enquiry, &error, (at, took), due, step);
                enquiry.qualifying.tries = tries;
                if let Some(due) = due {
                    return Tried::Later(due);
                }
                enquiry.qualifying = Qualifying::default();
                enquiry.qualified_at = Some(at);
                Tried::Done(Some(Doubt::Failed(error.kind)))
            }
        }
    }

    /// Tries once for a later run. Effects of the enquiry may come to rest meanwhile, so the result is put beside the enquiry
    /// as it then stands; a run that was begun since has its own try.
    pub(super) async fn qualify_again(&self, lease: Lease<Enquiry>) {
        let Lease { what: asked, fence, version } = lease;
        let Some(again) = asked.qualifying.again else {
            let at = self.now();
            let change = EnquiryChange { enquiry: asked, version, fence: Some(fence), due: None };
            return self.commit_plan(Step { at, enquiries: vec![change], ..Step::default() }).await;
        };
        let fields = asked.fields.clone().unwrap_or_default();
        let outcome = self.parts.qualifier.qualify(&fields).await;
        let (at, tries) = (self.now(), asked.qualifying.tries.saturating_add(1));
        let took = ("run_to_result_ms", at.since(again.since));
        let due = outcome.as_ref().err().and_then(|error| self.next_try(error, tries, at));
        let settled = self.settle(&asked.id, |case| {
            let mut step = Step { at, ..Step::default() };
            if case.enquiry.qualifying != asked.qualifying {
                return Ok(step);
            }
            let mut next = case.enquiry.clone();
            match &outcome {
                Ok(qualified) => {
                    let is_kept = next.qualification.is_none() || self.doubt(qualified).is_none();
                    let facts = Facts::new().with("kept", is_kept);
                    self.qualified(&next, qualified, (at, took), facts, &mut step);
                    if is_kept {
                        next.qualification = Some(latest(&qualified.result, next.qualification.as_ref()));
                    }
                }
                Err(error) => self.not_qualified(&next, error, (at, took), due, &mut step),
            }
            next.qualifying = due.map_or_else(Qualifying::default, |due| Qualifying { tries, again: Some(Again { due, ..again }) });
            let due = next.asked_again();
            step.enquiries.push(EnquiryChange { enquiry: next, version: case.version, fence: None, due });
            Ok(step)
        });
        if let Err(error) = settled.await {
            tracing::warn!(%error, enquiry = %asked.id, "a later result could not be committed: it is asked for again when the lease is over");
        }
    }

    fn doubt(&self, qualified: &Qualified) -> Option<Doubt> {
        let sure = qualified.result.confidence >= self.parts.settings.min_confidence;
        qualified.suspect.map(Doubt::Suspect).or((!sure).then_some(Doubt::Uncertain))
    }

    /// When it is tried again after so many failures, if it is.
    fn next_try(&self, error: &QualifyError, tries: u32, at: UtcMs) -> Option<UtcMs> {
        let settings = &self.parts.settings;
        if !error.kind.may_pass() || tries >= settings.qualify_attempts {
            return None;
        }
        let asked = error.retry_after_ms.map(|ms| ms.clamp(0, RETRY_AFTER_MAX_MS));
        Some(at.plus(settings.qualify_backoff.wait_ms(tries, self.parts.entropy.draw(), asked)))
    }

    /// The entry and the blobs of a result: the result itself, which may repeat what the enquiry says, and the answer as it came.
    fn qualified(&self, enquiry: &Enquiry, qualified: &Qualified, (at, took): (UtcMs, (&str, i64)), facts: Facts, step: &mut Step) {
        let result = &qualified.result;
        let facts = with(facts, &qualified.evidence)
            .with("qualifier", self.parts.qualifier.name())
            .with("attempt", enquiry.qualifying.tries.saturating_add(1))
            .with("request_type", result.request_type.as_str())
            .with("qualified", result.qualified)
            .with("confidence_percent", percent(result.confidence))
            .with("uncertain", result.confidence < self.parts.settings.min_confidence)
            .maybe("suspect", qualified.suspect)
            .with(took.0, took.1);
        let made = serde_json::to_vec(result).unwrap_or_default();
        let entry = entries::of_enquiry(at, enquiry, "enquiry.qualified", ENGINE, facts);
        self.keep(enquiry, entry, [made, qualified.evidence.answer.clone()], step);
    }

    fn not_qualified(
        &self,
        enquiry: &Enquiry,
        error: &QualifyError,
        (at, took): (UtcMs, (&str, i64)),
        due: Option<UtcMs>,
        step: &mut Step,
    ) {
        tracing::warn!(enquiry = %enquiry.id, kind = error.kind.as_str(), why = error.why, "an enquiry could not be qualified");
        let facts = with(Facts::new(), &error.evidence)
            .with("qualifier", self.parts.qualifier.name())
            .with("attempt", enquiry.qualifying.tries.saturating_add(1))
            .with("failure", error.kind.as_str())
            .with("why", error.why.as_str())
            .maybe("next_try", due.map(UtcMs::rfc3339));
        // The last one of a run is its result: that there is none.
        let facts = if due.is_none() { facts.with(took.0, took.1) } else { facts };
        let entry = entries::of_enquiry(at, enquiry, "enquiry.not_qualified", ENGINE, facts);
        self.keep(enquiry, entry, [error.evidence.answer.clone()], step);
    }

    /// Puts an entry into the step, with what it speaks of.
    fn keep<const N: usize>(&self, enquiry: &Enquiry, mut entry: Draft, bodies: [Vec<u8>; N], step: &mut Step) {
        for bytes in bodies.into_iter().filter(|bytes| !bytes.is_empty()) {
            let blob = self.blob(bytes);
            entry.blobs.push(blob.digest());
            step.blobs.push((Some(enquiry.id.clone()), blob));
        }
        step.entries.push(entry);
    }
}

/// The latest result as the enquiry has it from now on. The draft stays the one that a person saw when the first was made:
/// an approval is for that, and a later draft stands in the evidence.
fn latest(result: &Qualification, before: Option<&Qualification>) -> Qualification {
    Qualification { reply_draft: before.and_then(|before| before.reply_draft.clone()), ..result.clone() }
}

fn with(facts: Facts, evidence: &Evidence) -> Facts {
    evidence.facts.iter().fold(facts, |facts, (name, value)| facts.with(name, value.clone()))
}

/// A share as whole percents: facts hold no floats.
fn percent(share: f64) -> i64 {
    let rounded = (share.clamp(0.0, 1.0) * 100.0).round();
    (0..=100).find(|&n| f64::from(n) >= rounded).map_or(100, i64::from)
}
