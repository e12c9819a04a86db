//! One effect, carried on as far as it goes: intent, send, look-up, read-back, each decided by the domain.
//!
//! An intent is committed before anything is sent (I5). What was observed is committed when the effect comes to rest or
//! before the next intent; should the process die in between, the attempt is unknown and is looked up (I6).

use std::sync::Arc;

use domain::enquiry::Enquiry;
use domain::gate::{Door, Effect, Moved, Next, Observation, Phase, StepKind, decide};
use domain::ids::EnquiryId;
use domain::time::UtcMs;
use evidence::{Blob, Draft, Facts};
use store::{EffectChange, Error, Lease, Step, TargetState};

use super::entries::{self, ENGINE};
use super::scene::scene;
use super::{Action, Engine};
use crate::effects::{Call, Found, Outcome, ReadBack, Report, Target};

/// Observations in one lease; what is not at rest by then is taken up again.
const ROUNDS_MAX: u32 = 40;
/// How long an effect waits that cannot go on because of its target or of another effect's lock.
const POSTPONE_MS: i64 = 30_000;
const LOCKED_MS: i64 = 200;

/// An effect under work: its state, and what is to be committed with it.
struct Work {
    enquiry: Enquiry,
    effect: Effect,
    version: u64,
    fence: u64,
    rendered: Vec<u8>,
    entries: Vec<Draft>,
    blobs: Vec<(Option<EnquiryId>, Blob)>,
    targets: Vec<TargetState>,
}

impl Engine {
    /// Carries an effect on under a lease.
    pub(super) async fn perform(&self, lease: Lease<Effect>) {
        let id = lease.what.id.clone();
        if let Err(error) = self.try_perform(lease).await {
            // The attempt, if one was made, stands as intended in the book: whoever comes next looks first.
            tracing::warn!(%error, effect = %id, "an effect's step could not be committed");
        }
    }

    async fn try_perform(&self, lease: Lease<Effect>) -> Result<(), Error> {
        let Lease { what: effect, fence, version } = lease;
        let Some(dossier) = self.parts.store.dossier(&effect.enquiry).await? else {
            return Err(Error::Corrupt(format!("effects: {} belongs to no enquiry", effect.id)));
        };
        let mut work = Work {
            enquiry: dossier.enquiry,
            effect,
            version,
            fence,
            rendered: Vec::new(),
            entries: Vec::new(),
            blobs: Vec::new(),
            targets: Vec::new(),
        };
        let Some(target) = self.target(&work.effect.target, &work.effect.action).cloned() else {
            self.hold(&mut work, "its target is no longer configured");
            return self.rest(work).await;
        };
        let action = self.action(&work.effect.action);
        if let Some(why) = self.paused_why(&work.effect.target) {
            return self.postpone(work, POSTPONE_MS, &format!("the target is paused: {why}")).await;
        }
        if self.is_too_late(&work, action) {
            self.hold(&mut work, "older than the action's not_after");
            return self.rest(work).await;
        }
        if let Err(why) = self.render(&mut work, &*target).await? {
            self.hold(&mut work, &why);
            return self.rest(work).await;
        }
        self.carry_on(work, &target, action).await
    }

    /// Step by step until the effect rests.
    async fn carry_on(&self, mut work: Work, target: &Arc<dyn Target>, action: Option<&Action>) -> Result<(), Error> {
        for _ in 0..ROUNDS_MAX {
            let Some(index) = work.effect.current() else { break };
            let step = &work.effect.steps[index];
            if step.due().is_none_or(|due| due > self.now()) {
                break;
            }
            let kind = step.kind;
            let first = self.first_observation(&work, index);
            let mut next = self.observe(&mut work, index, &first, &**target, action, Report::bare(()));
            loop {
                let seen = match next {
                    Next::Send => {
                        match self.commit_intent(&mut work, index).await {
                            Ok(()) => {}
                            Err(Error::Conflict(_)) if kind == StepKind::Contact => {
                                return self.yield_lock(work, index).await;
                            }
                            Err(error) => return Err(error),
                        }
                        self.send(&mut work, index, &**target).await
                    }
                    Next::LookUp => self.look_up(&mut work, index, &**target).await,
                    Next::ReadBack => self.read_back(&mut work, index, &**target).await,
                    Next::Wait | Next::Person | Next::Ended => break,
                };
                let (observation, report) = seen;
                next = self.observe(&mut work, index, &observation, &**target, action, report);
            }
            if next == Next::Person || !work.targets.is_empty() {
                break;
            }
        }
        self.rest(work).await
    }

