//! The embedded CRM's records as an operator sees them, and the seam through which they are read: the composition root
//! implements it over the desk, which this module must not know.

use async_trait::async_trait;
use serde::Serialize;

use super::PageView;

/// A way to read the desk.
#[async_trait]
pub trait DeskBook: Send + Sync {
    /// Deals, oldest first; with a key only the one that carries it.
    async fn deals(&self, key: Option<&str>, cursor: Option<i64>, limit: usize) -> Result<PageView<DealView>, String>;

    /// Contacts, oldest first.
    async fn contacts(&self, cursor: Option<i64>, limit: usize) -> Result<PageView<ContactView>, String>;
}

/// One deal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DealView {
    /// `deal-7`.
    pub id: String,
    /// Our key: no other deal has it.
    pub key: String,
    /// One line.
    pub title: String,
    /// What was asked.
    pub message: Option<String>,
    /// The qualification's summary.
    pub summary: Option<String>,
    /// The qualification's priority.
    pub priority: Option<String>,
    /// The qualification's request type.
    pub request_type: Option<String>,
    /// A budget, as written.
    pub amount: Option<String>,
    /// Its contact.
    pub contact_id: Option<String>,
    /// When it was written, RFC 3339.
    pub created_at: String,
}

/// One contact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ContactView {
    /// `contact-1`.
    pub id: String,
    /// What it is unique by.
    pub address: String,
    /// E-mail address.
    pub email: Option<String>,
    /// Phone number.
    pub phone: Option<String>,
    /// Name.
    pub name: Option<String>,
    /// Company.
    pub company: Option<String>,
    /// When it was written, RFC 3339.
    pub created_at: String,
}
