//! The world: one clock that jumps to the next event, the queue of what happens, and the processes that live in it.
//!
//! Everything that a process waits for (a call of the store, an answer, a wait) is an event here, so that the order of all
//! that happens follows from the seed. `exec` polls what the events wake.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use domain::ids::StreamId;
use domain::time::{Clock, Later, UtcMs};
use server::engine::Engine;
use server::intake::Intake;
use store::memory::Memory;

use crate::chance::mix;
use crate::check::Breach;
use crate::crm::Crm;
use crate::net::Request;
use crate::plan::{AtCall, Fault, Plan};

/// The instant at which every run begins.
pub const BEGIN: i64 = 1_772_442_000_000;

/// How often a thing may be put back in a second with nothing said of it. A contact that another effect is at is tried again
/// after 20 ms at first, and ever later.
const SILENT_MAX: u32 = 60;

/// One life of a process: which place, and which start in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life {
    /// Which place.
    pub node: usize,
    /// Which start in it, from 1.
    pub start: u32,
}

/// What happens at a time.
pub enum Happening {
    /// A wait is over; of a process that stands still, when it goes on, and of a dead one, never.
    Wake(Option<Life>, Arc<Slot>),
    /// A request leaves its process.
    Send(Box<Request>),
    /// A request takes effect in its target.
    Apply(Box<Request>),
    /// Something of the plan.
    Fault(Fault),
    /// A sender delivers: the plan's delivery of that place.
    Deliver(usize),
    /// A process starts.
    Start(usize),
    /// A process that stood still goes on.
    GoOn(usize),
    /// A person lets a target go on.
    Resume(usize),
}

/// A place for a process.
#[derive(Default)]
pub struct Node {
    /// How often one was started here.
    pub start: u32,
    /// Whether it lives.
    pub lives: bool,
    /// It stands still until then.
    pub paused_until: Option<i64>,
    /// Its name for its attempts.
    pub stream: Option<StreamId>,
    /// Its engine, once it has one.
    pub engine: Option<Arc<Engine>>,
    /// Its way in.
    pub intake: Option<Arc<Intake>>,
    /// Workers that have nothing to do.
    pub idle: Vec<Arc<Slot>>,
    /// Places that are free for what arrives.
    pub places: usize,
}

/// A future that the executor polls, and whose it is.
pub struct Spawned {
    /// The life that it ends with; `None`: it is no process's.
    pub of: Option<Life>,
    /// What is polled.
    pub future: Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// What a sender was answered.
#[derive(Clone, Debug)]
pub struct Ack {
    /// The plan's delivery.
    pub sent: usize,
    /// The book's record of it.
    pub delivery: store::Delivery,
}

/// Everything that changes.
#[derive(Default)]
pub struct State {
    /// Milliseconds since the beginning, as they really passed.
    pub now: i64,
    /// How far the clock was set back, in ms.
    pub set_back: i64,
    queue: BTreeMap<(i64, u64, u64), Happening>,
    serial: u64,
    /// The processes.
    pub nodes: Vec<Node>,
    /// Futures that nobody has polled yet.
    pub spawned: Vec<Spawned>,
    /// The targets' own state.
    pub crms: Vec<Crm>,
    /// What was answered.
    pub acks: Vec<Ack>,
    /// What was found to be wrong.
    pub breaches: Vec<Breach>,
    /// How often the book may have come to hold something due.
    pub writes: u64,
    /// Calls of the store and of the outside, so far.
    pub calls: u64,
    /// Whether the plan's faults and fates are over.
    pub is_calm: bool,
    /// Nothing can be written until then.
    pub disk_full_until: i64,
    /// The identity rule of the source that changes it was changed.
    pub rule_changed: bool,
    /// The highest fence that a thing was leased under, and its version, as the door saw them.
    pub held: BTreeMap<String, (u64, u64)>,
    /// Since when a thing was put back with nothing said of it, and how often.
    silent: BTreeMap<String, (i64, u32)>,
    /// Which words targets render.
    pub wording: u32,
    /// Deliveries that are being entered.
    pub entering: usize,
    /// What happened, where it is told.
    pub trace: Option<Vec<String>>,
    /// The book as it is.
    pub book: Option<Arc<Memory>>,
}

/// The world of one run.
pub struct World {
    /// What the run is to meet.
    pub plan: Plan,
    state: Mutex<State>,
}

impl World {
    /// A world in which nothing has happened.
    pub fn new(plan: Plan, traced: bool) -> Arc<Self> {
        let state = State { trace: traced.then(Vec::new), ..State::default() };
        Arc::new(Self { plan, state: Mutex::new(state) })
    }

