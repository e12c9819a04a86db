//! What every list takes: a state, a source, how many, and where the last page ended.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args, Command};

use super::Common;
use crate::config::Config;
use crate::views::{Query, state_called};

/// One of these states, called as it is printed or as it is written.
#[derive(Clone)]
pub(super) struct States(pub(super) &'static [&'static str]);

impl TypedValueParser for States {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        match value.to_str().and_then(|name| state_called(name, self.0)) {
            Some(state) => Ok(state.to_owned()),
            // It says which there are.
            None => PossibleValuesParser::new(self.0).parse_ref(command, arg, value),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().map(|state| PossibleValue::new(*state))))
    }
}

/// Options of a list.
#[derive(Args)]
pub(super) struct PageArgs {
    /// Only those of this source
    #[arg(long)]
    source: Option<String>,
    /// At most so many
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    /// Where the last page ended
    #[arg(long)]
    cursor: Option<String>,
}

impl PageArgs {
    /// What the book is asked for.
    pub(super) fn query(&self, config: &Config, state: Option<&String>) -> Query {
        // Records carry a source's id; people know its name. One that is configured no more is still found by its id.
        let id = |name: &String| config.source(name).map_or_else(|| name.clone(), |source| source.id.clone());
        Query {
            cursor: self.cursor.clone(),
            limit: usize::from(self.limit),
            source: self.source.as_ref().map(id),
            state: state.cloned(),
            enquiry: None,
        }
    }

    /// Whether it is the beginning of the whole list that is asked for.
    pub(super) fn asks_for_all(&self) -> bool {
        self.source.is_none() && self.cursor.is_none()
    }

    /// The command that shows the next page, with the same filters.
    pub(super) fn next_command(&self, common: &Common, command: &str, state: Option<&String>, cursor: Option<&str>) -> Option<String> {
        let option = |name: &str, value: Option<&String>| value.map(|value| format!(" --{name} {value}")).unwrap_or_default();
        let (state, source) = (option("state", state), option("source", self.source.as_ref()));
        cursor.map(|cursor| format!("{} {command}{state}{source} --limit {} --cursor {cursor}", common.program(), self.limit))
    }
}
