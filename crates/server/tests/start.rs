//! Starts that fail: whatever they fail by, the book is as it was before.

#![expect(clippy::unwrap_used, reason = "what helps a test fails with it")]

mod world;

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use world::{Dir, World, placed};

/// A source, to which a test adds its mistake.
const SOURCE: &str = "[[source]]\nname = \"form\"\nkind = \"generic\"\nauth = { scheme = \"none\" }\nidentity = { submission = \"/id\" }\n";

fn oncebook(config: &Path, args: &[&str]) -> (i32, String) {
    let ended = Command::new(world::process::binary()).arg("--config").arg(config).args(args).output().unwrap();
    (ended.status.code().unwrap(), String::from_utf8([ended.stdout, ended.stderr].concat()).unwrap())
}

/// How many processes have opened the book for writing, each of which began a stream; and all that is said of the journal.
fn journal(config: &Path) -> (u64, String) {
    let (code, told) = oncebook(config, &["evidence", "verify", "--json"]);
    assert_eq!(code, 0, "{told}");
    let read: serde_json::Value = serde_json::from_str(&told).unwrap();
    (read["streams"].as_u64().unwrap(), told)
}

#[tokio::test]
async fn a_start_that_fails_begins_no_stream_in_the_journal() {
    let World { dir, app, .. } = World::with(SOURCE).await;
    drop(app);
    let (good, bad) = (dir.0.join("good.toml"), dir.0.join("bad.toml"));
    std::fs::write(&good, placed(&dir.0, SOURCE)).unwrap();
    let before = journal(&good);
    assert_eq!(before.0, 1);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let elsewhere = Dir::new();
    let book = dir.0.join("book.db");
    let held = World::new().await;
    let mistakes = [
        (
            format!(
                "{SOURCE}[[target]]\nname = \"mail\"\nkind = \"outbox\"\nfrom = \"no address\"\n[[action]]\nname = \"hello\"\ntarget = \"mail\"\nsubject = \"{{{{ enquiry.nothing }}}}\"\ntext = \"x\"\n"
            ),
            "(target[0]",
        ),
        (format!("{SOURCE}[[token]]\nname = \"ops\"\nsecret = \"env:ONCEBOOK_TEST_UNSET\"\n"), "ONCEBOOK_TEST_UNSET"),
        (SOURCE.replace("/id", "/other"), "identity rule of source 'form' was changed"),
        (
            format!(
                "[qualifier]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\napi_key = \"env:ONCEBOOK_TEST_UNSET\"\n{SOURCE}"
            ),
            "ONCEBOOK_TEST_UNSET",
        ),
    ];
    let in_its_dir = mistakes.map(|(text, says)| (placed(&dir.0, &text), says));
    let listening = placed(&dir.0, SOURCE).replace("127.0.0.1:0", &taken.local_addr().unwrap().to_string());
    let at_the_book = |data_dir: &Path| placed(data_dir, &format!("[store]\nurl = \"sqlite:{}\"\n{SOURCE}", book.display()));
    let others = [(listening, "cannot listen on"), (at_the_book(&held.dir.0), "another server's data directory")];
    for (text, says) in in_its_dir.into_iter().chain(others) {
        std::fs::write(&bad, text).unwrap();
        let (code, told) = oncebook(&bad, &["serve"]);
        assert_eq!(code, 2, "{told}");
        assert!(told.contains(says), "{says}: {told}");
        assert_eq!(journal(&good), before, "{says}");
    }
    let (code, told) = oncebook(&good, &["identity", "accept", "nobody"]);
    assert_eq!((code, told.contains("no source 'nobody'")), (2, true), "{told}");
    assert_eq!(journal(&good), before);
    // The same book, and nothing wrong: the next stream begins.
    std::fs::write(&bad, at_the_book(&elsewhere.0)).unwrap();
    assert_eq!(oncebook(&bad, &["identity", "accept", "form"]).0, 0);
    assert_eq!(journal(&good).0, 2);
}
