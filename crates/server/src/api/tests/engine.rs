//! A real engine, a target that refuses every record, and a qualifier that is sure of everything.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use domain::enquiry::{Fields, Priority, Qualification};
use domain::gate::{Find, Policy, StepKind};
use domain::time::SeededEntropy;
use serde_json::Value;

use crate::effects::{Call, Found, Outcome, ReadBack, Report, Target};
use crate::engine::{Action, Conditions, Engine, Parts, hasty};
use crate::qualify::{Qualified, Qualifier, QualifyError};
use crate::stops::Stops;
use crate::views::fixture::{Book, Still};

struct Refusing;

#[async_trait]
impl Target for Refusing {
    fn kind(&self) -> &'static str {
        "http"
    }

    fn steps(&self, _: &Fields) -> Vec<StepKind> {
        vec![StepKind::Record]
    }

    fn find(&self, _: StepKind) -> Find {
        Find::None
    }

    fn reads(&self, _: StepKind) -> bool {
        false
    }

    fn settle_ms(&self) -> i64 {
        0
    }

    fn timeout_ms(&self) -> i64 {
        1_000
    }

    fn render(&self, key: &str, _: &Value) -> Result<Vec<u8>, String> {
        Ok(key.as_bytes().to_vec())
    }

    async fn write(&self, _: &Call) -> Report<Outcome> {
        Report::bare(Outcome::Refused("no such pipeline".to_owned()))
    }

    async fn look_up(&self, _: &Call) -> Report<Found> {
        Report::bare(Found::CannotTell("cannot be asked".to_owned()))
    }

    async fn read_back(&self, _: &Call, _: &str) -> Report<ReadBack> {
        Report::bare(ReadBack::Failed("cannot be read".to_owned()))
    }
}

struct Sure;

#[async_trait]
impl Qualifier for Sure {
    fn name(&self) -> String {
        "sure".to_owned()
    }

    async fn qualify(&self, fields: &Fields) -> Result<Qualified, QualifyError> {
        Ok(Qualified::from(Qualification {
            request_type: "sales".to_owned(),
            priority: Priority::Normal,
            summary: fields.message.clone().unwrap_or_default(),
            qualified: true,
            confidence: 1.0,
            budget: None,
            contact_facts: Vec::new(),
            unsupported: Vec::new(),
            reply_draft: None,
        }))
    }
}

pub(super) async fn over(book: &Book) -> Arc<Engine> {
    let action = Action {
        name: "deal".to_owned(),
        target: "crm".to_owned(),
        after: Vec::new(),
        conditional: false,
        shadow: false,
        outward: false,
        held_by_review: false,
        sends_draft: false,
        not_after_ms: None,
        per_address: None,
        policy: Policy::Review,
        client: None,
    };
    let refusing: Arc<dyn Target> = Arc::new(Refusing);
    let parts = Parts {
        store: Arc::clone(&book.store),
        clock: Arc::new(Still),
        entropy: Arc::new(SeededEntropy::new(1)),
        targets: BTreeMap::from([("crm".to_owned(), refusing)]),
        actions: vec![action],
        qualifier: Arc::new(Sure),
        conditions: Conditions::compile(Vec::new()).unwrap(),
        settings: hasty(),
        wake: Arc::default(),
        stops: Arc::new(Stops::none()),
    };
    Arc::new(Engine::new(parts).await.unwrap())
}
