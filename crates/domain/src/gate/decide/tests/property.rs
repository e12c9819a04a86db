//! Random sequences of observations, from planned on, for every class.

use proptest::prelude::*;

use super::*;

fn class() -> impl Strategy<Value = Rules> {
    let class = prop_oneof![
        any::<bool>().prop_map(|looks| Find::Upsert { looks }),
        (any::<bool>(), 0..300_000_i64).prop_map(|(looks, window_ms)| Find::Window { window_ms, looks }),
        Just(Find::Unique),
        Just(Find::Strong),
        (0..20_000_i64).prop_map(|max_ms| Find::Lagging { max_ms }),
        Just(Find::None),
    ];
    let policy = prop_oneof![Just(Policy::Review), Just(Policy::AtLeastOnce), Just(Policy::AtMostOnce)];
    let restored = prop::option::of((0..500_000_i64).prop_map(ms));
    (class, policy, any::<bool>(), 0..5_u32, 0..200_000_i64, restored).prop_map(
        |(find, policy, reads, attempts_max, give_up_ms, restored_at)| Rules {
            find,
            reads,
            attempts_max,
            give_up_ms,
            policy,
            restored_at,
            ..RULES
        },
    )
}

fn id() -> impl Strategy<Value = String> {
    prop_oneof![Just("r1".to_owned()), Just("r2".to_owned()), Just("r3".to_owned())]
}

/// What may be seen `ago` ms ago or now; `begin` is as likely as everything else, or nothing would ever be under way.
fn observation() -> impl Strategy<Value = (Observation, i64)> {
    let seen = prop_oneof![
        8 => Just(begin()),
        2 => Just(lost(None)),
        1 => Just(lost(Some(0))),
        2 => prop::option::of(0..99_000_i64).prop_map(|retry_after_ms| Observation::NotSent { retry_after_ms }),
        1 => Just(refused()),
        1 => Just(Observation::Conflict),
        1 => id().prop_map(|id| Observation::Applied { id }),
        3 => Just(Observation::NoAnswer),
        1 => prop::collection::btree_set(id(), 1..3).prop_map(|ids| Observation::Found { ids: ids.into_iter().collect() }),
        4 => Just(absent(0)),
        1 => Just(Observation::LookFailed),
        1 => prop::option::of(0..99_000_i64).prop_map(|retry_after_ms| Observation::LookUnanswered { retry_after_ms }),
        1 => Just(Observation::ReadSame),
        1 => Just(differs()),
        1 => Just(Observation::ReadGone),
        1 => Just(Observation::ReadFailed),
        1 => (0..5_u32, id()).prop_map(|(attempt, id)| Observation::LateAnswer { attempt, id }),
        2 => (0..5_u32).prop_map(not_there),
        1 => id().prop_map(|id| Observation::ItIs { id }),
        1 => Just(Observation::Again),
        1 => Just(closes()),
    ];
    (seen, 0..40_000_i64)
}

/// The same observation with its instant: `ago` before now.
fn dated(seen: Observation, now: UtcMs, ago: i64) -> Observation {
    if let Observation::Absent { .. } = seen {
        return absent_at(now.plus(-ago));
    }
    if let Observation::Lost { dead_since: Some(_) } = seen {
        return Observation::Lost { dead_since: Some(now.plus(-ago)) };
    }
    seen
}

/// What must hold between a step and what it becomes.
fn holds(before: &Step, seen: &Observation, rules: &Rules, after: &Step, next: Next) {
    let died = matches!(seen, Observation::Lost { dead_since: Some(_) });
    assert!(died || after.quiet_until >= before.quiet_until, "quiet_until went back on {seen:?}");
    assert!(after.latest() >= before.latest(), "attempt numbers went back");
    assert!(after.attempts.windows(2).all(|pair| pair[0].n < pair[1].n), "attempts are in order");
    if next == Next::Send {
        let earlier = &after.attempts[..after.attempts.len() - 1];
        let open = earlier.iter().any(Attempt::is_open);
        assert!(!rules.find.looks_first() || after.looked == Some(worker()), "the target was not asked before the write");
        assert!(!open || rules.find.keyed() || rules.policy == Policy::AtLeastOnce, "I6: blind");
        assert_eq!((&after.phase, after.latest()), (&Phase::Intended, before.latest() + 1));
        assert!(after.reached() <= rules.attempts_max + after.allowed, "more attempts than allowed");
    }
    match next {
        Next::Person => assert!(after.needs_person(), "a person is asked in {:?}", after.phase),
        Next::Ended => assert!(after.has_passed() || matches!(after.phase, Phase::AtMostOnce | Phase::Closed { .. })),
        Next::ReadBack => assert!(matches!(after.phase, Phase::Done { .. })),
        Next::LookUp => {
            let first = matches!(after.phase, Phase::Planned { .. }) && rules.find.looks_first();
            assert!(first || matches!(after.phase, Phase::Unknown { .. } | Phase::Verified { .. }) && rules.find.looks());
        }
        Next::Wait => assert!(after.due().is_some(), "I10: {:?} waits for nothing", after.phase),
        Next::Send => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn i6_i10_no_sequence_panics_sends_blindly_shortens_the_wait_or_waits_for_nothing(
        rules in class(),
        sequence in prop::collection::vec((observation(), 0..60_000_i64, any::<u64>()), 1..60),
    ) {
        let (mut step, mut now) = (Step::planned(StepKind::Record, T0), T0);
        for ((seen, ago), passes, chance) in sequence {
            now = now.plus(passes);
            let seen = dated(seen, now, ago);
            if let Moved::To(after, next) = decide(&step, &seen, &rules, now, chance) {
                holds(&step, &seen, &rules, &after, next);
                step = after;
            }
        }
    }
}
