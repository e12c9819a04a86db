//! The world of one step: workers, requests and answers under way, look-ups, a person, and time in ticks.

use super::target::{Answer, Record};
use super::*;

/// The present instant of every state: a tick moves what is written in the step instead, so that the walk stays finite.
pub(super) const NOW: UtcMs = UtcMs(1_000);

/// What holds, what `decide` is told of it, and what may go wrong.
#[derive(Clone, Copy)]
pub(super) struct World {
    /// What `decide` is told.
    pub(super) told: Rules,
    /// What the network and the target keep to.
    pub(super) holds: Rules,
    /// Crashes and takeovers.
    pub(super) faults: u8,
    /// Look-ups that miss a record, or fail.
    pub(super) misses: u8,
    /// Times that a person looks and says what was seen.
    pub(super) words: u8,
    /// What `decide` hears of what was seen at this instant: where a rule is broken on purpose.
    pub(super) hears: fn(Observation, UtcMs) -> Vec<Observation>,
    /// Whether a worker looks at its deadline before it sends.
    pub(super) checks_deadline: bool,
    /// Whether the target may refuse a record.
    pub(super) refuses: bool,
    /// Copies of the book that are taken and put back.
    pub(super) copies: u8,
    /// Whether `decide` is told that one was put back.
    pub(super) knows: bool,
}

/// Attempts of the book that was lost and that its copy does not know are called by this much more.
const LOST: u32 = 10;

/// How far the worker of an attempt has come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// Its intent is durable.
    Intent,
    /// It saw that its deadline has not passed, so long ago.
    Checked(i64),
    /// It sent, and waits for the answer.
    Sent,
    /// It died, so long ago.
    Dead(i64),
}

#[derive(Clone)]
pub(super) struct State {
    pub(super) step: Step,
    /// At most one an attempt, by number; those whose attempt was taken over go on.
    pub(super) workers: Vec<(u32, Stage)>,
    /// Requests in flight, by attempt, and since when.
    pub(super) requests: Vec<(u32, i64)>,
    pub(super) answers: Vec<(u32, Answer)>,
    pub(super) records: Vec<Record>,
    /// A look-up under way: begun so long ago, and what it saw then; `None` if it fails.
    pub(super) look: Option<(i64, Option<Vec<u32>>)>,
    /// The latest attempt at the time when a person saw that nothing is there.
    pub(super) saw: Option<u32>,
    pub(super) faults: u8,
    pub(super) misses: u8,
    pub(super) words: u8,
    pub(super) copies: u8,
    /// The step as the copy has it.
    pub(super) copy: Option<Step>,
    /// A copy was put back, so long ago.
    pub(super) restored: Option<i64>,
    /// Set where `decide` sends although an earlier attempt may still take effect.
    pub(super) blind: bool,
}

/// One thing that may happen: what, to which attempt, whether it must happen sooner or later, and what then is.
pub(super) struct Event {
    pub(super) label: (&'static str, u32),
    pub(super) fair: bool,
    pub(super) state: State,
}

struct Events(Vec<Event>);

impl Events {
    fn may(&mut self, label: &'static str, n: u32, state: State) {
        self.0.push(Event { label: (label, n), fair: true, state });
    }

    /// Faults and people need not happen.
    fn unless_spared(&mut self, label: &'static str, n: u32, state: State) {
        self.0.push(Event { label: (label, n), fair: false, state });
    }
}

impl World {
    pub(super) fn start(&self) -> State {
        State {
            step: Step::planned(StepKind::Record, NOW),
            workers: Vec::new(),
            requests: Vec::new(),
            answers: Vec::new(),
            records: Vec::new(),
            look: None,
            saw: None,
            faults: self.faults,
            misses: self.misses,
            words: self.words,
            copies: self.copies,
            copy: None,
            restored: None,
            blind: false,
        }
    }

