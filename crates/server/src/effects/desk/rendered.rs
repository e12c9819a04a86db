//! What the desk is sent for an effect: a contact, if the enquiry names one, and a deal.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// What is rendered once and kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Rendered {
    pub(super) contact: Option<Person>,
    pub(super) deal: Work,
}

/// The contact that a deal belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Person {
    /// What it is unique by: the e-mail address, else the phone number without its punctuation.
    pub(super) address: String,
    pub(super) email: Option<String>,
    pub(super) phone: Option<String>,
    pub(super) name: Option<String>,
    pub(super) company: Option<String>,
}

/// The deal itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Work {
    pub(super) title: String,
    pub(super) message: Option<String>,
    pub(super) summary: Option<String>,
    pub(super) priority: Option<String>,
    pub(super) request_type: Option<String>,
    pub(super) amount: Option<String>,
}

impl Rendered {
    /// Taken from what the scene says; what it does not say stays empty.
    pub(super) fn of(key: &str, scene: &Json) -> Self {
        let text = |pointer: &str| scene.pointer(pointer).and_then(Json::as_str).filter(|t| !t.is_empty()).map(str::to_owned);
        let (email, phone) = (text("/enquiry/contact/email"), text("/enquiry/contact/phone"));
        let own = text("/enquiry/key");
        let enquiry = own.as_deref().unwrap_or(key);
        let address =
            email.as_deref().map(|email| email.trim().to_lowercase()).or_else(|| phone.as_deref().map(|phone| of_phone(phone, enquiry)));
        let (name, company) = (text("/enquiry/contact/name"), text("/enquiry/contact/company"));
        let summary = text("/enquiry/summary").or_else(|| text("/qualification/summary"));
        Self {
            contact: address.map(|address| Person { address, email, phone, name, company }),
            deal: Work {
                title: summary.clone().unwrap_or_else(|| "Enquiry".to_owned()),
                message: text("/enquiry/message"),
                summary,
                priority: text("/qualification/priority"),
                request_type: text("/qualification/request_type"),
                amount: text("/qualification/budget"),
            },
        }
    }
}

/// Whose a phone number is: with its country's code, one contact's however it is written. Without, it may be another's in
/// another country: the contact is this enquiry's alone.
pub(super) fn of_phone(phone: &str, enquiry: &str) -> String {
    let digits: String = phone.chars().filter(char::is_ascii_digit).collect();
    let is_sure = phone.trim_start().starts_with('+') && digits.len() >= INTERNATIONAL_MIN;
    if is_sure { format!("+{digits}") } else { format!("{} of {enquiry}", phone.trim()) }
}

/// The fewest digits that a number with its country's code has: the shortest subscribers' numbers have four or five, behind a
/// code of three.
const INTERNATIONAL_MIN: usize = 7;
