//! What the differential test does at random.

use proptest::collection::vec;
use proptest::prelude::*;

/// What may be done. Small numbers, so that things meet.
#[derive(Clone, Debug)]
pub(super) enum Op {
    Accept { id: u8, body: u8, kind: u8, separate: bool },
    Batch { items: Vec<(u8, u8)> },
    Release { id: u8, several: bool },
    Repeat,
    Refuse { source: bool, keep: u32, age: i64 },
    Lease { limit: usize, span: i64 },
    Attempt { pick: u8, how: u8, lock: Option<u8>, keep: bool },
    Qualify { pick: u8, due: Option<i64>, fence: bool, keep: bool },
    Plan { id: u8, action: u8, due: i64 },
    Stand { id: u8, standing: u8 },
    Review { n: u8, id: u8, closes: bool },
    Rule { source: bool },
    Target { n: u8 },
    Note { count: u8 },
    Prune { age: i64 },
    Page { list: u8, limit: usize, filter: u8, onward: bool },
    Name { n: u8 },
    Restart,
}

pub(super) fn op() -> impl Strategy<Value = Op> {
    let ids = 0_u8..4;
    prop_oneof![
        8 => (ids.clone(), 0_u8..3, 0_u8..4, prop::bool::weighted(0.15))
            .prop_map(|(id, body, kind, separate)| Op::Accept { id, body, kind, separate }),
        2 => vec((ids.clone(), 0_u8..3), 1..4).prop_map(|items| Op::Batch { items }),
        2 => (ids.clone(), any::<bool>()).prop_map(|(id, several)| Op::Release { id, several }),
        1 => Just(Op::Repeat),
        2 => (any::<bool>(), 0_u32..3, 0_i64..900_000).prop_map(|(source, keep, age)| Op::Refuse { source, keep, age }),
        5 => (0_usize..4, 1_i64..400_000).prop_map(|(limit, span)| Op::Lease { limit, span }),
        6 => (any::<u8>(), 0_u8..4, prop::option::of(0_u8..2), any::<bool>())
            .prop_map(|(pick, how, lock, keep)| Op::Attempt { pick, how, lock, keep }),
        3 => (any::<u8>(), prop::option::of(0_i64..500_000), any::<bool>(), any::<bool>())
            .prop_map(|(pick, due, fence, keep)| Op::Qualify { pick, due, fence, keep }),
        4 => (ids.clone(), 0_u8..3, 0_i64..300_000).prop_map(|(id, action, due)| Op::Plan { id, action, due }),
        3 => (ids.clone(), 0_u8..4).prop_map(|(id, standing)| Op::Stand { id, standing }),
        2 => (0_u8..3, ids, any::<bool>()).prop_map(|(n, id, closes)| Op::Review { n, id, closes }),
        1 => any::<bool>().prop_map(|source| Op::Rule { source }),
        1 => (0_u8..3).prop_map(|n| Op::Target { n }),
        1 => (0_u8..3).prop_map(|count| Op::Note { count }),
        2 => (0_i64..600_000).prop_map(|age| Op::Prune { age }),
        5 => (0_u8..5, 0_usize..4, 0_u8..6, any::<bool>())
            .prop_map(|(list, limit, filter, onward)| Op::Page { list, limit, filter, onward }),
        3 => (0_u8..24).prop_map(|n| Op::Name { n }),
        1 => Just(Op::Restart),
    ]
}
