//! What stands in a message as written: the first amount of money, and addresses and phone numbers.
//!
//! Facts are hints for people, never recipients (I9).

/// More facts than this are a list, not a contact.
const FACTS_MAX: usize = 5;
/// Currencies, as they stand beside an amount. Longer ones first, so that `euro` is not read as `eur`.
const CURRENCIES: &[&str] =
    &["dollars", "dollar", "franken", "pounds", "euros", "euro", "pound", "eur", "usd", "gbp", "chf", "€", "$", "£"];
/// What multiplies an amount, right behind it.
const THOUSANDS: &[&str] = &["tsd.", "tsd", "k"];

/// The first amount with a currency, as written; `None` if the text names none.
pub(super) fn amount(text: &str) -> Option<String> {
    let mut from = 0;
    while let Some(start) = text[from..].find(|c: char| c.is_ascii_digit()).map(|at| from + at) {
        let digits_end = start + number_len(&text[start..]);
        let (before, after) = (&text[..start], &text[digits_end..]);
        let begin = start - currency_before(before);
        let end = digits_end + currency_after(after);
        if begin < start {
            let thousands = THOUSANDS.iter().find(|word| begins_with(after, word)).map_or(0, |word| word.len());
            return Some(text[begin..end.max(digits_end + thousands)].to_owned());
        }
        if end > digits_end && !before.ends_with(char::is_alphanumeric) {
            return Some(text[begin..end].to_owned());
        }
        from = digits_end;
    }
    None
}

/// The length of a number: digits, and between digits the marks that group them or span two of them.
fn number_len(text: &str) -> usize {
    let mut end = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next_is_digit = chars.peek().is_some_and(|(_, next)| next.is_ascii_digit());
        let groups = matches!(c, '.' | ',' | '\'' | '’' | '-' | '–') || (is_space(c) && is_group_of_three(&text[at + c.len_utf8()..]));
        if c.is_ascii_digit() {
            end = at + 1;
        } else if !(groups && next_is_digit) {
            break;
        }
    }
    end
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\u{A0}' | '\u{2009}' | '\u{202F}')
}

fn is_group_of_three(text: &str) -> bool {
    text.chars().take_while(char::is_ascii_digit).count() == 3
}

/// How many bytes of the text's end are a currency, with the space behind it.
fn currency_before(text: &str) -> usize {
    let trimmed = text.strip_suffix(is_space).unwrap_or(text);
    let found = CURRENCIES.iter().copied().find(|&currency| {
        let Some(rest) = trimmed.len().checked_sub(currency.len()).and_then(|at| Some((trimmed.get(..at)?, trimmed.get(at..)?))) else {
            return false;
        };
        rest.1.eq_ignore_ascii_case(currency) && !(currency.is_ascii() && currency != "$" && rest.0.ends_with(char::is_alphanumeric))
    });
    found.map_or(0, |currency| text.len() - trimmed.len() + currency.len())
}

/// How many bytes of the text's beginning are a currency, with what multiplies the amount.
fn currency_after(text: &str) -> usize {
    let skip = |text: &str| text.len() - text.strip_prefix(is_space).unwrap_or(text).len();
    let mut at = skip(text);
    if let Some(thousands) = THOUSANDS.iter().find(|word| begins_with(&text[at..], word)) {
        at += thousands.len();
        at += skip(&text[at..]);
    }
    let found = CURRENCIES.iter().find(|currency| begins_with(&text[at..], currency));
    found.map_or(0, |currency| at + currency.len())
}

/// Whether the text begins with that word, and the word ends there.
fn begins_with(text: &str, word: &str) -> bool {
    let ends = |rest: &str| word.ends_with(|c: char| !c.is_alphanumeric()) || !rest.starts_with(char::is_alphabetic);
    text.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word)) && ends(&text[word.len()..])
}

/// `email: …` and `phone: …`, in the text's order, each once.
pub(super) fn contact_facts(text: &str) -> Vec<String> {
    let mut facts: Vec<String> = Vec::new();
    for fact in addresses(text).map(|a| format!("email: {a}")).chain(phones(text).map(|p| format!("phone: {p}"))) {
        if facts.len() < FACTS_MAX && !facts.contains(&fact) {
            facts.push(fact);
        }
    }
    facts
}

fn addresses(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || c.is_control() || "<>()[]{},;:\"'|".contains(c))
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| {
            let Some((local, domain)) = word.split_once('@') else { return false };
            let tail = domain.rsplit_once('.').map_or("", |(_, tail)| tail);
            !local.is_empty() && word.len() <= 254 && tail.chars().count() >= 2 && !domain.contains('@') && !domain.starts_with('.')
        })
}

/// Runs of digits and phone punctuation that begin with `+` or `0`: with a `+` at least 7 digits, else 9, for a date has 8.
fn phones(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_digit() || is_space(c) || "+-()/.".contains(c)))
        .map(|run| run.trim_matches(|c: char| !(c.is_ascii_digit() || c == '+')))
        .filter(|run| {
            let digits = run.chars().filter(char::is_ascii_digit).count();
            (run.starts_with('+') && (7..=15).contains(&digits)) || (run.starts_with('0') && (9..=15).contains(&digits))
        })
}
