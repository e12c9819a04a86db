//! What is wrong with a configuration: every problem at once, each with its place, its key and what to do.

use std::fmt;
use std::path::PathBuf;

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{}: cannot be read: {cause}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// The file, or a variable that overrides it, is wrong.
    #[error("{}", Listed(.0))]
    Invalid(Vec<Problem>),
}

impl ConfigError {
    /// The problems, one by one; none where the file could not be read.
    pub fn problems(&self) -> &[Problem] {
        match self {
            Self::Unreadable { .. } => &[],
            Self::Invalid(problems) => problems,
        }
    }
}

/// One thing to mend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where the value came from.
    pub origin: Origin,
    /// The dotted key; empty for a syntax error.
    pub key: String,
    /// A sentence that says what to do. Never holds a secret.
    pub message: String,
    /// The line, with carets, where it helps and is fit to be shown.
    pub excerpt: Option<String>,
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// A file, with line and column from 1.
    File {
        /// Its name, as it was given.
        name: String,
        /// The line.
        line: usize,
        /// The column, in characters.
        column: usize,
    },
    /// An environment variable.
    Variable(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { name, line, column } => write!(f, "{name}:{line}:{column}"),
            Self::Variable(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.origin)?;
        if !self.key.is_empty() {
            write!(f, " ({})", self.key)?;
        }
        write!(f, ": {}", self.message)?;
        self.excerpt.as_ref().map_or(Ok(()), |excerpt| write!(f, "\n{excerpt}"))
    }
}

struct Listed<'a>(&'a [Problem]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, problem) in self.0.iter().enumerate() {
            write!(f, "{}{problem}", if position == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}
