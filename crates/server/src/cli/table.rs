//! How records look on a terminal: tables that fit a page, instants, spans, and texts that strangers sent.
//!
//! What a stranger sent is shown, never obeyed: nothing of it may move the cursor, colour or reorder what stands around
//! it, or begin a line that looks like ours. JSON is left as it is: its reader is a program.

use std::io::Write;

use comfy_table::{ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, presets};
use serde::Serialize;

use super::CliError;
use crate::views::At;

/// What everything fits.
pub(super) const WIDTH: u16 = 100;

/// A line under the header and nothing else: rows are read across, and copied from.
const STYLE: TableStyle = presets::NOTHING.header_separator(LineStyle::none().fill('─').junction('─'));

/// Leading columns are not broken up to here: an instant, a key of usual length, an id.
pub(super) const WHOLE_MAX: usize = 46;

/// The lines of a table, each `indent` to the right. The first `whole` columns stay in one piece where that leaves room
/// for the others; the rest is wrapped, since what was cut off could not be copied.
pub(super) fn table(indent: u16, whole: usize, header: &[&str], rows: Vec<Vec<String>>) -> Vec<String> {
    let mut table = Table::new();
    table.load_style(STYLE).set_content_arrangement(ContentArrangement::Dynamic).set_width(WIDTH - indent);
    table.set_header(header.iter().copied());
    for row in rows {
        table.add_row(row.iter().map(|cell| cell.split('\n').map(one_line).collect::<Vec<_>>().join("\n")));
    }
    for column in table.column_iter_mut() {
        // The style itself puts a blank between columns; one more keeps words apart.
        column.set_padding((0, 1));
    }
    let widths = table.column_max_content_widths();
    for (column, _) in table.column_iter_mut().zip(widths).take(whole).filter(|(_, width)| usize::from(*width) <= WHOLE_MAX) {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
    let margin = " ".repeat(usize::from(indent));
    table.lines().map(|line| format!("{margin}{}", line.trim_end())).collect()
}

/// Prints lines for a person.
pub(super) fn print(out: &mut dyn Write, lines: &[String]) -> Result<(), CliError> {
    for line in lines {
        writeln!(out, "{}", one_line(line))?;
    }
    Ok(())
}

/// Prints one JSON object for a program.
pub(super) fn print_json(out: &mut dyn Write, value: &impl Serialize) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(value).map_err(|e| CliError::Said(format!("the records cannot be written as JSON: {e}")))?;
    writeln!(out, "{text}")?;
    Ok(())
}

/// A text on one line, without what a terminal would act on.
pub(super) fn one_line(text: &str) -> String {
    let shown = |c: char| match c {
        c if c.is_whitespace() => ' ',
        // Marks that change the direction of what follows could make one id look like another.
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c if c.is_control() => '\u{fffd}',
        c => c,
    };
    text.chars().map(shown).collect()
}

/// At most `most` characters of a text, on one line.
pub(super) fn clipped(text: &str, most: usize) -> String {
    let line = one_line(text.trim());
    if line.chars().count() <= most {
        return line;
    }
    line.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// `2026-03-02 09:15`, in UTC.
pub(super) fn minute(at: At) -> String {
    cut(at, 16)
}

/// `2026-03-02 09:15:04.120`, in UTC.
pub(super) fn instant(at: At) -> String {
    cut(at, 23)
}

fn cut(at: At, length: usize) -> String {
    at.to_string().chars().take(length).map(|c| if c == 'T' { ' ' } else { c }).collect()
}

/// A span as a person says it: `850 ms`, `1.2 s`, `4 min`, `2 h 5 min`, `3 d 4 h`.
pub(super) fn span(ms: i64) -> String {
    let (s, min, h) = (ms / 1000, ms / 60_000, ms / 3_600_000);
    let two = |whole: i64, unit: &str, rest: i64, part: &str| match rest {
        0 => format!("{whole} {unit}"),
        rest => format!("{whole} {unit} {rest} {part}"),
    };
    match (h, min, s) {
        (24.., ..) => two(h / 24, "d", h % 24, "h"),
        (1.., ..) => two(h, "h", min % 60, "min"),
        (_, 1.., _) => format!("{min} min"),
        (_, _, 1..) => format!("{s}.{} s", ms % 1000 / 100),
        _ => format!("{ms} ms"),
    }
}

#[cfg(test)]
mod tests {
    use domain::time::UtcMs;

    use super::*;

    #[test]
    fn instants_are_short_and_utc() {
        let at = At(UtcMs(1_772_442_904_120));
        assert_eq!((minute(at).as_str(), instant(at).as_str()), ("2026-03-02 09:15", "2026-03-02 09:15:04.120"));
    }

    #[test]
    fn spans_are_said_in_two_units_at_most() {
        let said = [0, 850, 1_249, 59_999, 240_000, 7_500_000, 7_200_000, 273_600_000].map(span);
        assert_eq!(said, ["0 ms", "850 ms", "1.2 s", "59.9 s", "4 min", "2 h 5 min", "2 h", "3 d 4 h"]);
    }

    #[test]
    fn what_a_stranger_sent_is_shown_and_not_obeyed() {
        assert_eq!(one_line("a\u{1b}[2Jb\nEffects\tc\u{9b}\u{202e}d"), "a\u{fffd}[2Jb Effects c\u{fffd}\u{fffd}d");
        assert_eq!(clipped("  a long message\nof two lines ", 12), "a long mess…");
        let lines = table(0, 1, &["key"], vec![vec!["a\u{1b}[31m".to_owned()]]);
        assert_eq!(lines[2], "a\u{fffd}[31m");
    }

    #[test]
    fn a_table_fits_its_page_and_loses_nothing() {
        let long = "website:submission:".to_owned() + &"0123456789".repeat(12);
        let lines = table(4, 2, &["when", "key", "state"], vec![vec!["2026-03-02 09:15".to_owned(), long.clone(), "settled".to_owned()]]);
        assert!(lines.iter().all(|line| line.chars().count() <= usize::from(WIDTH)), "{lines:#?}");
        assert!(lines.iter().all(|line| line.starts_with("    ")), "{lines:#?}");
        let text: String = lines[2..].concat().split_whitespace().filter(|word| !word.contains('-') && *word != "settled").collect();
        assert!(text.contains(&long[..30]), "{lines:#?}");
        assert!(lines[2].contains("2026-03-02 09:15"));
    }
}
