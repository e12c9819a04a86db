//! The commands as a person runs them: the built binary over a book that was worked on before.

#![expect(clippy::unwrap_used, clippy::panic, reason = "what helps a test fails with it")]

mod world;

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use world::{Dir, MINUTE, World, placed};

const LEAD: &str =
    r#"{"submission_id":"lead_77","email":"Avery@Example.com","name":"Avery Sample","message":"Need a quote for 40 chairs by Friday"}"#;
const KEY: &str = "web:submission:lead_77";
/// A source whose deliveries have no id: their keys rest on content alone.
const WEAK: &str = "[[source]]\nname = \"form\"\nkind = \"generic\"\nauth = { scheme = \"none\" }\n\
                    map = { \"contact.email\" = \"/email\", message = \"/message\" }\n\
                    [[target]]\nname = \"crm\"\nkind = \"desk\"\n[[action]]\nname = \"deal\"\ntarget = \"crm\"\n";

/// How a command ended.
struct Ran {
    code: i32,
    out: String,
    err: String,
}

impl Ran {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {}{}", self.out, self.err))
    }

    #[track_caller]
    fn well(self) -> Self {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}", self.out);
        self
    }

    #[track_caller]
    fn says(&self, parts: &[&str]) {
        for part in parts {
            assert!(self.out.contains(part) || self.err.contains(part), "{part:?} in:\n{}{}", self.out, self.err);
        }
    }
}

/// Runs `oncebook` over the configuration in a directory.
fn run(dir: &Path, args: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oncebook"));
    command.arg("--config").arg(dir.join("oncebook.toml")).args(args);
    let ended = command.env("USER", "jo").env_remove("ONCEBOOK_TOKEN").output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: ended.status.code().unwrap(), out: text(ended.stdout), err: text(ended.stderr) }
}

/// A world whose configuration a command can read.
async fn world(config: &str) -> World {
    let world = World::with(config).await;
    std::fs::write(world.dir.0.join("oncebook.toml"), placed(&world.dir.0, config)).unwrap();
    world
}

/// The process that worked on the book ends; the book stays.
fn leave(world: World) -> std::sync::Arc<Dir> {
    let World { dir, app, .. } = world;
    drop(app);
    dir
}

#[tokio::test]
async fn a_book_is_listed_and_an_enquiry_is_shown_by_any_of_its_names() {
    let world = world("").await;
    world.post("web", LEAD).await;
    world.work_for(0).await;
    let again = world.post("web", LEAD).await;
    let dir = leave(world);
    let dir = &dir.0;
    run(dir, &["enquiries"]).well().says(&["2026-03-02 09:15", KEY, "avery@example.com", "settled", "deal ✓  follow-up ✓"]);
    let listed = run(dir, &["enquiries", "--json"]).well().json();
    assert_eq!((&listed["items"][0]["key"], &listed["next_cursor"]), (&json!(KEY), &Value::Null));
    run(dir, &["enquiries", "--state", "review"]).well().says(&["No enquiry matches"]);

    let shown = run(dir, &["show", KEY, "--json"]).well().json();
    let dossier = &shown["items"][0];
    assert_eq!((&dossier["enquiry"]["key"], &dossier["effects"][0]["state"]), (&json!(KEY), &json!("verified")));
    let text = run(dir, &["show", KEY]).well();
    let id = dossier["effects"][0]["external_id"].as_str().unwrap();
    text.says(&[id, "Avery Sample", "duplicate_suppressed: true; first run run_", "structured result after", "record after", "Timeline"]);
    let names = [&dossier["enquiry"]["id"], &again["delivery"], &dossier["effects"][1]["id"], &dossier["effects"][0]["external_id"]];
    for name in names.map(|name| name.as_str().unwrap()) {
        assert_eq!(run(dir, &["show", name]).well().out, text.out, "by {name}");
    }
    let unknown = run(dir, &["show", "nobody"]);
    assert_eq!((unknown.code, unknown.out.as_str()), (2, ""));
    unknown.says(&["'nobody', nor web:submission:nobody", "enq_", "dlv_", " enquiries`"]);
}

