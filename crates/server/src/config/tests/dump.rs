//! The dump says what holds: read again it is the same configuration, and the same dump.

use super::keys::{everything, needed_only, turns};
use super::*;
use crate::config::shown_parts;

/// Asserts that the dump reads as the configuration does, and again as the same text.
#[track_caller]
fn assert_round(config: &Config) -> String {
    let dump = config.effective().to_toml();
    let again = read(&dump).unwrap_or_else(|e| panic!("{e}\n{dump}"));
    assert_eq!(shown_parts(config), shown_parts(&again), "{dump}");
    assert_eq!(again.effective().to_toml(), dump);
    assert_eq!(again.effective().to_json(), config.effective().to_json());
    let json = serde_json::to_value(dump.parse::<toml::Table>().unwrap()).unwrap();
    assert!(keys::against(&crate::config::schema(), &json).is_empty());
    dump
}

#[test]
fn a_dump_is_the_configuration_again() {
    let made = (0..turns()).flat_map(|turn| [everything(turn), needed_only(turn)]);
    let written = ["", EXAMPLE, "[engine]\nworkers = 2\n", "source = []\n", "[[token]]\nname = \"a\"\nsecret = \"env:T\"\n"];
    for text in written.map(str::to_owned).into_iter().chain(made) {
        assert_round(&read(&text).unwrap_or_else(|e| panic!("{e}\n{text}")));
    }
    let webhook = "[[source]]\nname = \"a\"\nclient = \"acme\"\nauth = { scheme = \"standard-webhooks\", secret = \"env:S\" }\n";
    let dump = assert_round(&read(webhook).unwrap());
    assert!(dump.contains("identity = { submission = [\"header:webhook-id\"], content = \"10m\" }"), "{dump}");
}

#[test]
fn a_dump_has_the_variables_and_no_secret() {
    let set = [("ONCEBOOK_LISTEN", "127.0.0.1:9"), ("ONCEBOOK_ENGINE_WORKERS", "3"), ("ONCEBOOK_QUALIFIER_MIN_CONFIDENCE", "0.5")];
    let config = read_with("[engine]\nworkers = 2\nattempts = 4\n", &set).unwrap();
    let dump = assert_round(&config);
    for line in
        ["listen = \"127.0.0.1:9\"", "workers = 3", "attempts = 4", "min_confidence = 0.5", "url = \"sqlite:oncebook-data/book.db\""]
    {
        assert!(dump.contains(&format!("\n{line}\n")), "{line} in\n{dump}");
    }
    assert!(read(EXAMPLE).unwrap().effective().to_toml().contains("secret = \"env:WEBSITE_SECRET\""));
}

/// What follows from other keys is in the dump, each under its own key.
#[test]
fn a_dump_has_every_key_that_follows_from_others() {
    let text = needed_only(0).replacen("[[source]]\n", "[[source]]\nclient = \"acme\"\n", 1);
    let dump: toml::Table = read(&text).unwrap_or_else(|e| panic!("{e}\n{text}")).effective().to_toml().parse().unwrap();
    let mut missing = Vec::new();
    keys::each_following(&mut |path| {
        let (section, way) = path.split_once('.').unwrap();
        let tables: Vec<&toml::Value> = dump[section].as_array().map_or_else(|| vec![&dump[section]], |list| list.iter().collect());
        let has = |table: &toml::Value| way.split('.').try_fold(table.clone(), |at, key| at.get(key).cloned()).is_some();
        if !tables.into_iter().any(has) {
            missing.push(path.to_owned());
        }
    });
    assert!(missing.is_empty(), "{missing:?}");
}
