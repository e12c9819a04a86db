//! What a section refuses by itself, each with its place, its key and what to do.

use super::*;

const DESK: &str = "[[target]]\nname = \"crm\"\nkind = \"desk\"\n";

/// A text whose source has these lines from line 3 on.
fn source(lines: &str) -> String {
    format!("[[source]]\nname = \"a\"\n{lines}\n")
}

/// A text whose http target has these lines from line 4 on.
fn http(lines: &str) -> String {
    format!("[[target]]\nname = \"crm\"\nkind = \"http\"\n{lines}\n")
}

const WRITE: &str = "write = { url = \"http://crm/deals\" }\n";

#[test]
fn every_syntax_error_is_named_and_no_line_shown() {
    let error = read("[server]\nlisten = \"x\nbody_max = = 3\n").unwrap_err();
    assert!(error.problems().len() >= 2, "{error}");
    assert!(error.problems().iter().all(|p| p.message.starts_with("not TOML: ") && p.excerpt.is_none()));
    assert!(error.to_string().starts_with("oncebook.toml:2:"), "{error}");
}

#[test]
fn unknown_keys_are_named_with_the_nearest_that_exists() {
    assert_problem("[server]\nlisten = \"127.0.0.1:1\"\nbody_mx = \"1MiB\"\n", "3:1", "server.body_mx", "did you mean `body_max`?");
    assert_problem("[sever]\n", "1:2", "sever", "did you mean `server`?");
    assert_problem("[engine]\ncolour = 1\n", "2:1", "engine.colour", "the keys are pause_max, workers");
    assert_problem(&source("identity = { submision = \"/id\" }"), "3:14", "source[0].identity.submision", "did you mean `submission`?");
    assert_problem(&source("auth = { scheme = \"none\", header = \"X\" }"), "3:27", "source[0].auth.header", "there is no key `header`");
}

#[test]
fn wrong_types_and_amounts_are_named() {
    assert_problem("[server]\nlisten = 8484\n", "2:10", "server.listen", "takes a text in quotes, and this is of type integer");
    assert_problem("server = 3\n", "1:1", "server", "write [server]");
    assert_problem("[source]\nname = \"a\"\n", "1:2", "source", "write [[source]]");
    assert_problem("[engine]\nworkers = 1025\n", "2:11", "engine.workers", "a whole number from 0 to 1024");
    assert_problem("[engine]\npause_max = \"10\"\n", "2:13", "engine.pause_max", "such as 500ms, 5s");
    assert_problem("[engine]\nbackoff = \"2m\"\n", "1:1", "engine.backoff_max", "at least `backoff`, 2m");
    assert_problem("[qualifier]\nmin_confidence = 1.5\n", "2:18", "qualifier.min_confidence", "a number from 0 to 1");
    assert_problem("[qualifier]\nmin_confidence = nan\n", "2:18", "qualifier.min_confidence", "a number from 0 to 1");
    assert_problem("[server]\nbody_max = \"1 MB\"\n", "2:12", "server.body_max", "no size");
    assert_problem(&source("volatile = [\"/a\", 3]"), "3:19", "source[0].volatile[1]", "of type integer");
    assert_problem(&source("look_alike = { then = \"drop\" }"), "3:23", "source[0].look_alike.then", "not one of hold, proceed");
}

#[test]
fn addresses_that_cannot_be_are_named() {
    assert_problem("[server]\nlisten = \"localhost\"\n", "2:10", "server.listen", "an IP address and a port");
    assert_problem("[server]\npublic_url = \"intake.example.com\"\n", "2:14", "server.public_url", "https://intake.example.com");
    assert_problem("[store]\nurl = \"postgres://me@db/book\"\n", "2:7", "store.url", "SQLite only");
    assert_problem("[store]\nurl = \"sqlite::memory:\"\n", "2:7", "store.url", "outlive");
}

#[test]
fn names_are_plain_and_kinds_known() {
    assert_problem("[[source]]\nname = \"My Form\"\n", "2:8", "source[0].name", "small letters");
    assert_problem("[[source]]\nkind = \"generic\"\n", "1:1", "source[0].name", "`name` is missing");
    assert_problem(&source("kind = \"typeform\""), "3:8", "source[0].kind", "kind typeform comes later; use generic");
    assert_problem(&source("kind = \"fax\""), "3:8", "source[0].kind", "there is no kind `fax`");
    assert_problem("[qualifier]\nkind = \"anthropic\"\n", "2:8", "qualifier.kind", "kind anthropic comes later; use rules");
    assert_problem("[qualifier]\nkind = \"oracle\"\n", "2:8", "qualifier.kind", "there is no kind `oracle`; use rules or openai");
    assert_problem("[[target]]\nname = \"crm\"\nkind = \"hubspot\"\n", "3:8", "target[0].kind", "kind hubspot comes later");
    assert_problem(&source("timezone = \"Europe/Atlantis\""), "3:12", "source[0].timezone", "no time zone");
}

