//! A name that a person types and the book does not know: what else was tried, and which names lead somewhere.

use super::CliError;
use crate::config::Config;
use crate::views::meant;

/// The ids of the configured sources, as keys carry them.
pub(super) fn source_ids(config: &Config) -> Vec<String> {
    config.sources.iter().map(|source| source.id.clone()).collect()
}

/// A name that leads nowhere, what else was tried, and which names lead somewhere.
pub(super) fn nothing_called(config: &Config, name: &str, program: &str) -> CliError {
    let meant = meant(&source_ids(config), name);
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
    fn a_name_that_leads_nowhere_says_what_was_tried_and_what_works() {
        let said = nothing_called(&config(), "lead_78", "oncebook").to_string();
        for part in ["'lead_78', nor web:submission:lead_78 or ads-2024:submission:lead_78", "enq_", "dlv_", "`oncebook enquiries`"] {
            assert!(said.contains(part), "{part} in {said}");
        }
    }
}
