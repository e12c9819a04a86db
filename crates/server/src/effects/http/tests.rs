//! Against a small fake in this process: it answers from a script, one connection a request, and notes what it was asked.

mod fake;
mod look;
mod reading;
mod writing;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use domain::time::{Later, UtcMs};
use serde_json::json;

use self::fake::{Fake, Reply};
use super::*;

/// Stands still, or goes on by `step` at each look.
struct Hands {
    now: AtomicI64,
    step: i64,
}

impl Clock for Hands {
    fn now(&self) -> UtcMs {
        UtcMs(self.now.fetch_add(self.step, Ordering::SeqCst))
    }

    fn sleep_until(&self, _: UtcMs) -> Later<'_> {
        Box::pin(std::future::ready(()))
    }
}

fn clock(step: i64) -> Arc<dyn Clock> {
    Arc::new(Hands { now: AtomicI64::new(0), step })
}

fn pointer(text: &str) -> Pointer {
    Pointer::parse(text).unwrap()
}

fn params(base: &str) -> HttpParams {
    HttpParams {
        timeout_ms: 5_000,
        settle_ms: 30_000,
        limits: Limits::default(),
        headers: BTreeMap::from([("Authorization".to_owned(), "Bearer {{ secret('env:CRM_TOKEN') }}".to_owned())]),
        write: WriteParams {
            method: "POST".to_owned(),
            url: format!("{base}/deals"),
            body: r#"{"external_key": {{ key|tojson }}, "title": {{ enquiry.summary|tojson }}}"#.to_owned(),
            content_type: "application/json".to_owned(),
            id: pointer("/id"),
            ok: BTreeMap::new(),
        },
        find: Some(FindParams {
            consistency: Find::Strong,
            look_up: Some(LookUpParams {
                method: "GET".to_owned(),
                url: format!("{base}/deals?external_key={{{{ key|urlencode }}}}"),
                body: None,
                records: pointer("/results"),
                id: pointer("/id"),
                key: pointer("/external_key"),
                next: None,
            }),
        }),
        read: Some(ReadParams {
            method: "GET".to_owned(),
            url: format!("{base}/deals/{{{{ id }}}}"),
            key: pointer("/external_key"),
            expect: BTreeMap::from([(pointer("/title"), "{{ enquiry.summary }}".to_owned())]),
        }),
        not_executed: vec![503],
        clock: clock(0),
        secrets: Arc::new(|reference| match reference {
            "env:CRM_TOKEN" => Ok("very-secret-token".to_owned()),
            other => Err(format!("{other} is not set")),
        }),
    }
}

const KEY: &str = "website:submission:lead 77";

fn scene_json() -> Json {
    json!({"key": KEY, "action": "deal", "ordinal": 0, "enquiry": {"summary": "Ten \"chairs\"", "contact": {"email": "a@example.com"}}, "qualification": null})
}

fn http(params: HttpParams) -> Http {
    // Of several tests in one process the first installs it.
    drop(rustls::crypto::ring::default_provider().install_default());
    Http::new(params).unwrap()
}

fn call(target: &Http) -> Call {
    Call {
        step: StepKind::Record,
        key: KEY.to_owned(),
        rendered: target.render(KEY, &scene_json()).unwrap(),
        scene: scene_json(),
        contact_id: None,
        record_id: None,
        deadline: UtcMs(5_000),
    }
}

#[test]
fn mistakes_of_the_configuration_are_named() {
    type Spoil = fn(&mut HttpParams);
    let cases: [(Spoil, &str); 8] = [
        (|p| p.write.method = "PO ST".to_owned(), "write.method"),
        (|p| p.write.body = "{{ enquiry".to_owned(), "write.body"),
        (|p| p.write.url = "{{ secret('env:CRM_TOKEN') }}".to_owned(), "headers only"),
        (|p| p.not_executed = vec![200], "not_executed"),
        (|p| p.find.as_mut().unwrap().look_up = None, "find.url"),
        (|p| p.find.as_mut().unwrap().consistency = Find::None, "find"),
        (|p| drop(p.headers.insert("a b".to_owned(), String::new())), "headers"),
        (|p| drop(p.headers.insert("content-type".to_owned(), "text/plain".to_owned())), "content_type"),
    ];
    drop(rustls::crypto::ring::default_provider().install_default());
    for (spoil, words) in cases {
        let mut params = params("http://127.0.0.1:1");
        spoil(&mut params);
        let why = Http::new(params).err().unwrap();
        assert!(why.contains(words), "{words}: {why}");
    }
}

