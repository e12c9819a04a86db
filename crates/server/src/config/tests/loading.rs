//! What a right configuration becomes: the defaults, the promised example, the variables.

use domain::identity::{ContactPlaces, Place, TimeRule};
use domain::tree::Pointer;

use super::*;
use crate::config::{Auth, Consistency, Mode, OnReview, OnUnknown, Origin, StoreUrl, TargetKind, Then};

fn pointer(text: &str) -> Pointer {
    Pointer::parse(text).unwrap()
}

#[test]
fn without_a_file_the_defaults_of_serve_hold() {
    let config = Config::by_default(&no_env).unwrap();
    assert_eq!(config.server.listen.to_string(), "127.0.0.1:8484");
    assert_eq!(config.server.body_max.bytes(), 1_048_576);
    assert!(config.server.is_private());
    assert_eq!(config.store.url, StoreUrl::Sqlite("oncebook-data/book.db".into()));
    let web = config.source("web").unwrap();
    assert_eq!((web.id.as_str(), &web.auth), ("web", &Auth::None { open: false }));
    assert_eq!(web.rule().submission, [Place::Body(pointer("/submission_id"))]);
    assert_eq!(web.rule().address, Some(pointer("/email")));
    assert_eq!(web.rule().volatile, [pointer("/sent_at"), pointer("/attempt")]);
    assert_eq!((web.look_alike.window.ms(), web.look_alike.then), (600_000, Then::Hold));
    assert!(matches!(config.target("crm").unwrap().kind, TargetKind::Desk));
    assert!(matches!(&config.target("mail").unwrap().kind, TargetKind::Outbox { from } if from == "desk@localhost"));
    assert!(config.targets.iter().all(|target| target.settle.ms() == 0));
    assert_eq!((config.engine.workers, config.engine.attempts, config.engine.give_up_after.ms()), (32, 5, 604_800_000));
}

#[test]
fn outward_actions_pass_further_doors_by_default_and_records_pass_none() {
    let config = Config::by_default(&no_env).unwrap();
    let deal = config.action("deal").unwrap();
    assert_eq!((&deal.when, deal.review, deal.not_after, deal.per_address), (&None, OnReview::Ignore, None, None));
    let follow_up = config.action("follow-up").unwrap();
    assert_eq!(follow_up.when.as_deref(), Some("qualification.qualified && enquiry.contact.email != null"));
    assert_eq!((follow_up.review, follow_up.not_after.unwrap().ms()), (OnReview::Hold, 86_400_000));
    assert_eq!((follow_up.per_address.unwrap().count, follow_up.per_address.unwrap().within.ms()), (3, 86_400_000));
    assert_eq!(follow_up.after, ["deal"]);
    assert!(follow_up.text.as_ref().unwrap().contains("enquiry.contact.name"));
}

#[test]
fn a_file_that_names_no_work_keeps_the_default_work() {
    let config = read("[server]\nlisten = \"127.0.0.1:9000\"\n").unwrap();
    assert_eq!(config.server.listen.port(), 9000);
    assert_eq!((config.sources.len(), config.targets.len(), config.actions.len()), (1, 2, 2));
    let config = read("[[target]]\nname = \"crm\"\nkind = \"desk\"\n").unwrap();
    assert_eq!((config.sources.len(), config.targets.len(), config.actions.len()), (0, 1, 0));
}

#[test]
fn the_promised_example_loads() {
    let config = read(EXAMPLE).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(config.server.public_url.as_deref(), Some("https://intake.example.com"));
    let website = config.source("website").unwrap();
    let Auth::HmacSha256 { header, secrets, .. } = &website.auth else { panic!("{:?}", website.auth) };
    assert_eq!((header.as_str(), secrets.len()), ("x-signature", 1));
    assert_eq!(website.items, Some(pointer("/entries/*")));
    assert_eq!(website.rule().timezone.as_deref(), Some("Europe/Berlin"));
    let crm = config.target("crm").unwrap();
    let TargetKind::Http(http) = &crm.kind else { panic!("{:?}", crm.kind) };
    let find = http.find.as_ref().unwrap();
    assert_eq!((find.consistency, find.look_up.as_ref().unwrap().key.to_string()), (Consistency::Strong, "/external_key".to_owned()));
    assert_eq!((http.write.method.as_str(), http.write.content_type.as_str()), ("POST", "application/json"));
    assert_eq!(http.read.as_ref().unwrap().expect, [(pointer("/title"), "{{ enquiry.summary }}".to_owned())]);
    assert_eq!((crm.settle.ms(), crm.mode, crm.on_unknown, crm.sandbox), (30_000, Mode::Live, OnUnknown::Review, false));
    assert!((config.qualifier.min_confidence - 0.7).abs() < f64::EPSILON);
}

