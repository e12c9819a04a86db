//! The seeds that failed once: kept in `seeds.txt`, and run first from then on.

use std::fs::{OpenOptions, read_to_string};
use std::io::{self, Write as _};
use std::path::PathBuf;

/// Where they are kept.
pub fn file() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/seeds.txt"))
}

/// Every kept seed, with its number of events.
pub fn kept() -> Vec<(u64, u32)> {
    read(&read_to_string(file()).unwrap_or_default())
}

fn read(text: &str) -> Vec<(u64, u32)> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    let pairs = lines.filter_map(|line| line.split_once(' '));
    pairs.filter_map(|(seed, events)| Some((seed.trim().parse().ok()?, events.trim().parse().ok()?))).collect()
}

/// Keeps one more, with what was found, unless it is there.
pub fn keep(seed: u64, events: u32, found: &str) -> io::Result<()> {
    if kept().contains(&(seed, events)) {
        return Ok(());
    }
    let mut file = OpenOptions::new().append(true).create(true).open(file())?;
    writeln!(file, "{seed} {events} # {}", found.replace('\n', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_seed_and_its_events_and_the_rest_is_for_people() {
        assert_eq!(read("# head\n7 50 # I7: two\n\n8 3\nx y\n"), [(7, 50), (8, 3)]);
    }
}
