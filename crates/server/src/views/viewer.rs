//! Who looks or acts: carried in a request's extensions, once access has been granted.

/// The longest name that is taken.
const NAME_MAX: usize = 64;
/// Names by which the journal calls parts of the program: nobody may act under one.
const OURS: [&str; 4] = ["engine", "intake", "retention", "store"];

/// Who looks or acts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Viewer {
    /// The token's name; none where access is open.
    pub token: Option<String>,
    /// The client whose records may be seen; all, where there is none.
    pub client: Option<String>,
}

/// A name that nobody can act under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`by` takes a name of at most {NAME_MAX} characters that is no address and not the program's own")]
pub struct NotAName;

impl Viewer {
    /// The name that the journal gives to what is done: the person's, with the token it came by, else the token's, else
    /// `operator`. The journal is for good, so an address is refused (I12).
    pub fn acting_as(&self, by: Option<&str>) -> Result<String, NotAName> {
        let by = by.map(str::trim).filter(|by| !by.is_empty());
        let is_name =
            |by: &str| by.chars().count() <= NAME_MAX && !by.contains('@') && !by.chars().any(char::is_control) && !OURS.contains(&by);
        match (by, &self.token) {
            (Some(by), _) if !is_name(by) => Err(NotAName),
            (Some(by), Some(token)) => Ok(format!("{by} via {token}")),
            (Some(by), None) => Ok(by.to_owned()),
            (None, Some(token)) => Ok(token.clone()),
            (None, None) => Ok("operator".to_owned()),
        }
    }
}
