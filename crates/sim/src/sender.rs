//! Senders: each delivers until it is answered, to whichever process it reaches, and hangs up when it has waited too long.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use crate::sources::{SOURCES, raw};
use crate::world::{Ack, World, index};

/// How long a sender, or a person, waits for an answer.
const PATIENCE_MS: i64 = 30_000;
/// How often a sender tries.
const TRIES_MAX: u32 = 14;

/// Waits for an answer, but not for ever: a process that dies never gives one.
pub async fn patiently<T>(world: &Arc<World>, answer: impl Future<Output = T>) -> Option<T> {
    within(world, PATIENCE_MS, answer).await
}

async fn within<T>(world: &Arc<World>, ms: i64, answer: impl Future<Output = T>) -> Option<T> {
    let (mut answer, mut end) = (pin!(answer), pin!(world.wait(None, ms)));
    std::future::poll_fn(|cx| {
        if let Poll::Ready(told) = answer.as_mut().poll(cx) {
            return Poll::Ready(Some(told));
        }
        end.as_mut().poll(cx).map(|()| None)
    })
    .await
}

/// One delivery, until it is answered.
pub async fn deliver(world: Arc<World>, sent: usize) {
    let what = &world.plan.sent[sent];
    let mut wait_ms = 5_000;
    for nth in 0..TRIES_MAX {
        let draw = world.fate(&[19, u64::from(what.event), u64::try_from(sent).unwrap_or(0), nth.into()]);
        let intake = {
            let state = world.state();
            state.nodes[index(draw, state.nodes.len())].intake.clone()
        };
        if let Some(intake) = intake {
            // Now and then a sender hangs up at once, which takes nothing back.
            let hangs_up = !world.state().is_calm && (draw >> 20) % 1_000 < world.plan.fates.hang_up;
            let patience = if hangs_up { 3 } else { PATIENCE_MS };
            world.state().entering += 1;
            let answer = within(&world, patience, intake.deliver(SOURCES[what.source], raw(what, nth))).await;
            world.state().entering -= 1;
            if let Some(Ok(answer)) = answer {
                let mut state = world.state();
                for delivery in answer.items {
                    state.tell(|| {
                        format!("delivery {sent} of event {} is answered: {} {:?}", what.event, delivery.verdict.as_str(), delivery.key)
                    });
                    state.acks.push(Ack { sent, delivery });
                }
                return;
            }
        }
        world.wait(None, wait_ms).await;
        wait_ms = (wait_ms * 2).min(3_600_000);
    }
}
