//! What a stranger sent, made fit to be looked at: nothing of it moves a cursor, colours, or reorders what stands around it.

/// The text with its lines, and every other control character shown as a sign: `␛` for escape, `<U+202E>` for a mark that
/// would turn the direction.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            // Unicode has a picture of each of these, in their order.
            '\0'..='\u{1f}' => shown.extend(char::from_u32(0x2400 + u32::from(c))),
            '\u{7f}' => shown.push('\u{2421}'),
            c if c.is_control() || turns(c) => shown.extend(format!("<U+{:04X}>", u32::from(c)).chars()),
            c => shown.push(c),
        }
    }
    shown
}

/// Marks that change the direction of what follows could make one id look like another.
fn turns(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2028}' | '\u{2029}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stay_and_what_a_terminal_would_obey_is_shown() {
        assert_eq!(visible("{\n\t\"a\": 1\r\n}"), "{\n\t\"a\": 1\u{240d}\n}");
        assert_eq!(visible("a\u{1b}[2J\0\u{7f}"), "a\u{241b}[2J\u{2400}\u{2421}");
        assert_eq!(visible("\u{9b}x\u{202e}y"), "<U+009B>x<U+202E>y");
        assert_eq!(visible("Zoë 椅子 <b>"), "Zoë 椅子 <b>");
    }
}
