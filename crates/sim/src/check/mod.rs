//! What must never be: checks by the number of the invariant, at the moment a request leaves, and over what stands at the end.

pub mod book;
pub mod end;
pub mod identity;

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use domain::gate::{Attempt, Attempted, Effect, Find, Phase, Policy, Step, StepKind};
use domain::identity::Key;
use domain::time::UtcMs;
use store::memory::Memory;
use store::{Case, ReviewKind, Store as _};

use crate::net::{Request, is_keyed_without_look};
use crate::world::{State, World};

/// Something that must not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The number in DESIGN, section 2.
    pub invariant: &'static str,
    /// What was found.
    pub what: String,
}

/// What a future that never waits comes to.
pub fn at_once<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// The effect of a target with that outgoing key, with its whole case.
pub fn case_of(book: &Memory, outgoing: &str, target: usize) -> Option<(Case, Effect)> {
    let key = Key::parse(outgoing.split('#').next()?)?;
    let case = at_once(book.case(&key.enquiry_id()))?.ok()??;
    let name = format!("target-{target}");
    let effect = case.effects.iter().map(|(effect, _)| effect).find(|e| e.outgoing_key == outgoing && e.target == name).cloned()?;
    Some((case, effect))
}

/// A request leaves its process now.
pub fn at_send(world: &World, request: &Request) {
    let (book, stream) = {
        let state = world.state();
        (state.book.clone(), state.nodes[request.of.node].stream.clone())
    };
    let found = book.as_ref().and_then(|book| case_of(book, &request.outgoing, request.target));
    let named = format!("{} of {} for target {}", request.step.as_str(), request.outgoing, request.target);
    let Some((case, effect)) = found else { return world.breach("I5", format!("{named} leaves, and the book knows no such effect")) };
    let Some(step) = effect.steps.iter().find(|step| step.kind == request.step) else {
        return world.breach("I5", format!("{named} leaves, and its effect has no such step"));
    };
    intended(world, request, step, stream.as_ref(), &named);
    let_go(world, request, &case, &effect, &named);
    let reached = step.attempts.iter().filter(|attempt| attempt.may_have_reached()).count();
    let allowed = world.plan.setup.attempts_max.saturating_add(step.allowed);
    if u32::try_from(reached).unwrap_or(u32::MAX) > allowed {
        world.breach("I10", format!("{named} leaves for the {reached}th time, and {allowed} are allowed"));
    }
    same_bytes(world, request, &named);
    let is_acmes = crate::sources::SOURCES.iter().position(|source| *source == case.enquiry.key.source);
    if is_acmes.is_some_and(|source| crate::sources::client(&world.plan, source) != world.state().crms[request.target].client) {
        world.breach("I13", format!("{named} leaves for another client's target"));
    }
    if request.step == StepKind::Contact {
        alone_at_contact(world, request, &named);
    }
}

/// I5: the intent of this process is in the book, and its deadline has not passed.
fn intended(world: &World, request: &Request, step: &Step, stream: Option<&domain::ids::StreamId>, named: &str) {
    let mut own = step.attempts.iter().rev().filter(|attempt| Some(&attempt.process) == stream);
    let is_its = |attempt: &&Attempt| attempt.deadline == request.deadline || request.deadline == UtcMs(i64::MAX);
    let intent: Option<&Attempt> = own.find(is_its);
    match intent {
        None => world.breach("I5", format!("{named} leaves without an intent in the book")),
        Some(attempt) if request.checked_at >= attempt.deadline => {
            world.breach("I5", format!("{named} leaves although its deadline had passed when it was looked at"));
        }
        Some(Attempt { outcome: Attempted::ProvedAbsent | Attempted::NotSent | Attempted::Refused, n, .. }) => {
            world.breach("I6", format!("{named} leaves, and the book says already that nothing comes of its attempt {n}"));
        }
        Some(_) => {}
    }
}

