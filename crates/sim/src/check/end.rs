//! What must hold of the book and of the targets once everything has come to rest.

use std::collections::BTreeMap;

use domain::enquiry::{Enquiry, Standing};
use domain::gate::{Door, Effect, Phase, Policy, StepKind};
use domain::time::UtcMs;
use evidence::Walk;
use store::memory::Memory;
use store::{Dossier, ReviewKind, Store as _};

use crate::sources::{SECRET_MARK, SOURCES, client};
use crate::world::World;

/// I10, before anybody works the queue off: nothing is stuck without a due time or an item that a person sees.
pub fn stuck(world: &World, all: &[Dossier]) {
    for Dossier { enquiry, effects, reviews, .. } in all {
        let open = |kind: Option<ReviewKind>| reviews.iter().any(|r| r.closed_at.is_none() && kind.is_none_or(|kind| r.kind == kind));
        let is_stuck = match enquiry.standing {
            Standing::Accepted | Standing::Working => true,
            Standing::Held => !open(Some(ReviewKind::Conflict)),
            Standing::Review => !open(None),
            Standing::Settled | Standing::Merged => false,
        };
        if is_stuck {
            let states: Vec<&str> = effects.iter().map(|(effect, _)| effect.state()).collect();
            world.breach(
                "I10",
                format!("{} is {} and nothing is due or asked; its effects: {states:?}", enquiry.key, enquiry.standing.as_str()),
            );
        }
        for (effect, _) in effects {
            let is_asked = effect.needs_person()
                && reviews.iter().any(|r| r.closed_at.is_none() && (r.effect.is_none() || r.effect.as_ref() == Some(&effect.id)));
            if !effect.has_ended() && !is_asked && effect.door != Door::Waiting {
                world.breach("I10", format!("an effect of {} is {} and nothing is due or asked", enquiry.key, effect.state()));
            }
        }
    }
}

/// Everything has ended.
pub fn ended(world: &World, all: &[Dossier]) {
    for Dossier { enquiry, effects, .. } in all {
        if !matches!(enquiry.standing, Standing::Settled | Standing::Merged) {
            let state = |effect: &Effect| format!("{} {}, due {:?}", effect.target, effect.state(), effect.due().map(UtcMs::rfc3339));
            let states: Vec<String> = effects.iter().map(|(effect, _)| state(effect)).collect();
            world.breach("I10", format!("{} never ends: it is {}, its effects: {states:?}", enquiry.key, enquiry.standing.as_str()));
        }
        nothing_lost(world, enquiry, effects);
    }
}

/// What the book says stands in the targets does, and every action of an enquiry was carried out or ended visibly.
fn nothing_lost(world: &World, enquiry: &Enquiry, effects: &[(Effect, u64)]) {
    let source = SOURCES.iter().position(|source| *source == enquiry.key.source).unwrap_or(0);
    let state = world.state();
    let mut found = Vec::new();
    let actions = state.crms.iter().filter(|crm| crm.client == client(&world.plan, source)).count();
    if enquiry.standing == Standing::Settled && effects.len() != actions {
        found.push(("I10", format!("{} has {} effects, and its client has {actions} actions", enquiry.key, effects.len())));
    }
    for (effect, _) in effects {
        let Some(crm) = effect.target.strip_prefix("target-").and_then(|n| state.crms.get(n.parse::<usize>().ok()?)) else { continue };
        for step in &effect.steps {
            let record = step.external_id().and_then(|id| crm.records.iter().find(|record| record.id == id && record.step == step.kind));
            if step.has_passed() && record.is_none() {
                found.push((
                    "I7",
                    format!(
                        "the {} of {} is {}, and it does not stand in {}",
                        step.kind.as_str(),
                        effect.outgoing_key,
                        step.phase.as_str(),
                        crm.name
                    ),
                ));
            }
            let read_same = crm.trails.get(&(effect.outgoing_key.clone(), step.kind)).is_some_and(|trail| trail.read_same);
            if matches!(step.phase, Phase::Verified { .. }) && !read_same {
                let named = format!("the {} of {}", step.kind.as_str(), effect.outgoing_key);
                found.push(("I7", format!("{named} is verified, and no read-back found it in {} as it was written", crm.name)));
            }
            if step.phase == Phase::AtMostOnce && crm.setup.policy != Policy::AtMostOnce {
                found.push(("I6", format!("the {} of {} was given up without anybody's wish", step.kind.as_str(), effect.outgoing_key)));
            }
        }
    }
    drop(state);
    for (invariant, what) in found {
        world.breach(invariant, what);
    }
}

