//! Every phase against every observation, for a strong target that can be read: a table to read and to argue about.
//!
//! Both lists are exhaustive by construction: a new variant breaks the `match` beside its list, a missing row or column
//! breaks the test.

use super::*;

/// Columns: where the step stands. Rows: what is seen of it. Cells: the phase it moves to, and what comes next:
/// `s` send, `l` look up, `r` read back, `w` wait, `p` a person, `e` ended; `.` is ignored. Where one variant moves
/// differently according to its contents it has several columns or rows; a name up to its `+` is the variant's own.
const TABLE: &str = "
                 planned planned+unlooked intended unknown done verified verified+audit unverified mismatched doubled refused review+cannot_ask review+cannot_tell review+spent review+window review+gave_up at_most_once closed closed+open
    begin        I/s     P/l              .        U/l     D/r  .        V/l            .          .          .       .       .                 .                  .            .             .              .            .      .
    lost         .       .                U/l      .       .    .        .              .          .          .       .       .                 .                  .            .             .              .            .      .
    not_sent     .       .                P/w      .       .    .        .              .          .          .       .       .                 .                  .            .             .              .            .      .
    refused      .       .                F/p      .       .    .        .              .          .          .       .       .                 .                  .            .             .              .            .      .
    conflict     .       .                U/l      .       .    .        .              .          .          .       .       .                 .                  .            .             .              .            .      .
    applied      .       .                D/r      .       .    .        .              .          .          .       .       .                 .                  .            .             .              .            .      .
    no_answer    .       .                U/l      .       .    .        .              .          .          .       .       .                 .                  .            .             .              .            .      .
    found        D/r     D/r              .        D/r     .    V/e      V/e            .          .          .       .       .                 .                  .            .             .              .            .      .
    found+other  D/r     D/r              .        D/r     .    2/p      2/p            .          .          .       .       .                 .                  .            .             .              .            .      .
    found+two    2/p     2/p              .        2/p     .    2/p      2/p            .          .          .       .       .                 .                  .            .             .              .            .      .
    absent       P/w     P/w              .        P/w     .    M/p      M/p            .          .          .       .       .                 .                  .            .             .              .            .      .
    absent+early P/w     P/w              .        U/w     .    V/w      V/w            .          .          .       .       .                 .                  .            .             .              .            .      .
    look_failed  P/w     P/w              .        U/w     .    .        V/w            .          .          .       .       .                 .                  .            .             .              .            .      .
    unanswered   P/w     P/w              .        U/w     .    .        V/w            .          .          .       .       .                 .                  .            .             .              .            .      .
    read_same    .       .                .        .       V/e  .        .              .          .          .       .       .                 .                  .            .             .              .            .      .
    read_differs .       .                .        .       M/p  .        .              .          .          .       .       .                 .                  .            .             .              .            .      .
    read_gone    .       .                .        .       D/w  .        .              .          .          .       .       .                 .                  .            .             .              .            .      .
    read_failed  .       .                .        .       D/w  .        .              .          .          .       .       .                 .                  .            .             .              .            .      .
    late_answer  D/r     .                I/w      D/r     .    .        .              .          .          .       D/r     D/r               D/r                D/r          D/r           .              D/r          C/e    C/e
    late+other   D/r     .                I/w      D/r     2/p  2/p      2/p            2/p        2/p        2/p     D/r     D/r               D/r                D/r          D/r           .              D/r          C/e    C/e
    not_there    .       .                .        .       .    .        .              .          .          .       U/l     U/l               U/l                U/l          U/l           U/l            .            .      .
    it_is        D/r     D/r              .        D/r     .    .        .              .          D/r        D/r     D/r     D/r               D/r                D/r          D/r           D/r            D/r          D/r    D/r
    again        P/w     P/w              .        U/w     D/w  V/w      V/w            .          D/w        U/w     P/w     U/w               U/w                U/w          U/w           P/w            U/w          P/w    U/w
    accept       .       .                .        .       .    .        .              .          N/e        .       .       .                 .                  .            .             .              .            .      .
    close        C/e     C/e              .        C/e     .    .        .              .          C/e        C/e     C/e     C/e               C/e                C/e          C/e           C/e            C/e          .      .
