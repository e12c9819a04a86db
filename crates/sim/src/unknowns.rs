//! How each unknown outcome ended, counted.

use std::collections::{BTreeMap, BTreeSet};

use domain::gate::{Attempted, Phase, Step};
use store::Dossier;

/// Endings by name.
pub type Endings = BTreeMap<&'static str, u64>;

/// Counts the unknown outcomes of these enquiries by how they ended.
pub fn count(all: &[Dossier], into: &mut Endings) {
    for Dossier { effects, entries, .. } in all {
        let mut unknown: BTreeSet<(&str, &str, u64)> = BTreeSet::new();
        for entry in
            entries.iter().filter(|entry| matches!(entry.kind.as_str(), "effect.unknown" | "effect.lost" | "effect.exists_already"))
        {
            let (effect, step) = (entry.facts.text("effect"), entry.facts.text("step"));
            let attempt = entry.facts.get("attempt").and_then(serde_json::Value::as_u64);
            if let (Some(effect), Some(step), Some(attempt)) = (effect, step, attempt) {
                unknown.insert((effect, step, attempt));
            }
        }
        for (effect, step, attempt) in unknown {
            let steps = effects.iter().filter(|(e, _)| e.id.as_str() == effect).flat_map(|(e, _)| &e.steps);
            if let Some(step) = steps.into_iter().find(|s| s.kind.as_str() == step) {
                *into.entry(ending(step, attempt)).or_default() += 1;
            }
        }
    }
}

fn ending(step: &Step, attempt: u64) -> &'static str {
    let outcome = step.attempts.iter().find(|a| u64::from(a.n) == attempt).map(|a| &a.outcome);
    match (outcome, &step.phase) {
        (Some(Attempted::Adopted), _) => "its record was found and adopted, or a person named it",
        (Some(Attempted::ProvedAbsent), _) => "proved absent, and sent again where that was wanted",
        (Some(Attempted::Answered { .. }), _) => "its answer came late",
        (Some(Attempted::Conflicted | Attempted::Open), Phase::Verified { .. } | Phase::Unverified { .. } | Phase::Done { .. }) => {
            "left open beside a keyed write that stands"
        }
        (_, Phase::AtMostOnce) => "given up: at most once",
        (_, Phase::Closed { .. }) => "closed by a person",
        (_, Phase::Doubled { .. }) => "two records: an alarm",
        (Some(Attempted::Refused | Attempted::NotSent), _) => "told after all that it was not done",
        (Some(_), _) => "open",
        (None, _) => "forgotten",
    }
}
