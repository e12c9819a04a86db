//! Two tables (every standing, every ask and report), and a walk through every short history of two claimants, which
//! must find nothing in the gate and something in each gate that was broken on purpose.

use std::collections::BTreeSet;

use super::*;

const LEASE: i64 = 10;
const WINDOW: i64 = 20;

fn claim(number: usize) -> ClaimId {
    ClaimId::parse(&format!("clm_{number}")).unwrap()
}

fn ask(call: Option<&str>, execution: &str, content: Option<&str>, now: i64) -> Ask {
    Ask {
        claim: claim(2),
        call_id: call.map(str::to_owned),
        execution_id: Some(execution.to_owned()),
        content: content.map(|text| Digest::sha256(text.as_bytes())),
        window_ms: Some(1),
        lease_ms: Some(LEASE),
        now: UtcMs(now),
    }
}

/// Claim 1: given at 0 to call c1 of execution e1 for content "a", leased until 10, window 20.
fn first_claim(standing: Standing) -> ClaimState {
    let (_, state) = decide(None, &Ask { claim: claim(1), window_ms: Some(WINDOW), ..ask(Some("c1"), "e1", Some("a"), 0) });
    ClaimState { standing, ..state.unwrap() }
}

/// The standings of the tables: name, state, and the instant at which it is asked about.
fn standing(name: &str) -> (Option<ClaimState>, i64) {
    let doubt = |at| Standing::Unknown { since: UtcMs(at), why: Doubt::Reported("timeout".to_owned()) };
    let done = Standing::Done { completed_at: UtcMs(5), external_id: Some("rec_1".to_owned()) };
    let failed = Standing::Failed { failed_at: UtcMs(5), reason: NotDone::Reported("no route".to_owned()) };
    match name {
        "none" => (None, 0),
        "in progress" => (Some(first_claim(Standing::InProgress)), LEASE - 1),
        "lease over" => (Some(first_claim(Standing::InProgress)), LEASE),
        "unknown, leased" => (Some(first_claim(doubt(5))), LEASE - 1),
        "unknown" => (Some(first_claim(doubt(5))), 1_000 * WINDOW),
        "done" => (Some(first_claim(done)), 5 + WINDOW - 1),
        "window over" => (Some(first_claim(done)), 5 + WINDOW),
        "failed" => (Some(first_claim(failed)), 6),
        other => panic!("no standing {other}"),
    }
}

fn word(standing: &Standing) -> &'static str {
    match standing {
        Standing::InProgress => "in progress",
        Standing::Unknown { .. } => "unknown",
        Standing::Done { .. } => "done",
        Standing::Failed { .. } => "failed",
    }
}

/// The decision in a word, and the standing of claim 1 that it tells of.
fn answer(decision: &Decision) -> (&'static str, Option<&Seen>) {
    match decision {
        Decision::Proceed { claim: given, .. } if *given == claim(1) => ("again", None),
        Decision::Proceed { .. } => ("proceed", None),
        Decision::Suppressed(seen) => ("suppressed", Some(seen)),
        Decision::InProgress(seen) => ("in progress", Some(seen)),
        Decision::Unknown(seen) => ("unknown", Some(seen)),
        Decision::Conflict(seen) => ("conflict", Some(seen)),
    }
}