#[test]
fn bad_pointers_are_named() {
    let key = "source[0].identity.submission";
    assert_problem(&source("identity = { submission = \"submission_id\" }"), "3:27", key, "no JSON Pointer");
    assert_problem(&source("identity = { submission = \"\" }"), "3:27", key, "no JSON Pointer");
    assert_problem(&source("identity = { submission = [] }"), "3:27", key, "is empty");
    assert_problem(&source("identity = { submission = [\"/a\", \"/b/*\"] }"), "3:34", "source[0].identity.submission[1]", "one place");
    assert_problem(&source("map = { \"contact.email\" = \"email\" }"), "3:27", "source[0].map.\"contact.email\"", "no JSON Pointer");
    assert_problem(&source("items = \"entries\""), "3:9", "source[0].items", "no JSON Pointer");
    assert_problem(&source("identity = { with = [\"/form\"] }"), "3:21", "source[0].identity.with", "name that too");
}

#[test]
fn an_identity_may_not_rest_on_a_delivery_or_an_attempt() {
    let fleeting = [
        "header:X-Shopify-Webhook-Id",
        "header:X-Request-Id",
        "header:webhook-timestamp",
        "header:X-Slack-Retry-Num",
        "header:svix-timestamp",
        "header:I-Twilio-Idempotency-Token",
        "header:X-GitHub-Delivery",
        "/attemptNumber",
        "/meta/attempt",
        "/retry",
        "/retry_count",
        "/sent_at",
        "/sentAt",
    ];
    for place in fleeting {
        let text = source(&format!("identity = {{ submission = \"{place}\" }}"));
        assert_problem(&text, "3:27", "source[0].identity.submission", "every retry would be a new enquiry");
        let text = source(&format!("identity = {{ time = \"/at\", with = [\"{place}\"] }}"));
        assert_problem(&text, "3:36", "source[0].identity.with[0]", "every retry would be a new enquiry");
    }
    for place in ["header:webhook-id", "header:svix-id", "/submission_id", "/event/id"] {
        assert!(read(&source(&format!("identity = {{ submission = \"{place}\" }}"))).is_ok(), "{place}");
    }
}

#[test]
fn a_scheme_without_its_parts_is_named() {
    let key = "source[0].auth.secret";
    assert_problem(&source("auth = { scheme = \"bearer\" }"), "3:8", key, "this scheme needs one");
    assert_problem(&source("auth = { scheme = \"standard-webhooks\" }"), "3:8", key, "this scheme needs one");
    assert_problem(&source("auth = { scheme = \"bearer\", secrets = [] }"), "3:39", "source[0].auth.secrets", "is empty");
    assert_problem(&source("auth = { scheme = \"hmac-sha256\", secret = \"env:S\" }"), "3:8", "source[0].auth.header", "name the header");
    assert_problem(&source("auth = { scheme = \"basic\", user = \"u\" }"), "3:8", "source[0].auth.password", "is missing");
    assert_problem(&source("auth = { scheme = \"basic\", user = \"u\", passwords = [] }"), "3:52", "source[0].auth.passwords", "is empty");
    assert_problem(&source("auth = { secret = \"env:S\" }"), "3:8", "source[0].auth.scheme", "is missing");
    assert_problem("[[token]]\nname = \"n8n\"\n", "1:1", "token[0].secret", "is missing");
}

#[test]
fn a_token_for_one_client_is_refused_as_long_as_it_would_see_all() {
    let text = "[[token]]\nname = \"n8n\"\nsecret = \"env:N8N\"\nclient = \"acme\"\n";
    assert_problem(text, "4:1", "token[0].client", "a token for one client comes later; ");
}

