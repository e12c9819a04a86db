//! From nothing to the first enquiry, as a person types it: `oncebook init`, `config check`, `serve`, the printed command that
//! posts, and what then stands in the book. The printed lines are run by a shell, so `curl` and `openssl` must be there.

#![expect(clippy::unwrap_used, reason = "what helps a test fails with it")]

mod world;

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use world::Dir;

/// How a command ended.
struct Ran {
    code: i32,
    out: String,
    err: String,
}

impl Ran {
    #[track_caller]
    fn well(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}", self.out);
        self.out
    }

    #[track_caller]
    fn json(self) -> Value {
        serde_json::from_str(&self.well()).unwrap()
    }

    #[track_caller]
    fn says(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        for part in parts {
            assert!(self.out.contains(part) || self.err.contains(part), "{part:?} in:\n{}{}", self.out, self.err);
        }
    }
}

/// Runs a shell in a directory, where the binary is called `oncebook` as the printed lines call it.
fn sh(dir: &Path, script: &str) -> Ran {
    let ended = shell(dir, script).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: ended.status.code().unwrap_or(-1), out: text(ended.stdout), err: text(ended.stderr) }
}

fn shell(dir: &Path, script: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("oncebook() {{ \"$ONCEBOOK_BINARY\" \"$@\"; }}\n{script}"));
    command.env("ONCEBOOK_BINARY", env!("CARGO_BIN_EXE_oncebook")).env("no_proxy", "*").current_dir(dir).stdin(Stdio::null());
    command
}

/// A server that is ended with its test.
struct Serving {
    child: Child,
    /// Held, so that the server can go on writing to it.
    _out: BufReader<ChildStdout>,
}

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Starts the server after some lines of a shell; its address, once it listens.
fn serve(dir: &Path, before: &str) -> (Serving, String) {
    let mut command = shell(dir, &format!("{before}\nexec \"$ONCEBOOK_BINARY\" serve"));
    let mut child = command.env("ONCEBOOK_LISTEN", "127.0.0.1:0").env("ONCEBOOK_LOG", "warn").stdout(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut first).unwrap();
    let address = first.rsplit("http://").next().unwrap().trim().to_owned();
    (Serving { child, _out: out }, address)
}

fn lines(value: &Value) -> String {
    value.as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

/// Types everything that `init` prints; the enquiry that came of it.
#[track_caller]
fn typed(options: &str) -> Value {
    let dir = Dir::new();
    let dir = &dir.0;
    let said = sh(dir, &format!("oncebook init --json {options}")).json();
    let next = &said["next"];
    let setting = lines(&next["secrets"]);
    // Once written, the last line alone sets them.
    sh(dir, &setting).well();
    let sourced = if setting.is_empty() { "" } else { ". ./oncebook.env" };
    let text = |name: &str| next[name].as_str().unwrap().to_owned();
    let checked = sh(dir, &format!("{sourced}\n{}", text("check"))).well();
    assert!(checked.contains("oncebook.toml: good"), "{checked}");
    assert!(text("serve").ends_with("oncebook serve"));

    let (serving, address) = serve(dir, sourced);
    let post = lines(&next["post"]).replace("127.0.0.1:8484", &address).replace("curl ", "curl -sS ");
    assert!(post.contains(&address), "{post}");
    let answer = sh(dir, &format!("{sourced}\n{post}")).json();
    assert_eq!(answer["verdict"], "accepted", "{options}: {answer}");
    let again = sh(dir, &format!("{sourced}\n{post}")).json();
    assert_eq!(again["verdict"], "redelivery", "{options}: {again}");

    let listed = sh(dir, &format!("{sourced}\n{}", next["look"][0].as_str().unwrap())).well();
    assert!(listed.contains(answer["key"].as_str().unwrap()), "{listed}");
    let shown = sh(dir, &format!("{sourced}\n{} --json", next["look"][1].as_str().unwrap())).json();
    assert_eq!(shown["items"].as_array().unwrap().len(), 1);
    // What the API calls by the sender's own id is the same.
    let api = sh(dir, &format!("curl -sS http://{address}/api/v1/enquiries/first-1")).json();
    assert_eq!(api["enquiry"]["key"], answer["key"]);
    drop(serving);
    let mode = std::fs::metadata(dir.join("oncebook-data")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "the book's directory is its owner's alone");
    if !sourced.is_empty() {
        let mode = std::fs::metadata(dir.join("oncebook.env")).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "the secrets' file is its owner's alone");
    }
    shown["items"][0]["enquiry"].clone()
}