#[test]
fn every_standing_answers_every_ask() {
    // One letter an answer: Proceed with a new claim, Again the same, Suppressed, In progress, Unknown, Conflict; then the
    // state to keep: a new claim (+), claim 1 turned unknown (?), none (.).
    let asks: [(&str, Option<&str>, &str, Option<&str>); 7] = [
        ("the same call", Some("c1"), "e1", Some("a")),
        ("the same call, no content named", Some("c1"), "e1", None),
        ("the same execution anew", Some("c2"), "e1", Some("a")),
        ("the same execution without a call id", None, "e1", Some("a")),
        ("another execution, window of 1 ms", Some("c9"), "e9", Some("a")),
        ("the same call, other content", Some("c1"), "e1", Some("b")),
        ("another execution, other content", Some("c9"), "e9", Some("b")),
    ];
    for (name, expected) in [
        ("none", ["P+", "P+", "P+", "P+", "P+", "P+", "P+"]),
        ("in progress", ["A.", "A.", "I.", "I.", "I.", "C.", "C."]),
        ("lease over", ["U?", "U?", "U?", "U?", "U?", "C.", "C."]),
        ("unknown, leased", ["U.", "U.", "U.", "U.", "U.", "C.", "C."]),
        ("unknown", ["U.", "U.", "U.", "U.", "U.", "C.", "C."]),
        ("done", ["S.", "S.", "S.", "S.", "S.", "C.", "C."]),
        ("window over", ["S.", "S.", "P+", "P+", "P+", "C.", "C."]),
        ("failed", ["P+", "P+", "P+", "P+", "P+", "C.", "C."]),
    ] {
        for ((about, call, execution, content), expected) in asks.iter().zip(expected) {
            let (state, now) = standing(name);
            let (decision, kept) = decide(state.as_ref(), &ask(*call, execution, *content, now));
            let (word_for, seen) = answer(&decision);
            let kept_as = match &kept {
                None => ".",
                Some(kept) if kept.claim == claim(1) && word(&kept.standing) == "unknown" => "?",
                Some(kept) if kept.claim == claim(2) && word(&kept.standing) == "in progress" => "+",
                Some(kept) => panic!("{name}, {about}: keeps {kept:?}"),
            };
            assert_eq!(word_for[..1].to_uppercase() + kept_as, expected, "{name}, {about}");
            if let Some(seen) = seen {
                let state = state.unwrap();
                assert_eq!((&seen.claim, seen.first_execution_id.as_deref(), seen.first_at), (&claim(1), Some("e1"), UtcMs(0)));
                assert_eq!((seen.attempted_at, seen.window_ms), (UtcMs(now), WINDOW));
                assert_eq!(seen.outcome, state.settled(UtcMs(now)).standing, "{name}, {about}");
            }
        }
    }
}

#[test]
fn every_standing_takes_every_report() {
    let complete = |id: Option<&str>| Report::Complete { claim: claim(1), external_id: id.map(str::to_owned) };
    let fail = |definite| Report::Fail { claim: claim(1), definite, reason: "reset".to_owned() };
    let look = |found: Option<&str>| Report::Looked { claim: claim(1), found: found.map(str::to_owned) };
    let reports =
        [complete(Some("rec_1")), complete(Some("rec_2")), complete(None), fail(true), fail(false), look(Some("rec_3")), look(None)];
    // The next standing, or the refusal: other record (R), done (D), failed (F), not unknown (N), leased (L).
    for (name, expected) in [
        ("in progress", ["done", "done", "done", "failed", "unknown", "N", "N"]),
        ("lease over", ["done", "done", "done", "failed", "unknown", "done", "failed"]),
        ("unknown, leased", ["done", "done", "done", "failed", "unknown", "done", "L"]),
        ("unknown", ["done", "done", "done", "failed", "unknown", "done", "failed"]),
        ("done", ["done", "R", "done", "D", "D", "N", "N"]),
        ("window over", ["done", "R", "done", "D", "D", "N", "N"]),
        ("failed", ["done", "done", "done", "failed", "F", "N", "N"]),
    ] {
        let (state, now) = standing(name);
        let state = state.unwrap();
        for (said, expected) in reports.iter().zip(expected) {
            let outcome = match report(&state, said.clone(), UtcMs(now)) {
                Ok(next) => {
                    assert_eq!(ClaimState { standing: state.standing.clone(), ..next.clone() }, state, "a report moves only the standing");
                    word(&next.standing)
                }
                Err(ReportRefused::OtherRecord { first, reported }) => {
                    assert_eq!((first.as_str(), reported.as_str()), ("rec_1", "rec_2"));
                    "R"
                }
                Err(ReportRefused::Done) => "D",
                Err(ReportRefused::Failed) => "F",
                Err(ReportRefused::NotUnknown) => "N",
                Err(ReportRefused::StillLeased { .. }) => "L",
                Err(other @ ReportRefused::OtherClaim { .. }) => panic!("{other}"),
            };
            assert_eq!(outcome, expected, "{name}, {said:?}");
        }
        for other in [
            Report::Complete { claim: claim(7), external_id: None },
            Report::Fail { claim: claim(7), definite: true, reason: String::new() },
            Report::Looked { claim: claim(7), found: None },
        ] {
            assert!(matches!(report(&state, other, UtcMs(now)), Err(ReportRefused::OtherClaim { .. })), "{name}");
        }
    }
}

#[test]
fn a_repeated_call_gets_what_is_left_of_its_lease_and_the_defaults_are_the_published_ones() {
    let plain = Ask { window_ms: None, lease_ms: None, ..ask(Some("c1"), "e1", None, 1_000) };
    let (first, state) = decide(None, &plain);
    let given = |lease_ms| Decision::Proceed { claim: claim(2), lease_ms, window_ms: 86_400_000, previous: None };
    assert_eq!(first, given(300_000));
    let (again, kept) = decide(state.as_ref(), &Ask { claim: claim(3), now: UtcMs(100_000), ..plain });
    assert_eq!((again, kept), (given(201_000), None));
}

