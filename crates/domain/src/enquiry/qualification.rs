//! The model's structured result. It never takes part in identity, recipients or targets (I9).

use serde::{Deserialize, Serialize};

/// How soon somebody should look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// No hurry.
    Low,
    /// As usual.
    Normal,
    /// Today.
    High,
}

/// What a qualifier made of an enquiry's text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Qualification {
    /// What is wanted, e.g. `sales`, `support`, `job`, `spam`, `other`.
    pub request_type: String,
    /// How soon.
    pub priority: Priority,
    /// One line for people and for a deal's title.
    pub summary: String,
    /// Whether it is worth a follow-up.
    pub qualified: bool,
    /// 0 to 1.
    pub confidence: f64,
    /// A budget the text names, as written; `None` if it names none.
    pub budget: Option<String>,
    /// Contact facts found in the text, e.g. `phone: +49…`: hints, never recipients.
    #[serde(default)]
    pub contact_facts: Vec<String>,
    /// Facts that the model named and that do not stand in the enquiry (or a budget that is no amount), written as
    /// `contact_facts` are: shown to people, and used for nothing. Templates and conditions never see them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsupported: Vec<String>,
    /// A draft answer; leaves only after a person's approval.
    pub reply_draft: Option<String>,
}
