//! Every interleaving of one step with a toy network and target: what DESIGN section 4 promises, state by state.
//!
//! The effect half of `protocol_model.py` with `decide` in the place of its protocol: the same network, target, crash,
//! takeover and person, one step of one effect instead of two nodes on a store. A walk has 10^3 to 10^5 states. A checker
//! that cannot fail shows nothing, so the second half walks with one rule broken and expects the walk to say so.

use super::*;

mod explore;
mod target;
mod world;

use explore::{Broken, walk};
use world::World;

/// Spans of the walk, in ticks of a ms: short, and none so short that a wait which forgets it would still be long enough.
const TICKS: Rules = Rules {
    find: Find::Strong,
    reads: true,
    settle_ms: 1,
    pause_max_ms: 1,
    timeout_ms: 1,
    attempts_max: 2,
    give_up_ms: 1_000,
    backoff: Backoff { first_ms: 1, max_ms: 1 },
    policy: Policy::Review,
    restored_at: None,
};
const TICKS_LAGGING: Find = Find::Lagging { max_ms: 2 };

/// What holds in this world, told to `decide` as it is; one crash or takeover.
fn world(class: Find) -> World {
    let rules = Rules { find: class, ..TICKS };
    World {
        told: rules,
        holds: rules,
        faults: 1,
        misses: 0,
        words: 0,
        hears: |seen, _| vec![seen],
        checks_deadline: true,
        refuses: true,
        copies: 0,
        knows: true,
    }
}

#[track_caller]
fn passes(world: &World) -> usize {
    let walked = walk(world);
    walked.unwrap_or_else(|broken| panic!("{:?}: {}\n    {}", world.told.find, broken.what, broken.trace.join("\n    ")))
}

#[track_caller]
fn breaks(world: &World, what: &[&str]) {
    let Err(Broken { what: found, trace }) = walk(world) else { panic!("{:?}: the walk sees nothing wrong", world.told.find) };
    assert!(what.iter().any(|what| found.starts_with(what)), "{found}, not one of {what:?}\n    {}", trace.join("\n    "));
}

/// Three attempts, two faults and longer spans.
fn larger(class: Find) -> World {
    let rules = Rules { find: class, settle_ms: 3, pause_max_ms: 2, timeout_ms: 2, attempts_max: 3, ..TICKS };
    World { told: rules, holds: rules, faults: 2, ..world(class) }
}

#[test]
fn i6_i7_i10_a_strong_target() {
    let states = passes(&world(Find::Strong));
    assert!(states > 1_000, "{states} states are no walk");
    passes(&larger(Find::Strong));
}

#[test]
fn i6_i7_i10_a_search_index() {
    passes(&world(TICKS_LAGGING));
    passes(&larger(TICKS_LAGGING));
}

#[test]
fn i6_i7_i10_a_search_index_that_misses_once() {
    passes(&World { misses: 1, ..world(TICKS_LAGGING) });
    passes(&World { misses: 1, ..larger(TICKS_LAGGING) });
}

#[test]
fn i6_i7_i10_a_target_that_cannot_be_asked_and_a_person_who_looks() {
    passes(&World { words: 2, ..world(Find::None) });
    passes(&World { words: 3, ..larger(Find::None) });
}

#[test]
fn t_a_refusal_never_hides_a_record() {
    for class in
        [UPSERT, UPSERT_LOOKS, Find::Unique, Find::Window { window_ms: 4, looks: true }, Find::Window { window_ms: 6, looks: false }]
    {
        passes(&World { words: 1, ..world(class) });
    }
}

#[test]
fn i7_i10_a_provider_window_that_can_be_asked() {
    for window_ms in [1, 2, 3, 4, 5, 6, 9] {
        passes(&World { words: 1, refuses: false, ..world(Find::Window { window_ms, looks: true }) });
        passes(&World { words: 1, refuses: false, ..world(Find::Window { window_ms, looks: false }) });
    }
}