#[test]
fn completion_is_kept_as_first_told_and_a_missing_id_is_filled_in() {
    let complete = |id: Option<&str>| Report::Complete { claim: claim(1), external_id: id.map(str::to_owned) };
    let first = report(&first_claim(Standing::InProgress), complete(None), UtcMs(3)).unwrap();
    let named = report(&first, complete(Some("rec_1")), UtcMs(8)).unwrap();
    assert_eq!(named.standing, Standing::Done { completed_at: UtcMs(3), external_id: Some("rec_1".to_owned()) });
    assert_eq!(report(&named, complete(None), UtcMs(9)).unwrap(), named);
}

#[test]
fn a_later_claim_names_the_earlier_window_and_keeps_the_content_in_mind() {
    let (done, now) = standing("window over");
    let (decision, second) = decide(done.as_ref(), &ask(Some("c2"), "e2", None, now));
    let previous = Some(Previous { claim: claim(1), outcome: done.unwrap().standing });
    assert_eq!(decision, Decision::Proceed { claim: claim(2), lease_ms: LEASE, window_ms: 1, previous: previous.clone() });
    let second = second.unwrap();
    assert_eq!(second.content, Some(Digest::sha256(b"a")));
    // A failed claim is nobody's previous: its successor names what it named.
    let gone = Report::Fail { claim: claim(2), definite: true, reason: "no route".to_owned() };
    let second = report(&second, gone, UtcMs(now)).unwrap();
    let (_, third) = decide(Some(&second), &Ask { claim: claim(3), ..ask(Some("c3"), "e3", None, now) });
    assert_eq!(third.unwrap().previous, previous);
}

#[test]
fn a_state_reads_back_as_it_was_written() {
    for name in ["in progress", "unknown", "done", "failed"] {
        let (state, _) = standing(name);
        let text = serde_json::to_string(&state).unwrap();
        assert_eq!(serde_json::from_str::<Option<ClaimState>>(&text).unwrap(), state, "{text}");
    }
}

/// The two functions under test, or a broken version of them.
#[derive(Clone, Copy)]
struct Gate {
    decide: fn(Option<&ClaimState>, &Ask) -> (Decision, Option<ClaimState>),
    report: fn(&ClaimState, Report, UtcMs) -> Result<ClaimState, ReportRefused>,
}

const GATE: Gate = Gate { decide, report };

/// The checker's own book on one claim that was handed out. It looks at what happened, not at what the gate keeps.
#[derive(Clone, Debug)]
struct Handed {
    call: Option<String>,
    window: i64,
    lease_until: i64,
    completed_at: Option<i64>,
    doubted: bool,
    /// Truly nothing was done under it, and nothing will be.
    absent: bool,
}

#[derive(Clone, Debug, Default)]
struct World {
    now: i64,
    state: Option<ClaimState>,
    /// The number of each claimant's present call.
    calls: [u8; 2],
    handed: Vec<Handed>,
}

#[derive(Clone, Copy, Debug)]
enum Asking {
    /// The same call once more.
    Again,
    /// The same execution, a new call.
    Anew,
    /// The same execution, no call id.
    Bare,
}

#[derive(Clone, Copy, Debug)]
enum Move {
    Ask(usize, Asking),
    Complete(usize),
    Fail(usize, bool),
    Look(usize, bool),
    Tick,
}

/// Every report about every claim ever handed out is tried again and again: copies and stragglers are the rule. What is
/// left out is only what would be a lie about the world: completing what was never done, finding what is not there.
fn moves(world: &World) -> Vec<Move> {
    let mut all = vec![Move::Tick];
    for who in [0, 1] {
        all.extend([Asking::Again, Asking::Anew, Asking::Bare].map(|how| Move::Ask(who, how)));
    }
    for (number, handed) in world.handed.iter().enumerate() {
        // A definite failure after a completion is the error branch of an engine that lost our answer.
        all.extend([Move::Fail(number, true), Move::Fail(number, false)]);
        if !handed.absent {
            all.extend([Move::Complete(number), Move::Look(number, true)]);
        }
        if handed.completed_at.is_none() {
            all.push(Move::Look(number, false));
        }
    }
    all
}

