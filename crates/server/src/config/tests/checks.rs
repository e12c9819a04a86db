//! What only the whole can know to be wrong.

use super::*;

/// Two desks, from line 1 to 6, and these lines from line 7 on.
fn with_desks(lines: &str) -> String {
    format!("[[target]]\nname = \"crm\"\nkind = \"desk\"\n[[target]]\nname = \"erp\"\nkind = \"desk\"\n{lines}")
}

fn action(name: &str, target: &str, after: &str) -> String {
    format!("[[action]]\nname = \"{name}\"\ntarget = \"{target}\"\nafter = [{after}]\n")
}

#[test]
fn names_and_ids_are_taken_once() {
    let twice = "[[source]]\nname = \"a\"\n[[source]]\nname = \"a\"\nid = \"b\"\n";
    assert_problem(twice, "4:8", "source[1].name", "taken by source[0]");
    let one_id = "[[source]]\nname = \"a\"\n[[source]]\nname = \"b\"\nid = \"a\"\n";
    assert_problem(one_id, "5:6", "source[1].id", "the id `a` is taken");
    assert_problem(&with_desks("[[target]]\nname = \"crm\"\nkind = \"desk\"\n"), "8:8", "target[2].name", "taken by target[0]");
    let tokens = "[[token]]\nname = \"t\"\nsecret = \"env:A\"\n[[token]]\nname = \"t\"\nsecret = \"env:B\"\n";
    assert_problem(tokens, "5:8", "token[1].name", "taken by token[0]");
}

#[test]
fn an_action_names_a_target_and_actions_that_exist() {
    assert_problem(&with_desks(&action("deal", "crn", "")), "9:10", "action[0].target", "did you mean `crm`?");
    assert_problem(&with_desks(&action("deal", "mail", "")), "9:10", "action[0].target", "there are crm, erp");
    assert_problem(&with_desks(&action("deal", "crm", "\"delivery\"")), "10:9", "action[0].after", "no action `delivery`");
}

#[test]
fn a_circle_is_named_once_with_its_steps() {
    let both = action("deal", "crm", "\"invoice\"") + &action("invoice", "erp", "\"deal\"");
    assert_problem(&with_desks(&both), "10:9", "action[0].after", "deal after invoice after deal");
    assert_problem(&with_desks(&action("deal", "crm", "\"deal\"")), "10:9", "action[0].after", "deal after deal");
    let line = action("deal", "crm", "") + &action("invoice", "erp", "\"deal\"");
    assert!(read(&with_desks(&line)).is_ok());
}

#[test]
fn two_records_on_one_target_would_share_a_key() {
    let both = action("deal", "crm", "") + &action("note", "crm", "");
    assert_problem(&with_desks(&both), "13:10", "action[1].target", "both would carry one key");
}

/// A source at line 1, a target at line 4 and an action at line 8, each with a line of its own.
fn owned(source: &str, target: &str, action: &str) -> String {
    format!(
        "[[source]]\nname = \"a\"\n{source}\n[[target]]\nname = \"crm\"\nkind = \"desk\"\n{target}\n\
         [[action]]\nname = \"deal\"\ntarget = \"crm\"\n{action}\n"
    )
}

const ACME: &str = "client = \"acme\"";
const GLOBEX: &str = "client = \"globex\"";

/// A further client, from line 12 on.
fn and_globex(text: &str) -> String {
    format!(
        "{text}[[source]]\nname = \"b\"\n{GLOBEX}\n[[target]]\nname = \"erp\"\nkind = \"desk\"\n{GLOBEX}\n\
         [[action]]\nname = \"invoice\"\ntarget = \"erp\"\n{GLOBEX}\n"
    )
}

#[test]
fn i13_clients_stay_apart() {
    assert!(read(&owned(ACME, ACME, ACME)).is_ok());
    assert!(read(&and_globex(&owned(ACME, ACME, ACME))).is_ok());
    assert_problem(&and_globex(&owned("", ACME, ACME)), "1:1", "source[0].client", "several (acme, globex)");
    assert_problem(&and_globex(&owned(ACME, GLOBEX, ACME)), "10:10", "action[0].target", "belongs to `globex`");
    assert_problem(&and_globex(&owned(ACME, ACME, "")), "8:1", "action[0].client", "several (acme, globex)");
    let crossing = problems(&and_globex(&owned(ACME, "", ACME)));
    assert!(crossing.iter().any(|line| line.contains("belongs to no client")), "{crossing:#?}");
}

