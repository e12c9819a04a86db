//! The architecture, as a test: who may import whom, what a crate may depend on, and that documents name tests that exist.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::{Path, PathBuf};

/// (module of `server`, siblings it may name). Anything not listed is forbidden. `cli` and `app` see everything.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("config", &[]),
    ("stops", &[]),
    ("problem", &[]),
    ("clock", &[]),
    ("intake", &["problem"]),
    ("qualify", &[]),
    ("effects", &["stops"]),
    ("engine", &["effects", "qualify", "stops"]),
    ("views", &[]),
    ("api", &["config", "engine", "problem", "views"]),
    ("console", &["config", "engine", "views"]),
];

/// (crate, what it may depend on besides the standard library). The pure crates have no runtime, SQL or HTTP.
const MAY_DEPEND: &[(&str, &[&str])] = &[
    ("domain", &["data-encoding", "hmac", "jiff", "serde", "serde_json", "sha2", "thiserror", "unicode-normalization"]),
    ("evidence", &["domain", "jiff", "serde", "serde_json", "thiserror"]),
    ("store", &["domain", "evidence", "async-trait", "rusqlite", "serde", "serde_json", "thiserror", "tokio"]),
    // The instruments know nothing of the product: a server is an address, a book is a file.
    ("bench", &["bytes", "http", "http-body-util", "hyper", "hyper-util", "rusqlite", "serde", "serde_json", "tokio", "tokio-util"]),
];

/// A file longer than this is two rooms. Tests may be longer.
const LINES_MAX: usize = 450;

fn is_test(file: &Path) -> bool {
    file.components().any(|c| c.as_os_str() == "tests" || c.as_os_str() == "contract") || file.ends_with("tests.rs")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn siblings_import_only_what_the_map_allows() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut errors = vec![];
    for (module, allowed) in MAY_IMPORT {
        let files = [src.join(module), src.join(format!("{module}.rs"))].iter().flat_map(|p| sources(p)).collect::<Vec<_>>();
        assert!(!files.is_empty(), "there is no module `{module}`: mend the map");
        // A module's own tests may put something behind the seam that they test.
        for file in files.into_iter().filter(|file| !is_test(file)) {
            errors.extend(forbidden_imports(&file, module, allowed));
        }
    }
    assert!(errors.is_empty(), "\n{}\nsee ARCHITECTURE.md, \"Who may import whom\"", errors.join("\n"));
}

#[test]
fn the_map_catches_a_forbidden_import() {
    let dir = std::env::temp_dir().join(format!("oncebook-tidy-{}", std::process::id()));
    fs::create_dir_all(&dir).unwrap();
    let file = dir.join("x.rs");
    fs::write(&file, "use crate::engine::Engine;\nuse crate::{intake};\nuse crate::stops::Stops;\n").unwrap();
    assert_eq!(forbidden_imports(&file, "effects", &["stops"]).len(), 2);
    fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn the_inner_crates_depend_on_nothing_of_the_outside() {
    for (name, allowed) in MAY_DEPEND {
        let manifest = fs::read_to_string(root().join("crates").join(name).join("Cargo.toml")).unwrap();
        let section = manifest.split("[dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
        for line in section.lines().filter(|line| !line.trim().is_empty()) {
            let dependency = line.split(['.', ' ', '=']).next().unwrap();
            assert!(allowed.contains(&dependency), "crates/{name} may not depend on {dependency}");
        }
    }
}

#[test]
fn every_file_says_what_it_owns_and_is_no_longer_than_a_room() {
    let mut errors = vec![];
    for file in sources(&root().join("crates")) {
        let text = fs::read_to_string(&file).unwrap();
        let is_test = is_test(&file);
        if !text.starts_with("//!") && !is_test {
            errors.push(format!("{}: does not open with //!", file.display()));
        }
        if text.lines().count() > LINES_MAX && !is_test {
            errors.push(format!("{}: {} lines", file.display(), text.lines().count()));
        }
    }
    assert!(errors.is_empty(), "\n{}", errors.join("\n"));
}

/// Documents name tests as `file.rs::name`; each must exist.
#[test]
fn documents_name_tests_that_exist() {
    let mut code = String::new();
    for file in sources(&root().join("crates")) {
        code.push_str(&fs::read_to_string(file).unwrap());
    }
    let mut named = 0;
    for document in [
        "README.md",
        "ARCHITECTURE.md",
        "docs/protocol.md",
        "docs/connectors.md",
        "docs/configuration.md",
        "docs/api.md",
        "docs/performance.md",
    ] {
        let text = fs::read_to_string(root().join(document)).unwrap();
        for (_, rest) in text.match_indices(".rs::").map(|(at, mark)| text.split_at(at + mark.len())) {
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            named += 1;
            assert!(code.contains(&format!("fn {name}(")), "{document} names a test `{name}` that does not exist");
        }
    }
    assert!(named > 10, "the documents' promises name their tests");
}

/// Nothing of the machine it was written on stands in the tree.
#[test]
fn no_path_of_a_machine_and_no_ignored_test() {
    let mut errors = vec![];
    for file in sources(&root().join("crates")) {
        let text = fs::read_to_string(&file).unwrap();
        for (number, line) in text.lines().enumerate() {
            let ignored = concat!("#[", "ignore");
            let home = concat!("/", "root/");
            if line.contains(ignored) || line.contains(home) {
                errors.push(format!("{}:{}", file.display(), number + 1));
            }
        }
    }
    assert!(errors.is_empty(), "\n{}", errors.join("\n"));
}

fn forbidden_imports(file: &Path, module: &str, allowed: &[&str]) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let mut errors = vec![];
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
        for target in line.split("crate::").skip(1).map(first_segment) {
            if !may_name(module, allowed, target) {
                errors.push(format!("{}:{}: `{module}` may not import `{target}`", file.display(), index + 1));
            }
        }
    }
    errors
}

/// An empty target is `use crate::{…}`, which would hide what it names: one path per line.
fn may_name(module: &str, allowed: &[&str], target: &str) -> bool {
    let outer = ["app", "cli"];
    let is_sibling = MAY_IMPORT.iter().any(|(name, _)| *name == target) || outer.contains(&target);
    !target.is_empty() && (!is_sibling || target == module || allowed.contains(&target))
}

fn first_segment(path: &str) -> &str {
    path.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

/// All `.rs` files at or below a path, sorted.
fn sources(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let Ok(entries) = fs::read_dir(path) else { return vec![] };
    let mut found: Vec<PathBuf> =
        entries.flatten().map(|e| e.path()).flat_map(|p| if p.is_dir() { sources(&p) } else { vec![p] }).collect();
    found.retain(|p| p.extension().is_some_and(|e| e == "rs"));
    found.sort();
    found
}
