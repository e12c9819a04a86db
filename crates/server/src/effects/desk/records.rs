//! A deal and a contact as anybody may read them, and how they are read from their rows.

use domain::time::UtcMs;
use rusqlite::Row;
use serde::Serialize;

pub(super) const DEAL: &str = "SELECT id, key, title, message, summary, priority, request_type, amount, contact_id, created_at FROM deals";
pub(super) const CONTACT: &str = "SELECT id, address, email, phone, name, company, created_at FROM contacts";

/// A deal, as anybody may read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Deal {
    /// `deal-7`.
    pub id: String,
    /// Its number, for paging.
    #[serde(skip)]
    pub number: i64,
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
    /// `contact-1`.
    pub contact_id: Option<String>,
    /// When it was written, RFC 3339.
    pub created_at: String,
}

/// A contact, as anybody may read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Contact {
    /// `contact-1`.
    pub id: String,
    /// Its number, for paging.
    #[serde(skip)]
    pub number: i64,
    /// No other contact has it.
    pub address: String,
    /// E-mail address.
    pub email: Option<String>,
    /// Phone number, as written.
    pub phone: Option<String>,
    /// Name.
    pub name: Option<String>,
    /// Company.
    pub company: Option<String>,
    /// When it was written, RFC 3339.
    pub created_at: String,
}

pub(super) fn read_deal(row: &Row<'_>) -> rusqlite::Result<Deal> {
    let number: i64 = row.get(0)?;
    Ok(Deal {
        id: format!("deal-{number}"),
        number,
        key: row.get(1)?,
        title: row.get(2)?,
        message: row.get(3)?,
        summary: row.get(4)?,
        priority: row.get(5)?,
        request_type: row.get(6)?,
        amount: row.get(7)?,
        contact_id: row.get::<_, Option<i64>>(8)?.map(|id| format!("contact-{id}")),
        created_at: UtcMs(row.get(9)?).rfc3339(),
    })
}

pub(super) fn read_contact(row: &Row<'_>) -> rusqlite::Result<Contact> {
    let number: i64 = row.get(0)?;
    Ok(Contact {
        id: format!("contact-{number}"),
        number,
        address: row.get(1)?,
        email: row.get(2)?,
        phone: row.get(3)?,
        name: row.get(4)?,
        company: row.get(5)?,
        created_at: UtcMs(row.get(6)?).rfc3339(),
    })
}
