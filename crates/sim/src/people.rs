//! Persons: they work on the review queue, look into targets before they say what is there, and replay what they like.

use std::sync::Arc;

use domain::gate::{Effect, Phase, StepKind};
use domain::ids::EffectId;
use server::engine::{Decision, Engine};
use store::memory::Memory;
use store::{Ask, List, Review, ReviewKind, Rows, Store};

use crate::chance::of_text;
use crate::sender::patiently;
use crate::world::{World, index};

/// An engine that lives, and the book.
fn at_hand(world: &Arc<World>, draw: u64) -> Option<(Arc<Engine>, Arc<Memory>)> {
    let state = world.state();
    let engines: Vec<&Arc<Engine>> =
        state.nodes.iter().filter(|node| node.paused_until.is_none()).filter_map(|node| node.engine.as_ref()).collect();
    Some((Arc::clone(engines.get(index(draw, engines.len()))?), state.book.clone()?))
}

/// Every open item of the queue.
pub async fn open_items(book: &Memory) -> Vec<Review> {
    let ask = Ask { limit: 1_000, state: Some("open".to_owned()), ..Ask::default() };
    match book.page(List::Reviews, ask).await.map(|page| page.rows) {
        Ok(Rows::Reviews(rows)) => rows,
        Ok(_) | Err(_) => Vec::new(),
    }
}

/// Works on the queue; at the end of a run on all of it, and so that it empties.
pub async fn review(world: Arc<World>, is_last: bool) {
    let begun = u64::try_from(world.state().now).unwrap_or(0);
    let Some((_, book)) = at_hand(&world, 0) else { return };
    for item in open_items(&book).await {
        let draw = world.fate(&[20, of_text(item.id.as_str()), begun]);
        if !is_last && draw % 10 < 4 {
            continue;
        }
        let Some((engine, book)) = at_hand(&world, draw) else { return };
        let Some(decision) = decision(&world, &book, &item, draw >> 8, is_last).await else { continue };
        let done = Box::pin(patiently(&world, engine.decide(item.id.as_str(), &decision, "anna"))).await;
        world.tell(|| format!("a person says {} of {} ({:?}): {done:?}", decision.word(), item.why, item.kind));
        world.kick();
    }
}

async fn decision(world: &Arc<World>, book: &Memory, item: &Review, draw: u64, is_last: bool) -> Option<Decision> {
    Some(match item.kind {
        ReviewKind::Conflict => {
            if draw.is_multiple_of(2) {
                Decision::Same
            } else {
                Decision::Separate
            }
        }
        ReviewKind::Effect => return of_effect(world, book, item, draw, is_last).await,
        ReviewKind::LookAlike
        | ReviewKind::AmbiguousTime
        | ReviewKind::Ambiguous
        | ReviewKind::Qualification
        | ReviewKind::Message
        | ReviewKind::Restored
        | ReviewKind::DoNotContact
        | ReviewKind::PerAddress => {
            if draw.is_multiple_of(5) {
                Decision::Dismiss("not wanted".to_owned())
            } else {
                Decision::Approve
            }
        }
    })
}

/// The effect that an item is about.
pub async fn effect_of(book: &Memory, item: &Review) -> Option<Effect> {
    let wanted: &EffectId = item.effect.as_ref()?;
    let case = book.case(&item.enquiry).await.ok()??;
    case.effects.into_iter().map(|(effect, _)| effect).find(|effect| effect.id == *wanted)
}

/// Looks into the target, and says what is there.
async fn of_effect(world: &Arc<World>, book: &Memory, item: &Review, draw: u64, is_last: bool) -> Option<Decision> {
    let effect = effect_of(book, item).await?;
    let step = effect.steps.iter().find(|step| step.needs_person())?;
    let target: usize = effect.target.strip_prefix("target-")?.parse().ok()?;
    let key = match step.kind {
        StepKind::Contact => return Some(if is_last { Decision::Again } else { Decision::Dismiss("not wanted".to_owned()) }),
        StepKind::Record | StepKind::Link | StepKind::Message => effect.outgoing_key.clone(),
    };
    let there: Vec<String> = {
        let mut state = world.state();
        let crm = &mut state.crms[target];
        if matches!(step.phase, Phase::Doubled { .. }) {
            // What somebody copied is taken away again.
            crm.records.retain(|record| !(record.foreign && record.step == step.kind && record.key == key));
        }
        crm.records.iter().filter(|record| record.step == step.kind && record.key == key).map(|record| record.id.clone()).collect()
    };
    let looks = world.state().crms[target].find(step.kind).looks();
    if !looks {
        // Who looks into the target asks it.
        world.state().crms[target].trail(&key, step.kind).is_unknown = false;
    }
    Some(match (&step.phase, there.first()) {
        (Phase::Mismatched { .. }, _) => {
            if draw.is_multiple_of(3) && !is_last {
                Decision::Again
            } else {
                Decision::Approve
            }
        }
        (Phase::Refused { .. }, None) => {
            if draw.is_multiple_of(2) {
                Decision::Again
            } else {
                Decision::Dismiss("refused".to_owned())
            }
        }
        // People err. Where the target can be asked, that must do no harm.
        (_, Some(_)) if looks && draw.is_multiple_of(2) && !is_last => Decision::NotThere,
        (_, Some(id)) if draw.is_multiple_of(3) || !looks || is_last => Decision::ItIs(id.clone()),
        (_, Some(_)) => Decision::Again,
        (_, None) if draw.is_multiple_of(7) => Decision::Dismiss("not wanted".to_owned()),
        (_, None) if looks && draw.is_multiple_of(2) => Decision::Again,
        (_, None) => Decision::NotThere,
    })
}

/// Replays one enquiry.
pub async fn replay(world: Arc<World>, which: u64) {
    let Some((engine, book)) = at_hand(&world, which) else { return };
    let Ok(page) = book.page(List::Enquiries, Ask { limit: 1_000, ..Ask::default() }).await else { return };
    let Rows::Enquiries(rows) = page.rows else { return };
    let Some(enquiry) = rows.get(index(which, rows.len())) else { return };
    let done = patiently(&world, engine.replay(&enquiry.id, "anna")).await;
    world.tell(|| format!("a person replays {}: {done:?}", enquiry.key));
    world.kick();
}
