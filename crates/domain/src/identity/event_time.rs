//! The original event time, read from what providers write: ISO 8601, mail dates, Unix numbers.
//!
//! Only what names exactly one meaning is read. A zone name that several countries use (`CET` after a mail date is fine
//! as a comment, not as the offset), a number of an unusual length or a day/month order that has to be guessed is
//! [`EventTime::Unreadable`]: quarantine can be replayed, a wrong instant has already forked the key. Our own instants
//! are `crate::time`'s business.

use jiff::Timestamp;
use jiff::civil::{DateTime, Time};
use jiff::fmt::rfc2822;
use jiff::fmt::temporal::Pieces;
use jiff::tz::{TimeZone, TimeZoneDatabase};

/// No event of ours is older than this. What claims to be is the "no value" of some language or database (Unix 0, year
/// 1, year 0), and must not become an identity that all its carriers share.
const YEAR_MIN: i16 = 1971;

/// 1971-01-01T00:00:00Z in Unix seconds, for times that came with an offset.
const INSTANT_MIN_S: i64 = 365 * 86_400;

/// How fine a written time is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// A second, or a part of one.
    Second,
    /// A minute or an hour.
    Minute,
    /// A calendar day.
    Day,
}

impl Precision {
    /// Whether two events of one person may well share such a time.
    pub fn is_coarse(self) -> bool {
        self != Self::Second
    }
}

/// What a written time says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventTime {
    /// One instant.
    Instant {
        /// The instant.
        at: Timestamp,
        /// How fine it was written.
        precision: Precision,
    },
    /// A local time that names no offset; a day is its midnight.
    Local {
        /// The local time.
        at: DateTime,
        /// How fine it was written.
        precision: Precision,
    },
    /// No time in a form we read.
    Unreadable,
}

impl EventTime {
    /// Reads a leaf's text; numbers come as the text they were sent as.
    pub fn read(text: &str) -> Self {
        let text = text.trim();
        let is_number = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        // A number is a Unix time or nothing: as ISO 8601, `20260302` would be a day, and an order number a date.
        let read = if is_number { unix(text) } else { iso(text).or_else(|| mail_date(text)) };
        read.filter(Self::is_plausible).unwrap_or(Self::Unreadable)
    }

    fn is_plausible(&self) -> bool {
        match self {
            Self::Instant { at, .. } => at.as_second() >= INSTANT_MIN_S,
            Self::Local { at, .. } => at.year() >= YEAR_MIN,
            Self::Unreadable => false,
        }
    }
}

/// The text of an instant that all equal instants share: UTC, no trailing zeros in the fraction.
pub fn instant_text(at: Timestamp) -> String {
    at.to_string()
}

/// The text of a local time in a zone, and whether the time is ambiguous there.
///
/// Where the clock went back the local time stands for two instants, where it went forward for none. Choosing one would
/// be a guess, so the text then is the local time itself and its zone: equal local texts stay equal. A day is no
/// instant in any zone and is never ambiguous.
pub fn local_text(at: DateTime, precision: Precision, zone: &TimeZone) -> (String, bool) {
    let name = zone.iana_name().unwrap_or_default();
    if precision == Precision::Day {
        return (format!("{}[{name}]", at.date()), false);
    }
    match zone.to_ambiguous_timestamp(at).unambiguous() {
        Ok(instant) => (instant_text(instant), false),
        Err(_) => (format!("{at}[{name}]"), true),
    }
}

/// The zone of that IANA name, from the data built into this binary: what the host has installed must not move keys.
/// `Etc/Unknown` is no zone (it would pass for UTC).
pub fn zone(name: &str) -> Option<TimeZone> {
    TimeZoneDatabase::bundled().get(name).ok().filter(|zone| zone.iana_name().is_some())
}

/// Unix time: its length says seconds (10 digits), milliseconds (13) or microseconds (16); from 2001 to 2286 these
/// lengths cannot be confused.
fn unix(text: &str) -> Option<EventTime> {
    let (whole, fraction) = match text.split_once('.') {
        Some((_, fraction)) if fraction.is_empty() || fraction.contains('.') => return None,
        Some(halves) => halves,
        None => (text, ""),
    };
    let places = match whole.len() {
        10 => 9,
        13 => 6,
        16 => 3,
        _ => return None,
    };
    if whole.starts_with('0') {
        return None;
    }
    // The digits of the count in nanoseconds, so that no float ever touches them.
    let fraction = fraction.chars().chain(std::iter::repeat('0')).take(places).collect::<String>();
    let nanoseconds = format!("{whole}{fraction}").parse::<i128>().ok()?;
    let at = Timestamp::from_nanosecond(nanoseconds).ok()?;
    Some(EventTime::Instant { at, precision: Precision::Second })
}