/// I7 and I13: what stands in the targets.
pub fn targets(world: &World, all: &[Dossier]) {
    let state = world.state();
    let mut found = Vec::new();
    for (n, crm) in state.crms.iter().enumerate() {
        let mut count: BTreeMap<(&str, StepKind), u32> = BTreeMap::new();
        for record in crm.records.iter().filter(|record| !record.foreign) {
            *count.entry((&record.key, record.step)).or_default() += 1;
            let source = record.outgoing.split(':').next().and_then(|source| SOURCES.iter().position(|known| *known == source));
            if source.is_none_or(|source| client(&world.plan, source) != crm.client) {
                found.push(("I13", format!("{} of {} stands in {}", record.id, record.outgoing, crm.name)));
            }
        }
        let may_repeat = crm.setup.policy == Policy::AtLeastOnce;
        for ((key, step), count) in count.into_iter().filter(|(_, count)| *count > 1 && !may_repeat) {
            found
                .push(("I7", format!("{count} records of {key} ({}) stand in {}, which is {:?}", step.as_str(), crm.name, crm.find(step))));
        }
        for ((outgoing, step), _) in crm.trails.iter().filter(|(_, trail)| trail.saw_two) {
            let name = format!("target-{n}");
            let effects = all.iter().flat_map(|d| &d.effects).map(|(effect, _)| effect);
            let seen =
                effects.filter(|e| e.outgoing_key == *outgoing && e.target == name).flat_map(|e| &e.steps).filter(|s| s.kind == *step);
            if seen.into_iter().all(|step| step.seen.len() < 2) {
                found.push(("I7", format!("two records of {outgoing} were seen in {}, and nobody was told", crm.name)));
            }
        }
    }
    drop(state);
    for (invariant, what) in found {
        world.breach(invariant, what);
    }
}

/// I11 and I12: the chain holds, every record leads back to its delivery, and the journal names nobody.
pub async fn journal(world: &World, book: &Memory) -> Vec<String> {
    let mut walk = Walk::new(Vec::new());
    let entries = book.journal_after(None, usize::MAX).await.unwrap_or_default();
    for entry in &entries {
        walk.entry(entry);
        let facts = entry.facts.canonical();
        if facts.windows(SECRET_MARK.len()).any(|window| window == SECRET_MARK.as_bytes()) {
            world.breach("I12", format!("a journal entry {} holds an address", entry.kind));
        }
        for digest in &entry.blobs {
            walk.blob(*digest, book.blob(digest, entry.enquiry.as_ref()).await.ok().flatten().as_ref());
        }
    }
    let report = walk.finish();
    for fault in report.faults.iter().take(3) {
        world.breach("I11", fault.to_string());
    }
    let records: Vec<(String, String)> = {
        let state = world.state();
        let ours =
            state.crms.iter().flat_map(|crm| &crm.records).filter(|r| !r.foreign && matches!(r.step, StepKind::Record | StepKind::Message));
        ours.map(|record| (record.id.clone(), record.outgoing.clone())).collect()
    };
    for (id, outgoing) in records {
        for enquiry in book.resolve(&id).await.unwrap_or_default() {
            let leads = matches!(book.case(&enquiry).await, Ok(Some(case)) if outgoing.starts_with(&case.enquiry.key.to_string()));
            if !leads {
                world.breach("I11", format!("record {id} leads to another enquiry than {outgoing}"));
            }
        }
    }
    report.heads.iter().map(ToString::to_string).collect()
}