#[tokio::test]
async fn an_enquiry_is_called_by_the_id_that_its_sender_gave_it() {
    let world = world("").await;
    world.post("web", LEAD).await;
    let other = world.post("web", &LEAD.replace("40 chairs", "50 chairs")).await;
    assert_eq!(other["verdict"], "conflict");
    let dir = leave(world);
    assert_eq!(run(&dir.0, &["show", "lead_77"]).well().out, run(&dir.0, &["show", KEY]).well().out);
    run(&dir.0, &["show", "lead_77~2"]).well().says(&["web:submission:lead_77~2  (held)"]);
    run(&dir.0, &["replay", "lead_77"]).well().says(&["a new run begins"]);
    assert_eq!(run(&dir.0, &["show", "lead_7"]).code, 2);
}

#[tokio::test]
async fn a_page_leads_to_the_next() {
    let world = world("").await;
    for n in 0..3 {
        world.post("web", &format!(r#"{{"submission_id":"n{n}","email":"p{n}@example.com"}}"#)).await;
    }
    let dir = leave(world);
    let first = run(&dir.0, &["enquiries", "--limit", "2", "--json"]).well().json();
    let cursor = first["next_cursor"].as_str().unwrap();
    run(&dir.0, &["enquiries", "--limit", "2"]).well().says(&[&format!("enquiries --limit 2 --cursor {cursor}")]);
    let second = run(&dir.0, &["enquiries", "--limit", "2", "--cursor", cursor, "--json"]).well().json();
    assert_eq!(second["items"].as_array().unwrap().iter().map(|e| &e["key"]).collect::<Vec<_>>(), [&json!("web:submission:n0")]);
    assert_eq!(run(&dir.0, &["enquiries", "--cursor", "no"]).code, 2);
}

#[tokio::test]
async fn an_empty_book_says_how_to_post_and_a_missing_one_how_to_make_it() {
    let dir = leave(world("").await);
    run(&dir.0, &["enquiries"]).well().says(&["curl http://", "/in/web", "submission_id"]);
    run(&dir.0, &["review"]).well().says(&["Nothing waits for a person"]);
    let empty = Dir::new();
    std::fs::write(empty.0.join("oncebook.toml"), placed(&empty.0, "")).unwrap();
    for args in [
        &["enquiries"][..],
        &["show", KEY],
        &["review"],
        &["review", "rev_1", "approve"],
        &["replay", KEY],
        &["pause", "crm"],
        &["deliveries"],
        &["targets"],
        &["evidence", "verify"],
    ] {
        let ran = run(&empty.0, args);
        assert_eq!(ran.code, 2, "{args:?}");
        ran.says(&["there is no book", "`oncebook serve`"]);
    }
    assert!(!empty.0.join("book.db").exists(), "looking made a book");
}

#[tokio::test]
async fn a_look_alike_is_listed_approved_and_then_done() {
    let world = world("").await;
    world.post("web", LEAD).await;
    let twin = world.post("web", &LEAD.replace("lead_77", "lead_78")).await;
    assert_eq!(twin["verdict"], "look_alike");
    world.work_for(0).await;
    let dir = leave(world);
    let open = run(&dir.0, &["review", "--json"]).well().json();
    let id = open["items"][0]["id"].as_str().unwrap();
    let command = format!("review {id} approve");
    run(&dir.0, &["review"]).well().says(&[id, "look-alike", &command, "1 item is open"]);
    run(&dir.0, &["review", id]).well().says(&[&command]);
    run(&dir.0, &["show", "web:submission:lead_78"]).well().says(&["Waits for a person", &command]);
    run(&dir.0, &["enquiries"]).well().says(&["look-alike"]);

    run(&dir.0, &["review", id, "approve"]).well().says(&[id, "approved", "serve` runs"]);
    run(&dir.0, &["review"]).well().says(&["Nothing waits for a person"]);
    run(&dir.0, &["show", id]).well().says(&["jo"]);
    let decided = run(&dir.0, &["review", id, "approve"]);
    assert_eq!(decided.code, 2);
    decided.says(&["was decided at", "approved (by jo)", "review` lists"]);
    let looked = run(&dir.0, &["review", id]);
    assert_eq!((looked.code, looked.err), (2, decided.err), "looking says the same as deciding");
    let unknown = run(&dir.0, &["review", "rev_nothing", "approve"]);
    assert_eq!(unknown.code, 2);
    unknown.says(&["no review item 'rev_nothing'", "review` lists"]);
}

#[tokio::test]
async fn a_replay_keeps_the_key_and_writes_nothing_by_itself() {
    let world = world("").await;
    world.post("web", LEAD).await;
    world.work_for(0).await;
    let dir = leave(world);
    let before = run(&dir.0, &["show", KEY, "--json"]).well().json();
    run(&dir.0, &["replay", KEY]).well().says(&["a new run begins, under the same key", "serve` runs"]);
    let after = run(&dir.0, &["show", KEY, "--json"]).well().json();
    assert_ne!(before["items"][0]["enquiry"]["run"], after["items"][0]["enquiry"]["run"]);
    assert_eq!(before["items"][0]["effects"][0]["external_id"], after["items"][0]["effects"][0]["external_id"]);
    let done = run(&dir.0, &["replay", KEY, "--json", "--by", "kim"]).well().json();
    assert_eq!((&done["through"], &done["by"], &done["answer"]["key"]), (&json!("book"), &json!("kim"), &json!(KEY)));
    assert_eq!(run(&dir.0, &["replay", "nobody"]).code, 2);
}

#[tokio::test]
async fn a_quarantined_delivery_is_shown_and_read_again() {
    let world = world("").await;
    let kept = world.post("web", "not json").await;
    assert_eq!(kept["verdict"], "quarantined");
    let dir = leave(world);
    let id = kept["delivery"].as_str().unwrap();
    run(&dir.0, &["show", id]).well().says(&["quarantined", &format!("replay {id}")]);
    assert_eq!(run(&dir.0, &["show", id, "--json"]).well().json()["delivery"]["items"][0]["verdict"], "quarantined");
    let again = run(&dir.0, &["replay", id]);
    assert_eq!((again.code, again.err.as_str()), (1, ""), "still not understood: {}", again.out);
    again.says(&["read again: quarantined"]);
}

#[tokio::test]
async fn what_nothing_came_of_is_found_listed_looked_at_and_read_again() {
    let world = world("").await;
    world.post("web", LEAD).await;
    let broken = "{\"submission_id\": \u{1b}[2J";
    let kept = world.post("web", broken).await["delivery"].as_str().unwrap().to_owned();
    let bytes = world.deliver("web", &[("content-type", "application/json")], &[0xff, 0x00]).await["delivery"].as_str().unwrap().to_owned();
    let dir = leave(world);
    let dir = &dir.0;
    run(dir, &["review"]).well().says(&["Nothing waits for a person", "2 deliveries quarantined", "deliveries --state quarantined"]);
    let all = run(dir, &["deliveries"]).well();
    all.says(&["2026-03-02 09:15", &kept, "web", "quarantined", "accepted", KEY, "show ID --body"]);
    let listed = run(dir, &["deliveries", "--state", "quarantined", "--source", "web", "--json"]).well().json();
    let (item, reason) = (&listed["items"][1], listed["items"][1]["reason"].as_str().unwrap());
    assert_eq!(
        (&item["id"], &item["source"], &item["verdict"], &item["key"]),
        (&json!(kept), &json!("web"), &json!("quarantined"), &Value::Null)
    );
    assert!(!reason.is_empty() && item["arrived_at"] == "2026-03-02T09:15:04.000Z");
    let first = run(dir, &["deliveries", "--limit", "1", "--json"]).well().json();
    let cursor = first["next_cursor"].as_str().unwrap();
    run(dir, &["deliveries", "--limit", "1"]).well().says(&[&format!("deliveries --limit 1 --cursor {cursor}")]);
    run(dir, &["deliveries", "--limit", "1", "--cursor", cursor]).well().says(&[&kept]);
    run(dir, &["deliveries", "--state", "refused"]).well().says(&["No delivery matches"]);

    assert_eq!(run(dir, &["show", &kept, "--body"]).well().out, "{\"submission_id\": \u{241b}[2J\n");
    let body = run(dir, &["show", &kept, "--body", "--json"]).well().json();
    assert_eq!((&body["utf8"], &body["length"]), (&json!(broken), &json!(broken.len())));
    let body = run(dir, &["show", &bytes, "--body", "--json"]).well().json();
    assert_eq!((&body["base64"], &body["utf8"]), (&json!("/wA="), &Value::Null));
    let none = run(dir, &["show", KEY, "--body"]);
    assert_eq!(none.code, 2);
    none.says(&["goes with a delivery's id", "deliveries` lists"]);
}

/// Once the rule is mended and a person had it read again, nothing is left to be seen to.
#[tokio::test]
async fn a_delivery_that_came_again_is_no_longer_told_of() {
    let strict = "[[source]]\nname = \"web\"\nidentity = { time = \"/at\" }\nmap = { \"contact.email\" = \"/email\" }\n";
    let world = world(strict).await;
    let body = r#"{"at":"2026-03-02 09:15:04","email":"avery@example.com"}"#;
    let kept = world.post("web", body).await;
    assert_eq!(kept["verdict"], "quarantined", "a local time without a zone");
    let dir = leave(world);
    run(&dir.0, &["review"]).well().says(&["1 delivery quarantined"]);
    let mended = strict.replace("\nidentity", "\ntimezone = \"Europe/Berlin\"\nidentity");
    std::fs::write(dir.0.join("oncebook.toml"), placed(&dir.0, &mended)).unwrap();
    run(&dir.0, &["identity", "accept", "web"]).well();
    let id = kept["delivery"].as_str().unwrap();
    run(&dir.0, &["replay", id]).well().says(&["read again: accepted"]);
    let queue = run(&dir.0, &["review"]).well();
    assert!(!queue.out.contains("quarantined"), "{}", queue.out);
    run(&dir.0, &["deliveries", "--state", "quarantined"]).well().says(&[id, "came again as"]);
}

/// Of a batch, too, exit code 0 says that all of it is read.
#[tokio::test]
async fn a_batch_of_which_an_item_is_still_quarantined_is_no_success() {
    let strict = "[[source]]\nname = \"web\"\nitems = \"/*\"\nidentity = { time = \"/at\" }\nmap = { \"contact.email\" = \"/email\" }\n";
    let world = world(strict).await;
    let item = |at: &str| format!(r#"{{"at":"{at}","email":"avery@example.com"}}"#);
    let body = format!("[{},{},{}]", item("2026-03-02T09:15:04Z"), item("2026-03-02 11:15:04"), item("no time"));
    let kept = world.post("web", &body).await;
    let verdicts: Vec<_> = kept["items"].as_array().unwrap().iter().map(|item| item["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["accepted", "quarantined", "quarantined"]);
    let dir = leave(world);
    let still = |id: &str, says: &[&str]| {
        let ran = run(&dir.0, &["replay", id]);
        assert_eq!((ran.code, ran.err.as_str()), (1, ""), "{}", ran.out);
        ran.says(says);
        ran.out
    };
    let id = kept["delivery"].as_str().unwrap();
    let out = still(id, &["2 of 3 items are still quarantined", "replay dlv_"]);
    assert!(!out.contains("The work itself"), "there is none: {out}");
    let mended = strict.replace("\nidentity", "\ntimezone = \"Europe/Berlin\"\nidentity");
    std::fs::write(dir.0.join("oncebook.toml"), placed(&dir.0, &mended)).unwrap();
    run(&dir.0, &["identity", "accept", "web"]).well();
    still(id, &["accepted, web:time:", "1 of 3 items are still quarantined", "The work itself"]);
    let json = run(&dir.0, &["replay", id, "--json"]);
    assert_eq!((json.code, json.json()["answer"]["items"].as_array().unwrap().len()), (1, 3));
}

#[tokio::test]
async fn what_was_refused_is_listed_apart() {
    let closed =
        "[[source]]\nname = \"web\"\nauth = { scheme = \"bearer\", secret = \"file:SECRET\" }\nidentity = { submission = \"/id\" }\n";
    let secret = Dir::new();
    std::fs::write(secret.0.join("token"), "token").unwrap();
    let closed = closed.replace("SECRET", secret.0.join("token").to_str().unwrap());
    let world = world(&closed).await;
    let stranger = world::raw(&[("content-type", "application/json")], br#"{"id":"1"}"#);
    assert!(world.app.intake.deliver("web", stranger).await.is_err());
    let dir = leave(world);
    run(&dir.0, &["review"]).well().says(&["1 delivery refused as not authentic", "deliveries --state refused"]);
    run(&dir.0, &["deliveries"]).well().says(&["stand apart", "deliveries --state refused"]);
    let listed = run(&dir.0, &["deliveries", "--state", "refused", "--json"]).well().json();
    let id = listed["items"][0]["id"].as_str().unwrap();
    run(&dir.0, &["show", id, "--body"]).well().says(&[r#"{"id":"1"}"#]);
}

#[tokio::test]
async fn one_head_is_kept_and_shows_a_later_change() {
    let world = world("").await;
    world.post("web", LEAD).await;
    let world = world.restart().await;
    world.post("web", LEAD).await;
    let dir = leave(world);
    let told = run(&dir.0, &["evidence", "verify", "--json"]).well().json();
    let (heads, head) = (told["heads"].as_array().unwrap(), told["head"].as_str().unwrap());
    assert!(heads.len() == 2 && heads.iter().any(|one| one == head));
    let text = run(&dir.0, &["evidence", "verify"]).well();
    assert_eq!(text.out.matches("str_").count(), 1, "{}", text.out);
    text.says(&[head, "in 2 streams", "Keep this head", "evidence verify --head HEAD"]);
    run(&dir.0, &["evidence", "verify", "--head", head]).well();
    // The head of the newest stream stands for the older one: its last entry goes, and it shows without the older's head.
    let book = rusqlite::Connection::open(dir.0.join("book.db")).unwrap();
    let cut = "DELETE FROM journal WHERE stream = (SELECT min(ord) FROM streams) AND seq = (SELECT max(seq) FROM journal WHERE stream = (SELECT min(ord) FROM streams))";
    assert_eq!(book.execute(cut, []).unwrap(), 1);
    drop(book);
    let cut = run(&dir.0, &["evidence", "verify", "--head", head]);
    assert_eq!(cut.code, 1, "{}{}", cut.out, cut.err);
    cut.says(&["FAULT", "restore the book from a backup"]);
}

#[tokio::test]
async fn a_copy_of_what_is_held_and_a_replay_are_told_as_they_are() {
    let world = world("").await;
    world.post("web", LEAD).await;
    world.work_for(0).await;
    let other = LEAD.replace("40 chairs", "50 chairs");
    assert_eq!(world.post("web", &other).await["verdict"], "conflict");
    assert_eq!(world.post("web", &other).await["verdict"], "redelivery");
    let dir = leave(world);
    let held = run(&dir.0, &["show", "lead_77~2"]).well();
    assert!(held.out.contains("suppressed as a duplicate") && !held.out.contains("carried out"), "{}", held.out);
    run(&dir.0, &["replay", KEY]).well();
    let replayed = run(&dir.0, &["show", KEY]).well();
    replayed.says(&["looked at again"]);
    assert!(!replayed.out.contains("from verified to verified"), "{}", replayed.out);
}

/// The files of a book that nobody has open, in a directory of their own: what a person copies.
fn copied(from: &Path, files: &[&str]) -> Dir {
    let to = Dir::new();
    for file in files {
        std::fs::copy(from.join(file), to.0.join(file)).unwrap();
    }
    std::fs::write(to.0.join("oncebook.toml"), placed(&to.0, "")).unwrap();
    to
}

/// What a person reads of a copy.
fn is_the_book(copy: &Dir) {
    run(&copy.0, &["show", KEY]).well().says(&["Avery Sample"]);
    run(&copy.0, &["evidence", "verify"]).well().says(&["The chain is whole"]);
}

#[tokio::test]
async fn after_a_clean_stop_the_book_is_one_file() {
    let server = world::process::Process::start("", None).await;
    let dir = std::sync::Arc::clone(&server.dir);
    server.post("web", LEAD).await;
    run(&dir.0, &["show", KEY]).well();
    assert_eq!(server.terminate().await, Some(0));
    assert!(!dir.0.join("book.db-wal").exists());
    is_the_book(&copied(&dir.0, &["book.db"]));
}

#[tokio::test]
async fn after_a_crash_a_copy_with_its_wal_is_the_book() {
    let server = world::process::Process::start_logged("").await;
    server.post("web", LEAD).await;
    let (_, dir) = server.end().await;
    is_the_book(&copied(&dir.0, &["book.db", "book.db-wal"]));
}

#[tokio::test]
async fn a_server_whose_output_nobody_reads_serves_on() {
    let mut server = world::process::Process::start_unheard("").await;
    server.post("web", LEAD).await;
    server.settled(KEY).await;
    assert!(!server.has_ended());
}

#[test]
fn dismissing_needs_a_reason() {
    let empty = Dir::new();
    std::fs::write(empty.0.join("oncebook.toml"), placed(&empty.0, "")).unwrap();
    let bare = run(&empty.0, &["review", "rev_1", "dismiss"]);
    assert_eq!(bare.code, 2);
    bare.says(&["--reason"]);
}

#[tokio::test]
async fn a_suppression_under_a_weak_key_is_undone_by_name() {
    let world = world(WEAK).await;
    let body = r#"{"email":"avery@example.com","message":"Need a quote"}"#;
    world.post("form", body).await;
    world.clock.advance(MINUTE);
    let copy = world.post("form", body).await;
    assert_eq!((&copy["verdict"], &copy["weak_key"]), (&json!("redelivery"), &json!(true)));
    let dir = leave(world);
    let id = copy["delivery"].as_str().unwrap();
    run(&dir.0, &["show", id]).well().says(&[&format!("review {id} separate")]);
    run(&dir.0, &["review", id, "separate"]).well().says(&[id, "read again"]);
    assert_eq!(run(&dir.0, &["enquiries", "--json"]).well().json()["items"].as_array().unwrap().len(), 2);
    let again = run(&dir.0, &["review", "dlv_nothing", "separate"]);
    assert_eq!(again.code, 2);
    again.says(&["dlv_nothing: there is no delivery"]);
}

#[tokio::test]
async fn a_target_is_paused_with_a_reason_and_resumed() {
    let world = world("").await;
    world.post("web", LEAD).await;
    let dir = leave(world);
    run(&dir.0, &["pause", "crm", "--reason", "moving house"]).well().says(&["crm: paused", "resume crm`"]);
    let book = store::sqlite::Sqlite::open_to_read(&dir.0.join("book.db")).unwrap();
    let states = store::Store::targets(&book).await.unwrap();
    assert_eq!(states[0].paused.as_ref().map(|(_, why)| why.as_str()), Some("moving house"));
    run(&dir.0, &["targets"]).well().says(&[
        "crm",
        "desk",
        "live",
        "paused",
        "since 20",
        "moving house",
        "resume crm",
        "mail",
        "outbox",
        "open",
    ]);
    let targets = run(&dir.0, &["targets", "--json"]).well().json();
    let crm = &targets["items"][0];
    assert_eq!(
        (&crm["name"], &crm["kind"], &crm["state"], &crm["why"]),
        (&json!("crm"), &json!("desk"), &json!("paused"), &json!("moving house"))
    );
    assert!(crm["paused_at"].is_string() && targets["items"][1]["paused_at"].is_null());
    run(&dir.0, &["resume", "crm"]).well().says(&["crm: resumed"]);
    let unknown = run(&dir.0, &["pause", "crn"]);
    assert_eq!(unknown.code, 2);
    unknown.says(&["no target 'crn'", "crm, mail"]);
}

/// All that is left of the book is its log: no command may have it thrown away, and each says what lies there.
#[test]
fn i1_no_command_opens_a_book_of_which_only_the_log_is_there() {
    let dir = Dir::new();
    std::fs::write(dir.0.join("oncebook.toml"), placed(&dir.0, WEAK)).unwrap();
    let (book, log) = (dir.0.join("book.db"), dir.0.join("book.db-wal"));
    std::fs::write(&log, "what a crash left").unwrap();
    let commands: [&[&str]; 10] = [
        &["enquiries"],
        &["deliveries"],
        &["show", "lead_77"],
        &["review"],
        &["targets"],
        &["evidence", "verify"],
        &["replay", "lead_77"],
        &["pause", "crm"],
        &["identity", "accept", "form"],
        &["serve"],
    ];
    for _ in ["no file", "an empty one"] {
        for command in commands {
            let ran = run(&dir.0, command);
            assert_eq!(ran.code, 2, "{command:?}: {}", ran.out);
            ran.says(&["book.db is missing or empty, and its log (-wal) is there"]);
            assert_eq!(std::fs::read(&log).unwrap(), b"what a crash left", "{command:?}");
        }
        std::fs::write(&book, "").unwrap();
    }
    run(&dir.0, &["config", "check"]).well();
    assert_eq!(std::fs::read(&log).unwrap(), b"what a crash left");
}

#[test]
fn a_misspelt_name_is_found_before_there_is_an_enquiry() {
    let dir = Dir::new();
    let config =
        "[[target]]\nname = \"mail\"\nkind = \"outbox\"\nfrom = \"desk@example.com\"\n[[action]]\nname = \"hello\"\ntarget = \"mail\"\n";
    for (line, says) in [
        ("text = \"{{ enquiry.sumary }}\"", "there is no `enquiry.sumary`"),
        ("when = \"enquiry.contact.mail != null\"", "there is no `enquiry.contact.mail`"),
    ] {
        std::fs::write(dir.0.join("oncebook.toml"), placed(&dir.0, &format!("{config}{line}\n"))).unwrap();
        let ran = run(&dir.0, &["config", "check"]);
        assert_eq!(ran.code, 1);
        ran.says(&["oncebook.toml:", "(action[0]", says]);
    }
}

/// Desks and outboxes stand in the data directory, whatever the book: they have one owner too.
#[tokio::test]
async fn a_data_directory_has_one_server() {
    let world = world("").await;
    let second = Dir::new();
    let book = second.0.join("other.db");
    std::fs::write(second.0.join("oncebook.toml"), placed(&world.dir.0, &format!("[store]\nurl = \"sqlite:{}\"\n", book.display())))
        .unwrap();
    let ran = run(&second.0, &["serve"]);
    assert_eq!(ran.code, 2);
    ran.says(&["another server's data directory", "server.data_dir"]);
}

/// While another process holds the book, an order goes to the address that it noted.
#[tokio::test]
async fn an_order_goes_to_the_server_that_holds_the_book() {
    let world = world("").await;
    world.post("web", LEAD).await;
    let dir = std::sync::Arc::clone(&world.dir);
    let alone = run(&dir.0, &["pause", "crm"]);
    assert_eq!(alone.code, 2);
    alone.says(&["open in another process", "serve.address"]);

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    std::fs::write(dir.0.join("serve.address"), listener.local_addr().unwrap().to_string()).unwrap();
    let server = std::thread::spawn(move || [answer(&listener, 200, "{}"), answer(&listener, 409, PROBLEM)]);
    run(&dir.0, &["pause", "crm", "--reason", "down"]).well().says(&["crm: paused"]);
    let refused = run(&dir.0, &["replay", KEY]);
    assert_eq!((refused.code, refused.err.as_str()), (2, "oncebook: Does not fit: it waits for its conflict\n"));
    let [paused, replayed] = server.join().unwrap();
    assert!(paused.starts_with("POST /api/v1/targets/crm/pause ") && paused.contains(r#"{"by":"jo","reason":"down"}"#), "{paused}");
    assert!(replayed.starts_with("POST /api/v1/enquiries/enq_"), "{replayed}");

    let gone = run(&dir.0, &["resume", "crm"]);
    assert_eq!(gone.code, 2);
    gone.says(&["nothing answers at http://127.0.0.1:"]);
    // Reading needs no server.
    run(&dir.0, &["show", KEY]).well();
}

const PROBLEM: &str =
    r#"{"type":"about:blank","title":"Does not fit","status":409,"detail":"it waits for its conflict","code":"does_not_fit"}"#;

/// Answers one request; what was asked.
fn answer(listener: &TcpListener, status: u16, body: &str) -> String {
    let (mut stream, _) = listener.accept().unwrap();
    let mut asked = Vec::new();
    let mut part = [0; 4096];
    while !asked.ends_with(b"}") {
        let n = stream.read(&mut part).unwrap();
        assert!(n > 0, "the request ended early: {}", String::from_utf8_lossy(&asked));
        asked.extend_from_slice(&part[..n]);
    }
    let length = body.len();
    write!(stream, "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
        .unwrap();
    String::from_utf8(asked).unwrap()
}

/// The bench runs, counts what stands in its target, and says what came of each aim.
#[test]
fn a_bench_counts_its_records_and_names_its_aims() {
    let dir = Dir::new();
    let arguments = ["bench", "--only", "jobs,model", "--seconds", "1", "--jobs", "40", "--json", "--dir"];
    let out = Command::new(world::process::binary()).args(arguments).arg(&dir.0).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let report: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((&report["jobs"]["records"], &report["jobs"]["keys"], &report["to_model"]["count"]), (&json!(40), &json!(40), &json!(200)));
    assert!(report["fdatasync"]["count"].as_u64().unwrap() > 0);
    assert_eq!(std::fs::read_dir(&dir.0).unwrap().count(), 0, "it leaves nothing behind");
}
