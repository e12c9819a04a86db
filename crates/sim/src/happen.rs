//! What each event of the world does.

use std::sync::Arc;

use server::engine::Refused;

use crate::people;
use crate::plan::Fault;
use crate::sender;
use crate::world::{Happening, World, index};

/// One event.
pub fn happen(world: &Arc<World>, what: Happening) {
    match what {
        Happening::Wake(of, slot) => {
            let mut state = world.state();
            if let Some(life) = of {
                if !state.lives(life) {
                    return;
                }
                if let Some(until) = state.nodes[life.node].paused_until {
                    let wait = until.saturating_sub(state.now).saturating_add(1);
                    return state.after(wait, Happening::Wake(of, slot));
                }
            }
            drop(state);
            slot.wake();
        }
        Happening::Send(request) => world.send(request),
        Happening::Apply(request) => world.apply(&request),
        Happening::Fault(fault) => strike(world, fault),
        Happening::Deliver(sent) => world.spawn(None, sender::deliver(Arc::clone(world), sent)),
        Happening::Start(node) => crate::node::start(world, node),
        Happening::GoOn(node) => {
            let mut state = world.state();
            let now = state.now;
            if state.nodes[node].paused_until.is_some_and(|until| until <= now) {
                state.nodes[node].paused_until = None;
            }
        }
        Happening::Resume(target) => world.spawn(None, set_paused(Arc::clone(world), target, None)),
    }
}

fn strike(world: &Arc<World>, fault: Fault) {
    let mut state = world.state();
    let now = state.now;
    state.tell(|| format!("{fault:?}"));
    match fault {
        Fault::Crash { node, down_ms } => state.kill(node, down_ms),
        Fault::Pause { node, ms } if state.nodes[node].lives => {
            state.nodes[node].paused_until = Some(now + ms);
            state.after(ms, Happening::GoOn(node));
        }
        Fault::Pause { .. } => {}
        Fault::Outage { target, ms } => state.crms[target].out_until = now + ms,
        Fault::Closed { target, ms } => {
            state.crms[target].closed_until = now + ms;
            state.after(ms + 60_000, Happening::Resume(target));
        }
        Fault::DiskFull { ms } => state.disk_full_until = now + ms,
        Fault::ClockBack { ms } => state.set_back += ms,
        Fault::RuleChange => {
            state.rule_changed = true;
            for node in 0..state.nodes.len() {
                state.kill(node, 2_000);
            }
        }
        Fault::Reworded => state.wording += 1,
        Fault::Twin { target } => {
            let draw = world.fate(&[18, u64::try_from(now).unwrap_or(0)]);
            state.crms[target].copy(draw, now);
        }
        Fault::Replay { which } => {
            drop(state);
            world.spawn(None, people::replay(Arc::clone(world), which));
        }
        Fault::PausedByPerson { target, ms } => {
            state.after(ms, Happening::Resume(target));
            let why = Some("a person wants it".to_owned());
            drop(state);
            world.spawn(None, set_paused(Arc::clone(world), target, why));
        }
        Fault::Review => {
            drop(state);
            world.spawn(None, people::review(Arc::clone(world), false));
        }
    }
}

/// A person pauses a target, or lets it go on, at whichever process they reach. The others learn of it from the book.
pub async fn set_paused(world: Arc<World>, target: usize, why: Option<String>) {
    for nth in 0..40 {
        let engine = {
            let state = world.state();
            let engines: Vec<_> = state.nodes.iter().filter_map(|node| node.engine.as_ref()).collect();
            engines.get(index(world.fate(&[22, nth]), engines.len())).map(|engine| Arc::clone(engine))
        };
        if let Some(engine) = engine {
            match sender::patiently(&world, engine.set_paused(&format!("target-{target}"), why.clone(), "anna")).await {
                Some(Ok(()) | Err(Refused::Unknown(_) | Refused::DoesNotFit(_))) => break,
                Some(Err(Refused::Store(_))) | None => {}
            }
        }
        world.wait(None, 1_000).await;
    }
    world.kick();
}
