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

#[test]
fn clients_stay_apart() {
    let owned = |source: &str, target: &str, action: &str| {
        format!(
            "[[source]]\nname = \"a\"\n{source}\n[[target]]\nname = \"crm\"\nkind = \"desk\"\n{target}\n\
             [[action]]\nname = \"deal\"\ntarget = \"crm\"\n{action}\n"
        )
    };
    let (acme, globex) = ("client = \"acme\"", "client = \"globex\"");
    assert!(read(&owned(acme, "", "")).is_ok());
    assert!(read(&owned(acme, acme, acme)).is_ok());
    assert!(read(&owned(acme, globex, globex)).is_ok());
    assert_problem(&owned(acme, globex, ""), "8:1", "action[0].client", "several (acme, globex)");
    let two = owned("", acme, acme) + "[[token]]\nname = \"n8n\"\nsecret = \"env:N8N\"\nclient = \"globex\"\n";
    assert_problem(&two, "1:1", "source[0].client", "several (acme, globex)");
    assert_problem(&owned(acme, globex, acme), "10:10", "action[0].target", "belongs to `globex`");
    assert_problem(&owned(acme, "", acme), "10:10", "action[0].target", "belongs to no client");
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
