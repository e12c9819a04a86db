//! One run: a plan's world, lived to its end, calmed, worked off by people, and checked.

use std::cell::RefCell;
use std::sync::{Arc, Once};

use crate::check::{Breach, book, end, identity};
use crate::crm::Crm;
use crate::exec::Executor;
use crate::happen::set_paused;
use crate::people;
use crate::plan::Plan;
use crate::sources::client;
use crate::unknowns::{Endings, count};
use crate::world::{Happening, Node, World};

/// How often people go through the whole queue at the end.
const ROUNDS: usize = 12;
/// The longest that anything late may still come after the faults are over.
const AFTERMATH_MS: i64 = 24 * 60 * 60 * 1_000;

/// What came of a run.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// What must not be.
    pub breaches: Vec<Breach>,
    /// Enquiries in the book.
    pub enquiries: u64,
    /// Deliveries that were answered.
    pub deliveries: u64,
    /// Records in the targets.
    pub records: u64,
    /// Calls of the store and of the outside.
    pub calls: u64,
    /// Starts of processes.
    pub starts: u64,
    /// How each unknown outcome ended.
    pub endings: Endings,
    /// The journal's heads.
    pub heads: Vec<String>,
    /// What happened, where it was wanted.
    pub trace: Vec<String>,
}

thread_local! {
    /// What panicked in the run that this thread is at; `None`: it is at none.
    static PANICS: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Hears of every panic, also of those that a task keeps to itself.
fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let is_ours = PANICS.with_borrow_mut(|panics| panics.as_mut().map(|panics| panics.push(panic.to_string())).is_some());
            if !is_ours {
                before(panic);
            }
        }));
    });
}

/// Runs a plan. What panics in the product is a breach too.
pub fn run(plan: &Plan, traced: bool) -> Report {
    listen();
    PANICS.set(Some(Vec::new()));
    let world = World::new(plan.clone(), traced);
    let lived = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| live(&world)));
    for words in PANICS.take().unwrap_or_default() {
        world.breach("I0", format!("an assertion failed: {}", words.replace('\n', " ")));
    }
    let mut report = lived.unwrap_or_default();
    let mut state = world.state();
    report.breaches = std::mem::take(&mut state.breaches);
    report.trace = state.trace.take().unwrap_or_default();
    // Futures and processes hold the world, and it them.
    let (spawned, nodes) = (std::mem::take(&mut state.spawned), std::mem::take(&mut state.nodes));
    state.forget();
    drop(state);
    drop((spawned, nodes));
    report
}

fn live(world: &Arc<World>) -> Report {
    // Without a timer or a driver: tasks run in the order in which they were woken.
    let runtime = tokio::runtime::Builder::new_current_thread().event_interval(1_000_000).build();
    match runtime {
        Ok(runtime) => runtime.block_on(lived(Arc::clone(world))),
        Err(error) => {
            world.breach("I0", format!("no runtime: {error}"));
            Report::default()
        }
    }
}

async fn lived(world: Arc<World>) -> Report {
    begin(&world);
    let mut executor = Executor::new(&world);
    let mut rests = executor.run().await;
    calm(&world);
    rests &= executor.run().await;
    rests &= wait(&world, &mut executor).await;
    let Some(kept) = world.state().book.clone() else { return Report::default() };
    if !rests {
        world.breach("I10", "the run goes round in circles".to_owned());
        return Report::default();
    }
    end::stuck(&world, &book::dossiers(&kept).await);
    for _ in 0..ROUNDS {
        let Some(kept) = world.state().book.clone() else { break };
        if people::open_items(&kept).await.is_empty() {
            break;
        }
        world.spawn(None, people::review(Arc::clone(&world), true));
        executor.run().await;
        wait(&world, &mut executor).await;
    }
    // A process that started meanwhile has the book now.
    let Some(kept) = world.state().book.clone() else { return Report::default() };
    let all = book::dossiers(&kept).await;
    end::ended(&world, &all);
    end::targets(&world, &all);
    identity::check(&world, &kept, &all).await;
    let heads = end::journal(&world, &kept).await;
    let state = world.state();
    let mut report = Report {
        enquiries: u64::try_from(all.len()).unwrap_or(0),
        deliveries: u64::try_from(state.acks.len()).unwrap_or(0),
        records: state.crms.iter().map(|crm| u64::try_from(crm.records.len()).unwrap_or(0)).sum(),
        calls: state.calls,
        starts: state.nodes.iter().map(|node| u64::from(node.start)).sum(),
        heads,
        ..Report::default()
    };
    count(&all, &mut report.endings);
    report
}

/// Everything that the plan has stands in the queue.
fn begin(world: &Arc<World>) {
    let plan = &world.plan;
    let mut state = world.state();
    for (n, setup) in plan.setup.targets.iter().enumerate() {
        state.crms.push(Crm::new(format!("target-{n}"), client(plan, n), setup.clone()));
    }
    state.nodes = (0..plan.setup.nodes).map(|_| Node::default()).collect();
    for node in 0..plan.setup.nodes {
        state.after(0, Happening::Start(node));
    }
    for (n, sent) in plan.sent.iter().enumerate() {
        state.after(sent.at.saturating_add(10), Happening::Deliver(n));
    }
    for (at, fault) in &plan.faults {
        state.after(*at, Happening::Fault(*fault));
    }
}

/// From now on nothing fails; every process lives, and every target is open.
fn calm(world: &Arc<World>) {
    let mut state = world.state();
    state.is_calm = true;
    state.tell(|| "from here on nothing fails".to_owned());
    state.disk_full_until = 0;
    let count = state.crms.len();
    for crm in &mut state.crms {
        (crm.out_until, crm.closed_until) = (0, 0);
    }
    for node in &mut state.nodes {
        node.paused_until = None;
    }
    drop(state);
    for target in 0..count {
        world.spawn(None, set_paused(Arc::clone(world), target, None));
    }
}

/// Whatever is on its way arrives.
async fn wait(world: &Arc<World>, executor: &mut Executor) -> bool {
    let world_too = Arc::clone(world);
    world.spawn(None, async move { world_too.wait(None, AFTERMATH_MS).await });
    executor.run().await
}