#[test]
fn what_init_prints_leads_to_the_first_enquiry() {
    let enquiry = typed("");
    assert_eq!((&enquiry["key"], &enquiry["contact"]["email"]), (&json!("web:submission:first-1"), &json!("you@example.com")));
}

#[test]
fn a_bearers_secret_is_posted_as_printed() {
    assert_eq!(typed("--source form --auth bearer")["key"], "form:submission:first-1");
}

#[test]
fn a_name_and_a_password_are_posted_as_printed() {
    assert_eq!(typed("--source 2024-form --auth basic")["key"], "2024-form:submission:first-1");
}

#[test]
fn a_signature_is_posted_as_printed() {
    assert_eq!(typed("--auth hmac-sha256 --source website --source ads=generic --schema")["key"], "website:submission:first-1");
}

#[test]
fn standard_webhooks_are_posted_as_printed() {
    assert_eq!(typed("--auth standard-webhooks --target crm=desk")["key"], "web:submission:first-1");
}

#[test]
fn every_choice_passes_the_check_and_its_dump_says_the_same() {
    let targets = [
        "",
        "--target crm=desk",
        "--target crm=http",
        "--target mail=outbox",
        "--target a=desk --target b=http --target c=outbox --target d=outbox",
    ];
    for auth in ["none", "bearer", "basic", "hmac-sha256", "standard-webhooks"] {
        for target in targets {
            let dir = Dir::new();
            let qualifier = if auth == "none" { "openai" } else { "rules" };
            let said = sh(&dir.0, &format!("oncebook init --json --auth {auth} {target} --qualifier {qualifier} --schema")).json();
            let setting = lines(&said["next"]["secrets"]);
            let script = format!(
                "{setting}\noncebook config check && oncebook config dump > dump.toml && oncebook --config dump.toml config dump > again.toml \
                 && cmp dump.toml again.toml && oncebook --config dump.toml config check"
            );
            let out = sh(&dir.0, &script).well();
            assert!(out.contains("oncebook.toml: good") && out.contains("dump.toml: good"), "{auth} {target}: {out}");
            let needs = auth != "none" || target.contains("http");
            assert_eq!(!setting.is_empty(), needs, "{auth} {target}");
            if needs {
                sh(&dir.0, "oncebook config check").says(1, &["oncebook.toml:", "is not set, or empty"]);
            }
            let text = std::fs::read_to_string(dir.0.join("oncebook.toml")).unwrap();
            assert!(text.starts_with("#:schema ./oncebook.schema.json\n"), "{text}");
            let schema: Value = serde_json::from_str(&std::fs::read_to_string(dir.0.join("oncebook.schema.json")).unwrap()).unwrap();
            assert_eq!(schema, sh(&dir.0, "oncebook config schema").json());
        }
    }
}

/// A proposal is good as it stands: each alone, its mark taken away, is read.
#[test]
fn every_proposed_line_holds_once_its_mark_is_taken_away() {
    let dir = Dir::new();
    sh(&dir.0, "oncebook init --auth bearer --target crm=http --target mail=outbox --schema").well();
    let text = std::fs::read_to_string(dir.0.join("oncebook.toml")).unwrap();
    let is_proposal = |line: &&str| line.strip_prefix('#').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()));
    let proposals: Vec<&str> = text.lines().filter(is_proposal).collect();
    assert!(proposals.len() > 40, "{text}");
    // The two lines of the token belong together.
    let mut texts = vec![text.replace("#[[token]]", "[[token]]").replace("#name =", "name =").replace("#secret =", "secret =")];
    for (at, _) in text.match_indices("\n#").filter(|(at, _)| is_proposal(&text[at + 1..].lines().next().unwrap())) {
        texts.push(format!("{}\n{}", &text[..at], &text[at + 2..]));
    }
    let is_alone = |text: &String| {
        !text.contains("\nname = \"n8n\"") && !text.contains("\nsecret = \"env:N8N_TOKEN\"") || text.contains("\n[[token]]")
    };
    let mut tried = 0;
    for text in texts.iter().filter(|text| is_alone(text)) {
        std::fs::write(dir.0.join("oncebook.toml"), text).unwrap();
        let ran = sh(
            &dir.0,
            "WEB_SECRET=a CRM_TOKEN=b N8N_TOKEN=c MODEL_KEY=d; export WEB_SECRET CRM_TOKEN N8N_TOKEN MODEL_KEY; oncebook config check",
        );
        assert_eq!(ran.code, 0, "{}\n{text}", ran.out);
        tried += 1;
    }
    assert!(tried > 40, "{tried}");
}