#[test]
fn with_one_client_everything_is_its_own_and_with_none_nothing_is_anybodys() {
    for (source, target, action) in [(ACME, "", ""), ("", ACME, ""), ("", "", ACME), (ACME, ACME, ACME), ("", "", "")] {
        let config = read(&owned(source, target, action)).unwrap_or_else(|e| panic!("{e}"));
        let client = format!("{source}{target}{action}").contains("acme").then_some("acme");
        let owners = [&config.sources[0].client, &config.targets[0].client, &config.actions[0].client];
        assert!(owners.iter().all(|owner| owner.as_deref() == client), "{source} {target} {action}: {owners:?}");
        assert_eq!(config.sources[0].id, "a", "what keys carry is not touched");
    }
}

#[test]
fn a_source_whose_client_has_no_action_is_named() {
    assert_problem(&owned(ACME, GLOBEX, GLOBEX), "3:10", "source[0].client", "`a`: its client `acme` has no action");
    let without_actions = owned(ACME, ACME, ACME).split("[[action]]").next().unwrap().to_owned();
    assert!(read(&without_actions).is_ok());
}

#[test]
fn notes_say_what_is_right_and_may_not_be_meant() {
    let notes = |text: &str| read(text).unwrap_or_else(|e| panic!("{e}")).notes();
    assert_eq!(notes(&owned(ACME, ACME, ACME)), Vec::<String>::new());
    let without_actions = owned("", "", "").split("[[action]]").next().unwrap().to_owned();
    assert!(matches!(notes(&without_actions).as_slice(), [only] if only.contains("no action")));
    let idle = and_globex(&owned(ACME, ACME, ACME)).replacen(&format!("name = \"a\"\n{ACME}"), &format!("name = \"a\"\n{GLOBEX}"), 1);
    assert!(matches!(notes(&idle).as_slice(), [only] if only.contains("action 'deal'") && only.contains("'acme'")), "{:?}", notes(&idle));
    assert_eq!(notes(""), Vec::<String>::new());
    let doubles = owned("", "on_unknown = \"at-least-once\"", "");
    assert!(matches!(notes(&doubles).as_slice(), [only] if only.contains("target 'crm'") && only.contains("doubles are accepted")));
}

#[test]
fn an_open_source_on_an_open_door_must_be_meant() {
    let text = |server: &str, open: &str| format!("[server]\n{server}\n[[source]]\nname = \"web\"\nauth = {{ scheme = \"none\"{open} }}\n");
    assert!(read(&text("listen = \"127.0.0.1:1\"", "")).is_ok());
    assert!(read(&text("listen = \"0.0.0.0:1\"", ", open = true")).is_ok());
    assert_problem(&text("listen = \"0.0.0.0:1\"", ""), "5:1", "source[0].auth", "anybody can post to `web`");
    assert_problem(&text("public_url = \"https://in.example.com\"", ""), "5:1", "source[0].auth", "open = true");
    let error = read_with("", &[("ONCEBOOK_LISTEN", "0.0.0.0:1")]).unwrap_err();
    assert!(error.to_string().starts_with("built-in defaults:"), "{error}");
}

#[test]
fn a_window_outlasts_the_retries() {
    let text = |window: &str, give_up: &str| {
        format!(
            "[engine]\ngive_up_after = \"{give_up}\"\n[[target]]\nname = \"crm\"\nkind = \"http\"\n\
             write = {{ url = \"http://crm/deals\" }}\nfind = {{ consistency = \"window:{window}\" }}\n"
        )
    };
    assert!(read(&text("24h", "24h")).is_ok());
    assert_problem(&text("24h", "7d"), "7:24", "target[0].find.consistency", "set engine.give_up_after to at most 1d");
    assert_problem(&text("44s", "1s"), "7:24", "target[0].find.consistency", "before one try does (45s");
}
