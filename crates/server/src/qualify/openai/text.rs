//! What of an enquiry the model may read: its message and the form's further fields, as a reader would see them, bounded.
//!
//! The contact's own fields are not given: nothing about the request hangs on them. The whole message stays in the enquiry.

use std::collections::BTreeMap;

use domain::enquiry::{Contact, Fields};
use evidence::Facts;

use super::{addressed, html};

/// The most of a message that the model gets, in bytes of UTF-8: what is wanted stands at its beginning, and a small model
/// has room for few thousand tokens.
pub const MESSAGE_MAX: usize = 8 * 1024;
/// The most of one further field, in bytes, and the most fields.
const FIELD_MAX: usize = 500;
const FIELDS_MAX: usize = 20;

/// What is given to the model, and what is known of it.
pub(super) struct Given {
    /// The message, perhaps cut.
    pub(super) message: String,
    /// Further fields of the form, by their mapped names.
    pub(super) fields: BTreeMap<String, String>,
    /// Where it was cut, in bytes of the text a reader sees.
    pub(super) cut_at: Option<usize>,
    /// Everything that a fact may stand in: the whole text, uncut.
    pub(super) whole: String,
    /// The contact's own fields: a fact that repeats one is no invention.
    pub(super) contact: Contact,
    /// Why a person should look at whatever the model makes of this text.
    pub(super) suspect: Option<&'static str>,
    /// Invisible characters that were left out.
    removed: usize,
    /// Parts of an HTML text that no reader sees, left out.
    hidden: usize,
}

impl Given {
    pub(super) fn of(fields: &Fields) -> Self {
        let sent = fields.message.as_deref().unwrap_or_default();
        // Read whole, though the model gets its beginning only: tags may fill any beginning, a fact that repeats what stands
        // behind the cut is no invention, and a person reads all of it. So every pass here is linear.
        let seen = html::seen(sent);
        let (text, removed) = visible(&seen.text);
        let text = text.trim();
        let message = cut(text, MESSAGE_MAX);
        let further = fields.other.iter().take(FIELDS_MAX);
        let further: BTreeMap<String, String> =
            further.map(|(name, value)| (name.clone(), cut(&visible(value).0, FIELD_MAX).to_owned())).collect();
        let mut whole = text.to_owned();
        for value in fields.other.values() {
            whole.push('\n');
            whole.push_str(&visible(value).0);
        }
        let suspect = if seen.hidden > 0 {
            Some("its text has parts that no reader sees: look at the result before it counts")
        } else {
            addressed::to_the_model(&whole).then_some("its text speaks to the model: look at the result before it counts")
        };
        Self {
            cut_at: (message.len() < text.len()).then_some(message.len()),
            message: message.to_owned(),
            fields: further,
            whole,
            contact: fields.contact.clone(),
            suspect,
            removed,
            hidden: seen.hidden,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.message.is_empty() && self.fields.values().all(|value| value.trim().is_empty())
    }

    /// What the journal may know of it.
    pub(super) fn facts(&self) -> Facts {
        let some = |count: usize| (count > 0).then_some(count);
        Facts::new()
            .maybe("cut_at_bytes", self.cut_at)
            .maybe("invisible_characters", some(self.removed))
            .maybe("hidden_parts", some(self.hidden))
    }
}

/// At most so many bytes, cut between characters, and not inside of one that is joined from several (an emoji family, a
/// letter with its accents).
pub(super) fn cut(text: &str, bytes_max: usize) -> &str {
    let mut end = text.floor_char_boundary(bytes_max);
    if end == text.len() {
        return text;
    }
    // What is joined is short; a text made to have no end of it is cut where it must be.
    for _ in 0..16 {
        let joins_on = text[end..].chars().next().is_some_and(joins);
        let (at, last) = text[..end].char_indices().next_back().unwrap_or((0, ' '));
        if end == 0 || !(joins_on || last == '\u{200D}') {
            break;
        }
        end = at;
    }
    &text[..end]
}

/// Whether a character belongs to the one before it.
fn joins(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36F}' | '\u{200D}' | '\u{20D0}'..='\u{20F0}' | '\u{FE00}'..='\u{FE0F}' | '\u{1F3FB}'..='\u{1F3FF}')
}

/// The text without what no reader sees, and how many characters that were. The joiners of emoji and of Persian stay, and so
/// do marks of direction that change no order.
pub(super) fn visible(text: &str) -> (String, usize) {
    let mut removed = 0;
    let kept = text.chars().filter(|&c| {
        let goes = is_invisible(c);
        removed += usize::from(goes);
        !goes
    });
    (kept.collect(), removed)
}

fn is_invisible(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t' | '\r'))
        || matches!(c,
            '\u{AD}' | '\u{200B}' | '\u{2060}'..='\u{2064}' | '\u{FEFF}'     // zero width
            | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}'              // other order than written
            | '\u{FFF9}'..='\u{FFFB}'                                        // annotations
            | '\u{E0000}'..='\u{E007F}' | '\u{E0100}'..='\u{E01EF}') // tags and selectors: whole texts were hidden in them
}

/// One line: white space collapsed, nothing invisible, at most so many characters.
pub(super) fn line(text: &str, chars_max: usize) -> String {
    let line = visible(text).0.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= chars_max {
        return line;
    }
    let mut short: String = line.chars().take(chars_max.saturating_sub(1)).collect();
    short.truncate(short.trim_end().len());
    short.push('…');
    short
}