/// Keyed writes in a target that refuses no record; for those that do, see `t_a_refusal_never_hides_a_record`.
#[test]
fn i7_i10_a_keyed_write() {
    for class in [UPSERT, UPSERT_LOOKS, Find::Unique] {
        passes(&World { words: 1, refuses: false, faults: 2, ..world(class) });
    }
}

#[test]
fn i7_i10_a_keyed_write_needs_no_bound() {
    for class in [UPSERT, UPSERT_LOOKS, Find::Unique] {
        let honest = World { refuses: false, faults: 1, ..larger(class) };
        passes(&World { told: Rules { settle_ms: 0, pause_max_ms: 0, ..honest.told }, ..honest });
    }
}

#[test]
fn i7_i10_a_provider_window() {
    for window_ms in [1, 2, 3, 4, 5, 6, 9] {
        passes(&world(Find::Window { window_ms, looks: false }));
    }
}

/// Spans so long that neither the lag nor the second look makes up for one that is forgotten.
fn long(class: Find) -> World {
    let rules = Rules { find: class, settle_ms: 4, pause_max_ms: 4, ..TICKS };
    World { told: rules, holds: rules, ..world(class) }
}

#[test]
fn settle_ms_forgotten() {
    for class in [Find::Strong, TICKS_LAGGING] {
        let honest = long(class);
        passes(&honest);
        breaks(&World { told: Rules { settle_ms: 0, ..honest.told }, ..honest }, &["I6", "I7"]);
    }
    breaks(&World { told: Rules { settle_ms: 0, ..TICKS }, ..world(Find::Strong) }, &["I6", "I7"]);
}

#[test]
fn pause_max_ms_forgotten() {
    for class in [Find::Strong, TICKS_LAGGING] {
        let honest = long(class);
        breaks(&World { told: Rules { pause_max_ms: 0, ..honest.told }, ..honest }, &["I6", "I7"]);
    }
    breaks(&World { told: Rules { pause_max_ms: 0, ..TICKS }, ..world(Find::Strong) }, &["I6", "I7"]);
}

#[test]
fn a_span_one_tick_short() {
    let honest = larger(Find::Strong);
    breaks(&World { told: Rules { settle_ms: honest.holds.settle_ms - 1, ..honest.told }, ..honest }, &["I6", "I7"]);
    breaks(&World { told: Rules { pause_max_ms: honest.holds.pause_max_ms - 1, ..honest.told }, ..honest }, &["I6", "I7"]);
}

#[test]
fn a_provider_window_taken_for_a_longer_one() {
    let class = |window_ms| Find::Window { window_ms, looks: false };
    let told = Rules { find: class(7), ..TICKS };
    breaks(&World { told, ..world(class(4)) }, &["I7"]);
}

#[test]
fn the_lag_forgotten() {
    let told = Rules { find: Find::Lagging { max_ms: 0 }, ..TICKS };
    breaks(&World { told, ..world(TICKS_LAGGING) }, &["I7"]);
}

#[test]
fn a_search_index_taken_for_a_strong_one() {
    let told = Rules { find: Find::Strong, ..TICKS };
    breaks(&World { told, ..world(TICKS_LAGGING) }, &["I7"]);
}

#[test]
fn a_search_index_believed_after_one_look() {
    let hears = |seen, _| if let Observation::Absent { .. } = &seen { vec![seen.clone(), seen] } else { vec![seen] };
    breaks(&World { hears, misses: 1, ..world(TICKS_LAGGING) }, &["I7"]);
}

#[test]
fn a_crash_counted_as_not_sent() {
    let hears = |seen, _| vec![if let Observation::Lost { .. } = seen { not_sent() } else { seen }];
    for class in [Find::Strong, TICKS_LAGGING, Find::None] {
        breaks(&World { hears, ..world(class) }, &["I6", "I7"]);
    }
}