#[test]
fn a_field_of_the_map_that_is_nearly_a_known_one_is_a_slip() {
    let map = |field: &str| source(&format!("map = {{ \"{field}\" = \"/x\" }}"));
    for (field, says) in [
        ("contact.emial", "did you mean `contact.email`?"),
        ("contact.mail", "did you mean `contact.email`?"),
        ("contact.Name", "did you mean `contact.name`?"),
        ("contact.zip", "it has contact.email, contact.name, contact.phone, contact.company"),
        ("contact.", "a contact has no"),
        ("mesage", "did you mean `message`?"),
        ("Message", "did you mean `message`?"),
        ("occured_at", "did you mean `occurred_at`?"),
        ("occurred-at", "did you mean `occurred_at`?"),
        ("concent", "did you mean `consent`?"),
    ] {
        let key = format!("source[0].map.{}", if field.contains('.') { format!("{field:?}") } else { field.to_owned() });
        assert_problem(&map(field), "3:9", &key, says);
    }
    for field in
        ["contact.email", "contact.company", "message", "occurred_at", "consent", "budget", "form", "messages_sent", "contact", "content"]
    {
        assert!(read(&map(field)).is_ok(), "{field}");
    }
}

#[test]
fn the_items_of_a_batch_need_an_id_of_their_own() {
    let key = "source[0].identity.submission";
    let by = |places: &str| source(&format!("items = \"/*\"\nidentity = {{ submission = {places} }}"));
    assert_problem(&by("\"header:X-Event-Id\""), "4:27", key, "one set of headers");
    assert_problem(&by("[\"header:X-Event-Id\", \"header:X-Form\"]"), "4:27", key, "one set of headers");
    assert!(read(&by("[\"header:X-Event-Id\", \"/id\"]")).is_ok());
    // Its scheme's own id is the message's, and one message carries all of them.
    let webhook = "auth = { scheme = \"standard-webhooks\", secret = \"env:S\" }";
    assert_problem(&source(&format!("items = \"/*\"\n{webhook}")), "1:1", key, "one set of headers");
    assert!(read(&source(webhook)).is_ok());
    assert!(read(&source(&format!("items = \"/*\"\n{webhook}\nidentity = {{ time = \"/at\" }}"))).is_ok());
}

#[test]
fn a_target_says_how_it_writes_and_what_a_look_up_proves() {
    let find = "find = { url = \"http://crm/deals\", records = \"/r\", id = \"/id\", key = \"/k\", consistency = \"strong\" }";
    assert_problem(&http(find), "1:1", "target[0].write", "`write` is missing");
    assert_problem(
        &http(&format!(
            "{WRITE}find = {{ consistency = \"tomorrow\", url = \"http://crm/\", records = \"/r\", id = \"/i\", key = \"/k\" }}"
        )),
        "5:24",
        "target[0].find.consistency",
        "lagging:30s",
    );
    let found = problems(&http(&format!("{WRITE}find = {{ consistency = \"unique\" }}")));
    assert_eq!(found.len(), 4, "{found:#?}");
    assert!(found.iter().all(|line| line.contains("rests on a look-up")));
    assert_problem(
        &http(&find.replace(", consistency = \"strong\"", "").replace("find", &format!("{WRITE}find"))),
        "5:8",
        "target[0].find.consistency",
        "say what a look-up proves",
    );
    assert!(read(&http(&format!("{WRITE}find = {{ consistency = \"upsert\" }}"))).is_ok());
    assert_problem(&format!("{DESK}find = {{ }}\n"), "4:1", "target[0].find", "only a target of kind http has it");
    assert_problem(&http(&format!("{WRITE}not_executed = [503, 200]")), "5:22", "target[0].not_executed[1]", "from 400 to 599");
    assert_problem("[[target]]\nname = \"m\"\nkind = \"outbox\"\n", "1:1", "target[0].from", "name the sender");
}

#[test]
fn an_address_has_its_host_in_clear() {
    for url in ["{{ enquiry.site }}/deals", "http://{{ host }}/deals", "crm/deals", "https:///deals"] {
        assert_problem(&http(&format!("write = {{ url = \"{url}\" }}")), "4:17", "target[0].write.url", "behind the host");
    }
}

