//! Amounts as people write them: a span of time (`10m`), a size (`1MiB`), so many in a span (`3/24h`).
//!
//! No calendar units: a month has no fixed length, and every bound here is a fixed one.

use std::fmt;
use std::str::FromStr;

/// A span of time, kept in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Period(i64);

const UNITS: [(&str, i64); 5] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

impl Period {
    /// That many milliseconds; none below zero.
    pub fn from_ms(ms: i64) -> Self {
        Self(ms.max(0))
    }

    /// That many seconds.
    pub(super) const fn secs(secs: u32) -> Self {
        // `From` is not const, and a u32 of seconds fits without loss.
        #[expect(clippy::as_conversions, reason = "widening, in a const fn")]
        Self(secs as i64 * 1_000)
    }

    /// Milliseconds.
    pub fn ms(self) -> i64 {
        self.0
    }

    /// For timers.
    pub fn to_std(self) -> std::time::Duration {
        std::time::Duration::from_millis(u64::try_from(self.0).unwrap_or(0))
    }
}

impl FromStr for Period {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no span of time: write a whole number and a unit, such as 500ms, 5s, 10m, 24h or 7d");
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let unit = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?.1;
        number.parse::<i64>().ok().and_then(|n| n.checked_mul(unit)).map(Self).ok_or_else(wrong)
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, unit) = UNITS.iter().rev().find(|(_, unit)| self.0 != 0 && self.0 % unit == 0).unwrap_or(&UNITS[1]);
        write!(f, "{}{name}", self.0 / unit)
    }
}

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(usize);

impl Size {
    /// So many mebibytes.
    pub(super) const fn mib(count: usize) -> Self {
        Self(count << 20)
    }

    /// Bytes.
    pub fn bytes(self) -> usize {
        self.0
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no size: write a whole number and a unit, such as 65536B, 256KiB or 1MiB");
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let unit: usize = match unit {
            "B" => 1,
            "KiB" => 1 << 10,
            "MiB" => 1 << 20,
            _ => return Err(wrong()),
        };
        let bytes = number.parse::<usize>().ok().and_then(|n| n.checked_mul(unit)).filter(|&bytes| bytes > 0);
        bytes.map(Self).ok_or_else(wrong)
    }
}

/// At most so many within a span: the brake per address, a target's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// How many.
    pub count: u32,
    /// Within how long.
    pub within: Period,
}

impl Allowance {
    /// The least time between two, in ms, if they are spread evenly.
    pub fn spacing_ms(self) -> i64 {
        let count = i64::from(self.count).max(1);
        self.within.ms().saturating_add(count - 1) / count
    }
}

impl fmt::Display for Allowance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.count, self.within)
    }
}

impl FromStr for Allowance {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no allowance: write how many, a slash and a span, such as 3/24h or 10/s");
        let (count, within) = text.split_once('/').ok_or_else(wrong)?;
        let within = if UNITS.iter().any(|(unit, _)| *unit == within) { &format!("1{within}") } else { within };
        let count = count.parse().ok().filter(|&count| count > 0).ok_or_else(wrong)?;
        let within = within.parse::<Period>().ok().filter(|within| within.ms() > 0).ok_or_else(wrong)?;
        Ok(Self { count, within })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_and_written_in_their_largest_unit() {
        for (text, ms, shown) in
            [("500ms", 500, "500ms"), ("5s", 5_000, "5s"), ("600s", 600_000, "10m"), ("24h", 86_400_000, "1d"), ("0s", 0, "0s")]
        {
            let period: Period = text.parse().unwrap();
            assert_eq!((period.ms(), period.to_string().as_str()), (ms, shown));
        }
        for text in ["", "5", "s", "-5s", "1.5h", "5 s", "5S", "99999999999999d", "1mo"] {
            assert!(text.parse::<Period>().is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_and_allowances_are_read() {
        assert_eq!("1MiB".parse::<Size>().unwrap().bytes(), 1_048_576);
        assert_eq!("64KiB".parse::<Size>().unwrap().bytes(), 65_536);
        assert!(["1MB", "0B", "MiB", "1"].iter().all(|text| text.parse::<Size>().is_err()));
        assert_eq!("3/24h".parse(), Ok(Allowance { count: 3, within: Period::from_ms(86_400_000) }));
        assert_eq!("10/s".parse(), Ok(Allowance { count: 10, within: Period::from_ms(1_000) }));
        assert_eq!("3/s".parse::<Allowance>().unwrap().spacing_ms(), 334);
        assert!(["3", "0/24h", "3/0s", "3/day", "/1h"].iter().all(|text| text.parse::<Allowance>().is_err()));
    }
}
