//! A start up to the book: everything that a configuration can be wrong in is made and checked before the book is opened.
//!
//! Opening begins a stream in the journal, which stays for good: a start that fails is to leave no trace there. Only the
//! book's lock is taken before, for without it nothing that stands in the data directory may be touched.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::sync::Arc;

use store::sqlite::{Locked, Sqlite};

use super::targets::Made as Targets;
use super::{App, ByName, Outside, StartError, book_path, conditions, lock_book, make_private, model, open_locked, rules};
use super::{serve, sources, targets};
use crate::api::Bearer;
use crate::config::Config;
use crate::engine::Conditions;
use crate::intake::SourceSetup;
use crate::qualify::Qualifier;

/// A start that lacks nothing but the book.
pub struct Ready {
    config: Config,
    outside: Outside,
    made: Made,
    book: Locked,
}

impl Ready {
    /// Takes the book's lock, makes everything and compares the rules with the book's, which is only read.
    pub async fn check(config: Config, outside: Outside) -> Result<Self, StartError> {
        let book = lock_book(&config)?;
        let made = Made::of(&config, &outside)?;
        // One that is not there yet knows no rule; one that cannot be read so is told of, or brought to this version, when it is opened.
        if let Ok(store) = Sqlite::open_to_read(book_path(&config)) {
            rules::check(&config, &store).await?;
        }
        Ok(Self { config, outside, made, book })
    }

    /// What it was made from.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Opens the book, and puts everything together over it.
    pub async fn open(self) -> Result<App, StartError> {
        let Self { config, outside, made, book } = self;
        let store = Arc::new(open_locked(book, &config, &outside)?);
        App::of(config, outside, made, store).await
    }
}

/// What is made from a configuration alone.
pub(super) struct Made {
    pub(super) sources: ByName<SourceSetup>,
    pub(super) targets: Targets,
    pub(super) conditions: Conditions,
    pub(super) bearers: Vec<Bearer>,
    pub(super) qualifier: Arc<dyn Qualifier>,
    pub(super) data_dir: File,
}

impl Made {
    /// Makes all of it over the data directory, which it holds; every mistake is named.
    pub(super) fn of(config: &Config, outside: &Outside) -> Result<Self, StartError> {
        let Outside { clock, env, stops, .. } = outside;
        let data_dir = hold(&config.server.data_dir)?;
        let mut wrong = Vec::new();
        let sources = sources::setups(config, &**env, &mut wrong);
        let targets = targets::make(config, clock, env, stops, &mut wrong);
        let conditions = conditions(config, &mut wrong);
        let bearers = serve::bearers(config, &**env, &mut wrong);
        let qualifier = model::qualifier(config, clock, &**env, &mut wrong);
        match conditions {
            Some(conditions) if wrong.is_empty() => Ok(Self { sources, targets, conditions, bearers, qualifier, data_dir }),
            _ => Err(StartError::Unusable(wrong)),
        }
    }
}

/// Holds the data directory against every other server.
fn hold(dir: &Path) -> Result<File, StartError> {
    let path = dir.join("serve.lock");
    let failed = |e| StartError::Io(path.display().to_string(), e);
    make_private(dir).map_err(failed)?;
    let file = File::create(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StartError::DirHeld(dir.display().to_string())),
        Err(TryLockError::Error(e)) => Err(failed(e)),
    }
}
