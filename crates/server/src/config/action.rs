//! `[[action]]`: what is done for an enquiry, on which target, when, and behind which doors.
//!
//! `when` is only measured here; compiling it is the engine's.

use std::path::Path as FilePath;

use super::section::Section;
use super::target::Target;
use super::units::{Allowance, Period};

/// The longest `when`, in bytes.
const WHEN_MAX: usize = 1_024;
/// What outward messages wait for unless their action says otherwise.
const OUTWARD_WHEN: &str = "qualification.qualified && enquiry.contact.email != null";

/// What a message says where its action brings no text.
const OUTWARD_TEXT: &str = "\
Hello{% if enquiry.contact.name %} {{ enquiry.contact.name }}{% endif %},

thank you for your enquiry. We have it on record and will come back to you shortly.
";
const OUTWARD_SUBJECT: &str = "Your enquiry";

/// An `[[action]]`, its defaults filled in.
#[derive(Clone, Debug)]
pub struct Action {
    /// Its name, part of every effect's identity.
    pub name: String,
    /// The target's name.
    pub target: String,
    /// Whose it is; its target's, where it does not say.
    pub client: Option<String>,
    /// Actions that must be done first.
    pub after: Vec<String>,
    /// The condition, in CEL over `enquiry` and `qualification`; always, where there is none.
    pub when: Option<String>,
    /// What a qualification in review does to it.
    pub review: OnReview,
    /// The brake per address.
    pub per_address: Option<Allowance>,
    /// How long after the original event it may still be done.
    pub not_after: Option<Period>,
    /// The template of a message's text.
    pub text: Option<String>,
    /// The template of a message's subject; the template file's own, where the action has none.
    pub subject: Option<String>,
}

/// What a qualification in review does to an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnReview {
    /// It is held.
    Hold,
    /// Nothing.
    Ignore,
}

impl Action {
    /// `targets` decide the defaults; `base` is where a template's path begins.
    pub(super) fn read(section: &Section<'_>, targets: &[Target], base: &FilePath) -> Self {
        section.needs("name", "effects and the console call it by it");
        section.needs("target", "name the target it is done on");
        let target = section.text("target").unwrap_or_default();
        let on = targets.iter().find(|t| t.name == target && t.is_readable);
        let is_outward = on.is_some_and(Target::is_outward);
        if on.is_some() && !is_outward {
            section.misplaced(&["template", "text", "subject"], "only an action that sends a message has it");
        }
        let words = words(section, base);
        let text = words.text.or_else(|| is_outward.then(|| OUTWARD_TEXT.to_owned()));
        let subject = section.text("subject").or(words.subject).or_else(|| is_outward.then(|| OUTWARD_SUBJECT.to_owned()));
        let when = section.parsed_by("when", when).or_else(|| is_outward.then(|| OUTWARD_WHEN.to_owned()));
        let review = section.choice("review", &[("hold", OnReview::Hold), ("ignore", OnReview::Ignore)]);
        Self {
            name: section.name("name").unwrap_or_default(),
            client: section.name("client"),
            after: section.each("after", |name| Ok(name.to_owned())),
            when,
            review: review.unwrap_or(if is_outward { OnReview::Hold } else { OnReview::Ignore }),
            per_address: section.parsed("per_address").or_else(|| is_outward.then_some(PER_ADDRESS)),
            not_after: section.parsed("not_after").or_else(|| is_outward.then_some(PER_ADDRESS.within)),
            subject,
            text,
            target,
        }
    }
}

/// Three in a day.
const PER_ADDRESS: Allowance = Allowance { count: 3, within: Period::secs(24 * 3_600) };

fn when(text: &str) -> Result<String, String> {
    match text.len() {
        0 => Err("`when` is empty: write a condition, or leave it out for always".to_owned()),
        1..=WHEN_MAX => Ok(text.to_owned()),
        len => Err(format!("`when` has {len} bytes, and {WHEN_MAX} are the most: say it more briefly")),
    }
}

/// What a message says, as far as its action brings it.
#[derive(Default)]
struct Words {
    subject: Option<String>,
    text: Option<String>,
}

/// The text given in place, or the template file's.
fn words(section: &Section<'_>, base: &FilePath) -> Words {
    let text = section.text("text");
    let template = section.text("template");
    if let (Some(_), Some(_)) = (&text, &template) {
        section.problem("text", "there are two texts: keep `template` or `text`");
    }
    let Some(template) = template else { return Words { subject: None, text } };
    let path = base.join(&template);
    match std::fs::read_to_string(&path) {
        Ok(file) => subject_and_text(&file),
        Err(e) => {
            section.problem("template", format!("the template {} cannot be read ({e}): create it, or mend the path", path.display()));
            Words::default()
        }
    }
}

/// A file may begin as a mail does: a line `Subject: …`, an empty line, and then the text.
fn subject_and_text(file: &str) -> Words {
    let file = file.strip_prefix('\u{FEFF}').unwrap_or(file);
    let headed = file.split_once('\n').and_then(|(first, rest)| {
        let subject = first.trim_end().strip_prefix("Subject:")?.trim();
        let text = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n'))?;
        (!subject.is_empty()).then(|| Words { subject: Some(subject.to_owned()), text: Some(text.to_owned()) })
    });
    headed.unwrap_or_else(|| Words { subject: None, text: Some(file.to_owned()) })
}
