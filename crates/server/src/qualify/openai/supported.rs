//! Whether a fact that the model named stands in the enquiry. What does not is an invention, or came from elsewhere.
//!
//! Compared as a person would: the case of letters, white space, and the punctuation of a phone number do not count. A part
//! of a word, of an address or of a number does not stand there.

use unicode_normalization::UnicodeNormalization as _;

use super::text::visible;

/// What kind of fact it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Email,
    Phone,
    /// A name, a company, an amount: words as they stand.
    Words,
}

/// Fewer digits are no phone number.
const DIGITS_MIN: usize = 5;
/// What stands for a number has at most so many digits more than it: `00`, and a `0` or two that may be left out.
const MORE_DIGITS: usize = 4;
/// A number is written in at most so many groups: 15 digits (E.164) one by one, `00` before and `(0)` between, and some more.
const GROUPS_MAX: usize = 20;

/// Whether the text has it.
pub(super) fn stands(kind: Kind, fact: &str, text: &str) -> bool {
    match kind {
        Kind::Email => {
            let (fact, text) = (folded(fact), folded(text));
            // A character that may belong to an address would make it another one.
            let part = |c: char| c.is_alphanumeric() || "._%+-@".contains(c);
            fact.contains('@')
                && places(&fact, &text).any(|(before, after)| {
                    let goes_on = after.strip_prefix('.').unwrap_or(after);
                    !before.ends_with(part) && !goes_on.starts_with(|c: char| c.is_alphanumeric() || "_%+-@".contains(c))
                })
        }
        Kind::Phone => phone(fact, text),
        Kind::Words => {
            let (fact, text) = (folded(fact), folded(text));
            let (begins, ends) = (fact.starts_with(char::is_alphanumeric), fact.ends_with(char::is_alphanumeric));
            places(&fact, &text).any(|(before, after)| {
                let inside = begins && before.ends_with(char::is_alphanumeric) || ends && after.starts_with(char::is_alphanumeric);
                !inside
            })
        }
    }
}

/// Every place of the fact: what stands before it and behind it.
fn places<'t>(fact: &'t str, text: &'t str) -> impl Iterator<Item = (&'t str, &'t str)> {
    text.match_indices(fact).filter(|(_, fact)| !fact.is_empty()).map(|(at, fact)| (&text[..at], &text[at + fact.len()..]))
}

/// Composed, visible, in small letters, one space between words.
fn folded(text: &str) -> String {
    let composed: String = visible(text).0.nfc().collect();
    composed.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether some groups of digits that stand side by side make the number. What is looked at from one group on is bounded, so
/// the work grows with the text and no faster, whatever a stranger writes.
fn phone(fact: &str, text: &str) -> bool {
    let wanted: String = fact.chars().filter_map(digit).collect();
    let wanted = international(&wanted);
    if wanted.len() < DIGITS_MIN {
        return false;
    }
    let text = visible(text).0;
    let punctuation = |c: char| digit(c).is_none() && !c.is_whitespace() && !"+-–()/.".contains(c);
    text.split(punctuation).any(|run| {
        let groups: Vec<&str> = run.split(|c| digit(c).is_none()).filter(|group| !group.is_empty()).collect();
        (0..groups.len()).any(|from| begins(&groups[from..groups.len().min(from + GROUPS_MAX)], wanted))
    })
}

/// Whether the first of these groups make the number. A `0` by itself, as in `+49 (0) 30`, may be left out.
fn begins(groups: &[&str], wanted: &str) -> bool {
    let digits_max = wanted.len() + MORE_DIGITS;
    let (mut all, mut short) = (String::new(), String::new());
    for group in groups {
        let before = all.len();
        all.extend(group.chars().filter_map(digit).take(digits_max + 1));
        if all.len() > digits_max {
            return false;
        }
        if all[before..] != *"0" {
            short.push_str(&all[before..]);
        }
        if [&all, &short].into_iter().any(|digits| digits == wanted || international(digits) == wanted) {
            return true;
        }
    }
    false
}

/// `0049…` is `+49…`.
fn international(digits: &str) -> &str {
    digits.strip_prefix("00").unwrap_or(digits)
}

/// A decimal digit, also as Arabic and Persian write it, or of full width.
fn digit(c: char) -> Option<char> {
    let zero = match c {
        '0'..='9' => return Some(c),
        '\u{660}'..='\u{669}' => 0x660,
        '\u{6F0}'..='\u{6F9}' => 0x6F0,
        '\u{FF10}'..='\u{FF19}' => 0xFF10,
        _ => return None,
    };
    char::from_digit(u32::from(c) - zero, 10)
}
