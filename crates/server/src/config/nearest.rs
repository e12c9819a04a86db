//! The nearest of the names that exist, for a name that does not.

/// The candidate with the fewest edits, where that is few enough to be a slip.
pub(super) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (name.chars().count() / 3).clamp(1, 3);
    let ranked = candidates.into_iter().map(|candidate| (edits(&name.to_lowercase(), candidate), candidate));
    ranked.filter(|(edits, _)| *edits <= allowed).min().map(|(_, candidate)| candidate)
}

/// Levenshtein's distance, by rows.
pub(super) fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_finds_its_name_and_another_word_finds_none() {
        let known = ["listen", "public_url", "data_dir", "body_max"];
        assert_eq!(nearest("listn", known), Some("listen"));
        assert_eq!(nearest("Listen", known), Some("listen"));
        assert_eq!(nearest("data-dir", known), Some("data_dir"));
        assert_eq!(nearest("colour", known), None);
    }
}
