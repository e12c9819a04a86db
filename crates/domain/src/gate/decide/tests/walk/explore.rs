//! Breadth first over every state, shortest way first; what must hold in each; and which can never end (I10).

use std::collections::{BTreeMap, VecDeque};

use super::target::Answer;
use super::world::{NOW, Stage, State, World, due};
use super::*;

/// The first promise broken, and the shortest way there.
pub(super) struct Broken {
    pub(super) what: &'static str,
    pub(super) trace: Vec<String>,
}

struct Seen {
    index: BTreeMap<Vec<i64>, usize>,
    came: Vec<(usize, (&'static str, u32))>,
    settled: Vec<bool>,
    /// (to, from) of every step that must happen sooner or later.
    back: Vec<(usize, usize)>,
}

/// Visits every state; gives their number, or what is broken.
pub(super) fn walk(world: &World) -> Result<usize, Broken> {
    let mut start = world.start();
    normalise(world, &mut start);
    let mut seen = Seen { index: BTreeMap::from([(key(&start), 0)]), came: vec![(0, ("", 0))], settled: vec![false], back: Vec::new() };
    let mut queue = VecDeque::from([(0, start)]);
    while let Some((from, state)) = queue.pop_front() {
        for mut event in world.events(&state) {
            normalise(world, &mut event.state);
            let fresh = seen.came.len();
            let to = *seen.index.entry(key(&event.state)).or_insert(fresh);
            if event.fair {
                seen.back.push((to, from));
            }
            if to != fresh {
                continue;
            }
            seen.came.push((from, event.label));
            seen.settled.push(settled(&event.state));
            if let Some(what) = wrong(&event.state) {
                return Err(Broken { what, trace: trace(&seen, to) });
            }
            queue.push_back((to, event.state));
        }
    }
    match stuck(&seen) {
        Some(state) => Err(Broken { what: "I10: no end can be reached", trace: trace(&seen, state) }),
        None => Ok(seen.came.len()),
    }
}

/// What this state breaks.
fn wrong(state: &State) -> Option<&'static str> {
    let records = state.records.len();
    if state.blind {
        return Some("I6: sent while an earlier attempt may still take effect");
    }
    if records > 1 {
        return Some("I7: two records");
    }
    let phase = &state.step.phase;
    if records == 0 && matches!(phase, Phase::Verified { .. }) {
        return Some("T: verified, yet nothing stands");
    }
    if records > 0 && matches!(phase, Phase::Refused { .. }) {
        return Some("T: refused, yet a record stands");
    }
    matches!(phase, Phase::Doubled { .. }).then_some("T: two reported, yet there is one at most")
}

/// An end, or a person's.
fn settled(state: &State) -> bool {
    state.step.due().is_none()
}

/// The first state from which no end can be reached.
fn stuck(seen: &Seen) -> Option<usize> {
    let mut into = vec![Vec::new(); seen.settled.len()];
    for &(to, from) in &seen.back {
        into[to].push(from);
    }
    let mut good = seen.settled.clone();
    let mut todo = (0..good.len()).filter(|&k| good[k]).collect::<Vec<_>>();
    while let Some(k) = todo.pop() {
        for &from in &into[k] {
            if !good[from] {
                good[from] = true;
                todo.push(from);
            }
        }
    }
    good.iter().position(|good| !good)
}

fn trace(seen: &Seen, mut k: usize) -> Vec<String> {
    let mut steps = Vec::new();
    while k != 0 {
        let (from, (label, n)) = seen.came[k];
        steps.push(format!("{label} {n}"));
        k = from;
    }
    steps.reverse();
    steps
}

/// Forgets what no rule reads any more, so that the walk ends: how far an instant lies in the past, and how often
/// something was looked at (which only spreads the waits).
fn normalise(world: &World, state: &mut State) {
    state.workers.sort_unstable();
    state.requests.sort_unstable();
    state.answers.sort_unstable();
    // A try that never left is dropped when the next one begins; here at once, so that numbers do not grow for ever.
    if let Some(Attempt { n, outcome: Attempted::NotSent, .. }) = state.step.attempts.last()
        && !state.speaks_of(*n)
    {
        state.step.attempts.pop();
    }
    let oldest = if let Find::Window { window_ms, .. } = world.holds.find { window_ms + 1 } else { 0 };
    for step in [&mut state.step].into_iter().chain(&mut state.copy) {
        forget(step, oldest);
    }
}

fn forget(step: &mut Step, oldest: i64) {
    if let Some(due) = due(&mut step.phase) {
        *due = NOW.max(*due);
    }
    if let Phase::Unknown { looks: times, .. } | Phase::Done { reads: times, .. } = &mut step.phase {
        *times = 0;
    }
    step.looks_failed = 0;
    // A look-up that ends now began one tick ago at the earliest.
    step.quiet_until = step.quiet_until.max(NOW.plus(-1));
    step.planned_at = NOW;
    for attempt in &mut step.attempts {
        attempt.begun_at = if oldest == 0 { NOW } else { attempt.begun_at.max(NOW.plus(-oldest)) };
        attempt.deadline = attempt.deadline.max(NOW);
    }
}

/// Everything that tells two states apart.
fn key(state: &State) -> Vec<i64> {
    let mut key = Vec::new();
    for step in [&state.step].into_iter().chain(&state.copy) {
        key.extend(of_step(step));
    }
    key.extend([i64::from(state.copies), state.restored.unwrap_or(-9)]);
    key.push(-101);
    for &(n, stage) in &state.workers {
        let far = match stage {
            Stage::Intent => -1,
            Stage::Sent => -2,
            Stage::Dead(age) => -3 - age,
            Stage::Checked(age) => age,
        };
        key.extend([i64::from(n), far]);
    }
    key.push(-102);
    key.extend(state.requests.iter().flat_map(|&(n, age)| [i64::from(n), age]));
    key.push(-103);
    for &(n, answer) in &state.answers {
        let answer = match answer {
            Answer::Refused => -1,
            Answer::Conflict => -2,
            Answer::Id(of) => i64::from(of),
        };
        key.extend([i64::from(n), answer]);
    }
    key.push(-104);
    key.extend(state.records.iter().flat_map(|record| [i64::from(record.attempt), record.age]));
    key.push(-105);
    match &state.look {
        None => {}
        Some((age, None)) => key.extend([*age, -1]),
        Some((age, Some(saw))) => key.extend([*age].into_iter().chain(saw.iter().map(|&n| i64::from(n)))),
    }
    key.push(-106);
    let saw = state.saw.map_or(-1, i64::from);
    key.extend([saw, i64::from(state.faults), i64::from(state.misses), i64::from(state.words), i64::from(state.blind)]);
    key
}

fn of_step(step: &Step) -> Vec<i64> {
    let since = |at: UtcMs| at.since(NOW);
    let mut key = phase(&step.phase);
    key.extend([since(step.quiet_until), i64::from(step.allowed), i64::from(step.looked.is_some()), -100]);
    for attempt in &step.attempts {
        key.extend([i64::from(attempt.n), since(attempt.begun_at), since(attempt.deadline), outcome(&attempt.outcome)]);
    }
    key
}

fn phase(phase: &Phase) -> Vec<i64> {
    let since = |at: &UtcMs| at.since(NOW);
    match phase {
        Phase::Planned { due } => vec![0, since(due)],
        Phase::Intended => vec![1],
        Phase::Unknown { due, absences, blind, .. } => vec![2, since(due), i64::from(*absences), i64::from(*blind)],
        Phase::Done { id, due, .. } => vec![3, number(id), since(due)],
        Phase::Verified { id, audit_due } => vec![4, number(id), audit_due.as_ref().map_or(-9, since)],
        Phase::Unverified { id } => vec![5, number(id)],
        Phase::Mismatched { id, .. } => vec![6, number(id)],
        Phase::Doubled { ids } => [7].into_iter().chain(ids.iter().map(|id| number(id))).collect(),
        Phase::Refused { .. } => vec![8],
        Phase::Review { why: Why::CannotAsk } => vec![9, 0],
        Phase::Review { why: Why::CannotTell } => vec![9, 1],
        Phase::Review { why: Why::AttemptsSpent } => vec![9, 2],
        Phase::Review { why: Why::WindowOver } => vec![9, 3],
        Phase::Review { why: Why::GaveUp } => vec![9, 4],
        Phase::AtMostOnce => vec![10],
        Phase::Closed { .. } => vec![11],
    }
}

fn outcome(outcome: &Attempted) -> i64 {
    match outcome {
        Attempted::Open => -1,
        Attempted::NotSent => -2,
        Attempted::Refused => -3,
        Attempted::Conflicted => -4,
        Attempted::Adopted => -5,
        Attempted::ProvedAbsent => -6,
        Attempted::Answered { id } => number(id),
    }
}

fn number(id: &str) -> i64 {
    id.trim_start_matches('r').parse().expect("ids are r1, r2, …")
}
