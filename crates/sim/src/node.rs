//! A process: the real engine and the real intake over this life's door, and workers that take up what is due.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::enquiry::Enquiry;
use domain::ids::StreamId;
use domain::retry::Backoff;
use domain::time::{Clock, Entropy, SeededEntropy, UtcMs};
use server::effects::Target;
use server::engine::{Action, Conditions, Engine, Parts, Settings};
use server::intake::{Intake, Place, Room, Worker};
use server::stops::Stops;
use store::memory::Memory;
use store::{Lease, Store};
use tokio::sync::Notify;
use tokio_util::task::TaskTracker;

use crate::chance::mix;
use crate::door::Door;
use crate::model::Model;
use crate::sources::{SOURCES, client, source};
use crate::target::SimTarget;
use crate::world::{Happening, Life, SimClock, Slot, Wait, World};

/// How long a process that cannot start waits before the next tries.
const START_AGAIN_MS: i64 = 1_000;

thread_local! {
    /// No action has a condition; the way to their thread is made once.
    static CONDITIONS: Option<Conditions> = Conditions::compile(Vec::new()).ok();
}

/// Starts a process in a place.
pub fn start(world: &Arc<World>, node: usize) {
    let life = {
        let mut state = world.state();
        let place = &mut state.nodes[node];
        if place.lives {
            return;
        }
        place.start += 1;
        place.lives = true;
        place.places = 1;
        let life = Life { node, start: place.start };
        state.tell(|| format!("process {node} starts"));
        life
    };
    let store: Arc<dyn Store> = Arc::new(open(world, life));
    world.spawn(Some(life), begin(Arc::clone(world), life, store));
}

/// The book for a new life. Who is alone at it begins a stream; several share the one that the first began.
fn open(world: &Arc<World>, of: Life) -> Door {
    let entropy = SeededEntropy::new(mix(&[world.plan.seed, 14, u64::try_from(of.node).unwrap_or(0), of.start.into()]));
    let is_alone = world.plan.setup.nodes == 1;
    let mut state = world.state();
    let now = state.clock();
    let stream = StreamId::draw(now, &entropy);
    let book = match &state.book {
        None => Arc::new(Memory::new(now, stream.clone(), [7; 32])),
        Some(book) if is_alone => Arc::new(book.restart(now, stream.clone())),
        Some(book) => Arc::clone(book),
    };
    state.book = Some(Arc::clone(&book));
    state.nodes[of.node].stream = Some(stream.clone());
    Door { world: Arc::clone(world), of, stream, is_alone, book }
}

async fn begin(world: Arc<World>, of: Life, store: Arc<dyn Store>) {
    let clock: Arc<dyn Clock> = Arc::new(SimClock { world: Arc::clone(&world), of });
    let entropy: Arc<dyn Entropy> =
        Arc::new(SeededEntropy::new(mix(&[world.plan.seed, 15, u64::try_from(of.node).unwrap_or(0), of.start.into()])));
    let Some(parts) = parts(&world, of, Arc::clone(&store), Arc::clone(&clock), Arc::clone(&entropy)) else { return };
    let Ok(engine) = Engine::new(parts).await.map(Arc::new) else {
        return world.state().kill(of.node, START_AGAIN_MS);
    };
    let rule_changed = world.state().rule_changed;
    let sources = (0..SOURCES.len()).map(|n| (SOURCES[n].to_owned(), source(&world.plan, n, rule_changed)));
    let intake = Intake {
        sources: sources.collect(),
        store,
        clock,
        entropy,
        accepted: Arc::new(Notify::new()),
        worker: Some(Arc::new(Arriving { world: Arc::clone(&world), of, engine: Arc::clone(&engine) })),
        entering: TaskTracker::new(),
        room: Room::of(1 << 20),
        strangers: Room::of(1 << 20),
        large: Room::turns(),
    };
    {
        let mut state = world.state();
        state.nodes[of.node].engine = Some(Arc::clone(&engine));
        state.nodes[of.node].intake = Some(Arc::new(intake));
    }
    for _ in 0..world.plan.setup.workers {
        world.spawn(Some(of), work(Arc::clone(&world), of, Arc::clone(&engine)));
    }
}