    /// Everything that may happen next.
    pub(super) fn events(&self, state: &State) -> Vec<Event> {
        let mut events = Events(Vec::new());
        self.engine(state, &mut events);
        for &(n, stage) in &state.workers {
            self.worker(state, n, stage, &mut events);
        }
        self.network(state, &mut events);
        self.person(state, &mut events);
        Self::copying(state, &mut events);
        if let Some(later) = self.tick(state) {
            events.may("-- one tick --", 0, later);
        }
        events.0
    }

    /// `decide` sees something; what it commands is begun.
    fn see(&self, mut state: State, seen: Observation) -> State {
        for heard in (self.hears)(seen, NOW) {
            let restored_at = state.restored.filter(|_| self.knows).map(|age| NOW.plus(-age));
            let told = Rules { restored_at, ..self.told };
            let Moved::To(step, next) = decide(&state.step, &heard, &told, NOW, 0) else { continue };
            state.step = step;
            match next {
                Next::Send => {
                    state.blind = !self.told.find.keyed() && state.may_still_take_effect();
                    state.workers.push((state.step.latest(), Stage::Intent));
                }
                Next::LookUp | Next::ReadBack | Next::Wait | Next::Person | Next::Ended => {}
            }
        }
        state
    }

    /// The engine takes up what is due: an attempt, a look-up, a read-back; and what a look-up brings.
    fn engine(&self, state: &State, events: &mut Events) {
        if let Some((age, saw)) = &state.look {
            let mut next = state.clone();
            next.look = None;
            let seen = match saw {
                None => Observation::LookFailed,
                Some(none) if none.is_empty() => absent_at(NOW.plus(-age)),
                Some(attempts) => Observation::Found { ids: attempts.iter().map(|n| format!("r{n}")).collect() },
            };
            let latest_seen = saw.as_ref().and_then(|saw| saw.last()).map_or(0, |n| *n);
            events.may("the look-up ends; it saw", latest_seen, self.see(next, seen));
        }
        // Of an attempt under way its worker tells, or whoever takes it over.
        if state.step.phase == Phase::Intended || state.step.due().is_none_or(|due| due > NOW) {
            return;
        }
        if let Phase::Planned { .. } = state.step.phase {
            if state.look.is_some() {
                return;
            }
            let looks = |heard| matches!(decide(&state.step, &heard, &self.told, NOW, 0), Moved::To(_, Next::LookUp));
            if (self.hears)(begin(), NOW).into_iter().all(looks) {
                return self.look(state, events);
            }
            events.may("begins attempt", state.step.latest() + 1, self.see(state.clone(), begin()));
        } else if let Phase::Done { id, .. } = &state.step.phase {
            let stands = state.records.iter().any(|record| record.id() == *id);
            let seen = if stands { Observation::ReadSame } else { Observation::ReadGone };
            events.may("reads back", 0, self.see(state.clone(), seen));
        } else if state.look.is_none() {
            self.look(state, events);
        }
    }

    fn look(&self, state: &State, events: &mut Events) {
        for (saw, misses) in self.sights(state) {
            let left = state.misses - misses;
            events.may("a look-up begins", 0, State { look: Some((0, Some(saw))), misses: left, ..state.clone() });
        }
        if state.misses > 0 {
            events.unless_spared(
                "a look-up begins and will fail",
                0,
                State { look: Some((0, None)), misses: state.misses - 1, ..state.clone() },
            );
        }
    }