";

const NOW: i64 = 200_000;

#[test]
fn every_phase_moves_on_every_observation_as_the_table_says() {
    let mut rows = TABLE.lines().map(|line| line.split_whitespace().collect::<Vec<_>>()).filter(|row| !row.is_empty());
    let columns = rows.next().expect("the table has a head");
    assert_eq!(columns, phases().iter().map(|(name, _)| *name).collect::<Vec<_>>(), "columns");
    let rows = rows.collect::<Vec<_>>();
    assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), OBSERVATIONS.iter().map(|(name, _)| *name).collect::<Vec<_>>(), "rows");
    let mut wrong = Vec::new();
    for (row, (name, observe)) in rows.iter().zip(OBSERVATIONS) {
        assert_eq!(row.len(), columns.len() + 1, "cells of {name}");
        for (cell, (column, step)) in row[1..].iter().zip(phases()) {
            let moved = decide(&step, &observe(&step), &RULES, ms(NOW), 0);
            if shown(&moved) != *cell {
                wrong.push(format!("{column} x {name}: the table says {cell}, decide {} ({moved:?})", shown(&moved)));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_table_has_every_phase_and_every_observation() {
    let own = |name: &'static str| name.split('+').next().unwrap_or(name);
    let mut phase_names = phases().iter().map(|(name, step)| (own(name), step.phase.as_str())).collect::<Vec<_>>();
    assert!(phase_names.iter().all(|(column, phase)| column == phase), "{phase_names:?}");
    phase_names.dedup();
    assert_eq!(phase_names.len(), 12, "{phase_names:?}");
    let whys = phases().iter().filter(|(_, step)| matches!(step.phase, Phase::Review { .. })).count();
    assert_eq!(whys, 5, "one column for each Why");
    let step = Case::planned(RULES).step;
    let mut seen = OBSERVATIONS.iter().map(|(_, observe)| variant(&observe(&step))).collect::<Vec<_>>();
    seen.dedup();
    assert_eq!(seen, (0..21).collect::<Vec<_>>());
}

#[test]
fn an_ignored_observation_gives_a_reason() {
    for (_, step) in phases() {
        for (name, observe) in OBSERVATIONS {
            if let Moved::Ignored(why) = decide(&step, &observe(&step), &RULES, ms(NOW), 0) {
                assert!(!why.is_empty(), "{name} in {:?}", step.phase);
            }
        }
    }
}

fn shown(moved: &Moved) -> String {
    let Moved::To(step, next) = moved else { return ".".to_owned() };
    let next = match next {
        Next::Send => 's',
        Next::LookUp => 'l',
        Next::ReadBack => 'r',
        Next::Wait => 'w',
        Next::Person => 'p',
        Next::Ended => 'e',
    };
    format!("{}/{next}", letter(&step.phase))
}

fn letter(phase: &Phase) -> char {
    match phase {
        Phase::Planned { .. } => 'P',
        Phase::Intended => 'I',
        Phase::Unknown { .. } => 'U',
        Phase::Done { .. } => 'D',
        Phase::Verified { .. } => 'V',
        Phase::Unverified { .. } => 'N',
        Phase::Mismatched { .. } => 'M',
        Phase::Doubled { .. } => '2',
        Phase::Refused { .. } => 'F',
        Phase::Review { .. } => 'R',
        Phase::AtMostOnce => 'A',
        Phase::Closed { .. } => 'C',
    }
}

/// The table's columns. Every step has attempt 1, except where its phase says that nothing was ever sent; the record of
/// those that know one is `r1`.
fn phases() -> Vec<(&'static str, Step)> {
    let r1 = || "r1".to_owned();
    let why = || "why".to_owned();
    let open = Some(Attempted::Open);
    let answered = Some(Attempted::Answered { id: r1() });
    let review = |why| Phase::Review { why };
    let step = |name, phase, outcome: &Option<Attempted>| {
        let mut step = Case::intended(RULES).step;
        step.phase = phase;
        if let Some(outcome) = outcome {
            step.attempts[0].outcome = outcome.clone();
        } else {
            step.attempts.clear();
            step.looked = None;
        }
        (name, step)
    };
    let unknown = Phase::Unknown { due: ms(0), looks: 0, absences: 0, blind: 0 };
    vec![
        step("planned", Phase::Planned { due: ms(0) }, &Some(Attempted::ProvedAbsent)),
        step("planned+unlooked", Phase::Planned { due: ms(0) }, &None),
        step("intended", Phase::Intended, &open),
        step("unknown", unknown, &open),
        step("done", Phase::Done { id: r1(), due: ms(0), reads: 0 }, &answered),
        step("verified", Phase::Verified { id: r1(), audit_due: None }, &answered),
        step("verified+audit", Phase::Verified { id: r1(), audit_due: Some(ms(0)) }, &answered),
        step("unverified", Phase::Unverified { id: r1() }, &answered),
        step("mismatched", Phase::Mismatched { id: r1(), what: why() }, &answered),
        step("doubled", Phase::Doubled { ids: vec![r1(), "r2".to_owned()] }, &answered),
        step("refused", Phase::Refused { why: why() }, &Some(Attempted::Refused)),
        step("review+cannot_ask", review(Why::CannotAsk), &open),
        step("review+cannot_tell", review(Why::CannotTell), &open),
        step("review+spent", review(Why::AttemptsSpent), &Some(Attempted::ProvedAbsent)),
        step("review+window", review(Why::WindowOver), &open),
        step("review+gave_up", review(Why::GaveUp), &None),
        step("at_most_once", Phase::AtMostOnce, &open),
        step("closed", Phase::Closed { why: why() }, &Some(Attempted::ProvedAbsent)),
        step("closed+open", Phase::Closed { why: why() }, &open),
    ]
}

type Observe = fn(&Step) -> Observation;

/// The table's rows.
const OBSERVATIONS: [(&str, Observe); 25] = [
    ("begin", |_| begin()),
    ("lost", |_| lost(None)),
    ("not_sent", |_| not_sent()),
    ("refused", |_| refused()),
    ("conflict", |_| Observation::Conflict),
    ("applied", |_| applied("r1")),
    ("no_answer", |_| Observation::NoAnswer),
    ("found", |_| found(&["r1"])),
    ("found+other", |_| found(&["r9"])),
    ("found+two", |_| found(&["r1", "r9"])),
    ("absent", |step| absent_at(step.quiet_until)),
    ("absent+early", |step| absent_at(step.quiet_until.plus(-1))),
    ("look_failed", |_| Observation::LookFailed),
    ("unanswered", |_| unanswered()),
    ("read_same", |_| Observation::ReadSame),
    ("read_differs", |_| differs()),
    ("read_gone", |_| Observation::ReadGone),
    ("read_failed", |_| Observation::ReadFailed),
    ("late_answer", |_| late(1, "r1")),
    ("late+other", |_| late(1, "r9")),
    ("not_there", |step| not_there(step.latest())),
    ("it_is", |_| it_is("r9")),
    ("again", |_| Observation::Again),
    ("accept", |_| Observation::Accept),
    ("close", |_| closes()),
];

/// A new observation breaks this match: then give it a row.
fn variant(seen: &Observation) -> u32 {
    match seen {
        Observation::Begin { .. } => 0,
        Observation::Lost { .. } => 1,
        Observation::NotSent { .. } => 2,
        Observation::Refused { .. } => 3,
        Observation::Conflict => 4,
        Observation::Applied { .. } => 5,
        Observation::NoAnswer => 6,
        Observation::Found { .. } => 7,
        Observation::Absent { .. } => 8,
        Observation::LookFailed => 9,
        Observation::LookUnanswered { .. } => 10,
        Observation::ReadSame => 11,
        Observation::ReadDiffers { .. } => 12,
        Observation::ReadGone => 13,
        Observation::ReadFailed => 14,
        Observation::LateAnswer { .. } => 15,
        Observation::NotThere { .. } => 16,
        Observation::ItIs { .. } => 17,
        Observation::Again => 18,
        Observation::Accept => 19,
        Observation::Close { .. } => 20,
    }
}