/// Nothing leaves that a person is asked about first, or that comes after what has not ended.
fn let_go(world: &World, request: &Request, case: &Case, effect: &Effect, named: &str) {
    let setup = &world.plan.setup;
    let open = |kind: ReviewKind| case.reviews.iter().any(|review| review.kind == kind && review.closed_at.is_none());
    let is_decided = |kind: ReviewKind| case.reviews.iter().any(|review| review.kind == kind && review.closed_at.is_some());
    if setup.hold_look_alikes && case.enquiry.flags.look_alike_of.is_some() && !is_decided(ReviewKind::LookAlike) {
        world.breach("I3", format!("{named} leaves, and nobody has decided about the look-alike that it is of"));
    }
    if setup.targets[request.target].outward && open(ReviewKind::Qualification) {
        world.breach("I9", format!("{named} leaves, and its qualification waits for a person"));
    }
    // A record that stands and was found to differ since then took nothing back.
    let unfinished = |(e, _): &&(Effect, u64)| {
        effect.after.contains(&e.action) && e.ordinal == effect.ordinal && !e.has_succeeded() && e.external_id().is_none()
    };
    if let Some((other, _)) = case.effects.iter().find(unfinished) {
        world.breach("I10", format!("{named} leaves before what it comes after, which is {}", other.state()));
    }
}

/// What is sent again is the same, byte for byte.
fn same_bytes(world: &World, request: &Request, named: &str) {
    let body = world.state().crms[request.target].trail(&request.outgoing, request.step).body;
    if body.is_some_and(|body| body != request.body) {
        world.breach("I8", format!("{named} is sent again with other bytes"));
    }
}

/// I6: where a further intent is made, somebody has asked what became of the request before it; and a refusal speaks only for
/// its own attempt.
pub fn at_commit(state: &mut State, effect: &Effect) {
    let Some(target) = effect.target.strip_prefix("target-").and_then(|n| n.parse::<usize>().ok()) else { return };
    for step in &effect.steps {
        if matches!(step.phase, Phase::Refused { .. }) && step.attempts.iter().any(Attempt::is_open) {
            let named = format!("{} of {} for target {target}", step.kind.as_str(), effect.outgoing_key);
            state.breach("I6", format!("{named} is refused, and an earlier attempt is open"));
        }
        if step.phase != Phase::Intended {
            continue;
        }
        let crm = &mut state.crms[target];
        let (find, policy) = (crm.find(step.kind), crm.setup.policy);
        // Who was held before the send may send a keyed write after the look-up: that makes nothing twice.
        let may_repeat = find.keyed_for_good() || is_keyed_without_look(find) || find == Find::None && policy == Policy::AtLeastOnce;
        let trail = crm.trail(&effect.outgoing_key, step.kind);
        // An intent that stands may be committed again, as it is.
        let is_new = step.latest() > trail.intended;
        trail.intended = step.latest();
        if is_new && trail.is_unknown && !may_repeat {
            let named = format!("{} of {} for target {target}", step.kind.as_str(), effect.outgoing_key);
            state.breach("I6", format!("{named} is intended again, and nobody has asked what became of the last request"));
        }
    }
}

/// Rule 11: while one effect's contact step is open, no other begins for that address.
fn alone_at_contact(world: &World, request: &Request, named: &str) {
    let (other, book) = {
        let mut state = world.state();
        let other = state.crms[request.target].contact_of.insert(request.key.clone(), request.outgoing.clone());
        (other, state.book.clone())
    };
    let Some(other) = other.filter(|other| *other != request.outgoing) else { return };
    let is_open = |effect: &Effect| {
        let contact = effect.steps.iter().find(|step| step.kind == StepKind::Contact);
        let is_over = |step: &Step| step.has_passed() || matches!(step.phase, Phase::Closed { .. });
        contact.is_some_and(|step| !is_over(step) && step.attempts.iter().any(Attempt::is_open))
    };
    if book.and_then(|book| case_of(&book, &other, request.target)).is_some_and(|(_, effect)| is_open(&effect)) {
        world.breach("I7", format!("{named} leaves while the contact of {other} is open"));
    }
}
