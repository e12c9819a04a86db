//! Secrets, by reference only: what the configuration may say, and the value once it is resolved.
//!
//! Neither type can print a value. The secret store (`secret:NAME`) is not in this build.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where a secret stands. Its text form names the place, never the value.
#[derive(Clone, PartialEq, Eq)]
pub enum SecretRef {
    /// `env:NAME`: an environment variable.
    Env(String),
    /// `file:PATH`: a file's content, without its last line end. Relative to the working directory.
    File(PathBuf),
}

/// A secret's value. Printed, it is `[secret]`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// Why there is no value behind a reference.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// The variable is not set, or empty.
    #[error("the secret {0} is not set, or empty: set the variable for this process")]
    Unset(SecretRef),
    /// The file cannot be read.
    #[error("the secret {0} cannot be read: {1}")]
    Unreadable(SecretRef, String),
    /// The file has nothing in it.
    #[error("the secret {0} is empty")]
    Empty(SecretRef),
}

impl SecretRef {
    /// Fetches the value, by the means that the front door hands in.
    pub fn resolve(
        &self,
        env: &dyn Fn(&str) -> Option<String>,
        read_file: &dyn Fn(&Path) -> std::io::Result<String>,
    ) -> Result<Secret, SecretError> {
        let value = match self {
            Self::Env(name) => env(name).ok_or_else(|| SecretError::Unset(self.clone()))?,
            Self::File(path) => read_file(path).map_err(|e| SecretError::Unreadable(self.clone(), e.to_string()))?,
        };
        let value = match self {
            Self::Env(_) => value.as_str(),
            // Editors and `echo` end a file with a line end that is no part of the secret.
            Self::File(_) => value.strip_suffix('\n').map_or(value.as_str(), |v| v.strip_suffix('\r').unwrap_or(v)),
        };
        match (value.is_empty(), self) {
            (false, _) => Ok(Secret(value.to_owned())),
            (true, Self::Env(_)) => Err(SecretError::Unset(self.clone())),
            (true, Self::File(_)) => Err(SecretError::Empty(self.clone())),
        }
    }
}

impl FromStr for SecretRef {
    type Err = &'static str;

    /// The error never repeats the text, which may be a secret written in clear.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const CLEAR: &str = "a secret stands here in clear: keep it elsewhere and write a reference, env:NAME or file:PATH \
            (and change the secret: this file may have been read)";
        match text.split_once(':') {
            Some(("env", name)) if is_variable(name) => Ok(Self::Env(name.to_owned())),
            Some(("env", _)) => Err("env: takes the name of an environment variable: letters, digits and underscores"),
            Some(("file", "")) => Err("file: takes the path of a file"),
            Some(("file", path)) => Ok(Self::File(PathBuf::from(path))),
            Some(("secret", _)) => Err("the secret store comes later: use env:NAME or file:PATH"),
            _ => Err(CLEAR),
        }
    }
}

fn is_variable(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') && name.bytes().next().is_some_and(|b| !b.is_ascii_digit())
}

impl fmt::Display for SecretRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Env(name) => write!(f, "env:{name}"),
            Self::File(path) => write!(f, "file:{}", path.display()),
        }
    }
}

impl fmt::Debug for SecretRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Secret {
    /// The value, for the one computation that needs it. Never for a log, an error or a page.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn no_env(_: &str) -> Option<String> {
        None
    }

    fn no_file(_: &Path) -> io::Result<String> {
        Err(io::Error::other("no such file"))
    }

    #[test]
    fn a_reference_is_resolved_and_its_value_never_shown() {
        let by_env: SecretRef = "env:TOKEN".parse().unwrap();
        let secret = by_env.resolve(&|name| (name == "TOKEN").then(|| "hunter2".to_owned()), &no_file).unwrap();
        assert_eq!(secret.expose(), "hunter2");
        assert_eq!(format!("{secret} {secret:?} {by_env} {by_env:?}"), "[secret] [secret] env:TOKEN env:TOKEN");
        let by_file: SecretRef = "file:/run/token".parse().unwrap();
        let secret = by_file.resolve(&no_env, &|_| Ok("two\nlines\r\n".to_owned())).unwrap();
        assert_eq!(secret.expose(), "two\nlines");
    }

    #[test]
    fn what_is_missing_is_named_by_its_reference() {
        let by_env: SecretRef = "env:TOKEN".parse().unwrap();
        assert_eq!(by_env.resolve(&no_env, &no_file), Err(SecretError::Unset(by_env.clone())));
        assert_eq!(by_env.resolve(&|_| Some(String::new()), &no_file), Err(SecretError::Unset(by_env)));
        let by_file: SecretRef = "file:/run/token".parse().unwrap();
        assert!(by_file.resolve(&no_env, &no_file).unwrap_err().to_string().contains("file:/run/token"));
        assert_eq!(by_file.resolve(&no_env, &|_| Ok("\n".to_owned())), Err(SecretError::Empty(by_file)));
    }

    #[test]
    fn a_clear_secret_is_refused_and_not_repeated() {
        for text in ["hunter2", "hunter2:x", "", "env:", "env:a b", "file:", "secret:crm"] {
            let error = text.parse::<SecretRef>().unwrap_err();
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}
