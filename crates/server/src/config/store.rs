//! `[store]`: where the book is.

use std::path::{Path, PathBuf};

use super::reading::Show;
use super::section::Section;

/// The `[store]` section.
#[derive(Clone, Debug)]
pub struct Store {
    /// Which engine, and where.
    pub url: StoreUrl,
    /// The most deliveries that are made durable by one commit.
    pub batch_max: usize,
}

/// Which engine keeps the book, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreUrl {
    /// `sqlite:PATH`, relative to the working directory.
    Sqlite(PathBuf),
}

impl Store {
    pub(super) fn read(section: &Section<'_>, data_dir: &Path) -> Self {
        let by_default = || StoreUrl::Sqlite(data_dir.join("book.db"));
        let url = section.text("url").and_then(|text| match store_url(&text) {
            Ok(url) => Some(url),
            // The address of a database server may carry a password.
            Err(message) => {
                section.reading.problem(section.path.key("url"), message, Show::Nothing);
                None
            }
        });
        Self { url: url.unwrap_or_else(by_default), batch_max: section.whole("batch_max", 1..=10_000).unwrap_or(256) }
    }
}

fn store_url(text: &str) -> Result<StoreUrl, &'static str> {
    if text.starts_with("postgres:") || text.starts_with("postgresql:") {
        return Err("this build keeps its book in SQLite only: write sqlite:PATH, or leave `url` out");
    }
    match text.strip_prefix("sqlite:").map(|path| path.strip_prefix("//").unwrap_or(path)) {
        Some("" | ":memory:") => Err("a book must outlive its process: write sqlite: and the path of a file"),
        Some(path) => Ok(StoreUrl::Sqlite(path.into())),
        None => Err("`url` names the store: write sqlite: and the path of a file"),
    }
}
