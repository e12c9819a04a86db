//! How a seed becomes a plan.

use domain::gate::{Find, Policy};

use super::{Fates, Fault, Plan, Sent, Setup, TargetSetup};
use crate::chance::Chance;

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Copies of an event without id or time come this close together: later they would be look-alikes.
const CONTENT_COPIES_MS: i64 = 2 * HOUR;

/// The plan of a seed, with so many events.
pub fn plan(seed: u64, events: u32) -> Plan {
    let mut chance = Chance::new(seed);
    let setup = setup(&mut chance);
    let spread_ms = chance.pick(&[HOUR, DAY, 7 * DAY, 21 * DAY]);
    let sent = deliveries(&mut chance, events, spread_ms);
    let faults = faults(&mut chance, &setup, spread_ms, events);
    Plan { seed, fates: fates(&mut chance, &setup), setup, sent, faults, at_calls: Vec::new() }
}

/// Every find class, with or without a look-up where both exist.
pub fn classes() -> [Find; 8] {
    [
        Find::Strong,
        Find::Lagging { max_ms: 30 * SECOND },
        Find::Unique,
        Find::Upsert { looks: true },
        Find::Upsert { looks: false },
        Find::Window { window_ms: DAY, looks: true },
        Find::Window { window_ms: HOUR, looks: false },
        Find::None,
    ]
}

fn setup(chance: &mut Chance) -> Setup {
    let nodes = chance.pick(&[1, 1, 2, 3]);
    let count = chance.pick(&[1, 2, 3]);
    let mut targets: Vec<TargetSetup> = (0..count).map(|_| target(chance, false)).collect();
    if chance.permille(500) {
        targets.push(target(chance, true));
    }
    Setup {
        nodes,
        workers: chance.pick(&[1, 2, 4]),
        targets,
        // Longer than a lease, now and then: whoever takes over meets the one that was held.
        pause_max_ms: chance.pick(&[SECOND, 10 * SECOND, 200 * SECOND]),
        attempts_max: chance.pick(&[3, 5, 8]),
        hold_look_alikes: chance.permille(700),
        clients: chance.pick(&[1, 1, 1, 2]),
    }
}

/// A target of some class.
pub fn target(chance: &mut Chance, outward: bool) -> TargetSetup {
    let find = match chance.pick(&classes()) {
        Find::Lagging { .. } => Find::Lagging { max_ms: chance.pick(&[5 * SECOND, 30 * SECOND, 5 * MINUTE]) },
        find => find,
    };
    TargetSetup {
        find,
        contacts: !outward && find == Find::Unique && chance.permille(700),
        reads: find != Find::None && chance.permille(800),
        settle_ms: chance.pick(&[2 * SECOND, 30 * SECOND, 2 * MINUTE]),
        timeout_ms: chance.pick(&[SECOND, 5 * SECOND, 30 * SECOND]),
        policy: if find == Find::None {
            chance.pick(&[Policy::Review, Policy::Review, Policy::AtMostOnce, Policy::AtLeastOnce])
        } else {
            Policy::Review
        },
        outward,
    }
}

fn deliveries(chance: &mut Chance, events: u32, spread_ms: i64) -> Vec<Sent> {
    let contacts = u64::from(events / 4).max(1);
    let mut sent = Vec::new();
    for event in 0..events {
        let at = chance.between(0, spread_ms);
        let source = chance.pick(&[0, 0, 0, 1, 1, 2, 3]);
        let contact = u32::try_from(chance.below(contacts)).unwrap_or(0);
        let repeats = (event > 0 && source != 2 && chance.permille(60)).then(|| u32::try_from(chance.below(event.into())).unwrap_or(0));
        let first = Sent { at, source, event, contact, content: 0, repeats, broken: chance.permille(10) };
        for _ in 0..copies(chance) {
            let far = if source == 2 { CONTENT_COPIES_MS } else { chance.pick(&[SECOND, 10 * SECOND, HOUR, DAY, 8 * DAY, 21 * DAY]) };
            let content = u8::from(source != 2 && chance.permille(60));
            sent.push(Sent { at: at + chance.between(0, far), content, ..first.clone() });
        }
        sent.push(first);
    }
    // A look-alike repeats its original's contact and message soon after it.
    let originals: Vec<Sent> = sent.iter().filter(|s| s.content == 0 && s.repeats.is_none()).cloned().collect();
    for copy in sent.iter_mut().filter(|s| s.repeats.is_some()) {
        if let Some(first) = originals.iter().find(|first| Some(first.event) == copy.repeats && first.source == copy.source) {
            copy.contact = first.contact;
            copy.at = first.at + copy.at % (10 * MINUTE);
        } else {
            copy.repeats = None;
        }
    }
    sent
}

fn copies(chance: &mut Chance) -> u64 {
    if chance.permille(500) { 0 } else { chance.pick(&[1, 1, 1, 2, 3, 6]) }
}

fn fates(chance: &mut Chance, setup: &Setup) -> Fates {
    let mut some = |of: &[u64]| chance.pick(of);
    Fates {
        store_slow: some(&[0, 100, 300, 600]),
        store_fails: some(&[0, 0, 5, 50]),
        store_lies: some(&[0, 0, 5, 50]),
        crash: some(&[0, 0, 2, 10]),
        write: some(&[0, 100, 300, 600]),
        // A contact that cannot be looked up keeps others of its address waiting for days, poll by poll.
        look: some(if setup.targets.iter().any(|target| target.contacts) { &[0, 50, 300] } else { &[0, 50, 300, 900] }),
        read: some(&[0, 50, 200]),
        edited: some(&[0, 0, 20]),
        twin: some(&[0, 0, 0, 60]),
        model: some(&[0, 100, 500]),
        hang_up: some(&[0, 50]),
    }
}

fn faults(chance: &mut Chance, setup: &Setup, spread_ms: i64, events: u32) -> Vec<(i64, Fault)> {
    let mut faults = Vec::new();
    let span = chance.pick(&[10 * SECOND, 10 * MINUTE, 2 * HOUR]);
    for _ in 0..chance.below(u64::from(events / 4).max(3)) {
        let at = chance.between(0, spread_ms);
        let node = usize::try_from(chance.below(u64::try_from(setup.nodes).unwrap_or(1))).unwrap_or(0);
        let target = usize::try_from(chance.below(u64::try_from(setup.targets.len()).unwrap_or(1))).unwrap_or(0);
        let ms = chance.between(1, span);
        faults.push((
            at,
            match chance.below(12) {
                0 | 1 => Fault::Crash { node, down_ms: chance.pick(&[1, SECOND, ms]) },
                2 => Fault::Pause { node, ms },
                3 => Fault::Outage { target, ms },
                4 => Fault::Closed { target, ms },
                5 => Fault::DiskFull { ms: ms.min(MINUTE) },
                // A provider's window runs by the provider's clock.
                6 if setup.targets.iter().any(|target| matches!(target.find, Find::Window { .. })) => Fault::Review,
                6 => Fault::ClockBack { ms },
                7 => Fault::Replay { which: chance.draw() },
                8 => Fault::PausedByPerson { target, ms },
                9 => Fault::Reworded,
                10 => Fault::Twin { target },
                _ => Fault::Review,
            },
        ));
    }
    if chance.permille(300) {
        faults.push((chance.between(0, spread_ms), Fault::RuleChange));
    }
    // Somebody looks at the queue every day.
    faults.extend((1..=spread_ms / DAY).map(|day| (day * DAY, Fault::Review)));
    for _ in 0..chance.below(6) {
        faults.push((chance.between(0, spread_ms + DAY), Fault::Review));
    }
    faults
}
