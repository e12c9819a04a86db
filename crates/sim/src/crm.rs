//! A target's own state: its records, and what a write makes of them, for every find class.

use std::collections::BTreeMap;

use domain::gate::{Find, StepKind};
use server::effects::Outcome;

use crate::plan::TargetSetup;

/// What stands in a target.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its id.
    pub id: String,
    /// What it is.
    pub step: StepKind,
    /// What it is found by: our key, or, for a contact, the address.
    pub key: String,
    /// The key of the effect that it was written for.
    pub outgoing: String,
    /// The bytes it was written with, as a digest.
    pub body: u64,
    /// When it came to stand, in the run's ms.
    pub at: i64,
    /// How long the search does not see it for certain, in ms.
    pub lag: i64,
    /// Somebody else made it.
    pub foreign: bool,
    /// Somebody changed what must be as it was written.
    pub edited: bool,
}

/// What is known of the requests with one key and step, for the checks.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a thing of its own that was seen")]
pub struct Trail {
    /// Requests that left their process.
    pub sends: u32,
    /// The latest attempt that was intended.
    pub intended: u32,
    /// A request left, its outcome was not told, and nobody has asked since.
    pub is_unknown: bool,
    /// The bytes of the first that may have reached it.
    pub body: Option<u64>,
    /// One is known to have reached it.
    pub has_reached: bool,
    /// A read-back found it as it was written.
    pub read_same: bool,
    /// A look-up missed what is there.
    pub missed: bool,
    /// A look-up saw more than one record.
    pub saw_two: bool,
}

impl Trail {
    /// A request leaves.
    pub fn sent(&mut self, body: u64) {
        self.sends += 1;
        self.is_unknown = true;
        self.body.get_or_insert(body);
    }

    /// Its outcome is told to its process. What definitely did not reach the target may be rendered anew.
    pub fn told(&mut self, outcome: &Outcome) {
        self.is_unknown = matches!(outcome, Outcome::Unknown(_));
        if !matches!(outcome, Outcome::NotSent { .. } | Outcome::Closed(_)) {
            self.has_reached = true;
        } else if !self.has_reached {
            self.body = None;
        }
    }
}

/// A target.
#[derive(Debug)]
pub struct Crm {
    /// Its declarations.
    pub setup: TargetSetup,
    /// Its name.
    pub name: String,
    /// Whose it is.
    pub client: Option<String>,
    /// What stands in it, oldest first.
    pub records: Vec<Record>,
    /// By key and step.
    pub trails: BTreeMap<(String, StepKind), Trail>,
    /// When the provider first took a key, for the window class.
    taken: BTreeMap<(String, StepKind), (i64, String)>,
    serial: u64,
    /// It answers nobody until then.
    pub out_until: i64,
    /// It refuses our credentials until then.
    pub closed_until: i64,
    /// The effect whose contact step was sent last, by address.
    pub contact_of: BTreeMap<String, String>,
}

/// What a write comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Took {
    /// The record stands.
    Id(String),
    /// It has the key already.
    Exists,
}

/// What a write says.
#[derive(Clone, Copy, Debug)]
pub struct Write<'a> {
    /// Which step.
    pub step: StepKind,
    /// What it is found by.
    pub key: &'a str,
    /// The effect's key.
    pub outgoing: &'a str,
    /// Its bytes.
    pub body: u64,
    /// How long the search will not see it.
    pub lag: i64,
}

impl Crm {
    /// A target in which nothing stands.
    pub fn new(name: String, client: Option<String>, setup: TargetSetup) -> Self {
        Self {
            setup,
            name,
            client,
            records: Vec::new(),
            trails: BTreeMap::new(),
            taken: BTreeMap::new(),
            serial: 0,
            out_until: 0,
            closed_until: 0,
            contact_of: BTreeMap::new(),
        }
    }

    /// How a step is found. Contacts and ties are unique, as those of the embedded desk are.
    pub fn find(&self, step: StepKind) -> Find {
        match step {
            StepKind::Contact | StepKind::Link => Find::Unique,
            StepKind::Record | StepKind::Message => self.setup.find,
        }
    }

    /// A request takes effect.
    pub fn take(&mut self, write: Write<'_>, now: i64) -> Took {
        let same = |record: &&mut Record| record.step == write.step && record.key == write.key && !record.foreign;
        let name = (write.key.to_owned(), write.step);
        match self.find(write.step) {
            Find::Unique if self.records.iter_mut().any(|record| same(&record)) => return Took::Exists,
            Find::Upsert { .. } => {
                if let Some(known) = self.records.iter_mut().find(same) {
                    known.body = write.body;
                    return Took::Id(known.id.clone());
                }
            }
            Find::Window { window_ms, .. } => {
                if let Some((at, id)) = self.taken.get(&name)
                    && now.saturating_sub(*at) <= window_ms
                {
                    return Took::Id(id.clone());
                }
            }
            Find::Unique | Find::Strong | Find::Lagging { .. } | Find::None => {}
        }
        self.serial += 1;
        let id = format!("{}-{}", self.name, self.serial);
        self.taken.insert(name, (now, id.clone()));
        self.records.push(Record {
            id: id.clone(),
            step: write.step,
            key: write.key.to_owned(),
            outgoing: write.outgoing.to_owned(),
            body: write.body,
            at: now,
            lag: write.lag,
            foreign: false,
            edited: false,
        });
        Took::Id(id)
    }

    /// Somebody copies a record, key and all.
    pub fn copy(&mut self, draw: u64, now: i64) {
        let of = crate::world::index(draw, self.records.len());
        if let Some((outgoing, step)) = self.records.get(of).map(|record| (record.outgoing.clone(), record.step)) {
            self.copy_of(&outgoing, step, now);
        }
    }

    /// Somebody copies that record, once, where its target lets them.
    pub fn copy_of(&mut self, outgoing: &str, step: StepKind, now: i64) {
        let is_it = |record: &&Record| record.outgoing == outgoing && record.step == step;
        let is_copied = self.records.iter().filter(is_it).any(|record| record.foreign);
        let record = self.records.iter().find(is_it).filter(|r| matches!(r.step, StepKind::Record | StepKind::Message));
        let Some(record) = record.filter(|_| !is_copied && self.find(step) != Find::Unique).cloned() else { return };
        self.serial += 1;
        let id = format!("{}-{}", self.name, self.serial);
        self.records.push(Record { id, at: now, foreign: true, ..record });
    }

    /// The records that a search sees, oldest first. `flaps`: whether it happens to see one that it may still miss.
    pub fn seen(&self, step: StepKind, key: &str, now: i64, flaps: impl Fn(&Record) -> bool) -> Vec<&Record> {
        let max = self.find(step).lag_ms();
        let sees = |record: &&Record| now.saturating_sub(record.at) > record.lag.min(max) || max == 0 || flaps(record);
        self.records.iter().filter(|record| record.step == step && record.key == key).filter(sees).collect()
    }

    /// The trail of a key and step.
    pub fn trail(&mut self, key: &str, step: StepKind) -> &mut Trail {
        self.trails.entry((key.to_owned(), step)).or_default()
    }
}
