//! The names by which a person calls an enquiry: those of the book, and a provider's bare id, as a sender would say it.

use domain::identity::{Basis, Key};
use domain::time::UtcMs;
use store::Error;

use super::{DossierView, Reader};

/// What the book's own ids begin with.
const IDS: [&str; 5] = ["enq_", "dlv_", "eff_", "rev_", "run_"];

/// The keys that a bare id may stand for: the submission of that id, of every source (by its id). None for what is a key or
/// one of our ids already.
pub fn meant(sources: &[String], name: &str) -> Vec<String> {
    if Key::parse(name).is_some() || IDS.iter().any(|prefix| name.starts_with(prefix)) {
        return Vec::new();
    }
    let mut keys = Vec::new();
    for source in sources {
        let whole = Key::new(source.clone(), Basis::Submission, vec![name.to_owned()]).to_string();
        // As it stands in a key: `lead_77~2`, and an id of several parts.
        let written = format!("{source}:submission:{name}");
        keys.extend((written != whole).then_some(written));
        keys.push(whole);
    }
    keys
}

/// The state or verdict that a person names, as records have it: what is printed as `look-alike` is written `look_alike`.
pub fn state_called(name: &str, states: &[&'static str]) -> Option<&'static str> {
    let same = |a: u8, b: u8| a == b || (a == b'-' && b == b'_');
    states.iter().copied().find(|state| state.len() == name.len() && name.bytes().zip(state.bytes()).all(|(a, b)| same(a, b)))
}

impl Reader {
    /// Everything about the enquiries that a name leads to ([`Reader::show`]); where it leads to none, those that it may
    /// stand for, under these sources.
    pub async fn called(&self, sources: &[String], name: &str, now: UtcMs) -> Result<Vec<DossierView>, Error> {
        let mut found = self.show(name, now).await?;
        if found.is_empty() {
            for key in meant(sources, name) {
                found.extend(self.show(&key, now).await?);
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_called_as_it_is_printed_and_as_it_is_written() {
        for name in ["look-alike", "look_alike"] {
            assert_eq!(state_called(name, &crate::views::VERDICTS), Some("look_alike"));
        }
        for name in ["lookalike", "look alike", "look-alik", "", "LOOK-ALIKE"] {
            assert_eq!(state_called(name, &crate::views::VERDICTS), None, "{name}");
        }
    }

    #[test]
    fn a_bare_id_may_be_a_submission_of_any_source() {
        let sources = ["web".to_owned(), "ads-2024".to_owned()];
        assert_eq!(meant(&sources, "lead_77"), ["web:submission:lead_77", "ads-2024:submission:lead_77"]);
        assert!(meant(&sources, "lead_77~2").contains(&"web:submission:lead_77~2".to_owned()));
        for own in ["web:submission:lead_77", "enq_1", "dlv_1", "rev_1"] {
            assert_eq!(meant(&sources, own), [""; 0], "{own}");
        }
    }
}
