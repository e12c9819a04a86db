//! One effect, carried on as far as it goes: intent, send, look-up, read-back, each decided by the domain.
//!
//! An intent is committed before anything is sent (I5). What was observed is committed when the effect comes to rest or
//! before the next intent; should the process die in between, the attempt is unknown and is looked up (I6). Asking the
//! target, and turning its words into observations, is `ask`'s; what keeps an effect from being begun is `doors`'s.

use std::sync::Arc;

use domain::gate::{Attempted, Door, Effect, Hold, Moved, Next, Observation, Phase, Rules, StepKind, decide};
use domain::planted::{self, Bug};
use store::{Error, Lease, Step};

use super::ask::{intent_facts, kind_of};
use super::entries::{self, ENGINE};
use super::scene::scene;
use super::work::{Work, contact_is_open, put_off};
use super::{Action, Engine};
use crate::effects::{Report, Target};

/// What `rest` is told by when somebody else was at the effect.
const CHANGED: &str = "the effect was changed by somebody else meanwhile";
/// Observations in one lease; what is not at rest by then is taken up again.
const ROUNDS_MAX: u32 = 40;
/// How long an effect waits, at least and at most, that cannot go on because of another effect's lock.
const LOCKED_MIN_MS: i64 = 20;
const LOCKED_MAX_MS: i64 = 30_000;

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
        let Some(case) = self.parts.store.case(&effect.enquiry).await? else {
            return Err(Error::Corrupt(format!("effects: {} belongs to no enquiry", effect.id)));
        };
        let mut work = Work::new(case.enquiry.clone(), effect, version, fence);
        work.known = Some(case);
        let Some(target) = self.target(&work.effect.target, &work.effect.action).cloned() else {
            self.miss_target(&work.effect.target).await?;
            return self.yield_paused(work).await;
        };
        if self.stays_paused(&work.effect.target).await? {
            return self.yield_paused(work).await;
        }
        work.entered = self.enter(&work.effect.target);
        if work.entered.is_none() {
            let until = self.opens_at(&work.effect.target);
            put_off(&mut work.effect, until);
            return self.yield_paused(work).await;
        }
        let action = self.action(&work.effect.action);
        if let Some((hold, why)) = self.held_now(&work, &*target, action).await? {
            self.hold(&mut work, hold, why);
            return self.rest(work).await;
        }
        if let Err(why) = self.render(&mut work, &*target).await? {
            self.hold(&mut work, Hold::Own, &why);
            return self.rest(work).await;
        }
        Box::pin(self.carry_on(work, &target, action, false)).await
    }

    /// Begins the effect, if the first thing to do is to send it; the target is asked before that, where it can be. `None`: it
    /// goes the longer way. What it notes is to be committed before the send, with the effect as it stands then: begun, or
    /// planned for later, because the target could not be asked.
    pub(super) async fn begin(&self, mut work: Work) -> Option<Work> {
        let effect = &work.effect;
        let index = effect.current().filter(|_| effect.door == Door::Open)?;
        let step = &effect.steps[index];
        let (kind, may_begin) = (step.kind, step.due().is_some_and(|due| due <= self.now()));
        let target = Arc::clone(self.target(&effect.target, &effect.action)?);
        let action = self.action(&effect.action);
        // A contact has a lock to win, a message its address's brake, and losing it must not undo the plan.
        if !may_begin || matches!(kind, StepKind::Contact | StepKind::Message) || self.is_paused(&effect.target) {
            return None;
        }
        if self.held_now(&work, &*target, action).await.is_ok_and(|held| held.is_none()) {
            work.entered = Some(self.enter_at_once(&work.effect.target)?);
        }
        work.entered.as_ref()?;
        self.render(&mut work, &*target).await.ok()?.ok()?;
        let rules = self.rules(&*target, action, kind);
        let mut next = self.observe_first(&mut work, index, &rules);
        if next == Next::LookUp {
            let (seen, report) = self.look_up(&mut work, index, &*target).await;
            self.hear(&mut work, &seen);
            // What is found there is taken up by a worker that also asks a person what follows.
            let Observation::Absent { .. } = &seen else { return None };
            self.observe(&mut work, index, &rules, &seen, report);
            next = self.observe_first(&mut work, index, &rules);
        }
        (next == Next::Send).then_some(work)
    }

    fn observe_first(&self, work: &mut Work, index: usize, rules: &Rules) -> Next {
        let first = self.first_observation(work, index);
        self.observe(work, index, rules, &first, Report::bare(()))
    }

    /// Carries on what was begun, once its intent is durable.
    pub(super) async fn perform_begun(&self, work: Work) {
        let id = work.effect.id.clone();
        let Some(target) = self.target(&work.effect.target, &work.effect.action).cloned() else {
            unreachable!("it was begun with its target")
        };
        let action = self.action(&work.effect.action);
        if let Err(error) = Box::pin(self.carry_on(work, &target, action, true)).await {
            tracing::warn!(%error, effect = %id, "an effect's step could not be committed");
        }
    }

    /// Step by step until the effect rests. `begun`: the first intent is durable already.
    async fn carry_on(&self, mut work: Work, target: &Arc<dyn Target>, action: Option<&Action>, mut begun: bool) -> Result<(), Error> {
        let (due, was_away) = (work.effect.due(), self.is_away(&work.effect.target));
        for _ in 0..ROUNDS_MAX {
            let Some(index) = work.effect.current() else { break };
            let step = &work.effect.steps[index];
            if !begun && step.due().is_none_or(|due| due > self.now()) {
                break;
            }
            let kind = step.kind;
            let rules = self.rules(&**target, action, kind);
            let (before, entries_before) = (work.effect.clone(), work.entries.len());
            let mut next = Next::Send;
            if !begun {
                // Before the intent, for that has a deadline.
                self.turn(&work.effect.target).await;
                next = self.observe_first(&mut work, index, &rules);
            }
            loop {
                // What a look finds of a contact holds as long as no other effect is at it: the lock is taken before.
                let looks_first = next == Next::LookUp && matches!(work.effect.steps[index].phase, Phase::Planned { .. });
                if next == Next::Send || looks_first && kind == StepKind::Contact {
                    let intent = if std::mem::take(&mut begun) || next == Next::Send && planted::is(Bug::SentBeforeIntent) {
                        Ok(())
                    } else {
                        self.commit_intent(&mut work, index).await
                    };
                    match intent {
                        Ok(()) => {}
                        Err(Error::Conflict(_)) if matches!(kind, StepKind::Contact | StepKind::Message) => {
                            work.effect = before;
                            work.entries.truncate(entries_before);
                            return self.yield_lock(work, index).await;
                        }
                        Err(error) => return Err(error),
                    }
                }
                let seen = match next {
                    Next::Send => self.send(&mut work, index, &**target).await,
                    Next::LookUp => self.look_up(&mut work, index, &**target).await,
                    Next::ReadBack => self.read_back(&mut work, index, &**target).await,
                    Next::Wait | Next::Person | Next::Ended => break,
                };
                let (observation, report) = seen;
                self.hear(&mut work, &observation);
                next = self.observe(&mut work, index, &rules, &observation, report);
                if matches!(next, Next::LookUp | Next::ReadBack) {
                    self.turn(&work.effect.target).await;
                }
            }
            if next == Next::Person || !work.targets.is_empty() {
                break;
            }
        }
        // Who only tried whether the target is back keeps its turn: it stays the oldest.
        if let Some(due) = due.filter(|_| was_away && self.is_away(&work.effect.target)) {
            put_off(&mut work.effect, due);
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
    fn observe(&self, work: &mut Work, index: usize, rules: &Rules, seen: &Observation, report: Report<()>) -> Next {
        let step = &work.effect.steps[index];
        let from = step.phase.as_str();
        let moved = decide(step, seen, rules, self.now(), self.parts.entropy.draw());
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

    /// Renders what is sent, once, or reads what was rendered before. The inner error goes to a person. As long as nothing of
    /// it can have reached the target it is rendered anew, so that a mended configuration counts for what waits.
    async fn render(&self, work: &mut Work, target: &dyn Target) -> Result<Result<(), String>, Error> {
        let kept = match &work.effect.rendered {
            Some(digest) => self.parts.store.blob(digest, Some(&work.effect.enquiry)).await?,
            None => None,
        };
        if work.effect.may_have_reached() && !planted::is(Bug::RenderedAnew) {
            return Ok(match kept {
                Some(blob) => {
                    work.rendered = blob.bytes;
                    Ok(())
                }
                None => Err("what was rendered for it is erased".to_owned()),
            });
        }
        let effect = &work.effect;
        let scene = scene(&work.enquiry, &effect.outgoing_key, &effect.action, effect.ordinal, &self.parts.settings.other_names);
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

    /// The durable intent (I5), with everything observed before it.
    async fn commit_intent(&self, work: &mut Work, index: usize) -> Result<(), Error> {
        let is_contact = work.effect.steps[index].kind == StepKind::Contact;
        let lock = self.contact_lock(&work.enquiry, &work.effect).filter(|_| is_contact);
        let kept = self.counted(work, index).await?;
        let step = Step {
            at: self.now(),
            effects: vec![work.change(true, lock)],
            blobs: work.blobs.clone(),
            entries: work.entries.clone(),
            away: work.away.clone(),
            kept: kept.into_iter().collect(),
            ..Step::default()
        };
        self.parts.store.commit(step).await?;
        work.version += 1;
        work.entries.clear();
        work.away.clear();
        work.blobs.clear();
        Ok(())
    }

    /// Another effect is at the same contact: this one is as it was, and goes on later; the longer it has waited, the later.
    async fn yield_lock(&self, mut work: Work, index: usize) -> Result<(), Error> {
        let step = &mut work.effect.steps[index];
        let waited = self.now().since(step.planned_at);
        let spread = i64::try_from(self.parts.entropy.draw() % 50).unwrap_or(0);
        step.phase = Phase::Planned { due: self.now().plus((waited / 2).clamp(LOCKED_MIN_MS, LOCKED_MAX_MS).saturating_add(spread)) };
        self.rest(work).await
    }

    /// Whether a target that is thought to be paused is. The book hands out nothing of one that is: what it hands out is of
    /// one that was paused just now, or goes on by another process's word or by a commit that was said to have failed.
    async fn stays_paused(&self, target: &str) -> Result<bool, Error> {
        if !self.is_paused(target) || planted::is(Bug::PausedByHearsay) {
            return Ok(self.is_paused(target));
        }
        let known = self.parts.store.targets().await?;
        known.iter().filter(|state| state.name == target).for_each(|state| self.note_target(state));
        Ok(self.is_paused(target))
    }

    /// Its target was paused after it was leased: it stays as it is, and the store hands it out once the target goes on. An
    /// attempt that nobody answers for stays intended until it can be asked about, and nobody else goes at its contact.
    async fn yield_paused(&self, work: Work) -> Result<(), Error> {
        let step = Step { at: self.now(), effects: vec![work.change(false, self.open_lock(&work))], ..Step::default() };
        self.parts.store.commit(step).await
    }

    /// The lock that a resting effect keeps: its contact's, while an attempt there may still come to something.
    fn open_lock(&self, work: &Work) -> Option<String> {
        self.contact_lock(&work.enquiry, &work.effect).filter(|_| contact_is_open(&work.effect))
    }

    /// Commits the effect as it stands, and what follows for its enquiry. If somebody else changed it meanwhile, only an
    /// answer that the target gave is kept: evidence is never dropped.
    async fn rest(&self, mut work: Work) -> Result<(), Error> {
        let known = work.take_known();
        let at = self.now();
        let keep_lease = work.effect.steps.iter().any(|step| step.phase == Phase::Intended);
        let change = work.change(keep_lease, self.open_lock(&work));
        let held = matches!(work.effect.door, Door::Held { .. }).then(|| self.held_review(&work, at));
        let rested = self.settle_known(known, &work.effect.enquiry, |case| {
            let mine = case.effects.iter().find(|(e, _)| e.id == work.effect.id);
            if mine.is_none_or(|(_, version)| *version != work.version) {
                return Err(Error::Refused(CHANGED.to_owned()));
            }
            let mut step = Step {
                at,
                effects: vec![change.clone()],
                blobs: work.blobs.clone(),
                entries: work.entries.clone(),
                targets: work.targets.clone(),
                away: work.away.clone(),
                ..Step::default()
            };
            if let Some(review) = &held {
                step.entries.push(entries::of_review(at, review, "review.opened", ENGINE));
                step.reviews.push(review.clone());
            }
            Ok(step)
        });
        match rested.await {
            Err(Error::Refused(why)) if why == CHANGED => return self.keep_answers(&work).await,
            result => result?,
        }
        work.targets.iter().for_each(|state| self.note_target(state));
        Ok(())
    }

    /// Hands an answer that came too late to the effect as it stands now.
    async fn keep_answers(&self, work: &Work) -> Result<(), Error> {
        let answers: Vec<(usize, u32, String)> =
            (0..).zip(&work.effect.steps).flat_map(|(index, step)| late_answers(index, step)).collect();
        for (index, attempt, id) in answers {
            let seen = Observation::LateAnswer { attempt, id };
            let kept = self.settle(&work.effect.enquiry, |case| {
                let mut step = Step { at: self.now(), ..Step::default() };
                let Some((effect, version)) = case.effects.iter().find(|(e, _)| e.id == work.effect.id) else { return Ok(step) };
                // An answer that is known already changes nothing, and says so.
                drop(self.observe_person(case, (effect, *version), index, (&seen, ENGINE), &mut step));
                Ok(step)
            });
            kept.await?;
        }
        Ok(())
    }
}

/// The answers that this worker got for a step, by attempt.
fn late_answers(index: usize, step: &domain::gate::Step) -> Vec<(usize, u32, String)> {
    let answered = step.attempts.iter().filter_map(|attempt| match &attempt.outcome {
        Attempted::Answered { id } => Some((index, attempt.n, id.clone())),
        _ => None,
    });
    answered.collect()
}