#[test]
fn a_message_has_at_most_one_text_and_a_condition_is_short() {
    let mail = "[[target]]\nname = \"mail\"\nkind = \"outbox\"\nfrom = \"a@b\"\n[[action]]\nname = \"hi\"\ntarget = \"mail\"\n";
    let by_default = read(mail).unwrap();
    assert!(by_default.actions[0].text.as_deref().is_some_and(|text| text.contains("thank you")), "a message has a text of its own");
    assert_problem(&format!("{mail}template = \"no/such.txt\"\n"), "8:12", "action[0].template", "cannot be read");
    let long = format!("{mail}text = \"x\"\nwhen = \"{}\"\n", "a".repeat(1_025));
    assert_problem(&long, "9:8", "action[0].when", "1024 are the most");
    assert_problem(&format!("{mail}text = \"x\"\nper_address = \"often\"\n"), "9:15", "action[0].per_address", "3/24h");
    let record = format!("{DESK}[[action]]\nname = \"deal\"\ntarget = \"crm\"\ntext = \"x\"\n");
    assert_problem(&record, "7:1", "action[0].text", "only an action that sends a message has it");
}

#[test]
fn all_problems_come_together_in_the_order_of_the_file_with_the_line_and_a_caret() {
    let text = "[server]\nlisten = \"nowhere\"\n[engine]\nworkers = \"8\"\ntypo = 1\n";
    let error = read(text).unwrap_err();
    let expected =
        "oncebook.toml:2:10 (server.listen): `nowhere` is no address to listen on: write an IP address and a port, e.g. 127.0.0.1:8484
    listen = \"nowhere\"
             ^^^^^^^^^
oncebook.toml:4:11 (engine.workers): `workers` takes a whole number, and this is of type string
    workers = \"8\"
              ^^^
oncebook.toml:5:1 (engine.typo): there is no key `typo` here: the keys are pause_max, workers, backoff, backoff_max, attempts, give_up_after
    typo = 1
    ^^^^";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn no_cut_of_a_file_and_no_missing_line_makes_the_reader_fall() {
    for (cut, _) in EXAMPLE.char_indices() {
        drop(read(&EXAMPLE[..cut]).map_err(|e| e.to_string()));
    }
    let lines: Vec<&str> = EXAMPLE.lines().collect();
    for out in 0..lines.len() {
        let rest: Vec<&str> = lines.iter().enumerate().filter(|(at, _)| *at != out).map(|(_, line)| *line).collect();
        drop(read(&rest.join("\r\n")).map_err(|e| e.to_string()));
    }
    let odd = [
        "server.listen = 3",
        "server.typo = \"ä\" # ö",
        "source = [{ name = \"é\", typo = 1 }, 3]",
        "[[target]]\nkind = '''\nä\n'''",
        "[[source]]\r\nname = \"ä\"\r\n",
    ];
    assert!(odd.iter().all(|text| !read(text).unwrap_err().to_string().is_empty()));
}

#[test]
fn a_model_needs_its_server_and_its_name() {
    let openai = |more: &str| format!("[qualifier]\nkind = \"openai\"\n{more}");
    let (url, model) = ("base_url = \"http://127.0.0.1:8080/v1\"\n", "model = \"local\"\n");
    assert_problem(&openai(model), "1:1", "qualifier.base_url", "`base_url` is missing");
    assert_problem(&openai(url), "1:1", "qualifier.model", "`model` is missing");
    let with = |more: &str| openai(&format!("{url}{model}{more}"));
    assert_problem(&openai(&format!("base_url = \"models/v1\"\n{model}")), "3:12", "qualifier.base_url", "the server's address");
    assert_problem(&openai(&format!("base_url = \"http://m/v1?key=1\"\n{model}")), "3:12", "qualifier.base_url", "ends at its path");
    assert_problem(&openai(&format!("{url}model = \" \"\n")), "4:9", "qualifier.model", "on one line");
    let whole = "base_url = \"http://m/v1/chat/completions/\"\n";
    assert_problem(&openai(&format!("{whole}{model}")), "3:12", "qualifier.base_url", "put behind it");
    assert_problem("[qualifier]\nbackoff = \"30d\"\n", "2:11", "qualifier.backoff", "at most 10m: the record waits for it");
    assert_problem("[qualifier]\ntimeout = \"24h\"\n", "2:11", "qualifier.timeout", "at most 10m: the record waits for it");
    assert_problem(&with("max_tokens = 1\n"), "5:14", "qualifier.max_tokens", "a whole number from 16 to 65536");
    assert_problem(&with("timeout = \"0s\"\n"), "5:11", "qualifier.timeout", "must leave some time");
    assert_problem(&with("temperature = 1\n"), "5:1", "qualifier.temperature", "there is no key `temperature`");
    read(&with("")).unwrap();
}
