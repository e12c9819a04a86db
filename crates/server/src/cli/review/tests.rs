//! What is typed, and how an open item is shown.

use clap::Parser as _;
use domain::time::UtcMs;

use super::super::{Cli, Command};
use super::*;
use crate::views::{At, Fitting};

fn args(line: &str) -> Result<ReviewArgs, clap::Error> {
    let words = line.split(' ').filter(|word| !word.is_empty());
    match Cli::try_parse_from(["oncebook", "review"].into_iter().chain(words))?.command {
        Command::Review(args) => Ok(args),
        _ => panic!("another command"),
    }
}

fn order(line: &str) -> Order {
    args(line).unwrap().order().unwrap().unwrap()
}

fn item(decisions: Vec<Fitting>) -> ReviewView {
    ReviewView {
        id: "rev_1".to_owned(),
        enquiry: "enq_1".to_owned(),
        effect: None,
        kind: "look_alike",
        holds: true,
        why: "the same fields came 3 s earlier".to_owned(),
        opened_at: At(UtcMs(0)),
        closed_at: None,
        decision: None,
        age_s: 3_600,
        decisions,
    }
}

#[test]
fn every_decision_can_be_typed() {
    let decides = |decision| Order::Decide { item: "rev_1".to_owned(), decision };
    assert_eq!(order("rev_1 approve"), decides(Decision::Approve));
    assert_eq!(order("rev_1 dismiss --reason spam"), decides(Decision::Dismiss("spam".to_owned())));
    assert_eq!(order("rev_1 same"), decides(Decision::Same));
    assert_eq!(order("rev_1 separate"), decides(Decision::Separate));
    assert_eq!(order("rev_1 not-there"), decides(Decision::NotThere));
    assert_eq!(order("rev_1 it-is --id deal-7"), decides(Decision::ItIs("deal-7".to_owned())));
    assert_eq!(order("rev_1 again --by jo"), decides(Decision::Again));
    assert_eq!(order("dlv_1 separate"), Order::Separate { delivery: "dlv_1".to_owned() });
}

#[test]
fn without_a_decision_there_is_only_something_to_look_at() {
    assert_eq!(args("").unwrap().order().unwrap(), None);
    assert_eq!(args("rev_1").unwrap().order().unwrap(), None);
}

#[test]
fn a_decision_that_lacks_its_word_is_refused() {
    for wrong in ["rev_1 dismiss", "rev_1 it-is", "rev_1 maybe"] {
        assert!(args(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_word_that_a_decision_does_not_take_is_refused_instead_of_lost() {
    for (wrong, said) in [("rev_1 approve --reason fine", "--reason"), ("rev_1 again --id deal-7", "--id"), ("dlv_1 approve", "`separate`")]
    {
        let refused = args(wrong).unwrap().order().unwrap_err().to_string();
        assert!(refused.contains(said), "{wrong}: {refused}");
    }
}

#[test]
fn an_item_says_how_long_why_and_the_commands_that_fit() {
    let plain = |decision| Fitting { decision, not_before: None };
    let wait = Fitting { decision: "not_there", not_before: Some(At(UtcMs(1_772_442_904_120))) };
    let lines = to_decide(&item(vec![plain("approve"), plain("dismiss"), plain("it_is"), wait]), "oncebook --config x.toml");
    assert_eq!(
        lines,
        [
            "rev_1  look-alike, open for 1 h, something waits for it",
            "  the same fields came 3 s earlier",
            "  oncebook --config x.toml review rev_1 approve",
            "  oncebook --config x.toml review rev_1 dismiss --reason \"WHY\"",
            "  oncebook --config x.toml review rev_1 it-is --id RECORD",
            "  oncebook --config x.toml review rev_1 not-there   (taken from 2026-03-02 09:15:04.120 UTC on)",
        ]
    );
}

#[test]
fn a_long_queue_says_that_there_is_more() {
    let all = vec![item(Vec::new()); SHOWN + 2];
    let lines = listed(&all, "oncebook");
    assert_eq!(lines.iter().filter(|line| line.starts_with("rev_1")).count(), SHOWN);
    assert!(lines.last().unwrap().starts_with("27 items are open"), "{lines:?}");
    assert_eq!(listed(&[], "oncebook"), ["Nothing waits for a person."]);
}

#[test]
fn a_closed_item_says_how_by_whom_and_when_it_was_decided() {
    let closed = |decision: &str| ReviewView {
        closed_at: Some(At(UtcMs(1_772_442_904_120))),
        decision: Some(decision.to_owned()),
        ..item(Vec::new())
    };
    let said = not_open("rev_1", Some(&closed("approved (by jo)")), "oncebook").to_string();
    assert_eq!(said, "rev_1 was decided at 2026-03-02 09:15:04.120 UTC: approved (by jo). `oncebook review` lists the open ones");
    let said = not_open("rev_1", Some(&closed("no longer needed: the effect went on")), "oncebook").to_string();
    assert!(said.starts_with("rev_1 is closed at ") && said.contains("no longer needed"), "{said}");
    assert!(not_open("rev_2", None, "oncebook").to_string().starts_with("there is no review item 'rev_2'"));
}

#[test]
fn a_reason_of_nothing_is_none() {
    let refused = args("rev_1 dismiss --reason=").unwrap().order().unwrap_err().to_string();
    assert!(refused.contains("--reason"), "{refused}");
}
