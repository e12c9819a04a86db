//! The qualifier `rules/1`: the embedded default, small and deterministic. It counts words; it understands nothing.
//!
//! Each result can be explained: [`read`] names the words of [`tables`] that decided. Amounts and contact facts are found
//! by [`found`], the line for people by [`summary`].

mod found;
mod summary;
mod tables;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use domain::enquiry::{Fields, Priority, Qualification};

use self::tables::{AUTO, JOB, SALES, SPAM, SPAM_HINTS, SUPPORT, UNHURRIED, URGENT};
use super::{Qualified, Qualifier, QualifyError};

/// More of a message is not read: what an enquiry is about stands at its beginning.
const READ_MAX: usize = 20_000;

/// The qualifier `rules`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules;

#[async_trait]
impl Qualifier for Rules {
    fn name(&self) -> String {
        "rules/1".to_owned()
    }

    async fn qualify(&self, fields: &Fields) -> Result<Qualified, QualifyError> {
        Ok(read(fields).0.into())
    }
}

/// The qualification, and why: each reason names a rule and, where one decided, the word of its table. No reason holds
/// anything of the enquiry itself.
pub fn read(fields: &Fields) -> (Qualification, Vec<String>) {
    let message = fields.message.as_deref().map_or("", |message| cut(message.trim(), READ_MAX));
    let words = words(message);
    let has_message = !words.trim().is_empty();
    let has_contact = fields.contact.email.is_some() || fields.contact.phone.is_some();
    let mut reasons = Vec::new();

    let (request_type, is_auto) = typed(&words, message, &mut reasons);
    let priority = hurry(&words, &mut reasons);
    let budget = found::amount(message);
    for (is_so, reason) in
        [(!has_message, "no message"), (!has_contact, "no address and no phone"), (budget.is_some(), "an amount is named")]
    {
        if is_so {
            reasons.push(reason.to_owned());
        }
    }
    let qualification = Qualification {
        request_type: request_type.to_owned(),
        priority,
        summary: summary::line(message).unwrap_or_else(|| summary::of_contact(&fields.contact)),
        qualified: has_contact && has_message && !is_auto && !matches!(request_type, "spam" | "job"),
        confidence: match request_type {
            "spam" => 0.9,
            _ if !has_message || !has_contact => 0.5,
            "sales" => 0.9,
            _ => 0.8,
        },
        budget,
        contact_facts: found::contact_facts(message),
        unsupported: Vec::new(),
        reply_draft: None,
    };
    (qualification, reasons)
}

/// What is wanted, and whether a machine wrote it. The order is the rule: a machine's answer quotes anything, and an
/// application or a complaint may speak of prices.
fn typed(words: &str, message: &str, reasons: &mut Vec<String>) -> (&'static str, bool) {
    if said(words, AUTO, "automatic", reasons) {
        return ("other", true);
    }
    let hints = SPAM_HINTS.iter().filter(|hint| begins_a_word(words, hint)).count();
    let hinted = hints >= 2 && message.contains("http");
    if hinted {
        reasons.push("spam: two hints and a link".to_owned());
    }
    if hinted || said(words, SPAM, "spam", reasons) {
        return ("spam", false);
    }
    for (kind, table) in [("job", JOB), ("support", SUPPORT), ("sales", SALES)] {
        if said(words, table, kind, reasons) {
            return (kind, false);
        }
    }
    ("other", false)
}

fn hurry(words: &str, reasons: &mut Vec<String>) -> Priority {
    if said(words, UNHURRIED, "low priority", reasons) {
        Priority::Low
    } else if said(words, URGENT, "high priority", reasons) {
        Priority::High
    } else {
        Priority::Normal
    }
}

/// Whether one of the table's words is said; it becomes the reason.
fn said(words: &str, table: &[&str], rule: &str, reasons: &mut Vec<String>) -> bool {
    let word = table.iter().find(|word| begins_a_word(words, word));
    reasons.extend(word.map(|word| format!("{rule}: \"{}\"", word.trim())));
    word.is_some()
}

fn begins_a_word(words: &str, word: &str) -> bool {
    words.match_indices(word).any(|(at, _)| words[..at].ends_with(' '))
}

/// Lower-cased words, a space before and after each: `Can't log-in!` is ` can t log in `.
fn words(text: &str) -> String {
    let mut words = String::from(" ");
    for c in text.chars() {
        if c.is_alphanumeric() {
            words.extend(c.to_lowercase());
        } else if !words.ends_with(' ') {
            words.push(' ');
        }
    }
    if !words.ends_with(' ') {
        words.push(' ');
    }
    words
}

/// At most so many bytes, cut between characters.
fn cut(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}
