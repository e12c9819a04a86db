//! A target as an operator sees it: what it is configured to be, and whether anything is sent to it.

use serde::Serialize;
use store::TargetState;

use super::At;

/// What the configuration says of a target; the composition root fills it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetSetup {
    /// Its name.
    pub name: String,
    /// Its kind: `desk`, `outbox`, `http`.
    pub kind: String,
    /// `live` or `shadow`.
    pub mode: String,
}

impl TargetSetup {
    /// One that is configured no more.
    pub(super) fn gone(name: &str) -> Self {
        let none = || "unconfigured".to_owned();
        Self { name: name.to_owned(), kind: none(), mode: none() }
    }
}

/// One target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TargetView {
    /// Its name.
    pub name: String,
    /// Its kind; `unconfigured`, where the configuration has it no more.
    pub kind: String,
    /// `live` or `shadow`; `unconfigured`, where the configuration has it no more.
    pub mode: String,
    /// `open` or `paused`.
    pub state: &'static str,
    /// Since when it is paused.
    pub paused_at: Option<At>,
    /// Why it is paused.
    pub why: Option<String>,
}

impl TargetView {
    /// The view of a configured target, given what the book knows.
    pub fn of(setup: &TargetSetup, known: &[TargetState]) -> Self {
        let paused = known.iter().find(|state| state.name == setup.name).and_then(|state| state.paused.clone());
        Self {
            name: setup.name.clone(),
            kind: setup.kind.clone(),
            mode: setup.mode.clone(),
            state: if paused.is_some() { "paused" } else { "open" },
            paused_at: paused.as_ref().map(|(at, _)| At(*at)),
            why: paused.map(|(_, why)| why),
        }
    }
}
