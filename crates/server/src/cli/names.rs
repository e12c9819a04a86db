//! The names by which a person calls an enquiry: those of the book, and a provider's bare id, as a sender would say it.

use domain::identity::{Basis, Key};
use domain::time::UtcMs;

use super::CliError;
use crate::config::Config;
use crate::views::{DossierView, Reader};

/// What the book's own ids begin with.
const IDS: [&str; 5] = ["enq_", "dlv_", "eff_", "rev_", "run_"];

/// The keys that a bare id may stand for: the submission of that id, of every configured source. None for what is a key
/// or one of our ids already.
pub(super) fn meant(config: &Config, name: &str) -> Vec<String> {
    if Key::parse(name).is_some() || IDS.iter().any(|prefix| name.starts_with(prefix)) {
        return Vec::new();
    }
    let mut keys = Vec::new();
    for source in &config.sources {
        let whole = Key::new(source.id.clone(), Basis::Submission, vec![name.to_owned()]).to_string();
        // As it stands in a key: `lead_77~2`, and an id of several parts.
        let written = format!("{}:submission:{name}", source.id);
        keys.extend((written != whole).then_some(written));
        keys.push(whole);
    }
    keys
}

/// Everything about the enquiries that a name leads to; where it leads to none, those that it may stand for.
pub(super) async fn called(config: &Config, reader: &Reader, name: &str, now: UtcMs) -> Result<Vec<DossierView>, CliError> {
    let mut found = reader.show(name, now).await?;
    if found.is_empty() {
        for key in meant(config, name) {
            found.extend(reader.show(&key, now).await?);
        }
    }
    Ok(found)
}

/// A name that leads nowhere, what else was tried, and which names lead somewhere.
pub(super) fn nothing_called(config: &Config, name: &str, program: &str) -> CliError {
    let meant = meant(config, name);
    let tried = if meant.is_empty() { String::new() } else { format!(", nor {}", meant.join(" or ")) };
    CliError::Said(format!(
        "nothing in the book is called '{name}'{tried}. Names are an enquiry's id (enq_…), a key (web:submission:lead_77) or the \
         submission's id in it (lead_77), the id of a delivery (dlv_…), an effect (eff_…) or a review item (rev_…), or a record's \
         id in a target (deal-7).\n\
         `{program} enquiries` lists the keys, `{program} deliveries` what arrived"
    ))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn config() -> Config {
        let text = "[[source]]\nname = \"web\"\n[[source]]\nname = \"ads\"\nid = \"ads-2024\"\n";
        Config::from_text(Path::new("oncebook.toml"), text, &|_| None).unwrap()
    }

    #[test]
    fn a_bare_id_may_be_a_submission_of_any_source() {
        assert_eq!(meant(&config(), "lead_77"), ["web:submission:lead_77", "ads-2024:submission:lead_77"]);
        assert!(meant(&config(), "lead_77~2").contains(&"web:submission:lead_77~2".to_owned()));
        for own in ["web:submission:lead_77", "enq_1", "dlv_1", "rev_1"] {
            assert_eq!(meant(&config(), own), [""; 0], "{own}");
        }
    }

    #[test]
    fn a_name_that_leads_nowhere_says_what_was_tried_and_what_works() {
        let said = nothing_called(&config(), "lead_78", "oncebook").to_string();
        for part in ["'lead_78', nor web:submission:lead_78 or ads-2024:submission:lead_78", "enq_", "dlv_", "`oncebook enquiries`"] {
            assert!(said.contains(part), "{part} in {said}");
        }
    }
}
