//! What is right as it stands and yet may not be what its writer thinks.

use super::Config;
use super::target::OnUnknown;

impl Config {
    /// Sentences for whoever checks the configuration. None of them is a mistake.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.actions.is_empty() && !self.sources.is_empty() {
            notes.push("there are sources and no action: enquiries are entered, and nothing is done for them".to_owned());
        }
        for action in &self.actions {
            if let Some(client) = action.client.as_deref()
                && !self.sources.iter().any(|source| source.client.as_deref() == Some(client))
            {
                notes.push(format!("action '{}': no source belongs to its client '{client}', so it is never done", action.name));
            }
        }
        for target in self.targets.iter().filter(|target| target.on_unknown == OnUnknown::AtLeastOnce) {
            let name = &target.name;
            notes.push(format!(
                "target '{name}': on_unknown is at-least-once: what may have arrived and cannot be looked up is sent again, so doubles are accepted there"
            ));
        }
        notes
    }
}