    /// What a worker that just got the lease observes: an intent that nobody answers for, or that it may begin.
    fn first_observation(&self, work: &Work, index: usize) -> Observation {
        let step = &work.effect.steps[index];
        match step.attempts.last().filter(|_| step.phase == Phase::Intended) {
            Some(attempt) => Observation::Lost { dead_since: self.parts.store.dead_since(&attempt.process) },
            None => Observation::Begin { fence: work.fence, process: self.parts.store.stream().clone() },
        }
    }

    /// Lets the domain decide, and notes it.
    fn observe(
        &self,
        work: &mut Work,
        index: usize,
        seen: &Observation,
        target: &dyn Target,
        action: Option<&Action>,
        report: Report<()>,
    ) -> Next {
        let step = &work.effect.steps[index];
        let rules = self.rules(target, action, step.kind);
        let from = step.phase.as_str();
        let moved = decide(step, seen, &rules, self.now(), self.parts.entropy.draw());
        let ignored = if let Moved::Ignored(why) = &moved { Some(*why) } else { None };
        let (effect, next) = work.effect.clone().moved(index, &moved);
        work.effect = effect;
        let Some(kind) = kind_of(seen, next) else { return next };
        let facts = report.facts.with("from", from).maybe("ignored", ignored);
        let step = &work.effect.steps[index];
        let mut entry = entries::of_step(self.now(), &work.effect, step, kind, ENGINE, intent_facts(step, facts));
        if let Some(body) = report.body.filter(|body| !body.is_empty()) {
            let blob = self.blob(body);
            entry.blobs.push(blob.digest());
            work.blobs.push((Some(work.effect.enquiry.clone()), blob));
        }
        work.entries.push(entry);
        next
    }

    async fn send(&self, work: &mut Work, index: usize, target: &dyn Target) -> (Observation, Report<()>) {
        self.parts.stops.at("engine.intended");
        let call = call(work, index);
        let Report { what, facts, body } = target.write(&call).await;
        self.parts.stops.at("engine.answered");
        let seen = match what {
            Outcome::Applied(id) => (Observation::Applied { id }, facts),
            // The target's words may repeat the enquiry's: they stay in the effect and the blob, out of the journal.
            Outcome::Refused(why) => (Observation::Refused { why }, facts),
            Outcome::Conflict => (Observation::Conflict, facts),
            Outcome::NotSent { why, retry_after_ms } => (Observation::NotSent { retry_after_ms }, facts.with("why", why)),
            Outcome::Closed(why) => {
                self.close_target(work, &why);
                (Observation::NotSent { retry_after_ms: None }, facts.with("why", why))
            }
            Outcome::Unknown(why) => (Observation::NoAnswer, facts.with("why", why)),
        };
        (seen.0, Report { what: (), facts: seen.1, body })
    }

    async fn look_up(&self, work: &mut Work, index: usize, target: &dyn Target) -> (Observation, Report<()>) {
        let begun_at = self.now();
        let Report { what, facts, body } = target.look_up(&call(work, index)).await;
        let contact = work.effect.steps[index].kind == StepKind::Contact;
        let (seen, facts) = match what {
            // Several contacts with one address are other people's doing: the oldest is taken, and flagged.
            Found::Records(ids) if contact => {
                let facts = facts.with("matches", u64::try_from(ids.len()).unwrap_or(u64::MAX));
                (Observation::Found { ids: ids.into_iter().take(1).collect() }, facts)
            }
            Found::Records(ids) => (Observation::Found { ids }, facts),
            Found::Absent => (Observation::Absent { begun_at }, facts),
            Found::CannotTell(why) => (Observation::LookFailed, facts.with("why", why)),
            Found::Closed(why) => {
                self.close_target(work, &why);
                (Observation::LookFailed, facts.with("why", why))
            }
        };
        (seen, Report { what: (), facts, body })
    }

    async fn read_back(&self, work: &mut Work, index: usize, target: &dyn Target) -> (Observation, Report<()>) {
        let Phase::Done { id, .. } = work.effect.steps[index].phase.clone() else {
            return (Observation::ReadFailed, Report::bare(()));
        };
        let Report { what, facts, body } = target.read_back(&call(work, index), &id).await;
        let (seen, facts) = match what {
            ReadBack::Same => (Observation::ReadSame, facts),
            ReadBack::Differs(what) => (Observation::ReadDiffers { what: what.clone() }, facts.with("differs", what)),
            ReadBack::Gone => (Observation::ReadGone, facts),
            ReadBack::Failed(why) => (Observation::ReadFailed, facts.with("why", why)),
            ReadBack::Closed(why) => {
                self.close_target(work, &why);
                (Observation::ReadFailed, facts.with("why", why))
            }
        };
        (seen, Report { what: (), facts, body })
    }

