//! The executor: polls what is awake, one future at a time, in the seed's order; then the next event of the world.
//!
//! The intake enters a delivery on a task of its own, which survives a sender that hangs up: those tasks are a current-thread
//! runtime's, which runs them, in their order, whenever this executor yields to it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};

use crate::chance::Chance;
use crate::happen;
use crate::world::{Spawned, World, index};

/// More polls than this, and the run is taken to go round in circles.
const POLLS_MAX: u64 = 2_000_000;

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

struct Task {
    what: Spawned,
    flag: Arc<Flag>,
    waker: Waker,
}

/// The futures of a run.
pub struct Executor {
    world: Arc<World>,
    tasks: Vec<Task>,
    chance: Chance,
    polls: u64,
}

impl Executor {
    /// No futures yet.
    pub fn new(world: &Arc<World>) -> Self {
        Self { world: Arc::clone(world), tasks: Vec::new(), chance: Chance::new(world.fate(&[16])), polls: 0 }
    }

    /// Goes on until nothing happens any more. `false`: it goes round in circles.
    pub async fn run(&mut self) -> bool {
        loop {
            self.take_up();
            if self.poll_one() {
                self.polls += 1;
                if self.polls > POLLS_MAX {
                    return false;
                }
                continue;
            }
            if self.world.state().entering > 0 {
                tokio::task::yield_now().await;
                self.take_up();
                if self.poll_one() {
                    continue;
                }
            }
            let next = self.world.state().advance();
            match next {
                Some(what) => happen::happen(&self.world, what),
                None => return true,
            }
        }
    }

    /// New futures come in, and those of dead processes go.
    fn take_up(&mut self) {
        let (spawned, gone): (Vec<Spawned>, Vec<Task>) = {
            let mut state = self.world.state();
            let gone = self.tasks.extract_if(.., |task| task.what.of.is_some_and(|life| !state.lives(life))).collect();
            (std::mem::take(&mut state.spawned), gone)
        };
        // Outside of the lock: what is dropped may look at the world.
        drop(gone);
        for what in spawned {
            let flag = Arc::new(Flag(AtomicBool::new(true)));
            let waker = Waker::from(Arc::clone(&flag));
            self.tasks.push(Task { what, flag, waker });
        }
    }

    /// Polls one future that is awake, chance says which.
    fn poll_one(&mut self) -> bool {
        let awake: Vec<usize> = {
            let state = self.world.state();
            let is_awake = |task: &Task| {
                task.flag.0.load(Ordering::SeqCst) && task.what.of.is_none_or(|life| state.nodes[life.node].paused_until.is_none())
            };
            (0..self.tasks.len()).filter(|&n| is_awake(&self.tasks[n])).collect()
        };
        let Some(&n) = awake.get(if awake.len() > 1 { index(self.chance.draw(), awake.len()) } else { 0 }) else { return false };
        let task = &mut self.tasks[n];
        task.flag.0.store(false, Ordering::SeqCst);
        let is_over = task.what.future.as_mut().poll(&mut Context::from_waker(&task.waker)).is_ready();
        if is_over {
            drop(self.tasks.swap_remove(n));
        }
        true
    }
}
