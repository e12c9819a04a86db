//! Proofs that hold and proofs that do not. The vectors are the published ones, and those of shared/payloads.

use super::*;

const AVERY: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const VECTOR_1: &[u8] = br#"{"test": 2432232314}"#;
const VECTOR_1_ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const VECTOR_1_S: i64 = 1_614_265_330;
const RIGHT: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
const WRONG: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OA=";

fn headers(of: &[(&str, &str)]) -> Vec<(String, String)> {
    of.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn secrets(of: &[&str]) -> Vec<Secret> {
    of.iter().map(|text| Secret::new(*text)).collect()
}

fn webhook(family: &str, id: &str, at_s: i64, signature: &str) -> Vec<(String, String)> {
    let name = |part: &str| format!("{family}-{part}");
    vec![(name("id"), id.to_owned()), (name("timestamp"), at_s.to_string()), (name("signature"), signature.to_owned())]
}

fn standard(of: &[&str]) -> Auth {
    Auth::StandardWebhooks { secrets: secrets(of) }
}

fn vector_1(signature: &str, late_s: i64) -> Result<(), NotAuthentic> {
    let now = UtcMs((VECTOR_1_S + late_s) * 1000);
    standard(&[AVERY]).verify(&webhook("webhook", VECTOR_1_ID, VECTOR_1_S, signature), VECTOR_1, now)
}

fn mismatch<T>(header: &str) -> Result<T, NotAuthentic> {
    Err(NotAuthentic::Mismatch(header.to_owned()))
}

fn malformed<T>(header: &str) -> Result<T, NotAuthentic> {
    Err(NotAuthentic::Malformed(header.to_owned()))
}

#[test]
fn the_published_vectors_hold() {
    assert_eq!(vector_1(RIGHT, 0), Ok(()));
    let body = br#"{"email":"test@example.com","username":"test_user"}"#;
    let sent = webhook("webhook", "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk", 1_649_367_553, "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=");
    let auth = standard(&["whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"]);
    assert_eq!(auth.verify(&sent, body, UtcMs(1_649_367_553_000)), Ok(()));
    assert_eq!(auth.verify(&sent, &body[1..], UtcMs(1_649_367_553_000)), mismatch("webhook-signature"));
}

#[test]
fn one_wrong_character_does_not() {
    assert_eq!(vector_1(WRONG, 0), mismatch("webhook-signature"));
}

#[test]
fn any_known_version_of_the_list_may_fit_and_others_are_passed_over() {
    let other = "Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=";
    assert_eq!(vector_1(&format!("v1,{other} v2,{other} {RIGHT} v1,{other}"), 0), Ok(()));
    assert_eq!(vector_1(&RIGHT.replace("v1,", "v2,"), 0), malformed("webhook-signature"));
    assert_eq!(vector_1(&RIGHT.replace("v1,", "v1a,"), 0), malformed("webhook-signature"));
}

#[test]
fn a_cut_signature_fails_and_does_not_panic() {
    for cut in ["", "v1", "v1,", "v1,g0hM9SsE", &RIGHT[..RIGHT.len() - 1][..20]] {
        assert_eq!(vector_1(cut, 0), malformed("webhook-signature"), "{cut}");
    }
}

#[test]
fn c059_five_minutes_either_way_and_then_it_is_stale() {
    let stale = Err(NotAuthentic::Stale("webhook-timestamp".to_owned()));
    assert_eq!(vector_1(RIGHT, 300), Ok(()));
    assert_eq!(vector_1(RIGHT, -300), Ok(()));
    assert_eq!(vector_1(RIGHT, 301), stale);
    assert_eq!(vector_1(RIGHT, -301), stale);
    assert_eq!(vector_1(WRONG, 301), mismatch("webhook-signature"));
    let far = webhook("webhook", VECTOR_1_ID, i64::MAX, RIGHT);
    assert_eq!(standard(&[AVERY]).verify(&far, VECTOR_1, UtcMs(i64::MIN)), mismatch("webhook-signature"));
}

#[test]
fn every_attempt_of_one_message_is_authentic_at_its_own_time() {
    let body = concat!(
        r#"{"type":"lead.created","timestamp":"2026-03-02T09:15:04.120000Z","data":{"submission_id":"sub_8842","#,
        r#""name":"Avery Sample","email":"avery.sample@example.com","message":"Need a quote for 40 chairs"}}"#
    );
    let attempts = [
        (1_772_442_906, "v1,W/8Wr36xy16K9oJ5UosMldFy6xUzGjlRKMVuGKsrtQU="),
        (1_772_442_911, "v1,7UHv8pm8BcHg+C7Jj7J1+3yRubIan3AaSrS/Cp806Kc="),
        (1_772_556_211, "v1,rX0oQtHxSq8MH9rt5l9YbNuMyy5iTJz0oLArzWITUb0="),
    ];
    for (at_s, signature) in attempts {
        let sent = webhook("webhook", "msg_retry_8842", at_s, signature);
        assert_eq!(standard(&[AVERY]).verify(&sent, body.as_bytes(), UtcMs(at_s * 1000)), Ok(()), "{at_s}");
    }
}

#[test]
fn svix_names_and_rotated_secrets_and_a_bare_secret_fit() {
    let now = UtcMs(VECTOR_1_S * 1000);
    let sent = webhook("svix", VECTOR_1_ID, VECTOR_1_S, RIGHT);
    for of in [&[AVERY][..], &["MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"], &["whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD", AVERY]] {
        assert_eq!(standard(of).verify(&sent, VECTOR_1, now), Ok(()));
    }
    for of in [&[][..], &[""], &["whsec_"], &["not base64!"]] {
        assert_eq!(standard(of).verify(&sent, VECTOR_1, now), Err(NotAuthentic::NoSecret), "{of:?}");
    }
}

#[test]
fn a_header_that_is_missing_or_ambiguous_is_named() {
    let now = UtcMs(VECTOR_1_S * 1000);
    let whole = webhook("webhook", VECTOR_1_ID, VECTOR_1_S, RIGHT);
    for missing in 0..3 {
        let mut sent = whole.clone();
        let (name, _) = sent.remove(missing);
        assert_eq!(standard(&[AVERY]).verify(&sent, VECTOR_1, now), Err(NotAuthentic::Missing(name)));
    }
    let mut twice = whole;
    twice.push(("webhook-id".to_owned(), "msg_other".to_owned()));
    assert_eq!(standard(&[AVERY]).verify(&twice, VECTOR_1, now), Err(NotAuthentic::Several("webhook-id".to_owned())));
}

fn hmac(encoding: Encoding, prefix: &str) -> Auth {
    // RFC 4231, test case 2: key "Jefe", data "what do ya want for nothing?".
    Auth::HmacSha256 { header: "x-signature".to_owned(), prefix: prefix.to_owned(), encoding, secrets: secrets(&["", "old", "Jefe"]) }
}

#[test]
fn an_hmac_fits_in_hex_of_either_case_or_base64_with_or_without_prefix() {
    let hex = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
    let base64 = "W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM=";
    let body = b"what do ya want for nothing?";
    let try_it = |auth: Auth, value: &str| auth.verify(&headers(&[("x-signature", value)]), body, UtcMs(0));
    for value in [hex, &hex.to_uppercase(), &format!("sha256={hex}"), base64, base64.trim_end_matches('='), &format!("sha256={base64}")] {
        assert_eq!(try_it(hmac(Encoding::Either, ""), value), Ok(()), "{value}");
    }
    assert_eq!(try_it(hmac(Encoding::Either, "v0="), &format!("v0={hex}")), Ok(()));
    assert_eq!(try_it(hmac(Encoding::Either, "v0="), &format!("sha256={hex}")), Ok(()));
    assert_eq!(try_it(hmac(Encoding::Base64, ""), base64), Ok(()));
    assert_eq!(try_it(hmac(Encoding::Hex, ""), base64), malformed("x-signature"));
    assert_eq!(try_it(hmac(Encoding::Base64, ""), hex), malformed("x-signature"));
    assert_eq!(try_it(hmac(Encoding::Either, ""), &hex.replace('5', "6")), mismatch("x-signature"));
    assert_eq!(try_it(hmac(Encoding::Either, ""), ""), malformed("x-signature"));
}

#[test]
fn c058_the_line_end_behind_a_body_is_signed_too() {
    let sent = headers(&[("x-signature", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")]);
    let auth = hmac(Encoding::Either, "");
    assert_eq!(auth.verify(&sent, b"what do ya want for nothing?\r\n", UtcMs(0)), mismatch("x-signature"));
}

#[test]
fn a_bearer_secret_fits_behind_its_prefix() {
    let auth = |header: &str, prefix: &str, of: &[&str]| Auth::Bearer {
        header: header.to_owned(),
        prefix: prefix.to_owned(),
        secrets: secrets(of),
    };
    let usual = auth("authorization", "Bearer ", &["new", "old"]);
    let try_it = |auth: &Auth, name: &str, value: &str| auth.verify(&headers(&[(name, value)]), b"", UtcMs(0));
    assert_eq!(try_it(&usual, "authorization", "Bearer old"), Ok(()));
    assert_eq!(try_it(&usual, "authorization", "bearer new"), Ok(()));
    assert_eq!(try_it(&usual, "authorization", "Bearer older"), mismatch("authorization"));
    assert_eq!(try_it(&usual, "authorization", "Bearer "), malformed("authorization"));
    assert_eq!(try_it(&usual, "authorization", "new"), malformed("authorization"));
    assert_eq!(try_it(&usual, "x-other", "Bearer new"), Err(NotAuthentic::Missing("authorization".to_owned())));
    assert_eq!(try_it(&auth("x-token", "", &["new"]), "x-token", "new"), Ok(()));
    assert_eq!(try_it(&auth("x-token", "", &[""]), "x-token", ""), Err(NotAuthentic::NoSecret));
}

#[test]
fn a_name_and_a_password_must_both_fit() {
    let auth = |of: &[&str]| Auth::Basic { user: "lead".to_owned(), passwords: secrets(of) };
    let try_it = |auth: &Auth, pair: &str| {
        let value = format!("Basic {}", BASE64.encode(pair.as_bytes()));
        auth.verify(&headers(&[("authorization", &value)]), b"", UtcMs(0))
    };
    assert_eq!(try_it(&auth(&["old", "a:b"]), "lead:a:b"), Ok(()));
    assert_eq!(try_it(&auth(&["a"]), "other:a"), mismatch("authorization"));
    assert_eq!(try_it(&auth(&["a"]), "lead:"), mismatch("authorization"));
    assert_eq!(try_it(&auth(&[""]), "lead:"), Err(NotAuthentic::NoSecret));
    assert_eq!(try_it(&auth(&["a"]), "lead"), malformed("authorization"));
}

#[test]
fn i12_neither_a_secret_nor_a_sent_value_is_in_any_words() {
    let auth = Auth::Basic { user: "lead".to_owned(), passwords: secrets(&["hush"]) };
    assert!(!format!("{auth:?}").contains("hush"));
    let why = vector_1(WRONG, 0).unwrap_err().to_string();
    assert!(!why.contains("g0hM9") && !why.contains(VECTOR_1_ID), "{why}");
}