/// Makes one move. `Err` names the property that broke.
fn step(gate: Gate, world: &World, what: Move) -> Result<World, &'static str> {
    let mut next = world.clone();
    match what {
        Move::Tick => next.now += LEASE,
        Move::Ask(who, how) => asked(gate, &mut next, who, how)?,
        Move::Complete(_) | Move::Fail(..) | Move::Look(..) => reported(gate, &mut next, what),
    }
    let unknown = next.state.as_ref().map(|state| state.settled(UtcMs(next.now))).filter(|state| word(&state.standing) == "unknown");
    let completed = |state: ClaimState| (0..next.handed.len()).any(|n| claim(n) == state.claim && next.handed[n].completed_at.is_some());
    if unknown.is_some_and(completed) { Err("G4 completed, yet unknown") } else { Ok(next) }
}

fn asked(gate: Gate, world: &mut World, who: usize, how: Asking) -> Result<(), &'static str> {
    world.calls[who] += u8::from(matches!(how, Asking::Anew));
    let call = (!matches!(how, Asking::Bare)).then(|| format!("{who}.{}", world.calls[who]));
    let asking = Ask {
        claim: claim(world.handed.len()),
        // Claimant 1 wishes for a window shorter than a tick.
        window_ms: Some([WINDOW, LEASE / 2][who]),
        ..ask(call.as_deref(), ["e0", "e1"][who], None, world.now)
    };
    let (decision, kept) = (gate.decide)(world.state.as_ref(), &asking);
    world.state = kept.or(world.state.take());
    let Decision::Proceed { claim: given, lease_ms, .. } = decision else { return Ok(()) };
    if let Some(number) = (0..world.handed.len()).find(|n| claim(*n) == given) {
        let handed = &world.handed[number];
        let open = handed.completed_at.is_none() && !handed.doubted && !handed.absent && world.now < handed.lease_until;
        let same_call = call.is_some() && call == handed.call;
        return if open && same_call && world.now + lease_ms == handed.lease_until { Ok(()) } else { Err("G2 a claim handed out again") };
    }
    for handed in world.handed.iter().filter(|handed| !handed.absent) {
        match handed.completed_at {
            None => return Err("G3 an open claim lapsed into proceed"),
            Some(at) if world.now - at < handed.window => return Err("G1 two proceeds in one window"),
            Some(_) => {}
        }
    }
    let (window, lease_until) = ([WINDOW, LEASE / 2][who], world.now + lease_ms);
    world.handed.push(Handed { call, window, lease_until, completed_at: None, doubted: false, absent: false });
    Ok(())
}

fn reported(gate: Gate, world: &mut World, what: Move) {
    let (Move::Complete(number) | Move::Fail(number, _) | Move::Look(number, _)) = what else { unreachable!("not a report") };
    let (claim, now) = (claim(number), UtcMs(world.now));
    let reason = "reset".to_owned();
    let report = match what {
        Move::Complete(_) => Report::Complete { claim, external_id: Some(format!("rec_{number}")) },
        Move::Fail(_, definite) => Report::Fail { claim, definite, reason },
        Move::Look(_, found) => Report::Looked { claim, found: found.then(|| format!("rec_{number}")) },
        Move::Ask(..) | Move::Tick => unreachable!("not a report"),
    };
    let accepted = world.state.as_ref().and_then(|state| (gate.report)(state, report, now).ok());
    let handed = &mut world.handed[number];
    match what {
        Move::Complete(_) => handed.completed_at = handed.completed_at.or(Some(world.now)),
        Move::Fail(_, true) => handed.absent |= handed.completed_at.is_none(),
        Move::Fail(_, false) => handed.doubted = true,
        // A look is known to the world if the gate took it; *absent* is true only once nobody may act any more.
        Move::Look(_, true) if accepted.is_some() => handed.completed_at = handed.completed_at.or(Some(world.now)),
        Move::Look(_, false) if accepted.is_some() => handed.absent |= world.now >= handed.lease_until,
        Move::Look(..) | Move::Ask(..) | Move::Tick => {}
    }
    world.state = accepted.or(world.state.take());
}

/// Every history of at most `depth` moves, breadth first: the first broken property with its shortest history.
fn walk(gate: Gate, depth: usize) -> Result<usize, (&'static str, Vec<Move>)> {
    let (mut seen, mut edge) = (BTreeSet::new(), vec![(World::default(), vec![])]);
    for _ in 0..depth {
        let before = std::mem::take(&mut edge);
        for (world, path, what) in before.iter().flat_map(|(world, path)| moves(world).into_iter().map(move |what| (world, path, what))) {
            let path = [path.as_slice(), &[what]].concat();
            match step(gate, world, what) {
                Err(broken) => return Err((broken, path)),
                Ok(next) if seen.insert(format!("{next:?}")) => edge.push((next, path)),
                Ok(_) => {}
            }
        }
    }
    Ok(seen.len())
}