    /// What stands now.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the clock says.
    pub fn now(&self) -> UtcMs {
        self.state().clock()
    }

    /// Whether this life goes on.
    pub fn lives(&self, life: Life) -> bool {
        self.state().lives(life)
    }

    /// Waits so long, as a part of that life.
    pub fn wait(&self, of: Option<Life>, ms: i64) -> Wait {
        let slot = Arc::<Slot>::default();
        self.state().after(ms, Happening::Wake(of, Arc::clone(&slot)));
        Wait(slot)
    }

    /// A number that follows from the seed, and from what it is about.
    pub fn fate(&self, about: &[u64]) -> u64 {
        mix(&[self.plan.seed, mix(about)])
    }

    /// Has a future polled.
    pub fn spawn(&self, of: Option<Life>, future: impl Future<Output = ()> + Send + 'static) {
        self.state().spawned.push(Spawned { of, future: Box::pin(future) });
    }

    /// Wakes one worker that has nothing to do, of any process: something may be due.
    pub fn kick(&self) {
        let mut state = self.state();
        state.writes += 1;
        let draw = mix(&[self.plan.seed, state.serial, 17]);
        let alive: Vec<usize> = (0..state.nodes.len())
            .filter(|&n| state.nodes[n].lives && state.nodes[n].paused_until.is_none() && !state.nodes[n].idle.is_empty())
            .collect();
        let Some(&node) = alive.get(index(draw, alive.len())) else { return };
        let Some(slot) = state.nodes[node].idle.pop() else { return };
        let life = Life { node, start: state.nodes[node].start };
        state.after(i64::try_from(draw >> 60).unwrap_or(0), Happening::Wake(Some(life), slot));
    }

    /// Counts a call; what the plan has for it.
    pub fn call(&self) -> (u64, Option<AtCall>) {
        let mut state = self.state();
        let n = state.calls;
        state.calls += 1;
        (n, self.plan.at_calls.iter().find(|(at, _)| *at == n).map(|(_, what)| *what))
    }

    /// Takes note of something that happened.
    pub fn tell(&self, words: impl FnOnce() -> String) {
        self.state().tell(words);
    }

    /// Takes note of something that must not be.
    pub fn breach(&self, invariant: &'static str, what: String) {
        self.state().breach(invariant, what);
    }
}

impl State {
    /// What the clock says.
    pub fn clock(&self) -> UtcMs {
        UtcMs(BEGIN + self.now - self.set_back)
    }

    /// Whether this life goes on.
    pub fn lives(&self, life: Life) -> bool {
        self.nodes.get(life.node).is_some_and(|node| node.lives && node.start == life.start)
    }

    /// Something happens in so many ms. Of what happens at one instant chance decides the order.
    pub fn after(&mut self, ms: i64, what: Happening) {
        self.serial += 1;
        let at = self.now.saturating_add(ms.max(0));
        self.queue.insert((at, mix(&[self.serial]), self.serial), what);
    }

    /// The next thing that happens; the clock is there by then.
    pub fn advance(&mut self) -> Option<Happening> {
        let ((at, _, _), what) = self.queue.pop_first()?;
        self.now = self.now.max(at);
        Some(what)
    }

    /// A thing is leased: each time under a higher fence.
    pub fn leased(&mut self, id: &str, fence: u64) {
        let held = self.held.entry(id.to_owned()).or_insert((0, 1));
        let known = held.0;
        held.0 = fence.max(known);
        if fence <= known {
            self.breach("I5", format!("{id} is leased under the fence {fence} after {known}"));
        }
    }

