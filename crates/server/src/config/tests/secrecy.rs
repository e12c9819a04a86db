//! A secret written in clear is refused, and appears in no message, whatever else is wrong around it.

use super::*;

const SECRET: &str = "hunter2";

/// The problems' text, which must not hold the secret.
#[track_caller]
fn shown(text: &str) -> String {
    let error = read(text).expect_err("the text is wrong");
    let shown = format!("{error}\n{error:?}");
    assert!(!shown.contains(SECRET), "{shown}");
    shown
}

#[test]
fn a_clear_secret_is_refused_wherever_secrets_stand() {
    for (text, key) in [
        ("[[source]]\nname = \"a\"\nauth = { scheme = \"bearer\", secret = \"hunter2\" }\n", "source[0].auth.secret"),
        ("[[source]]\nname = \"a\"\nauth = { scheme = \"bearer\", secrets = [\"env:A\", \"hunter2\"] }\n", "source[0].auth.secrets[1]"),
        ("[[source]]\nname = \"a\"\nauth = { scheme = \"basic\", user = \"u\", password = \"hunter2\" }\n", "source[0].auth.password"),
        ("[qualifier]\napi_key = \"hunter2\"\n", "qualifier.api_key"),
        ("[[token]]\nname = \"n8n\"\nsecret = \"hunter2\"\n", "token[0].secret"),
    ] {
        let shown = shown(text);
        assert!(shown.contains(&format!("({key}): a secret stands here in clear")), "{shown}");
        assert!(!shown.contains('^'), "{shown}");
    }
    let stored = shown("[[token]]\nname = \"n8n\"\nsecret = \"secret:n8n\"\n");
    assert!(stored.contains("the secret store comes later"), "{stored}");
}

#[test]
fn a_clear_credential_in_a_header_or_an_address_is_refused() {
    let http = |rest: &str| format!("[[target]]\nname = \"crm\"\nkind = \"http\"\n{rest}\n");
    let write = "write = { url = \"http://crm/deals\" }";
    for header in ["Authorization = \"Bearer hunter2\"", "X-Api-Key = \"hunter2\"", "X-Other = \"Basic hunter2\""] {
        let shown = shown(&http(&format!("{write}\nheaders = {{ {header} }}")));
        assert!(shown.contains("carries a credential in clear"), "{shown}");
    }
    let plain = "headers = { Accept = \"application/json\", X-Api-Key = \"{{ secret('env:KEY') }}\" }";
    assert!(read(&http(&format!("{write}\n{plain}"))).is_ok());
    assert!(shown(&http("write = { url = \"https://me:hunter2@crm/deals\" }")).contains("a password stands in the address"));
    assert!(shown("[qualifier]\nbase_url = \"http://me:hunter2@models/v1\"\n").contains("a password stands in the address"));
    shown("[store]\nurl = \"postgres://me:hunter2@db/book\"\n");
    shown("[store]\nurl = \"mysql://me:hunter2@db/book\"\n");
    shown("[server]\npublic_url = \"https://me:hunter2@in.example.com\"\n");
}

#[test]
fn neighbours_on_a_shown_line_are_masked() {
    let misspelt =
        shown("[[source]]\nname = \"a\"\nauth = { scheme = \"basic\", usr = \"u\", pasword = \"hunter2\", password = \"env:P\" }\n");
    assert!(misspelt.contains("did you mean `user`?") && misspelt.contains("did you mean `password`?"), "{misspelt}");
    shown("[[source]]\nname = \"a\"\nauth = { scheme = \"basik\", password = \"hunter2\" }\n");
    shown("[[source]]\nname = \"a\"\nauth = { scheme = \"bearer\", secret = { value = \"hunter2\" } }\n");
    shown("[[source]]\nname = \"a\"\nauth = [\"hunter2\"]\n");
    shown("[[token]]\nname = \"n8n\"\nsecret = \"hunter2\nmore = 1\n");
}

#[test]
fn a_clear_secret_in_a_variable_is_refused_too() {
    let error = read_with("", &[("ONCEBOOK_QUALIFIER_API_KEY", SECRET)]).unwrap_err();
    let shown = error.to_string();
    assert!(shown.starts_with("ONCEBOOK_QUALIFIER_API_KEY (qualifier.api_key): ") && !shown.contains(SECRET), "{shown}");
}

#[test]
fn a_printed_configuration_holds_references_only() {
    let shown = format!("{:?}", read(EXAMPLE).unwrap());
    assert!(shown.contains("env:WEBSITE_SECRET") && shown.contains("env:MODEL_KEY"), "{shown}");
}