#[test]
fn identity_follows_what_the_source_says_else_what_its_scheme_promises() {
    let source = |rest: &str| {
        let text = format!("[[source]]\nname = \"a\"\n{rest}\n[[target]]\nname = \"crm\"\nkind = \"desk\"\n");
        read(&text).unwrap_or_else(|e| panic!("{e}")).sources.remove(0)
    };
    let webhook = source("auth = { scheme = \"standard-webhooks\", secret = \"env:S\" }");
    assert_eq!(webhook.rule().submission, [Place::Header("webhook-id".to_owned())]);
    let bare = source("");
    assert!(bare.rule().submission.is_empty() && bare.rule().time.is_none());
    assert_eq!(bare.identity.content_window.ms(), 600_000);
    assert_eq!(source("identity = { content = \"5m\" }").identity.content_window.ms(), 300_000);
    let timed = source("identity = { time = \"/submitted_at\", with = [\"/form_id\", \"header:X-Form\"] }");
    let with = vec![Place::Body(pointer("/form_id")), Place::Header("x-form".to_owned())];
    assert_eq!(timed.rule().time, Some(TimeRule { at: Place::Body(pointer("/submitted_at")), with }));
    assert_eq!(timed.rule().contact, Some(ContactPlaces::default()));
    let map = "map = { \"contact.email\" = \"/email\", \"contact.phone\" = \"header:X-Tel\", message = \"/m\" }";
    let mapped = source(&format!("identity = {{ time = \"/at\" }}\n{map}")).rule();
    let (email, phone) = (Some(Place::Body(pointer("/email"))), Some(Place::Header("x-tel".to_owned())));
    assert_eq!(mapped.contact, Some(ContactPlaces { email, phone, name: None }));
    assert_eq!(source(map).rule().contact, None);
    let svix = source("identity = { submission = [\"header:svix-id\", \"/tenant\"] }");
    assert_eq!(svix.rule().submission.len(), 2);
}

#[test]
fn every_scheme_and_a_rotation_are_read() {
    let auth = |text: &str| {
        let text = format!("[[source]]\nname = \"a\"\nauth = {text}\n");
        read(&text).unwrap_or_else(|e| panic!("{e}")).sources.remove(0).auth
    };
    let Auth::Bearer { header, prefix, secrets } = auth("{ scheme = \"bearer\", secrets = [\"env:NEW\", \"file:/run/old\"] }") else {
        panic!("not bearer")
    };
    assert_eq!((header.as_str(), prefix.as_str(), secrets.len()), ("authorization", "Bearer ", 2));
    let own = auth("{ scheme = \"bearer\", header = \"X-Token\", secret = \"env:S\" }");
    assert!(matches!(own, Auth::Bearer { header, prefix, .. } if header == "x-token" && prefix.is_empty()));
    let basic = auth("{ scheme = \"basic\", user = \"form\", password = \"env:P\" }");
    assert!(matches!(basic, Auth::Basic { user, .. } if user == "form"));
    let rotated = auth("{ scheme = \"basic\", user = \"form\", passwords = [\"env:NEW\", \"env:OLD\"] }");
    assert!(matches!(rotated, Auth::Basic { passwords, .. } if passwords.len() == 2));
    let hex = auth(
        "{ scheme = \"hmac-sha256\", header = \"X-Hub-Signature-256\", prefix = \"sha256=\", encoding = \"hex\", secret = \"env:S\" }",
    );
    assert!(matches!(hex, Auth::HmacSha256 { prefix, .. } if prefix == "sha256="));
}

#[test]
fn variables_override_the_file_and_an_empty_one_does_not() {
    let text = "[server]\nlisten = \"127.0.0.1:1\"\n[store]\nbatch_max = 7\n";
    let set = [
        ("ONCEBOOK_LISTEN", "[::1]:2"),
        ("ONCEBOOK_DATA_DIR", "/var/lib/oncebook"),
        ("ONCEBOOK_SERVER_PUBLIC_URL", ""),
        ("ONCEBOOK_STORE_BATCH_MAX", "9"),
        ("ONCEBOOK_QUALIFIER_BASE_URL", "http://127.0.0.1:8080/v1/"),
        ("ONCEBOOK_QUALIFIER_MODEL", "small"),
        ("ONCEBOOK_QUALIFIER_MIN_CONFIDENCE", "0.9"),
    ];
    let config = read_with(text, &set).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((config.server.listen.to_string().as_str(), config.server.public_url), ("[::1]:2", None));
    assert_eq!(config.store.url, StoreUrl::Sqlite("/var/lib/oncebook/book.db".into()));
    assert_eq!(config.store.batch_max, 9);
    assert_eq!(config.qualifier.base_url.as_deref(), Some("http://127.0.0.1:8080/v1"));
    assert_eq!(config.qualifier.model.as_deref(), Some("small"));
    let long = read_with(text, &[("ONCEBOOK_SERVER_LISTEN", "127.0.0.1:3")]).unwrap();
    assert_eq!(long.server.listen.port(), 3);
}

#[test]
fn a_wrong_variable_is_named_as_the_place() {
    let error = read_with("", &[("ONCEBOOK_LISTEN", "everywhere"), ("ONCEBOOK_ENGINE_WORKERS", "many")]).unwrap_err();
    let origins: Vec<_> = error.problems().iter().map(|p| (p.origin.clone(), p.key.as_str())).collect();
    let variable = |name: &str| Origin::Variable(name.to_owned());
    assert_eq!(origins, [(variable("ONCEBOOK_ENGINE_WORKERS"), "engine.workers"), (variable("ONCEBOOK_LISTEN"), "server.listen")]);
}

