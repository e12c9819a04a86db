//! `[[target]]`: an external system, what it promises, and how long a request to it may still take effect.

use super::http_target::HttpTarget;
use super::section::Section;
use super::units::{Allowance, Period};

/// A `[[target]]`.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// Whose it is.
    pub client: Option<String>,
    /// What it is.
    pub kind: TargetKind,
    /// The longest that one call may take.
    pub timeout: Period,
    /// The longest that a sent request may still take effect.
    pub settle: Period,
    /// Whether it is called at all.
    pub mode: Mode,
    /// Whether the acceptance scenarios may be run against it.
    pub sandbox: bool,
    /// Statuses that it documents as "not done".
    pub not_executed: Vec<u16>,
    /// How many effects may be at it at a time.
    pub concurrency: Option<usize>,
    /// How often it may be called.
    pub rate: Option<Allowance>,
    /// What follows an unknown outcome that no look-up can clear.
    pub on_unknown: OnUnknown,
    /// Whether its kind could be read. One that could not stands in for the checks, and is never handed out.
    pub(super) is_readable: bool,
}

/// What a target is.
#[derive(Clone, Debug)]
pub enum TargetKind {
    /// The embedded CRM.
    Desk,
    /// A Maildir under the data directory: messages to people.
    Outbox {
        /// The sender.
        from: String,
    },
    /// Any HTTP API.
    Http(Box<HttpTarget>),
}

/// Whether a target is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It is.
    Live,
    /// Effects are decided, rendered and journalled, never sent.
    Shadow,
}

/// What follows an unknown outcome that no look-up can clear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnUnknown {
    /// A person decides.
    Review,
    /// It is sent again.
    AtLeastOnce,
    /// It is given up, in a state of that name.
    AtMostOnce,
}

const LATER: [&str; 4] = ["hubspot", "salesforce", "smtp", "pipedrive"];
const HTTP_ONLY: [&str; 7] = ["write", "find", "read", "headers", "not_executed", "concurrency", "rate"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    Desk,
    Outbox,
    Http,
}

impl Target {
    pub(super) fn read(section: &Section<'_>) -> Self {
        section.needs("name", "actions call it by it");
        section.needs("kind", "it is one of desk, outbox, http");
        let word = section.parsed_by("kind", word);
        let kind = TargetKind::read(section, word);
        let usual_settle = if word == Some(Word::Http) { Period::secs(30) } else { Period::default() };
        let timeout = section.parsed("timeout").unwrap_or(Period::secs(5));
        if timeout.ms() == 0 {
            section.problem("timeout", "`timeout` must leave some time for an answer, e.g. 5s");
        }
        Self {
            name: section.name("name").unwrap_or_default(),
            client: section.name("client"),
            timeout,
            settle: section.parsed("settle").unwrap_or(usual_settle),
            mode: section.choice("mode", &[("live", Mode::Live), ("shadow", Mode::Shadow)]).unwrap_or(Mode::Live),
            sandbox: section.flag("sandbox").unwrap_or(false),
            not_executed: if word == Some(Word::Http) { not_executed(section) } else { Vec::new() },
            concurrency: if word == Some(Word::Http) { section.whole("concurrency", 1..=1_024) } else { None },
            rate: if word == Some(Word::Http) { section.parsed("rate") } else { None },
            on_unknown: section.choice("on_unknown", &ON_UNKNOWN).unwrap_or(OnUnknown::Review),
            is_readable: kind.is_some(),
            kind: kind.unwrap_or(TargetKind::Desk),
        }
    }

    /// Whether it sends messages to people, and so has further doors.
    pub fn is_outward(&self) -> bool {
        matches!(self.kind, TargetKind::Outbox { .. })
    }
}

const ON_UNKNOWN: [(&str, OnUnknown); 3] =
    [("review", OnUnknown::Review), ("at-least-once", OnUnknown::AtLeastOnce), ("at-most-once", OnUnknown::AtMostOnce)];

impl TargetKind {
    /// The word for it in the file and in records.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Desk => "desk",
            Self::Outbox { .. } => "outbox",
            Self::Http(_) => "http",
        }
    }

    fn read(section: &Section<'_>, word: Option<Word>) -> Option<Self> {
        let Some(word) = word else {
            // Nothing can be said about what belongs here.
            section.knows(&HTTP_ONLY);
            section.knows(&["from"]);
            return None;
        };
        if word != Word::Http {
            section.misplaced(&HTTP_ONLY, "only a target of kind http has it");
        }
        if word != Word::Outbox {
            section.misplaced(&["from"], "only a target that sends messages has it");
        }
        match word {
            Word::Desk => Some(Self::Desk),
            Word::Outbox => {
                section.needs("from", "name the sender, e.g. desk@example.com");
                section.parsed_by("from", sender).map(|from| Self::Outbox { from })
            }
            Word::Http => HttpTarget::read(section).map(|http| Self::Http(Box::new(http))),
        }
    }
}

fn word(text: &str) -> Result<Word, String> {
    match text {
        "desk" => Ok(Word::Desk),
        "outbox" => Ok(Word::Outbox),
        "http" => Ok(Word::Http),
        later if LATER.contains(&later) => Err(format!("kind {later} comes later; use http, desk or outbox")),
        other => Err(format!("there is no kind `{other}`; use http, desk or outbox")),
    }
}

fn sender(text: &str) -> Result<String, String> {
    let is_address = text.split_once('@').is_some_and(|(who, host)| !who.is_empty() && !host.is_empty());
    if is_address && !text.chars().any(char::is_control) {
        Ok(text.to_owned())
    } else {
        Err(format!("`{text}` is no sender: write an address, e.g. desk@example.com"))
    }
}

fn not_executed(section: &Section<'_>) -> Vec<u16> {
    let mut statuses = Vec::new();
    for (path, value) in section.values("not_executed") {
        let status = value.as_integer().and_then(|number| number.as_str().parse::<u16>().ok());
        match status.filter(|status| (400..600).contains(status)) {
            Some(status) => statuses.push(status),
            None => section.problem_at(path, "`not_executed` lists statuses from 400 to 599"),
        }
    }
    statuses
}