#[test]
fn g1_to_g4_hold_in_every_short_history() {
    let states = walk(GATE, 6);
    assert!(states.as_ref().is_ok_and(|states| *states > 1_000), "{states:?}");
}

/// Broken gates: the name of the mistake, the gate that makes it, the property that must catch it.
fn broken_gates() -> Vec<(&'static str, Gate, &'static str)> {
    fn unknown_is_free(state: Option<&ClaimState>, ask: &Ask) -> (Decision, Option<ClaimState>) {
        decide(state.filter(|state| word(&state.settled(ask.now).standing) != "unknown"), ask)
    }
    fn lease_restarts(state: Option<&ClaimState>, ask: &Ask) -> (Decision, Option<ClaimState>) {
        decide(state.map(|state| ClaimState { lease_until: ask.now.plus(LEASE), ..state.clone() }).as_ref(), ask)
    }
    fn askers_window(state: Option<&ClaimState>, ask: &Ask) -> (Decision, Option<ClaimState>) {
        decide(state.map(|state| ClaimState { window_ms: ask.window_ms.unwrap(), ..state.clone() }).as_ref(), ask)
    }
    fn window_ends_all(state: Option<&ClaimState>, ask: &Ask) -> (Decision, Option<ClaimState>) {
        decide(state.filter(|state| ask.now.since(state.first_at) < state.window_ms), ask)
    }
    fn by_execution(state: Option<&ClaimState>, ask: &Ask) -> (Decision, Option<ClaimState>) {
        let same = state.is_some_and(|state| state.first_execution_id == ask.execution_id);
        let call_id = if same { state.and_then(|state| state.call_id.clone()) } else { ask.call_id.clone() };
        decide(state, &Ask { call_id, ..ask.clone() })
    }
    fn unbound(state: &ClaimState, mut said: Report, now: UtcMs) -> Result<ClaimState, ReportRefused> {
        let (Report::Complete { claim, .. } | Report::Fail { claim, .. } | Report::Looked { claim, .. }) = &mut said;
        *claim = state.claim.clone();
        report(state, said, now)
    }
    fn all_definite(state: &ClaimState, mut said: Report, now: UtcMs) -> Result<ClaimState, ReportRefused> {
        if let Report::Fail { definite, .. } = &mut said {
            *definite = true;
        }
        report(state, said, now)
    }
    fn late_ignored(state: &ClaimState, said: Report, now: UtcMs) -> Result<ClaimState, ReportRefused> {
        let late = matches!(said, Report::Complete { .. }) && word(&state.settled(now).standing) == "unknown";
        if late { Ok(state.settled(now)) } else { report(state, said, now) }
    }
    fn fail_undoes(state: &ClaimState, said: Report, now: UtcMs) -> Result<ClaimState, ReportRefused> {
        let open = ClaimState { standing: Standing::InProgress, ..state.clone() };
        report(if matches!(said, Report::Fail { definite: true, .. }) { &open } else { state }, said, now)
    }
    fn early_absence(state: &ClaimState, said: Report, now: UtcMs) -> Result<ClaimState, ReportRefused> {
        let over = ClaimState { lease_until: now, ..state.clone() };
        let leased = word(&state.settled(now).standing) == "unknown" && matches!(said, Report::Looked { .. });
        report(if leased { &over } else { state }, said, now)
    }
    let (g1, g2, g3) = ("G1 two proceeds in one window", "G2 a claim handed out again", "G3 an open claim lapsed into proceed");
    vec![
        ("lease end frees the claim", Gate { decide: unknown_is_free, ..GATE }, g3),
        ("a repeated call starts the lease anew", Gate { decide: lease_restarts, ..GATE }, g2),
        ("the asker's window counts", Gate { decide: askers_window, ..GATE }, g1),
        ("window ends a claim in any state", Gate { decide: window_ends_all, ..GATE }, g3),
        ("the same execution gets proceed again", Gate { decide: by_execution, ..GATE }, g2),
        ("reports not bound to the claim id", Gate { report: unbound, ..GATE }, g3),
        ("indefinite failure frees the claim", Gate { report: all_definite, ..GATE }, g3),
        ("late complete ignored", Gate { report: late_ignored, ..GATE }, "G4 completed, yet unknown"),
        ("fail accepted after complete", Gate { report: fail_undoes, ..GATE }, g1),
        ("absence counts while the lease runs", Gate { report: early_absence, ..GATE }, g3),
    ]
}

#[test]
fn every_broken_gate_is_caught() {
    for (mistake, gate, property) in broken_gates() {
        let found = walk(gate, 6);
        assert!(matches!(&found, Err((broken, _)) if *broken == property), "{mistake}: {found:?}");
    }
}
