//! Identity rules and the book: a new source's rule is its first version; a changed one stops the start until it is
//! accepted; every earlier version goes on being read (I8).

use domain::identity::Rule;
use domain::time::Clock;
use evidence::{Draft, Facts};
use store::Store;

use super::{ByName, StartError};
use crate::config::Config;
use crate::intake::SourceSetup;

/// Compares every configured rule with the book's, and hands intake the earlier versions.
pub(super) async fn settle(
    config: &Config,
    store: &dyn Store,
    clock: &dyn Clock,
    sources: &mut ByName<SourceSetup>,
) -> Result<(), StartError> {
    for source in &config.sources {
        let current = written(&source.rule());
        let versions = store.rules(&source.id).await?;
        match versions.last() {
            None => store.adopt_rule(&source.id, current, adopted(clock, &source.id, 1, "engine")).await?,
            Some(last) if last.rule != current => return Err(StartError::RuleChanged(source.name.clone())),
            Some(_) => {}
        }
        let Some(setup) = sources.get_mut(&source.name) else { continue };
        let earlier = versions.iter().rev().skip(1).filter(|v| v.rule != written(&setup.rule));
        setup.earlier = earlier.map(|v| read(&source.id, &v.rule)).collect::<Result<_, _>>()?;
    }
    Ok(())
}

/// Accepts a source's configured rule as its next version. `false`: it is the latest already.
pub async fn accept_rule(config: &Config, store: &dyn Store, clock: &dyn Clock, source: &str, who: &str) -> Result<bool, StartError> {
    let Some(source) = config.source(source) else {
        return Err(StartError::Unusable(vec![format!("there is no source '{source}' in the configuration")]));
    };
    let current = written(&source.rule());
    let versions = store.rules(&source.id).await?;
    if versions.last().is_some_and(|last| last.rule == current) {
        return Ok(false);
    }
    let version = versions.last().map_or(1, |last| last.version + 1);
    store.adopt_rule(&source.id, current, adopted(clock, &source.id, version, who)).await?;
    Ok(true)
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
