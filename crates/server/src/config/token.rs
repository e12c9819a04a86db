//! `[[token]]`: who may use the API, by name.

use super::reading::Show;
use super::secret::SecretRef;
use super::section::Section;

/// A `[[token]]`.
#[derive(Clone, Debug)]
pub struct Token {
    /// Its name, as the journal calls its bearer.
    pub name: String,
    /// Where the token itself is kept.
    pub secret: SecretRef,
    /// The client whose enquiries it may see; all, where there is none. Always none in this build, and refused if given: a
    /// token that promises to see one client's enquiries and sees all is worse than none (I13).
    pub client: Option<String>,
}

impl Token {
    pub(super) fn read(section: &Section<'_>) -> Self {
        section.needs("name", "the journal calls its bearer by it");
        section.needs("secret", "write a reference to it, env:NAME or file:PATH");
        let name = section.name("name");
        section.knows(&["client"]);
        if section.has("client") {
            let message =
                "a token for one client comes later; leave `client` out, and give this token only to who may see every client's enquiries";
            section.reading.problem(section.path.key("client"), message, Show::Key);
        }
        // The stand-in is never handed out: what could not be read is a problem.
        let secret = section.secret("secret").unwrap_or(SecretRef::Env(String::new()));
        Self { name: name.unwrap_or_default(), secret, client: None }
    }
}