    fn worker(&self, state: &State, n: u32, at: Stage, events: &mut Events) {
        let holds = state.step.phase == Phase::Intended && state.step.latest() == n;
        let moves = |stage| state.clone().with_worker(n, stage);
        // What a worker reports counts only while it holds the attempt; an id always does, as evidence.
        let reports = |state: State, seen: Observation| {
            let gone = state.with_worker(n, None);
            if holds {
                return self.see(gone, seen);
            }
            let Observation::Applied { id } = seen else { return gone };
            self.see(gone, Observation::LateAnswer { attempt: n, id })
        };
        match at {
            Stage::Intent if self.checks_deadline && !state.deadline_ahead(n) => {
                events.may("sees its deadline passed, attempt", n, reports(state.clone(), not_sent()));
            }
            Stage::Intent => events.may("checks its deadline, attempt", n, moves(Some(Stage::Checked(0)))),
            Stage::Checked(_) => {
                let mut sent = moves(Some(Stage::Sent));
                sent.requests.push((n, 0));
                events.may("SENDS attempt", n, sent);
                events.may("gets no connection, attempt", n, reports(state.clone(), not_sent()));
            }
            Stage::Sent => {
                for (k, (of, answer)) in state.answers.iter().enumerate().filter(|(_, (of, _))| *of == n) {
                    let mut next = state.clone();
                    next.answers.remove(k);
                    events.may("gets its answer, attempt", *of, reports(next, answer.seen()));
                }
                events.may("gets no answer, attempt", n, reports(state.clone(), Observation::NoAnswer));
            }
            Stage::Dead(0) => {}
            // Its death is known only after it: some time lies between its last act and the proof.
            Stage::Dead(_) => {
                events.may("is known dead, attempt", n, self.see(moves(None), Observation::Lost { dead_since: Some(NOW) }));
            }
        }
        if holds && state.faults > 0 && !matches!(at, Stage::Dead(_)) {
            let faults = state.faults - 1;
            events.unless_spared("CRASHES, attempt", n, State { faults, ..moves(Some(Stage::Dead(0))) });
            let taken = self.see(state.clone(), Observation::Lost { dead_since: None });
            events.unless_spared("is taken over, attempt", n, State { faults, ..taken });
        }
    }

    fn network(&self, state: &State, events: &mut Events) {
        for (k, &(n, _)) in state.requests.iter().enumerate() {
            let mut rest = state.clone();
            rest.requests.remove(k);
            let mut records = rest.records.clone();
            let answer = self.apply(&mut records, n);
            events.may("the target APPLIES attempt", n, State { records, ..rest.clone() }.with_answer(n, answer));
            if self.refuses {
                events.may("the target refuses attempt", n, rest.clone().with_answer(n, Answer::Refused));
            }
            events.may("the network loses attempt", n, rest);
        }
    }

    /// A person is offered the verbs once the wait is over, looks in the target, and says it then or later.
    fn person(&self, state: &State, events: &mut Events) {
        let asked = matches!(state.step.phase, Phase::Review { .. } | Phase::Refused { .. });
        if let Some(attempt) = state.saw {
            let said = State { saw: None, ..state.clone() };
            events.unless_spared("a person says 'not there' of attempt", attempt, self.see(said, not_there(attempt)));
        } else if asked && state.words > 0 && state.step.quiet_until <= NOW {
            let mut looked = State { words: state.words - 1, ..state.clone() };
            if let Some(record) = state.records.first() {
                events.unless_spared("a person says 'it is', attempt", record.attempt, self.see(looked, it_is(&record.id())));
            } else {
                looked.saw = Some(state.step.latest());
                events.unless_spared("a person sees nothing there, attempt", state.step.latest(), looked);
            }
        }
    }

    /// A copy is taken; or it is put back, and whoever worked on the book is dead: some time lies between its last act and the start.
    fn copying(state: &State, events: &mut Events) {
        if state.copies > 0 && state.copy.is_none() {
            events.unless_spared("the book is COPIED", 0, State { copy: Some(state.step.clone()), ..state.clone() });
        }
        let Some(step) = &state.copy else { return };
        let mut back = State { step: step.clone(), copy: None, copies: state.copies - 1, restored: Some(-1), ..state.clone() };
        let known = step.latest();
        back.requests.iter_mut().filter(|(n, _)| *n > known).for_each(|(n, _)| *n += LOST);
        back.records.iter_mut().filter(|record| record.attempt > known).for_each(|record| record.attempt += LOST);
        (back.answers, back.look, back.saw) = (Vec::new(), None, None);
        back.workers = if step.phase == Phase::Intended { vec![(known, Stage::Dead(0))] } else { Vec::new() };
        // Another process has it now.
        back.step.looked = None;
        events.unless_spared("the copy is PUT BACK", 0, back);
    }

