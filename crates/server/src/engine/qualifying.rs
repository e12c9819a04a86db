//! One try of the qualifier, and what follows from it: the next try, a result, or going on without.
//!
//! Each try is a piece of work of its own. Its evidence is committed before the next one is waited for, so that a crash
//! neither loses an answer nor begins to count anew, and no worker sits through the wait. A later run (a replay) asks anew:
//! its result is kept beside what the enquiry's effects were planned with, and plans nothing.

use std::sync::{Mutex, PoisonError};

use domain::enquiry::{Again, Enquiry, Qualification, Qualifying};
use domain::ids::EnquiryId;
use domain::time::UtcMs;
use evidence::{Blob, Draft, Facts};
use store::{EnquiryChange, Error, Lease, Step};

use super::Engine;
use super::entries::{self, ENGINE};
use super::plan::Doubt;
use crate::qualify::{self, Qualified, QualifyError};

/// No server is obeyed longer: the record waits for the qualifier, so a wait of a day would keep the enquiry for a day.
const RETRY_AFTER_MAX_MS: i64 = 60_000;

/// What the settling of a later result is told by when it came too late.
const OVERTAKEN: &str = "another run was begun meanwhile, or another worker asked";

/// What is kept of one try.
#[derive(Clone)]
pub(super) struct Evidence {
    pub(super) entry: Draft,
    pub(super) blobs: Vec<(Option<EnquiryId>, Blob)>,
}

impl Evidence {
    /// That of the try which the step begins with; what else the step holds comes after it.
    pub(super) fn of(step: &Step) -> Option<Self> {
        let entry = step.entries.first()?.clone();
        let blobs = step.blobs.iter().filter(|(_, blob)| entry.blobs.contains(&blob.digest())).cloned().collect();
        Some(Self { entry, blobs })
    }
}

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
    /// as it then stands; a run that was begun since has its own try, and of this one only the evidence is kept.
    pub(super) async fn qualify_again(&self, lease: Lease<Enquiry>) {
        let Lease { what: asked, fence, version } = lease;
        let Some(again) = asked.qualifying.again else {
            let at = self.now();
            let change = EnquiryChange { enquiry: asked, version, fence: Some(fence), due: None, keep_lease: false };
            return self.commit_plan(Step { at, enquiries: vec![change], ..Step::default() }).await;
        };
        let fields = asked.fields.clone().unwrap_or_default();
        let outcome = self.parts.qualifier.qualify(&fields).await;
        let (at, tries) = (self.now(), asked.qualifying.tries.saturating_add(1));
        let took = ("run_to_result_ms", at.since(again.since));
        let due = outcome.as_ref().err().and_then(|error| self.next_try(error, tries, at));
        let built = Mutex::new(None);
        let settled = self.settle(&asked.id, |case| {
            let mut step = Step { at, ..Step::default() };
            if case.enquiry.qualifying != asked.qualifying {
                return Err(Error::Refused(OVERTAKEN.to_owned()));
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
            *built.lock().unwrap_or_else(PoisonError::into_inner) = Evidence::of(&step);
            next.qualifying = due.map_or_else(Qualifying::default, |due| Qualifying { tries, again: Some(Again { due, ..again }) });
            let due = next.asked_again();
            step.enquiries.push(EnquiryChange { enquiry: next, version: case.version, fence: None, due, keep_lease: false });
            Ok(step)
        });
        let settled = match settled.await {
            Err(Error::Refused(why)) if why == OVERTAKEN => {
                // Perhaps by its own commit, whose outcome nobody told.
                let built = built.into_inner().unwrap_or_else(PoisonError::into_inner);
                match built.or_else(|| self.evidence_alone(&asked, &outcome, (at, took))) {
                    Some(evidence) => Box::pin(self.keep_evidence(evidence)).await,
                    None => Ok(()),
                }
            }
            result => result,
        };
        if let Err(error) = settled {
            tracing::warn!(%error, enquiry = %asked.id, "a later result could not be committed: it is asked for again when the lease is over");
        }
    }

    /// What is kept of a try whose result changes nothing.
    fn evidence_alone(
        &self,
        asked: &Enquiry,
        outcome: &Result<Qualified, QualifyError>,
        (at, took): (UtcMs, (&str, i64)),
    ) -> Option<Evidence> {
        let mut step = Step::default();
        match outcome {
            Ok(qualified) => self.qualified(asked, qualified, (at, took), Facts::new().with("kept", false), &mut step),
            Err(error) => self.not_qualified(asked, error, (at, took), None, &mut step),
        }
        Evidence::of(&step)
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
        let (attempt, of) = (enquiry.qualifying.tries.saturating_add(1), self.parts.settings.qualify_attempts);
        let asked = self.parts.qualifier.address();
        tracing::warn!(enquiry = %enquiry.id, asked, attempt, of, kind = error.kind.as_str(), why = error.why, "an enquiry could not be qualified");
        let facts = with(Facts::new(), &error.evidence)
            .with("qualifier", self.parts.qualifier.name())
            .with("attempt", attempt)
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

fn with(facts: Facts, evidence: &qualify::Evidence) -> Facts {
    evidence.facts.iter().fold(facts, |facts, (name, value)| facts.with(name, value.clone()))
}

/// A share as whole percents: facts hold no floats.
fn percent(share: f64) -> i64 {
    let rounded = (share.clamp(0.0, 1.0) * 100.0).round();
    (0..=100).find(|&n| f64::from(n) >= rounded).map_or(100, i64::from)
}
