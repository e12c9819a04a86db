//! The configuration: read from one TOML file and the variables that override it, checked as a whole, ready for use.
//!
//! Every mistake is named at once, with file, line, column and key. Values are read from the parsed tree itself and not
//! through serde, which would stop at the first mistake and forget where it stood. Secrets are only referred to here;
//! compiling conditions and templates, and accepting a changed identity rule, belong to those who use them.

mod action;
mod asked;
mod auth;
mod checks;
mod clients;
mod commented;
mod consistency;
mod document;
mod dump;
mod engine;
mod http_target;
mod identity;
mod keys;
mod lists;
mod names;
mod nearest;
mod notes;
mod path;
mod place;
mod places;
mod problem;
mod qualifier;
mod reading;
mod schema;
mod secret;
mod section;
mod server;
mod shown;
mod source;
mod store;
mod target;
mod token;
mod units;

pub use action::{Action, OnReview};
pub use auth::{Auth, SignatureEncoding};
pub use commented::{Commented, commented};
pub use consistency::Consistency;
pub use dump::Effective;
pub use engine::Engine;
pub use http_target::{Find, HttpTarget, LookUp, ReadBack, Write};
pub use identity::Identity;
pub use keys::takes_word;
pub use problem::{ConfigError, Origin, Problem};
pub use qualifier::{Qualifier, QualifierKind};
pub use schema::schema;
pub use secret::{Secret, SecretError, SecretRef};
pub use server::Server;
pub use source::{LookAlike, Source, SourceKind, Then};
pub use store::{Store, StoreUrl};
pub use target::{Mode, OnUnknown, Target, TargetKind};
pub use token::Token;
pub use units::{Allowance, Period, Size};

use std::path::{Path, PathBuf};

use document::Document;
use dump::Written;
use places::Places;
use reading::Reading;

/// The file that is used where none is named, if it exists.
pub const USUAL_FILE: &str = "oncebook.toml";

/// What stands in for a file, or for the sources, targets and actions of a file that has none of them.
const DEFAULTS: &str = include_str!("defaults.toml");

/// Everything that is configured.
#[derive(Clone, Debug)]
pub struct Config {
    /// The file it was read from, if there was one.
    pub file: Option<PathBuf>,
    /// `[server]`.
    pub server: Server,
    /// `[store]`.
    pub store: Store,
    /// Every `[[source]]`.
    pub sources: Vec<Source>,
    /// `[qualifier]`.
    pub qualifier: Qualifier,
    /// `[engine]`.
    pub engine: Engine,
    /// Every `[[target]]`.
    pub targets: Vec<Target>,
    /// Every `[[action]]`.
    pub actions: Vec<Action>,
    /// Every `[[token]]`.
    pub tokens: Vec<Token>,
    /// Where each key stands.
    places: Places,
    /// What file and variables say.
    written: Written,
}

impl Config {
    /// Reads the file named, else [`USUAL_FILE`] in the working directory, else the defaults; variables override.
    pub fn load(path: Option<&Path>, env: &dyn Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let usual = Path::new(USUAL_FILE);
        let Some(path) = path.or_else(|| usual.is_file().then_some(usual)) else { return Self::by_default(env) };
        let text = std::fs::read_to_string(path).map_err(|cause| ConfigError::Unreadable { path: path.to_owned(), cause })?;
        Self::from_text(path, &text, env)
    }

    /// What holds without a file.
    pub fn by_default(env: &dyn Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        Self::from_documents(None, &[defaults()?], env)
    }

    /// Reads a text as if it stood in that file: template paths begin at the file's directory.
    pub fn from_text(file: &Path, text: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let mut documents = vec![parsed(&file.display().to_string(), text)?];
        if !["source", "target", "action"].iter().any(|list| documents[0].root().contains_key(*list)) {
            documents.push(defaults()?);
        }
        Self::from_documents(Some(file), &documents, env)
    }

    fn from_documents(file: Option<&Path>, documents: &[Document<'_>], env: reading::Env<'_>) -> Result<Self, ConfigError> {
        let reading = Reading::new(documents, env);
        let config = Self::read(&reading, file);
        let problems = reading.problems();
        if problems.is_empty() { Ok(config) } else { Err(ConfigError::Invalid(problems)) }
    }

    /// Reads everything and notes what is wrong with the reading.
    fn read(reading: &Reading<'_>, file: Option<&Path>) -> Self {
        let base = file.and_then(Path::parent).unwrap_or(Path::new(""));
        let server = reading.section("server", Server::read);
        let targets = reading.sections("target", Target::read);
        let mut config = Self {
            file: file.map(Path::to_owned),
            store: reading.section("store", |section| Store::read(section, &server.data_dir)),
            sources: reading.sections("source", Source::read),
            qualifier: reading.section("qualifier", Qualifier::read),
            engine: reading.section("engine", Engine::read),
            actions: reading.sections("action", |section| Action::read(section, &targets, base)),
            tokens: reading.sections("token", Token::read),
            server,
            targets,
            places: reading.places(),
            written: reading.written(),
        };
        clients::resolve(&mut config);
        reading.name_unknown_sections();
        checks::check(&config, reading);
        config
    }

    /// The source of that name.
    pub fn source(&self, name: &str) -> Option<&Source> {
        self.sources.iter().find(|source| source.name == name)
    }

    /// The target of that name.
    pub fn target(&self, name: &str) -> Option<&Target> {
        self.targets.iter().find(|target| target.name == name)
    }

    /// The action of that name.
    pub fn action(&self, name: &str) -> Option<&Action> {
        self.actions.iter().find(|action| action.name == name)
    }
}

fn defaults() -> Result<Document<'static>, ConfigError> {
    parsed("built-in defaults", DEFAULTS)
}

fn parsed<'t>(name: &str, text: &'t str) -> Result<Document<'t>, ConfigError> {
    Document::parse(name, text).map_err(|errors| {
        let problem = |error: document::SyntaxError| {
            let (line, column) = error.position;
            let message = format!("not TOML: {}", error.message);
            // No excerpt: in a text that cannot be parsed nobody knows what of it is a secret.
            Problem { origin: Origin::File { name: name.to_owned(), line, column }, key: String::new(), message, excerpt: None }
        };
        ConfigError::Invalid(errors.into_iter().map(problem).collect())
    })
}

/// Everything that is configured, without where it stands, to be compared.
#[cfg(test)]
fn shown_parts(config: &Config) -> String {
    let Config { server, store, sources, qualifier, engine, targets, actions, tokens, .. } = config;
    format!("{server:#?} {store:#?} {sources:#?} {qualifier:#?} {engine:#?} {targets:#?} {actions:#?} {tokens:#?}")
}

#[cfg(test)]
mod tests;
