//! Every condition of open access, toggled; and bearers.

use super::*;
use crate::config::SecretRef;

fn secret(value: &str) -> Secret {
    SecretRef::Env("TOKEN".to_owned()).resolve(&|_| Some(value.to_owned()), &|_| Ok(String::new())).unwrap()
}

fn judge(access: &Access, uri: &str, headers: &[(&str, &str)]) -> Result<Viewer, &'static str> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_str(value).unwrap());
    }
    access.judge(&uri.parse().unwrap(), &map)
}

fn is_open(headers: &[(&str, &str)]) -> bool {
    judge(&Access::new(true, Vec::new()), "/api/v1/enquiries", headers).is_ok()
}

#[test]
fn loopback_hosts_are_let_in_and_nothing_that_looks_like_one() {
    let ours = ["localhost", "LOCALHOST:8484", "127.0.0.1:8484", "127.255.3.9", "[::1]", "[::1]:1"];
    for host in ours {
        assert!(is_open(&[("host", host)]), "{host}");
    }
    let others = [
        "example.com",
        "127.0.0.1.example.com",
        "localhost.example.com",
        "localhost.",
        "127.0.0.1@example.com",
        "user@localhost",
        "128.0.0.1",
        "0.0.0.0",
        "127.1",
        "localhost:",
        "localhost:99999",
        "localhost:80:80",
        "[::2]",
        "[::1",
        "[::1]x",
        "[::ffff:192.0.2.1]",
        "::1",
        "192.168.0.10:8484",
        "",
    ];
    for host in others {
        assert!(!is_open(&[("host", host)]), "{host}");
    }
    assert!(!is_open(&[]), "a request without a Host");
    assert!(!is_open(&[("host", "localhost"), ("host", "example.com")]), "two Hosts");
}

#[test]
fn an_absolute_target_must_be_loopback_too() {
    let access = Access::new(true, Vec::new());
    assert!(judge(&access, "http://127.0.0.1:8484/console", &[("host", "localhost")]).is_ok());
    assert!(judge(&access, "http://example.com/console", &[("host", "localhost")]).is_err());
}

#[test]
fn a_request_that_came_through_a_proxy_is_not_let_in() {
    for name in ["forwarded", "x-forwarded-for", "x-forwarded-proto", "X-Forwarded-Host", "x-forwarded-anything", "x-real-ip", "via"] {
        assert!(!is_open(&[("host", "localhost"), (name, "127.0.0.1")]), "{name}");
    }
    assert!(is_open(&[("host", "localhost"), ("x-request-id", "7")]));
}

#[test]
fn a_page_of_another_site_is_not_let_in() {
    for origin in ["http://localhost:8484", "https://127.0.0.1", "http://[::1]:3000"] {
        assert!(is_open(&[("host", "localhost"), ("origin", origin)]), "{origin}");
    }
    for origin in ["https://example.com", "null", "http://localhost.example.com", "file://localhost", "localhost", ""] {
        assert!(!is_open(&[("host", "localhost"), ("origin", origin)]), "{origin}");
    }
    assert!(!is_open(&[("host", "localhost"), ("origin", "http://localhost"), ("origin", "https://example.com")]));
    for (site, expected) in [("none", true), ("same-origin", true), ("same-site", true), ("cross-site", false), ("Cross-Site", false)] {
        assert_eq!(is_open(&[("host", "localhost"), ("sec-fetch-site", site)]), expected, "{site}");
    }
}

#[test]
fn a_server_that_others_can_reach_is_open_to_nobody_without_a_token() {
    let why = judge(&Access::new(false, Vec::new()), "/", &[("host", "localhost")]).unwrap_err();
    assert!(why.contains("[[token]]"));
    assert!(judge(&Access::new(false, Vec::new()), "/", &[("host", "localhost"), ("authorization", "Bearer ")]).is_err());
}

#[test]
fn with_a_token_configured_only_a_bearer_is_let_in() {
    let bearers = vec![Bearer::new("ops", None, &secret("s3cret")), Bearer::new("acme", Some("acme".to_owned()), &secret("other"))];
    for is_private in [true, false] {
        let access = Access::new(is_private, bearers.clone());
        let with = |value: &str| judge(&access, "/", &[("host", "book.example.com"), ("authorization", value)]);
        assert_eq!(with("Bearer s3cret"), Ok(Viewer { token: Some("ops".to_owned()), client: None }));
        assert_eq!(with("bearer other"), Ok(Viewer { token: Some("acme".to_owned()), client: Some("acme".to_owned()) }));
        for wrong in ["Bearer s3cre", "Bearer s3cret2", "Bearer", "Bearer ", "Basic s3cret", "s3cret", ""] {
            assert!(with(wrong).is_err(), "{wrong}");
        }
        assert!(judge(&access, "/", &[("host", "localhost")]).is_err(), "loopback alone is not enough any more");
        assert!(judge(&access, "/", &[("authorization", "Bearer s3cret"), ("authorization", "Bearer x")]).is_err());
    }
}

#[test]
fn i12_a_printed_access_shows_no_token() {
    let access = Access::new(false, vec![Bearer::new("ops", None, &secret("s3cret"))]);
    assert!(!format!("{access:?}").contains("s3cret"));
}
