//! One line for people: the message's first sentence, or whom the enquiry is from.

use domain::enquiry::Contact;

/// The longest line, in characters, its `…` included.
const CHARS_MAX: usize = 80;

const GREETINGS: &[&str] =
    &["hi", "hello", "hey", "dear", "good morning", "good day", "hallo", "guten tag", "sehr geehrte", "liebe", "moin"];

/// The first line that is no greeting, up to the end of its first sentence; `None` if nothing readable stands there.
pub(super) fn line(message: &str) -> Option<String> {
    let lines = || message.lines().map(shown).filter(|line| line.chars().any(char::is_alphanumeric));
    let line = lines().find(|line| !is_greeting(line)).or_else(|| lines().next())?;
    let end = line.match_indices(['.', '!', '?']).map(|(at, mark)| at + mark.len()).find(|&end| line[end..].starts_with(' '));
    Some(shortened(line.get(..end.unwrap_or(line.len())).unwrap_or(&line)))
}

/// Where there is no message.
pub(super) fn of_contact(contact: &Contact) -> String {
    let from = [&contact.name, &contact.email, &contact.phone].into_iter().flatten().map(|text| shown(text)).find(|text| !text.is_empty());
    shortened(&from.map_or_else(|| "Enquiry".to_owned(), |from| format!("Enquiry from {from}")))
}

/// Without what moves or hides the text around it: controls, and the marks that turn its direction.
fn shown(text: &str) -> String {
    let hidden =
        |c: char| c.is_control() || matches!(c, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}');
    let kept: String = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).filter(|&c| !hidden(c)).collect();
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_greeting(line: &str) -> bool {
    let lower = line.to_lowercase();
    let greets = GREETINGS.iter().any(|greeting| lower.strip_prefix(greeting).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)));
    // `Hi, I need a quote for ten chairs` is the message itself.
    greets && (lower.split_whitespace().count() <= 4 || lower.ends_with(',')) && !lower.ends_with('?')
}

fn shortened(line: &str) -> String {
    match line.char_indices().nth(CHARS_MAX) {
        None => line.to_owned(),
        Some(_) => line.chars().take(CHARS_MAX - 1).chain(['…']).collect(),
    }
}
