//! The seam through which the embedded CRM's records are read: the composition root implements it over the desk, which this
//! module must not know. They are shown as the desk tells them.

use async_trait::async_trait;
use serde_json::Value;

use super::PageView;

/// A way to read the desk.
#[async_trait]
pub trait DeskBook: Send + Sync {
    /// Deals, oldest first; with a key only the one that carries it.
    async fn deals(&self, key: Option<&str>, cursor: Option<i64>, limit: usize) -> Result<PageView<Value>, String>;

    /// Contacts, oldest first.
    async fn contacts(&self, cursor: Option<i64>, limit: usize) -> Result<PageView<Value>, String>;
}