#[test]
fn nothing_that_is_there_is_overwritten_unasked() {
    let dir = Dir::new();
    std::fs::write(dir.0.join("oncebook.toml"), "mine").unwrap();
    sh(&dir.0, "oncebook init").says(2, &["oncebook.toml is there already", "--force"]);
    assert_eq!(std::fs::read_to_string(dir.0.join("oncebook.toml")).unwrap(), "mine");
    assert!(!dir.0.join("templates").exists());
    std::fs::create_dir(dir.0.join("templates")).unwrap();
    std::fs::write(dir.0.join("templates/follow-up.txt"), "my letter").unwrap();
    sh(&dir.0, "oncebook init --force").says(0, &["Written: oncebook.toml\n", "Kept as they are: templates/follow-up.txt"]);
    assert_eq!(std::fs::read_to_string(dir.0.join("templates/follow-up.txt")).unwrap(), "my letter");
    sh(&dir.0, "oncebook --config 'new dir/own.toml' init").says(0, &["oncebook --config 'new dir/own.toml' config check"]);
    sh(&dir.0, "oncebook --config 'new dir/own.toml' config check").well();
    std::fs::write(dir.0.join("new dir/oncebook.schema.json"), "mine").unwrap();
    sh(&dir.0, "oncebook --config 'new dir/other.toml' init --schema").says(2, &["oncebook.schema.json is there already"]);
    assert!(!dir.0.join("new dir/other.toml").exists());
}

/// Whose configuration lies elsewhere has its secrets beside it, and types what is printed.
#[test]
fn the_secrets_stand_beside_the_configuration() {
    for (config, file) in [("conf/own.toml", "conf/oncebook.env"), ("'new dir/own.toml'", "'new dir/oncebook.env'")] {
        let dir = Dir::new();
        let said = sh(&dir.0, &format!("oncebook --config {config} init --auth bearer --json")).json();
        let (secrets, check) = (lines(&said["next"]["secrets"]), said["next"]["check"].as_str().unwrap());
        assert!(secrets.ends_with(&format!("\n. {file}")), "{secrets}");
        sh(&dir.0, &format!("{secrets}\n{check}")).well();
        sh(&dir.0, &format!(". ./{file}\n{check}")).well();
        let beside = dir.0.join(file.trim_matches('\''));
        assert_eq!(std::fs::metadata(beside).unwrap().permissions().mode() & 0o077, 0, "its owner's alone");
        assert!(!dir.0.join("oncebook.env").exists());
        let text = sh(&dir.0, &format!("oncebook --config {config} init --auth bearer --force")).well();
        assert!(text.contains(&format!("only the last line, `. {file}`")), "{text}");
    }
}

#[test]
fn printed_it_stands_alone_and_nothing_is_written() {
    let dir = Dir::new();
    let printed = sh(&dir.0, "oncebook init --stdout --target crm=desk --target mail=outbox").well();
    assert_eq!(printed, sh(&dir.0, "oncebook --config - init").well());
    assert_eq!(std::fs::read_dir(&dir.0).unwrap().count(), 0);
    std::fs::write(dir.0.join("oncebook.toml"), printed).unwrap();
    sh(&dir.0, "oncebook config check").well();
}

#[test]
fn what_cannot_be_is_said_and_nothing_written() {
    let dir = Dir::new();
    for (options, says) in [
        ("--source 'My Form'", "source[0].name: `My Form` is no name: use small letters"),
        ("--source 'a\"]'", "is no name"),
        ("--source web --source web", "the name `web` is taken by source[0]"),
        ("--source web=typeform", "kind typeform comes later; use generic"),
        ("--source ''", "is no name"),
        ("--target crm", "--target crm: say of what kind it is: crm=desk"),
        ("--target crm=fax", "there is no kind `fax`; use desk, http or outbox"),
        ("--target a=desk --target a=http", "the name `a` is taken by target[0]"),
        ("--listen everywhere", "is no address to listen on"),
        ("--listen 0.0.0.0:80", "anybody can post to `web`"),
        ("--auth magic", "invalid value 'magic'"),
    ] {
        sh(&dir.0, &format!("oncebook init {options}")).says(2, &[says]);
        assert_eq!(std::fs::read_dir(&dir.0).unwrap().count(), 0, "{options}");
    }
}