#[test]
fn a_key_is_located_after_loading_too() {
    let config = read_with(EXAMPLE, &[("ONCEBOOK_LISTEN", "127.0.0.1:9")]).unwrap();
    for (path, line, value) in [
        ("source[0].auth.secret", "auth = ", "\"env:WEBSITE_SECRET\""),
        ("source[0].auth.secrets[1]", "auth = ", "{ scheme"),
        ("target[0].headers.Authorization", "headers = ", "\"Bearer"),
        ("source[0].map.\"contact.phone\"", "map = ", "\"/phone\""),
        ("action[1].when", "when = ", "\"qualification"),
        ("action[0].when", "[[action]]", "[[action]]"),
    ] {
        let (row, text) = EXAMPLE.lines().enumerate().find(|(_, text)| text.starts_with(line)).unwrap();
        let place = format!("oncebook.toml:{}:{}", row + 1, text.find(value).unwrap() + 1);
        assert_eq!(config.locate(path), Some(place), "{path}");
    }
    assert_eq!(config.locate("server.listen").as_deref(), Some("ONCEBOOK_LISTEN"));
    assert_eq!((config.locate("token[0].secret"), config.locate("")), (None, None));
    let by_default = Config::by_default(&no_env).unwrap();
    assert!(by_default.locate("source[0].auth").unwrap().starts_with("built-in defaults:"));
}

/// The action `hi`, its template file in a directory of its own.
fn templated(name: &str, file: &str, lines: &str) -> crate::config::Action {
    let dir = std::env::temp_dir().join(format!("config-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("hello.txt"), file).unwrap();
    let mail = "[[target]]\nname = \"mail\"\nkind = \"outbox\"\nfrom = \"a@b\"\n";
    let action = format!("[[action]]\nname = \"hi\"\ntarget = \"mail\"\ntemplate = \"hello.txt\"\n{lines}");
    std::fs::write(dir.join("own.toml"), format!("{mail}{action}")).unwrap();
    let config = Config::load(Some(&dir.join("own.toml")), &no_env);
    assert!(matches!(Config::load(Some(&dir.join("none.toml")), &no_env), Err(ConfigError::Unreadable { .. })));
    std::fs::remove_dir_all(dir).unwrap();
    config.unwrap().actions.remove(0)
}

#[test]
fn a_template_is_read_from_beside_the_file() {
    let action = templated("beside", "Hello", "");
    assert_eq!((action.text.as_deref(), action.subject.as_deref()), (Some("Hello"), Some("Your enquiry")));
}

#[test]
fn a_template_file_may_begin_with_its_subject() {
    let own = "subject = \"From the action\"\n";
    for (file, lines, subject, text) in [
        ("Subject: Re: {{ enquiry.summary }}\n\nHello\n", "", "Re: {{ enquiry.summary }}", "Hello\n"),
        ("Subject: Re\r\n\r\nHello\r\n\r\nyou", "", "Re", "Hello\r\n\r\nyou"),
        ("Subject: Re\n\nHello", own, "From the action", "Hello"),
        ("Subject: no empty line\nHello", "", "Your enquiry", "Subject: no empty line\nHello"),
        ("Subject:\n\nHello", "", "Your enquiry", "Subject:\n\nHello"),
        ("Hello\nSubject: x\n\n", "", "Your enquiry", "Hello\nSubject: x\n\n"),
    ] {
        let action = templated("subject", file, lines);
        assert_eq!((action.subject.as_deref(), action.text.as_deref()), (Some(subject), Some(text)), "{file:?}");
    }
}

#[test]
fn a_field_may_stand_at_several_places_and_inside_of_json_in_a_text() {
    let config = read(
        "[[source]]\nname = \"web\"\nchannel = \"ads\"\nembedded = [\"/raw\"]\nmap = { \"contact.name\" = [\"/first\", \"/last\"], message = \"/raw/m\" }\n",
    )
    .unwrap();
    let source = &config.sources[0];
    assert_eq!((source.channel.as_str(), source.map["contact.name"].len(), source.map["message"].len()), ("ads", 2, 1));
    assert_eq!(source.rule().embedded, [Pointer::parse("/raw").unwrap()]);
}

#[test]
fn places_channels_and_embedded_json_are_checked() {
    for (key, words) in [
        ("channel = \"a b\"", "`channel` is a word"),
        ("embedded = [\"/a/*\"]", "must name one place"),
        ("embedded = [\"/1\",\"/2\",\"/3\",\"/4\",\"/5\",\"/6\",\"/7\",\"/8\",\"/9\"]", "at most 8 places"),
        ("map = { message = [\"/a\", 7] }", "a text in quotes, or a list of them"),
        ("map = { message = [\"/a\", \"b\"] }", "is no JSON Pointer"),
        ("map = { atachments = \"/a\" }", "did you mean `attachments`?"),
    ] {
        let told = problems(&format!("[[source]]\nname = \"web\"\n{key}\n")).join("\n");
        assert!(told.contains(words), "{key}: {told}");
    }
}