    /// A change of a thing was committed: on its latest version, and under its latest fence.
    pub fn committed(&mut self, id: &str, version: Option<u64>, fence: Option<u64>) {
        let held = self.held.entry(id.to_owned()).or_insert((0, 0));
        let (latest_fence, latest) = *held;
        held.1 = version.map_or(1, |version| version + 1);
        if version.is_some_and(|version| version != latest && latest > 0) {
            self.breach("I5", format!("a commit of {id} decided on version {version:?} was taken after version {latest}"));
        }
        if fence.is_some_and(|fence| fence < latest_fence) {
            self.breach("I5", format!("a commit of {id} under the fence {fence:?} was taken after {latest_fence}"));
        }
    }

    /// A thing was put back with nothing to say of it. Many times in one second is a circle that nobody sees (I10).
    pub fn committed_silently(&mut self, id: &str) {
        let now = self.now;
        let (since, times) = self.silent.entry(id.to_owned()).or_insert((now, 0));
        if now - *since > 1_000 {
            (*since, *times) = (now, 0);
        }
        *times += 1;
        if *times == SILENT_MAX {
            self.breach("I10", format!("{id} was taken up and put back {SILENT_MAX} times in a second"));
        }
    }

    /// Nothing more happens.
    pub fn forget(&mut self) {
        self.queue.clear();
        self.book = None;
    }

    /// A process dies: nothing of it goes on, and what it sent goes its way.
    pub fn kill(&mut self, node: usize, down_ms: i64) {
        if !self.nodes[node].lives {
            return;
        }
        let start = self.nodes[node].start;
        self.nodes[node] = Node { start, ..Node::default() };
        self.tell(|| format!("process {node} dies"));
        self.after(down_ms, Happening::Start(node));
    }

    /// Takes note of something that happened.
    pub fn tell(&mut self, words: impl FnOnce() -> String) {
        let (now, set_back) = (self.now, self.set_back);
        if let Some(trace) = &mut self.trace {
            let clock = UtcMs(BEGIN + now - set_back).rfc3339();
            trace.push(format!("{clock}  {}", words()));
        }
    }

    /// Takes note of something that must not be.
    pub fn breach(&mut self, invariant: &'static str, what: String) {
        self.tell(|| format!("BREACH {invariant}: {what}"));
        self.breaches.push(Breach { invariant, what });
    }
}

/// A place in a list of so many.
pub fn index(draw: u64, len: usize) -> usize {
    let len = u64::try_from(len).unwrap_or(u64::MAX).max(1);
    usize::try_from(draw % len).unwrap_or(0)
}

/// Where a waiting future is woken.
#[derive(Default)]
pub struct Slot {
    done: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Slot {
    /// The wait is over.
    pub fn wake(&self) {
        self.done.store(true, Ordering::SeqCst);
        if let Some(waker) = self.waker.lock().unwrap_or_else(PoisonError::into_inner).take() {
            waker.wake();
        }
    }
}

/// Waits for a slot.
pub struct Wait(pub Arc<Slot>);

impl Future for Wait {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0.done.load(Ordering::SeqCst) {
            return Poll::Ready(());
        }
        *self.0.waker.lock().unwrap_or_else(PoisonError::into_inner) = Some(cx.waker().clone());
        Poll::Pending
    }
}

/// The clock as one life sees it.
pub struct SimClock {
    /// The world.
    pub world: Arc<World>,
    /// Whose it is.
    pub of: Life,
}

impl Clock for SimClock {
    fn now(&self) -> UtcMs {
        self.world.now()
    }

    fn sleep_until(&self, at: UtcMs) -> Later<'_> {
        Box::pin(async move {
            loop {
                let left = at.since(self.world.now());
                if left <= 0 {
                    return;
                }
                self.world.wait(Some(self.of), left).await;
            }
        })
    }
}