    /// A ms passes, unless something that is bounded would be overdue.
    fn tick(&self, state: &State) -> Option<State> {
        let late_request = state.requests.iter().any(|&(_, age)| age >= self.holds.settle_ms);
        let late_send = state.workers.iter().any(|&(_, stage)| matches!(stage, Stage::Checked(age) if age >= self.holds.pause_max_ms));
        let late_look = state.look.as_ref().is_some_and(|(age, _)| *age >= 1);
        if late_request || late_send || late_look {
            return None;
        }
        let mut next = state.clone();
        next.workers.iter_mut().for_each(|(_, stage)| match stage {
            Stage::Checked(age) => *age += 1,
            Stage::Dead(age) => *age = 1,
            Stage::Intent | Stage::Sent => {}
        });
        next.requests.iter_mut().for_each(|(_, age)| *age += 1);
        next.records.iter_mut().for_each(|record| record.age = (record.age + 1).min(self.age_max()));
        next.look = next.look.map(|(age, saw)| (age + 1, saw));
        let far = self.holds.settle_ms + self.holds.find.lag_ms() + 2;
        next.restored = next.restored.map(|age| (age + 1).min(far));
        next.shift();
        Some(next)
    }
}

/// The phase's instant, if it has one.
pub(super) fn due(phase: &mut Phase) -> Option<&mut UtcMs> {
    match phase {
        Phase::Planned { due } | Phase::Unknown { due, .. } | Phase::Done { due, .. } => Some(due),
        Phase::Verified { audit_due, .. } => audit_due.as_mut(),
        Phase::Intended
        | Phase::Unverified { .. }
        | Phase::Mismatched { .. }
        | Phase::Doubled { .. }
        | Phase::Refused { .. }
        | Phase::Review { .. }
        | Phase::AtMostOnce
        | Phase::Closed { .. } => None,
    }
}

impl State {
    fn with_worker(mut self, n: u32, stage: Option<Stage>) -> Self {
        self.workers.retain(|(of, _)| *of != n);
        self.answers.retain(|(of, _)| *of != n || stage.is_some());
        self.workers.extend(stage.map(|stage| (n, stage)));
        self
    }

    /// An answer is on its way, if anyone still waits for it.
    fn with_answer(mut self, n: u32, answer: Answer) -> Self {
        if self.workers.contains(&(n, Stage::Sent)) {
            self.answers.push((n, answer));
        }
        self
    }

    fn deadline_ahead(&self, n: u32) -> bool {
        self.step.attempts.iter().any(|a| a.n == n && NOW < a.deadline)
    }

    /// Whether anything outside the step is of this attempt.
    pub(super) fn speaks_of(&self, n: u32) -> bool {
        self.workers.iter().any(|(of, _)| *of == n)
            || self.requests.iter().any(|(of, _)| *of == n)
            || self.answers.iter().any(|(of, _)| *of == n)
            || self.records.iter().any(|record| record.attempt == n)
    }

    /// Whether a request is in flight, or a worker lives that may yet send one. A dead one sends nothing.
    fn may_still_take_effect(&self) -> bool {
        let may_send = |&(n, stage): &(u32, Stage)| match stage {
            Stage::Intent => self.deadline_ahead(n),
            Stage::Checked(_) => true,
            Stage::Sent | Stage::Dead(_) => false,
        };
        !self.requests.is_empty() || self.workers.iter().any(may_send)
    }

    /// Moves every instant of the step one tick into the past.
    fn shift(&mut self) {
        for step in [&mut self.step].into_iter().chain(&mut self.copy) {
            if let Some(due) = due(&mut step.phase) {
                *due = due.plus(-1);
            }
            step.quiet_until = step.quiet_until.plus(-1);
            for attempt in &mut step.attempts {
                attempt.begun_at = attempt.begun_at.plus(-1);
                attempt.deadline = attempt.deadline.plus(-1);
            }
        }
    }
}