#[test]
fn no_answer_counted_as_not_sent() {
    let hears = |seen, _| vec![if seen == Observation::NoAnswer { not_sent() } else { seen }];
    for class in [Find::Strong, TICKS_LAGGING, Find::None] {
        breaks(&World { hears, ..world(class) }, &["I6", "I7"]);
    }
}

#[test]
fn a_failed_look_counted_as_absent() {
    let hears = |seen, now: UtcMs| vec![if seen == Observation::LookFailed { absent_at(now) } else { seen }];
    breaks(&World { hears, misses: 1, ..world(Find::Strong) }, &["I7"]);
}

#[test]
fn an_absence_dated_by_its_end() {
    let hears = |seen, now| vec![if let Observation::Absent { .. } = seen { absent_at(now) } else { seen }];
    breaks(&World { hears, ..world(Find::Strong) }, &["I6", "I7"]);
}

#[test]
fn a_death_dated_before_the_send() {
    let hears = |seen, now: UtcMs| {
        vec![if let Observation::Lost { dead_since: Some(_) } = seen { Observation::Lost { dead_since: Some(now.plus(-2)) } } else { seen }]
    };
    breaks(&World { hears, ..world(Find::Strong) }, &["I6", "I7"]);
}

#[test]
fn a_pause_taken_for_a_death() {
    let hears =
        |seen, now| vec![if seen == (Observation::Lost { dead_since: None }) { Observation::Lost { dead_since: Some(now) } } else { seen }];
    breaks(&World { hears, ..world(Find::Strong) }, &["I6", "I7"]);
}

#[test]
fn the_deadline_unchecked_before_the_send() {
    breaks(&World { checks_deadline: false, ..world(Find::Strong) }, &["I6", "I7"]);
}

#[test]
fn a_conflict_answer_counted_as_a_refusal() {
    let hears = |seen, _| vec![if seen == Observation::Conflict { refused() } else { seen }];
    // Told of no bound, the engine has no earlier attempt open that would make it look all the same.
    let told = Rules { find: Find::Unique, settle_ms: 0, pause_max_ms: 0, ..TICKS };
    let honest = World { told, refuses: false, ..world(Find::Unique) };
    passes(&honest);
    breaks(&World { hears, ..honest }, &["T"]);
}

#[test]
fn an_unknown_outcome_never_asked_about() {
    let hears = |seen, _| if let Observation::Absent { .. } | Observation::Found { .. } = seen { Vec::new() } else { vec![seen] };
    breaks(&World { hears, ..world(Find::Strong) }, &["I10"]);
}

#[test]
fn at_least_once_is_for_those_who_accept_a_double() {
    let rules = Rules { find: Find::None, policy: Policy::AtLeastOnce, ..TICKS };
    breaks(&World { told: rules, holds: rules, ..world(Find::None) }, &["I6", "I7"]);
}

/// A copy of the book is taken at any moment and put back at any later one; what the first book did meanwhile stands.
fn restored(class: Find) -> World {
    World { copies: 1, faults: 0, refuses: false, ..world(class) }
}

#[test]
fn i7_i10_a_book_that_is_put_back() {
    for class in [Find::Strong, TICKS_LAGGING, Find::Unique, UPSERT_LOOKS] {
        let states = passes(&restored(class));
        assert!(states > 500, "{class:?}: {states}");
    }
    passes(&World { told: long(Find::Strong).told, holds: long(Find::Strong).holds, ..restored(Find::Strong) });
}

#[test]
fn a_restore_that_nobody_knows_of() {
    breaks(&World { knows: false, ..restored(Find::Strong) }, &["I6", "I7"]);
    breaks(&World { knows: false, ..restored(TICKS_LAGGING) }, &["I6", "I7"]);
}

#[test]
fn no_look_before_the_first_write() {
    // What nobody asked for counts as an answer: nothing is there.
    let hears = |seen, now: UtcMs| vec![if let Observation::Begin { .. } = seen { absent_at(now.plus(1_000)) } else { seen.clone() }, seen];
    breaks(&World { hears, ..restored(Find::Strong) }, &["I6", "I7"]);
}
