//! The simulator itself: the same seed gives the same run, to the last event; and the invariants hold in some seeds and around
//! every crash point of a first class. The long runs are `./test`'s.

use sim::plan::make::plan;
use sim::run::run;
use sim::seeds;

#[test]
fn the_same_seed_gives_the_same_journal_head() {
    for seed in 1..=12 {
        let (first, again) = (run(&plan(seed, 12), true), run(&plan(seed, 12), true));
        assert!(!first.heads.is_empty() && first.heads == again.heads, "seed {seed}");
        assert_eq!(first.trace, again.trace, "seed {seed}: not only the head, every event");
    }
    assert_ne!(run(&plan(1, 12), false).heads, run(&plan(2, 12), false).heads);
}

#[test]
fn the_invariants_hold_in_forty_seeds() {
    let (mut enquiries, mut unknown) = (0, 0);
    for seed in 101..=140 {
        let report = run(&plan(seed, 20), false);
        assert_eq!(report.breaches, [], "seed {seed}");
        enquiries += report.enquiries;
        unknown += report.endings.values().sum::<u64>();
    }
    assert!(enquiries >= 700 && unknown >= 100, "{enquiries} enquiries and {unknown} unknown outcomes: something must have happened");
}

#[test]
fn the_kept_seeds_hold() {
    let text = std::fs::read_to_string(seeds::file()).unwrap();
    assert!(text.starts_with('#'), "the file says what it is");
    for (seed, events) in seeds::kept() {
        assert_eq!(run(&plan(seed, events), false).breaches, [], "seed {seed} with {events} events");
    }
}