/// The kinds of mistakes that INTERFACE promises to name, by the built binary: file, line and key, for people and programs.
#[test]
fn every_kind_of_mistake_is_named_with_file_line_and_key() {
    let dir = Dir::new();
    let desk = "[[target]]\nname = \"crm\"\nkind = \"desk\"\n";
    let http = "[[target]]\nname = \"crm\"\nkind = \"http\"\nwrite = { url = \"http://127.0.0.1:1/deals\", body = '{}' }\n";
    for (text, line, key, says) in [
        ("[server]\nlisten = \n".to_owned(), 2, "", "not TOML"),
        (format!("[server]\nlistn = \"127.0.0.1:1\"\n{desk}"), 2, "server.listn", "did you mean `listen`?"),
        (
            format!("{desk}[[source]]\nname = \"a\"\nidentity = {{ submission = \"/attempt_id\" }}\n"),
            6,
            "source[0].identity.submission",
            "every retry",
        ),
        (
            format!("{desk}[[source]]\nname = \"a\"\nidentity = {{ submission = \"header:X-GitHub-Delivery\" }}\n"),
            6,
            "source[0].identity.submission",
            "every retry",
        ),
        (
            format!("{desk}[[source]]\nname = \"a\"\nauth = {{ scheme = \"bearer\", secret = \"hunter2\" }}\n"),
            6,
            "source[0].auth.secret",
            "in clear",
        ),
        (format!("{http}headers = {{ Authorization = \"Bearer hunter2\" }}\n"), 5, "target[0].headers.Authorization", "in clear"),
        (format!("{http}find = {{ consistency = \"window:24h\" }}\n"), 5, "target[0].find.consistency", "ends before the retries do"),
        (
            format!("{http}\n\nheaders = {{ a = \"b\", X-Token = \"{{{{ secret('env:ONCEBOOK_TEST_UNSET') }}}}\" }}\n"),
            7,
            "target[0].headers.X-Token",
            "is not set, or empty",
        ),
        (format!("{desk}[[action]]\nname = \"deal\"\ntarget = \"crm\"\nwhen = \"1 +\"\n"), 7, "action[0].when", ""),
    ] {
        std::fs::write(dir.0.join("oncebook.toml"), &text).unwrap();
        let place = format!("oncebook.toml:{line}:");
        let ran = sh(&dir.0, "oncebook config check");
        ran.says(1, &[&place, says]);
        assert!(key.is_empty() || ran.out.contains(&format!("({key})")), "{key}: {}", ran.out);
        assert!(!ran.out.contains("hunter2"), "{}", ran.out);
        let ran = sh(&dir.0, "oncebook config check --json");
        let told: Value = serde_json::from_str(&ran.out).unwrap();
        let problem = &told["problems"][0];
        assert_eq!((ran.code, &told["good"]), (1, &json!(false)));
        assert_eq!((&problem["file"], &problem["line"], &problem["key"]), (&json!("oncebook.toml"), &json!(line), &json!(key)), "{text}");
        assert!(problem["message"].as_str().unwrap().contains(says), "{problem}");
    }
    std::fs::write(dir.0.join("oncebook.toml"), "").unwrap();
    let told = sh(&dir.0, "ONCEBOOK_ENGINE_WORKERS=many oncebook config check --json");
    let told: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!((&told["problems"][0]["variable"], &told["problems"][0]["line"]), (&json!("ONCEBOOK_ENGINE_WORKERS"), &Value::Null));
    let told = sh(&dir.0, "oncebook --config none.toml config check --json");
    assert_eq!(told.code, 1);
    assert!(told.out.contains("cannot be read"), "{}", told.out);
}

#[test]
fn a_dump_has_the_variables_and_is_printed_as_json_too() {
    let dir = Dir::new();
    let dump = sh(&dir.0, "ONCEBOOK_LISTEN=127.0.0.1:9 ONCEBOOK_STORE_BATCH_MAX=7 oncebook config dump").well();
    assert!(dump.contains("\nlisten = \"127.0.0.1:9\"\n") || dump.contains("[server]\nlisten = \"127.0.0.1:9\"\n"), "{dump}");
    std::fs::write(dir.0.join("oncebook.toml"), &dump).unwrap();
    assert_eq!(sh(&dir.0, "oncebook config dump").well(), dump);
    let told = sh(&dir.0, "oncebook config dump --json").json();
    assert_eq!(
        (&told["store"]["batch_max"], &told["source"][0]["name"], &told["engine"]["workers"]),
        (&json!(7), &json!("web"), &json!(32))
    );
}
