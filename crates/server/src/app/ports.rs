//! What lets one part reach another without knowing it: the API the desk and the intake, the intake the engine.

use std::sync::Arc;

use async_trait::async_trait;
use domain::enquiry::Enquiry;
use domain::time::UtcMs;
use serde::Serialize;
use serde_json::Value;
use store::Lease;

use crate::config::{Config, Mode};
use crate::effects::desk::Desk;
use crate::engine::{self, Engine};
use crate::intake::{self, Intake, ReplayError, Worker};
use crate::views::{DeskBook, PageView, Redeliver, RedeliverRefused, TargetSetup};

struct DeskPort(Arc<Desk>);
struct IntakePort(Arc<Intake>);
struct EnginePort(Arc<Engine>);

/// The desk's records, for reading.
pub(super) fn desk_book(desk: Arc<Desk>) -> Arc<dyn DeskBook> {
    Arc::new(DeskPort(desk))
}

/// Kept deliveries, for reading again.
pub(super) fn redeliver(intake: Arc<Intake>) -> Arc<dyn Redeliver> {
    Arc::new(IntakePort(intake))
}

/// The engine's places, for what arrives.
pub(super) fn worker(engine: Arc<Engine>) -> Arc<dyn Worker> {
    Arc::new(EnginePort(engine))
}

/// What the configuration says of every target.
pub(crate) fn target_setups(config: &Config) -> Vec<TargetSetup> {
    let mode = |mode| if mode == Mode::Shadow { "shadow" } else { "live" };
    let setups = config.targets.iter().map(|target| TargetSetup {
        name: target.name.clone(),
        kind: target.kind.as_str().to_owned(),
        mode: mode(target.mode).to_owned(),
    });
    setups.collect()
}

impl Worker for EnginePort {
    fn place(&self) -> Option<Box<dyn intake::Place>> {
        Some(Box::new(self.0.place()?))
    }
}

impl intake::Place for engine::Place {
    fn until(&self) -> UtcMs {
        Self::until(self)
    }

    fn work(self: Box<Self>, lease: Lease<Enquiry>) {
        Self::work(*self, lease);
    }
}

#[async_trait]
impl DeskBook for DeskPort {
    async fn deals(&self, key: Option<&str>, cursor: Option<i64>, limit: usize) -> Result<PageView<Value>, String> {
        let found = self.0.deals(key, cursor.unwrap_or(0), asked(limit)).await?;
        Ok(page(found, limit, |deal| deal.number))
    }

    async fn contacts(&self, cursor: Option<i64>, limit: usize) -> Result<PageView<Value>, String> {
        let found = self.0.contacts(cursor.unwrap_or(0), asked(limit)).await?;
        Ok(page(found, limit, |contact| contact.number))
    }
}

/// One more than is shown, so that the page knows whether another follows.
fn asked(limit: usize) -> u32 {
    u32::try_from(limit).unwrap_or(u32::MAX).saturating_add(1)
}

fn page<T: Serialize>(mut found: Vec<T>, limit: usize, number: impl Fn(&T) -> i64) -> PageView<Value> {
    let more = found.len() > limit;
    found.truncate(limit);
    let next_cursor = found.last().filter(|_| more).map(|last| number(last).to_string());
    // A record of the desk is texts: there is nothing in it that JSON cannot hold.
    PageView { items: found.iter().map(|record| serde_json::to_value(record).unwrap_or_default()).collect(), next_cursor }
}

#[async_trait]
impl Redeliver for IntakePort {
    async fn redeliver(&self, delivery: &str, by: &str, separate: bool) -> Result<Value, RedeliverRefused> {
        self.0.replay(delivery, by, separate).await.map(|answer| answer.json()).map_err(|error| match error {
            ReplayError::Unknown => RedeliverRefused::Unknown,
            ReplayError::Unavailable { retry_after_s } => RedeliverRefused::Unavailable { retry_after_s },
            other => RedeliverRefused::DoesNotFit(other.to_string()),
        })
    }
}
