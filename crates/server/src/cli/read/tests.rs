//! The table of enquiries, from hand-made views.

use std::collections::BTreeMap;

use clap::Parser as _;
use domain::enquiry::Contact;
use domain::time::UtcMs;

use super::super::table::WIDTH;
use super::super::{Cli, Command};
use super::*;
use crate::views::At;

fn enquiry(key: &str, state: &'static str) -> EnquiryView {
    EnquiryView {
        id: "enq_1".to_owned(),
        key: key.to_owned(),
        source: "web".to_owned(),
        client: None,
        state,
        accepted_at: At(UtcMs(1_772_442_904_120)),
        first_delivery: "dlv_1".to_owned(),
        first_run: "run_1".to_owned(),
        run: "run_1".to_owned(),
        contact: Contact { email: Some("avery@example.com".to_owned()), ..Contact::default() },
        message: None,
        channel: None,
        attachments: vec![],
        timestamp: None,
        occurred_at: None,
        consent: None,
        other: BTreeMap::new(),
        original: BTreeMap::new(),
        erased: false,
        flags: FlagsView::default(),
        qualification: None,
        qualified_at: None,
        settled_at: None,
        arrival_to_result_ms: None,
    }
}

fn effect(action: &str, ordinal: u32, state: &'static str) -> EffectView {
    EffectView {
        id: "eff_1".to_owned(),
        enquiry: "enq_1".to_owned(),
        action: action.to_owned(),
        target: "crm".to_owned(),
        ordinal,
        key: "web:submission:1".to_owned(),
        state,
        why: None,
        external_id: None,
        due: None,
        after: Vec::new(),
        steps: Vec::new(),
    }
}

fn page(items: Vec<EnquiryView>) -> PageView<EnquiryView> {
    PageView { items, next_cursor: None }
}

fn args(line: &[&str]) -> Result<(Common, EnquiriesArgs), clap::Error> {
    let cli = Cli::try_parse_from(["oncebook", "enquiries"].iter().chain(line))?;
    match cli.command {
        Command::Enquiries(args) => Ok((cli.common, args)),
        _ => panic!("another command"),
    }
}

#[test]
fn a_row_says_when_who_and_what_became_of_it() {
    let effects = vec![effect("deal", 0, "verified"), effect("follow-up", 0, "held")];
    let lines = listed(&page(vec![enquiry("web:submission:lead_77", "settled")]), &[effects], None);
    assert_eq!(lines.len(), 3, "{lines:#?}");
    assert!(lines[0].starts_with("when (UTC)"), "{}", lines[0]);
    for part in ["2026-03-02 09:15", "web:submission:lead_77", "avery@example.com", "settled", "deal ✓  follow-up held"] {
        assert!(lines[2].contains(part), "{part} in {}", lines[2]);
    }
}

#[test]
fn flags_stand_below_the_effects() {
    let mut like = enquiry("web:submission:2", "review");
    like.flags = FlagsView { look_alike_of: Some("enq_1".to_owned()), weak_key: true, ..FlagsView::default() };
    let lines = listed(&page(vec![like, enquiry("web:submission:1", "settled")]), &[vec![effect("deal", 0, "held")], vec![]], Some("NEXT"));
    assert!(lines[2].ends_with("deal held") && lines[3].ends_with(" look-alike, weak key"), "{lines:#?}");
    assert_eq!(lines.last().unwrap(), "… and earlier ones: NEXT");
}

#[test]
fn the_longest_rows_fit_the_page() {
    let mut long = enquiry(&format!("website:submission:{}~2", "0123456789abcdef".repeat(4)), "accepted");
    long.contact.email = Some(format!("{}@example.com", "somebody.with.a.long.name".repeat(3)));
    long.flags = FlagsView { look_alike_of: Some(String::new()), ambiguous_time: true, held: true, ..FlagsView::default() };
    let effects = vec![effect("deal", 1, "unverified"), effect("follow-up", 0, "mismatched"), effect("notify", 0, "waiting")];
    for line in listed(&page(vec![long]), &[effects], None) {
        assert!(line.chars().count() <= usize::from(WIDTH), "{} characters: {line}", line.chars().count());
    }
}

#[test]
fn an_address_is_cut_and_never_broken() {
    for id in ["lead_77", "3fa85f64-5717-4562-b3fc-2c963f66", "0123456789abcdef0123456789abcdef0123456789abcdef"] {
        let mut long = enquiry(&format!("web:submission:{id}"), "accepted");
        long.contact.email = Some("somebody.with.a.rather.long.name@example.com".to_owned());
        let effects = vec![effect("deal", 0, "verified"), effect("follow-up", 0, "waiting")];
        let lines = listed(&page(vec![long]), &[effects], None);
        let shown: Vec<&str> = lines.iter().flat_map(|line| line.split(' ')).filter(|word| word.starts_with("somebody")).collect();
        assert!(shown.len() == 1 && shown[0].ends_with('…'), "{lines:#?}");
        assert!(!lines.iter().any(|line| line.contains("example")), "{lines:#?}");
        assert!(lines.iter().all(|line| line.chars().count() <= usize::from(WIDTH)), "{lines:#?}");
    }
}

#[test]
fn a_mark_names_a_re_run_and_what_is_not_simply_done() {
    let marks = [effect("deal", 0, "done"), effect("deal", 1, "unverified"), effect("deal", 0, "at_most_once")];
    assert_eq!(marks.each_ref().map(mark), ["deal ✓", "deal#1 ✓ unverified", "deal at-most-once"]);
}

#[test]
fn options_are_checked_as_they_are_typed() {
    let (common, args) = args(&["--state", "review", "--source", "web", "--limit", "5", "--config", "a b.toml"]).unwrap();
    assert_eq!(
        args.page.next_command(&common, "enquiries", args.state.as_ref(), Some("17")).unwrap(),
        "oncebook --config 'a b.toml' enquiries --state review --source web --limit 5 --cursor 17"
    );
    assert_eq!(args.page.next_command(&common, "enquiries", None, None), None);
    for wrong in [["--state", "done"], ["--limit", "0"], ["--limit", "1001"]] {
        assert!(self::args(&wrong).is_err(), "{wrong:?}");
    }
}