/// A worker: takes up what is due, until nothing is.
async fn work(world: Arc<World>, of: Life, engine: Arc<Engine>) {
    loop {
        let writes = world.state().writes;
        // Asked before it looks: what comes due while a slow book answers is either found by the look, or told here.
        let Ok(due) = engine.next_due().await else {
            world.wait(Some(of), START_AGAIN_MS).await;
            continue;
        };
        match engine.work_once().await {
            Ok(true) => {}
            Err(_) => world.wait(Some(of), START_AGAIN_MS).await,
            Ok(false) => {
                let slot = Arc::<Slot>::default();
                {
                    let mut state = world.state();
                    // Somebody wrote while it looked.
                    if state.writes != writes {
                        continue;
                    }
                    let now = state.clock();
                    if let Some(due) = due {
                        state.after(due.since(now).max(1), Happening::Wake(Some(of), Arc::clone(&slot)));
                    }
                    state.nodes[of.node].idle.push(Arc::clone(&slot));
                }
                Wait(Arc::clone(&slot)).await;
                world.state().nodes[of.node].idle.retain(|other| !Arc::ptr_eq(other, &slot));
            }
        }
    }
}

fn parts(world: &Arc<World>, of: Life, store: Arc<dyn Store>, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Option<Parts> {
    let setup = &world.plan.setup;
    let name = |n: usize| format!("target-{n}");
    let target = |n: usize| -> Arc<dyn Target> { Arc::new(SimTarget { world: Arc::clone(world), of, target: n }) };
    let targets: BTreeMap<String, Arc<dyn Target>> = (0..setup.targets.len()).map(|n| (name(n), target(n))).collect();
    let of_client = |n: usize, m: usize| client(&world.plan, n) == client(&world.plan, m);
    let inward = |n: usize| (0..n).filter(move |&m| of_client(n, m)).map(|m| format!("action-{m}")).collect();
    let action = |n: usize| Action {
        name: format!("action-{n}"),
        target: name(n),
        after: match setup.targets[n].outward {
            true => inward(n),
            // Every other one waits for the one before it.
            false if n % 2 == 1 && of_client(n, n - 1) => vec![format!("action-{}", n - 1)],
            false => vec![],
        },
        conditional: false,
        outward: setup.targets[n].outward,
        shadow: false,
        held_by_review: setup.targets[n].outward,
        sends_draft: setup.targets[n].outward,
        not_after_ms: None,
        per_address: None,
        policy: setup.targets[n].policy,
        client: client(&world.plan, n),
    };
    let backoff = Backoff { first_ms: 1_000, max_ms: 600_000 };
    let settings = Settings {
        workers: setup.workers,
        other_names: Vec::new(),
        pause_max_ms: setup.pause_max_ms,
        attempts_max: setup.attempts_max,
        give_up_ms: 72 * 60 * 60 * 1_000,
        backoff,
        qualify_attempts: 3,
        qualify_backoff: backoff,
        min_confidence: 0.7,
    };
    Some(Parts {
        store,
        clock,
        entropy,
        targets,
        actions: (0..setup.targets.len()).map(action).collect(),
        qualifier: Arc::new(Model { world: Arc::clone(world), of }),
        conditions: CONDITIONS.with(Clone::clone)?,
        settings,
        wake: Arc::default(),
        stops: Arc::new(Stops::none()),
    })
}

/// Works on what arrives at once, where there is a place.
struct Arriving {
    world: Arc<World>,
    of: Life,
    engine: Arc<Engine>,
}

struct Kept {
    world: Arc<World>,
    of: Life,
    engine: Arc<Engine>,
    until: UtcMs,
}

impl Worker for Arriving {
    fn place(&self) -> Option<Box<dyn Place>> {
        let mut state = self.world.state();
        let place = &mut state.nodes[self.of.node];
        place.places = place.places.checked_sub(1)?;
        drop(state);
        let until = self.engine.leased_until();
        Some(Box::new(Kept { world: Arc::clone(&self.world), of: self.of, engine: Arc::clone(&self.engine), until }))
    }
}

impl Place for Kept {
    fn until(&self) -> UtcMs {
        self.until
    }

    fn work(self: Box<Self>, lease: Lease<Enquiry>) {
        let (world, engine) = (Arc::clone(&self.world), Arc::clone(&self.engine));
        world.spawn(Some(self.of), async move {
            engine.work_on(lease).await;
            drop(self);
        });
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let mut state = self.world.state();
        if state.lives(self.of) {
            state.nodes[self.of.node].places += 1;
        }
    }
}
