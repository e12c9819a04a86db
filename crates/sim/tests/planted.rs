//! Every planted mistake is found by the simulator, and the seeds that find them find nothing without. Needs the feature
//! `planted`; run in release by `./test`.

use sim::plan::make::plan;
use sim::planted::{EVENTS, SEEDS_MAX, hunt};
use sim::run::run;
use sim::shrink::shrink;

use domain::planted::{Bug, plant};

#[test]
fn every_planted_mistake_is_found() {
    let mut missed = Vec::new();
    for (bug, what) in Bug::ALL {
        let Some((seed, _)) = hunt(bug) else {
            missed.push(what);
            continue;
        };
        assert_eq!(run(&plan(seed, EVENTS), false).breaches, [], "seed {seed} finds something without '{what}' too");
    }
    assert!(missed.is_empty(), "not found in {SEEDS_MAX} seeds: {missed:?}");
}

#[test]
fn a_failing_plan_is_cut_down_to_what_fails() {
    plant(Some(Bug::ContentNotCompared));
    let (seed, _) =
        (1..SEEDS_MAX).map(|seed| (seed, run(&plan(seed, EVENTS), false))).find(|(_, r)| !r.breaches.is_empty()).unwrap_or_default();
    let whole = plan(seed, EVENTS);
    let (short, report) = shrink(&whole, &run(&whole, false));
    plant(None);
    assert!(short.sent.len() <= 3 && short.faults.is_empty(), "two deliveries of one event are enough, not {}", short.sent.len());
    assert!(report.trace.iter().any(|line| line.contains("BREACH I3")), "the trace shows it");
}