    /// Renders what is sent, once, or reads what was rendered before. The inner error goes to a person. As long as nothing of
    /// it can have reached the target it is rendered anew, so that a mended configuration counts for what waits.
    async fn render(&self, work: &mut Work, target: &dyn Target) -> Result<Result<(), String>, Error> {
        let reached = work.effect.steps.iter().flat_map(|step| &step.attempts).any(domain::gate::Attempt::may_have_reached);
        let kept = match &work.effect.rendered {
            Some(digest) => self.parts.store.blob(digest).await?,
            None => None,
        };
        if reached {
            return Ok(match kept {
                Some(blob) => {
                    work.rendered = blob.bytes;
                    Ok(())
                }
                None => Err("what was rendered for it is erased".to_owned()),
            });
        }
        let effect = &work.effect;
        let scene = scene(&work.enquiry, &effect.outgoing_key, &effect.action, effect.ordinal);
        let bytes = match target.render(&effect.outgoing_key, &scene) {
            Ok(bytes) => bytes,
            Err(why) => return Ok(Err(format!("what is to be sent cannot be rendered: {why}"))),
        };
        if kept.is_none_or(|blob| blob.bytes != bytes) {
            let blob = self.blob(bytes.clone());
            work.effect.rendered = Some(blob.digest());
            work.blobs.push((Some(work.effect.enquiry.clone()), blob));
        }
        work.rendered = bytes;
        Ok(Ok(()))
    }

    fn is_too_late(&self, work: &Work, action: Option<&Action>) -> bool {
        let never_begun = work.effect.steps.iter().all(|step| step.attempts.is_empty());
        let limit = action.and_then(|a| a.not_after_ms).filter(|_| never_begun);
        limit.is_some_and(|limit| self.now().since(work.enquiry.accepted_at) > limit)
    }

    fn hold(&self, work: &mut Work, why: &str) {
        work.effect.door = Door::Held { why: why.to_owned() };
        let facts = Facts::new().with("why", why);
        work.entries.push(entries::of_effect(self.now(), &work.effect, "effect.held", ENGINE, facts));
    }

    /// 401 and 403 pause the target, with an alarm; its effects stay planned.
    fn close_target(&self, work: &mut Work, why: &str) {
        let at = self.now();
        let state = TargetState { name: work.effect.target.clone(), paused: Some((at, why.to_owned())) };
        tracing::error!(target_name = %state.name, why, "a target is closed to us and was paused");
        let facts = Facts::new().with("why", why);
        work.entries.push(entries::of_effect(at, &work.effect, "target.paused", ENGINE, facts));
        work.targets.push(state);
    }

    /// The durable intent (I5), with everything observed before it.
    async fn commit_intent(&self, work: &mut Work, index: usize) -> Result<(), Error> {
        let step = Step {
            at: self.now(),
            effects: vec![self.change(work, true, self.lock_of(work, index))],
            blobs: work.blobs.clone(),
            entries: work.entries.clone(),
            ..Step::default()
        };
        self.parts.store.commit(step).await?;
        work.version += 1;
        work.entries.clear();
        work.blobs.clear();
        Ok(())
    }

    /// Another effect is at the same contact: this one goes on a little later. What it had observed before stays.
    async fn yield_lock(&self, mut work: Work, index: usize) -> Result<(), Error> {
        let step = &mut work.effect.steps[index];
        step.attempts.pop();
        step.phase = Phase::Planned { due: self.now().plus(LOCKED_MS) };
        work.entries.retain(|entry| entry.kind != "effect.intended");
        self.rest(work).await
    }

    async fn postpone(&self, mut work: Work, ms: i64, why: &str) -> Result<(), Error> {
        let Some(index) = work.effect.current() else { return Ok(()) };
        let until = self.now().plus(ms);
        if work.effect.steps[index].phase == Phase::Intended {
            // Nothing is sent to a paused target, and what was sent stays intended until it can be asked.
            return self.rest(work).await;
        }
        work.effect.steps[index] = work.effect.steps[index].clone().postponed(until);
        let facts = Facts::new().with("why", why).with("until", until.rfc3339());
        work.entries.push(entries::of_effect(self.now(), &work.effect, "effect.postponed", ENGINE, facts));
        self.rest(work).await
    }

    /// Commits the effect as it stands, and what follows for its enquiry.
    async fn rest(&self, work: Work) -> Result<(), Error> {
        let at = self.now();
        let keep_lease = work.effect.steps.iter().any(|step| step.phase == Phase::Intended);
        let locked = work.effect.current().and_then(|index| self.lock_of(&work, index)).filter(|_| contact_is_open(&work.effect));
        let change = self.change(&work, keep_lease, locked);
        let held = matches!(work.effect.door, Door::Held { .. }).then(|| self.held_review(&work, at));
        self.settle(&work.effect.enquiry.clone(), |dossier| {
            if dossier.effects.iter().all(|(e, version)| e.id != work.effect.id || *version != work.version) {
                return Err(Error::Refused("the effect was changed by somebody else meanwhile".to_owned()));
            }
            let mut step = Step {
                at,
                effects: vec![change.clone()],
                blobs: work.blobs.clone(),
                entries: work.entries.clone(),
                targets: work.targets.clone(),
                ..Step::default()
            };
            if let Some(review) = &held {
                step.entries.push(entries::of_review(at, review, "review.opened", ENGINE));
                step.reviews.push(review.clone());
            }
            Ok(step)
        })
        .await?;
        work.targets.iter().for_each(|state| self.note_target(state));
        Ok(())
    }

