//! Identity rules and the book: a new source's rule is its first version; a changed one stops the start until it is
//! accepted; every earlier version goes on being read (I8).

use domain::identity::Rule;
use domain::time::Clock;
use evidence::{Draft, Facts};
use store::Store;

use super::{ByName, StartError};
use crate::config::Config;
use crate::intake::SourceSetup;

/// What the configured rule is to the book.
#[derive(Debug, PartialEq, Eq)]
enum Standing {
    /// The source has no rule in the book yet.
    Unknown,
    /// It is the latest version.
    Latest,
    /// It is the latest version, with something that was not recorded when that was accepted: it reads the same keys and
    /// becomes a version of its own.
    Completed,
    /// It is another rule.
    Changed,
}

/// Compares every configured rule with the book's, and hands intake the earlier versions.
pub(super) async fn settle(
    config: &Config,
    store: &dyn Store,
    clock: &dyn Clock,
    sources: &mut ByName<SourceSetup>,
) -> Result<(), StartError> {
    for source in &config.sources {
        let current = source.rule();
        let versions = versions(store, &source.id).await?;
        match standing(&versions, &current) {
            Standing::Latest => {}
            Standing::Changed => return Err(StartError::RuleChanged(source.name.clone())),
            Standing::Unknown | Standing::Completed => {
                let version = next(&versions);
                store.adopt_rule(&source.id, written(&current), adopted(clock, &source.id, version, "engine")).await?;
            }
        }
        let Some(setup) = sources.get_mut(&source.name) else { continue };
        setup.earlier = earlier(versions, &current);
    }
    Ok(())
}

/// Only compares them: whether a start would be refused. Writes nothing.
pub(super) async fn check(config: &Config, store: &dyn Store) -> Result<(), StartError> {
    for source in &config.sources {
        if standing(&versions(store, &source.id).await?, &source.rule()) == Standing::Changed {
            return Err(StartError::RuleChanged(source.name.clone()));
        }
    }
    Ok(())
}

/// Accepts a source's configured rule as its next version. `false`: it is the latest already.
pub async fn accept_rule(config: &Config, store: &dyn Store, clock: &dyn Clock, source: &str, who: &str) -> Result<bool, StartError> {
    let Some(source) = config.source(source) else {
        return Err(StartError::NoSource(source.to_owned()));
    };
    let current = source.rule();
    let versions = versions(store, &source.id).await?;
    if standing(&versions, &current) == Standing::Latest {
        return Ok(false);
    }
    store.adopt_rule(&source.id, written(&current), adopted(clock, &source.id, next(&versions), who)).await?;
    Ok(true)
}

/// Every version of a source's rule, oldest first. They are compared as rules, never as texts: a later release may write
/// the same rule with one more field.
async fn versions(store: &dyn Store, source: &str) -> Result<Vec<Rule>, StartError> {
    let kept = store.rules(source).await?;
    Ok(kept.iter().map(|version| read(source, &version.rule)).collect::<Result<_, _>>()?)
}

fn standing(versions: &[Rule], current: &Rule) -> Standing {
    match versions.last() {
        None => Standing::Unknown,
        Some(last) if last == current => Standing::Latest,
        Some(last) if last.contact.is_none() && Rule { contact: current.contact.clone(), ..last.clone() } == *current => {
            Standing::Completed
        }
        Some(_) => Standing::Changed,
    }
}

fn next(versions: &[Rule]) -> u32 {
    u32::try_from(versions.len()).unwrap_or(u32::MAX).saturating_add(1)
}

/// The versions that deliveries are looked up under beside the current rule, newest first.
///
/// One from before the places of the contact were recorded gets those of the next version that has them: what a mapping
/// said then is what it most likely said before, and must not follow the mapping of today.
fn earlier(mut versions: Vec<Rule>, current: &Rule) -> Vec<Rule> {
    let mut contact = current.contact.clone();
    for version in versions.iter_mut().rev().filter(|version| version.time.is_some()) {
        match &version.contact {
            Some(own) => contact = Some(own.clone()),
            None => version.contact.clone_from(&contact),
        }
    }
    let mut earlier: Vec<Rule> = Vec::new();
    for version in versions.into_iter().rev().filter(|version| version != current) {
        if !earlier.contains(&version) {
            earlier.push(version);
        }
    }
    earlier
}

fn adopted(clock: &dyn Clock, source: &str, version: u32, who: &str) -> Draft {
    let facts = Facts::new().with("source", source).with("version", version);
    Draft { at: clock.now(), enquiry: None, kind: "identity.accepted".to_owned(), actor: who.to_owned(), facts, blobs: Vec::new() }
}

fn written(rule: &Rule) -> String {
    // A rule is texts and lists: there is nothing in it that JSON cannot hold.
    serde_json::to_string(rule).unwrap_or_default()
}

fn read(source: &str, text: &str) -> Result<Rule, store::Error> {
    serde_json::from_str(text).map_err(|e| store::Error::Corrupt(format!("rules: a version of source '{source}' cannot be read: {e}")))
}

#[cfg(test)]
mod tests {
    use domain::identity::{ContactPlaces, Place, TimeRule};

    use super::*;

    fn place(text: &str) -> Place {
        Place::parse(text).unwrap()
    }

    fn by_time(email: Option<&str>) -> Rule {
        let contact = email.map(|email| ContactPlaces { email: Some(place(email)), ..ContactPlaces::default() });
        Rule { time: Some(TimeRule { at: place("/at"), with: Vec::new() }), contact, ..Rule::default() }
    }

    #[test]
    fn i8_a_rule_is_compared_by_what_it_says_and_not_by_how_it_was_written() {
        let kept = r#"{ "volatile": [], "timezone": null, "time": null, "submission": ["/id"], "address": null }"#;
        let current = Rule { submission: vec![place("/id")], ..Rule::default() };
        assert_eq!(standing(&[read("web", kept).unwrap()], &current), Standing::Latest);
        assert_eq!(standing(&[], &current), Standing::Unknown);
        assert_eq!(standing(&[current.clone(), Rule::default()], &current), Standing::Changed);
    }

    #[test]
    fn i8_after_an_upgrade_a_rule_is_completed_and_a_changed_place_of_the_contact_is_a_change() {
        let (before, now, moved) = (by_time(None), by_time(Some("/email")), by_time(Some("/kontakt/mail")));
        assert_eq!(standing(std::slice::from_ref(&before), &now), Standing::Completed);
        assert_eq!(standing(&[before.clone(), now.clone()], &now), Standing::Latest);
        assert_eq!(standing(&[before.clone(), now.clone()], &moved), Standing::Changed);
        let other = Rule { timezone: Some("Europe/Berlin".to_owned()), ..now };
        assert_eq!(standing(&[before], &other), Standing::Changed);
    }

    #[test]
    fn i8_earlier_versions_keep_the_places_they_had_newest_first_and_once() {
        let (before, was, now) = (by_time(None), by_time(Some("/email")), by_time(Some("/kontakt/mail")));
        let by_id = Rule { submission: vec![place("/id")], ..Rule::default() };
        assert_eq!(earlier(vec![before.clone(), was.clone(), now.clone()], &now), std::slice::from_ref(&was));
        assert_eq!(earlier(vec![before.clone(), now.clone()], &now), []);
        assert_eq!(earlier(vec![by_id.clone(), before, by_id.clone(), was.clone(), now.clone()], &now), [was, by_id.clone()]);
        assert_eq!(earlier(vec![by_id.clone(), now.clone(), by_id.clone()], &by_id), [now]);
    }
}
