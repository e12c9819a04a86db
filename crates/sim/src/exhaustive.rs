//! Every crash point: for one and for two enquiries, each call of the store and of the outside, crashed before, crashed
//! after, and repeated; for one enquiry also every two of them.

use domain::gate::{Find, Policy};

use crate::many::{Totals, run_many};
use crate::plan::make::classes;
use crate::plan::{AtCall, Fates, Plan, Sent, Setup, TargetSetup};
use crate::run::run;

const HOW: [AtCall; 3] = [AtCall::CrashBefore, AtCall::CrashAfter, AtCall::Repeat];

/// What was covered.
#[derive(Debug, Default)]
pub struct Covered {
    /// Points at which a process died: calls, before and after.
    pub crash_points: u64,
    /// Calls that were repeated.
    pub repeats: u64,
    /// The runs.
    pub totals: Totals,
}

/// Targets of every class, with what their class has variants of.
fn targets() -> Vec<TargetSetup> {
    let plain = |find: Find| TargetSetup {
        find,
        contacts: false,
        reads: find != Find::None,
        settle_ms: 2_000,
        timeout_ms: 1_000,
        policy: Policy::Review,
        outward: false,
    };
    let mut all: Vec<TargetSetup> = classes().map(plain).to_vec();
    all.push(TargetSetup { contacts: true, ..plain(Find::Unique) });
    all.push(TargetSetup { policy: Policy::AtMostOnce, ..plain(Find::None) });
    all
}

fn plan(target: &TargetSetup, nodes: usize, events: u32) -> Plan {
    // Each comes twice, one soon after the other, and both are of one person.
    let sent = |event: u32, at: i64| Sent { at, source: 0, event, contact: 0, content: 0, repeats: None, broken: false };
    let message = TargetSetup { contacts: false, outward: true, ..target.clone() };
    let setup = Setup {
        nodes,
        workers: 1,
        targets: if events == 1 { vec![target.clone(), message] } else { vec![target.clone()] },
        pause_max_ms: 1_000,
        attempts_max: 5,
        hold_look_alikes: false,
        clients: 1,
    };
    let sent = (0..events).flat_map(|event| [sent(event, 0), sent(event, 20)]).collect();
    Plan { seed: 1, setup, sent, faults: Vec::new(), fates: Fates::NONE, at_calls: Vec::new() }
}

/// Runs all of it; `told` hears of each run.
pub fn exhaust(told: &(dyn Fn(&Totals) + Sync)) -> Covered {
    let mut covered = Covered::default();
    let mut plans = Vec::new();
    for (target, nodes, events) in targets().iter().flat_map(|t| [(t, 1, 1), (t, 2, 1), (t, 1, 2), (t, 2, 2)]) {
        let plan = plan(target, nodes, events);
        let calls = run(&plan, false).calls;
        covered.crash_points += calls * 2;
        covered.repeats += calls;
        let ways: Vec<(u64, AtCall)> = (0..calls).flat_map(|n| HOW.map(|how| (n, how))).collect();
        plans.extend(ways.iter().map(|way| Plan { at_calls: vec![*way], ..plan.clone() }));
        if events == 1 && nodes == 1 {
            let pairs =
                ways.iter().flat_map(|first| ways.iter().filter(|second| second.0 > first.0).map(move |second| vec![*first, *second]));
            plans.extend(pairs.map(|at_calls| Plan { at_calls, ..plan.clone() }));
        }
    }
    let nth = |n: u64| usize::try_from(n).ok().and_then(|n| plans.get(n).cloned());
    covered.totals = run_many(&nth, &|| true, told);
    covered
}