    fn held_review(&self, work: &Work, at: UtcMs) -> store::Review {
        let why = super::plan::reason(&work.effect).unwrap_or_default();
        store::Review {
            id: domain::ids::ReviewId::draw(at, &*self.parts.entropy),
            enquiry: work.effect.enquiry.clone(),
            effect: Some(work.effect.id.clone()),
            kind: store::ReviewKind::Message,
            holds: true,
            why: format!("'{}' is held: {why}", work.effect.action),
            attempt: 0,
            opened_at: at,
            closed_at: None,
            decision: None,
        }
    }

    /// The contact step is serialised per (target, address): while one effect's is open, no other begins. The lock's name
    /// is a keyed fingerprint, so that the book's columns hold no address.
    fn lock_of(&self, work: &Work, index: usize) -> Option<String> {
        if work.effect.steps[index].kind != StepKind::Contact {
            return None;
        }
        let (field, value) = work.enquiry.fields.as_ref()?.contact_handle()?;
        let parts = [work.effect.target.as_bytes(), field.as_bytes(), value.as_bytes()];
        Some(format!("contact:{}", self.parts.store.secret().fingerprint("contact-lock", parts)))
    }

    fn change(&self, work: &Work, keep_lease: bool, lock: Option<String>) -> EffectChange {
        EffectChange { effect: work.effect.clone(), version: Some(work.version), fence: Some(work.fence), keep_lease, lock }
    }
}

/// What the target is asked, for the step at hand.
fn call(work: &Work, index: usize) -> Call {
    let effect = &work.effect;
    let id_of = |kind: StepKind| effect.steps.iter().find(|s| s.kind == kind).and_then(|s| s.external_id()).map(str::to_owned);
    Call {
        step: effect.steps[index].kind,
        key: effect.outgoing_key.clone(),
        rendered: work.rendered.clone(),
        scene: scene(&work.enquiry, &effect.outgoing_key, &effect.action, effect.ordinal),
        contact_id: id_of(StepKind::Contact),
        record_id: id_of(StepKind::Record),
        deadline: effect.steps[index].attempts.last().map_or(UtcMs(i64::MAX), |attempt| attempt.deadline),
    }
}

fn contact_is_open(effect: &Effect) -> bool {
    let contact = effect.steps.iter().find(|step| step.kind == StepKind::Contact);
    contact.is_some_and(|step| !step.has_passed() && step.attempts.iter().any(domain::gate::Attempt::is_open))
}

/// The journal's word for an observation; `None` for a beginning that only leads to a question.
fn kind_of(seen: &Observation, next: Next) -> Option<&'static str> {
    Some(match seen {
        Observation::Begin { .. } if next == Next::Send => "effect.intended",
        Observation::Begin { .. } if next == Next::Person => "effect.given_up",
        Observation::Begin { .. } => return None,
        Observation::Lost { .. } => "effect.lost",
        Observation::NotSent { .. } => "effect.not_sent",
        Observation::Refused { .. } => "effect.refused",
        Observation::Conflict => "effect.exists_already",
        Observation::Applied { .. } => "effect.answered",
        Observation::NoAnswer => "effect.unknown",
        Observation::Found { .. } => "effect.found",
        Observation::Absent { .. } => "effect.absent",
        Observation::LookFailed => "effect.look_failed",
        Observation::ReadSame => "effect.verified",
        Observation::ReadDiffers { .. } => "effect.mismatched",
        Observation::ReadGone => "effect.read_gone",
        Observation::ReadFailed => "effect.read_failed",
        Observation::LateAnswer { .. } => "effect.late_answer",
        Observation::NotThere { .. } | Observation::ItIs { .. } | Observation::Again | Observation::Close { .. } => "effect.decided",
    })
}

/// An intent names key, action, step, attempt, fence and deadline, and that the gate let it proceed.
fn intent_facts(step: &domain::gate::Step, facts: Facts) -> Facts {
    match step.attempts.last().filter(|_| step.phase == Phase::Intended) {
        Some(attempt) => facts.with("decision", "proceed").with("fence", attempt.fence).with("deadline", attempt.deadline.rfc3339()),
        None => facts,
    }
}