/// ISO 8601 and RFC 3339, `T` or a space between day and time, with and without an offset.
fn iso(text: &str) -> Option<EventTime> {
    let text = within_nanoseconds(&offset_joined(text));
    let pieces = Pieces::parse(&text).ok()?;
    // An annotation (`[Europe/Berlin]`) beside an offset may contradict it, and without one replaces it: not read.
    if pieces.time_zone_annotation().is_some() {
        return None;
    }
    let Some(time) = pieces.time() else {
        let at = pieces.date().to_datetime(Time::midnight());
        return pieces.offset().is_none().then_some(EventTime::Local { at, precision: Precision::Day });
    };
    let at = pieces.date().to_datetime(time);
    let precision = clock_precision(&text);
    match pieces.to_numeric_offset() {
        Some(offset) => Some(EventTime::Instant { at: offset.to_timestamp(at).ok()?, precision }),
        None => Some(EventTime::Local { at, precision }),
    }
}

/// `… 09:15:04 UTC` and `… 09:15:04 +0000` (Ruby, SQL) as ISO 8601 has them: the offset directly behind the time.
fn offset_joined(text: &str) -> String {
    match text.rsplit_once(' ') {
        Some((time, "UTC" | "GMT" | "Z")) => format!("{time}Z"),
        Some((time, offset)) if offset.starts_with(['+', '-']) => format!("{time}{offset}"),
        _ => text.to_owned(),
    }
}

/// Cuts what stands behind the ninth digit of a fraction; some providers print ten and more.
fn within_nanoseconds(text: &str) -> String {
    let Some(point) = text.find(['.', ',']) else { return text.to_owned() };
    let (head, tail) = text.split_at(point + 1);
    let digits = tail.bytes().take_while(u8::is_ascii_digit).count();
    format!("{head}{}{}", &tail[..digits.min(9)], &tail[digits..])
}

/// Whether seconds were written: six digits before the fraction and the offset.
fn clock_precision(text: &str) -> Precision {
    let clock = text.split_once(['T', 't', ' ']).map_or("", |(_, clock)| clock);
    let digits = clock.chars().take_while(|c| c.is_ascii_digit() || *c == ':').filter(char::is_ascii_digit).count();
    if digits == 6 { Precision::Second } else { Precision::Minute }
}

/// The `Date` of a mail (RFC 2822). A wrong weekday is forgiven: the rest of the date still names one instant.
fn mail_date(text: &str) -> Option<EventTime> {
    let text = without_comments(text)?;
    let words: Vec<&str> = text.split_whitespace().collect();
    let zone = words.last()?;
    // RFC 2822 lets unknown zone names pass for UTC, so `10:15:04 CET` and `10:15:04 +0100` would be two events.
    let known = ["UT", "UTC", "GMT", "Z", "EST", "EDT", "CST", "CDT", "MST", "MDT", "PST", "PDT"];
    if !zone.starts_with(['+', '-']) && !known.iter().any(|name| name.eq_ignore_ascii_case(zone)) {
        return None;
    }
    let at = rfc2822::DateTimeParser::new().relaxed_weekday(true).parse_timestamp(words.join(" ")).ok()?;
    let precision = if text.matches(':').count() == 2 { Precision::Second } else { Precision::Minute };
    Some(EventTime::Instant { at, precision })
}

/// The text with every comment in parentheses, nested ones too, replaced by a space; `None` if they do not balance.
fn without_comments(text: &str) -> Option<String> {
    let (mut kept, mut depth, mut escaped) = (String::new(), 0_usize, false);
    for c in text.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if depth > 0 => escaped = true,
            '(' => {
                depth += 1;
                kept.push(' ');
            }
            ')' => depth = depth.checked_sub(1)?,
            _ if depth == 0 => kept.push(c),
            _ => {}
        }
    }
    (depth == 0).then_some(kept)
}

#[cfg(test)]
mod tests;