#[test]
fn all_mistakes_of_one_target_are_named_at_once() {
    drop(rustls::crypto::ring::default_provider().install_default());
    let mut params = params("http://127.0.0.1:1");
    params.write.body = "{{ enquiry".to_owned();
    params.write.url = "{{ nobody }}".to_owned();
    params.find.as_mut().unwrap().look_up.as_mut().unwrap().url = "{{ nothing }}".to_owned();
    let read = params.read.as_mut().unwrap();
    read.method = "G ET".to_owned();
    read.expect = BTreeMap::from([(pointer("/a"), "{{ x }}".to_owned()), (pointer("/b"), "{{ y }}".to_owned())]);
    params.headers.insert("X-Team".to_owned(), "{{ team }}".to_owned());
    let why = Http::new(params).err().unwrap();
    for key in
        ["headers.X-Team: ", "write.url: ", "write.body, line 1: ", "find.url: ", "read.method: ", "read.expect./a", "read.expect./b"]
    {
        assert!(why.contains(key), "{key}: {why}");
    }
    assert_eq!(why.matches("; ").count(), 6 + why.matches("; known").count(), "{why}");
}

#[test]
fn a_secret_that_is_not_set_is_found_before_there_is_an_enquiry() {
    let with = |headers: &[(&str, &str)]| {
        let mut params = params("http://127.0.0.1:1");
        params.headers.extend(headers.iter().map(|(name, template)| ((*name).to_owned(), (*template).to_owned())));
        http(params).check()
    };
    assert_eq!(with(&[("X-Other", "{{ enquiry.other.branch }}-{{ enquiry.contact.phone }}-{{ qualification.budget }}-{{ id }}")]), Ok(()));
    let problems =
        with(&[("X-Api-Key", "{{ secret('env:NOT_THERE') }}"), ("X-Slip", "{{ secret('env:CRM_TOKEN') }}{{ enquiry.contact.email.x }}")])
            .unwrap_err();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].starts_with("headers.X-Api-Key") && problems[0].contains("env:NOT_THERE is not set"), "{problems:?}");
    assert!(problems[1].starts_with("headers.X-Slip"), "{problems:?}");
    let mut params = params("http://127.0.0.1:1");
    params.secrets = Arc::new(|_| Ok("very-secret\ntoken".to_owned()));
    let problems = http(params).check().unwrap_err();
    assert!(problems[0].starts_with("headers.") && !problems[0].contains("very-secret"), "{problems:?}");
}

#[test]
fn what_is_rendered_is_whole_and_holds_no_secret() {
    let target = http(params("http://127.0.0.1:1"));
    let rendered = String::from_utf8(target.render(KEY, &scene_json()).unwrap()).unwrap();
    assert!(!rendered.contains("secret"), "{rendered}");
    assert!(rendered.contains("/deals") && rendered.contains("lead 77"), "{rendered}");
    assert_eq!(rendered, String::from_utf8(target.render(KEY, &scene_json()).unwrap()).unwrap());
}

#[test]
fn a_body_that_is_no_json_and_a_url_that_is_none_are_refused_before_anything_is_sent() {
    let mut spoilt = params("http://127.0.0.1:1");
    spoilt.write.body = r#"{"title": {{ enquiry.summary }}}"#.to_owned();
    assert!(http(spoilt).render(KEY, &scene_json()).unwrap_err().contains("not JSON"));
    let mut spoilt = params("http://127.0.0.1:1");
    spoilt.write.url = "ftp://x/{{ key }}".to_owned();
    assert!(http(spoilt).render(KEY, &scene_json()).unwrap_err().contains("write.url"));
}

#[test]
fn the_class_says_whether_there_is_a_look_up() {
    let find = |consistency, look_up: bool| {
        let mut params = params("http://127.0.0.1:1");
        let find = params.find.as_mut().unwrap();
        find.consistency = consistency;
        if !look_up {
            find.look_up = None;
        }
        http(params).find(StepKind::Record)
    };
    assert_eq!(find(Find::Upsert { looks: false }, true), Find::Upsert { looks: true });
    assert_eq!(find(Find::Window { window_ms: 9, looks: true }, false), Find::Window { window_ms: 9, looks: false });
    assert_eq!(find(Find::Lagging { max_ms: 7 }, true), Find::Lagging { max_ms: 7 });
    let mut blind = params("http://127.0.0.1:1");
    (blind.find, blind.read) = (None, None);
    let blind = http(blind);
    assert_eq!((blind.find(StepKind::Record), blind.reads(StepKind::Record)), (Find::None, false));
}
