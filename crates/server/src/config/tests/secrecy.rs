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
        (
            "[[source]]\nname = \"a\"\nauth = { scheme = \"basic\", user = \"u\", passwords = [\"hunter2\"] }\n",
            "source[0].auth.passwords[0]",
        ),
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

/// The excerpts of all problems of a text.
fn excerpts(text: &str) -> String {
    read(text).expect_err("the text is wrong").problems().iter().filter_map(|p| p.excerpt.clone()).collect::<Vec<_>>().join("\n")
}

#[test]
fn plain_values_on_a_shown_line_are_not_masked() {
    assert!(excerpts("[server]\nport = 8080\n").contains("port = 8080"));
    assert!(excerpts("[engine]\nverbose = true\n").contains("verbose = true"));
    let line = "action = [{ name = \"hi\", target = \"crm\", after = [\"deal\", \"x\"], typo = \"hunter2\" }]\n";
    let shown = excerpts(line);
    assert!(shown.contains(r#"name = "hi", target = "crm", after = ["deal", "x"], typo = *"#), "{shown}");
    let line = "source = [{ name = \"a\", map = { message = \"/m\" }, look_alike = { window = \"10m\" }, typo = 1 }]\n";
    assert!(excerpts(line).contains(r#"map = { message = "/m" }, look_alike = { window = "10m" }, typo = 1"#), "{}", excerpts(line));
}

#[test]
fn what_may_be_a_secret_is_masked_whatever_it_looks_like() {
    let auth = |rest: &str| format!("[[source]]\nname = \"a\"\nauth = {{ scheme = \"basik\", header = \"x-a\", {rest} }}\n");
    for rest in [
        "password = \"hunter2\"",
        "passwords = [\"hunter2\"]",
        "pasword = \"hunter2\"",
        "secret = { value = \"hunter2\" }",
        "user = \"hunter2\"",
        "anything = \"hunter2\"",
    ] {
        let shown = excerpts(&auth(rest));
        assert!(shown.contains(r#"header = "x-a""#) && !shown.contains(SECRET), "{shown}");
    }
    for number in ["password = 4711", "pasword = 4711", "pin = 4711", "secret = [4711]", "secret = { of = { it = 4711 } }"] {
        assert!(!excerpts(&auth(number)).contains("4711"), "{number}");
    }
    for line in [
        "token = [{ name = \"n8n\", secrt = 4711, pin = 4711, other = \"hunter2\", typo = 1 }]\n",
        "target = [{ name = \"crm\", kind = \"desk\", headers = { x-a = \"hunter2\", n = 4711 }, typo = 1 }]\n",
        "target = [{ name = \"crm\", kind = \"desk\", headers.x.y = \"hunter2\", typo = 1 }]\n",
        "qualifier = { api_key = 4711, apikey = 4711, my_token = 4711, base_url = \"http://m/hunter2\", typo = 1 }\n",
    ] {
        let shown = excerpts(line);
        assert!(shown.contains("typo") && !shown.contains(SECRET) && !shown.contains("4711"), "{shown}");
    }
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
