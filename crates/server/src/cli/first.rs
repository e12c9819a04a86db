//! What to do with an empty book: the command that posts the first enquiry, made from the configuration.

use std::path::Path;

use domain::identity::Place;
use serde_json::{Map, Value};

use super::client;
use crate::config::{Auth, Config, SecretRef, SignatureEncoding, Source};

/// Says how to post the first enquiry.
pub(super) fn how_to_post(config: &Config) -> Vec<String> {
    let running = client::noted_address(config);
    let address = running.unwrap_or(config.server.listen);
    // Which port it will be is only known once it runs.
    let address = if address.port() == 0 { format!("{}:PORT", address.ip()) } else { address.to_string() };
    let begin = match running {
        Some(_) => "The book is empty. Post the first enquiry:",
        None => "The book is empty. Post the first enquiry while `oncebook serve` runs:",
    };
    let one = |source: &&Source| source.items.is_none();
    let open = config.sources.iter().filter(one).find(|source| matches!(source.auth, Auth::None { .. }));
    let how = match (open.or_else(|| config.sources.iter().find(one)), config.sources.first()) {
        (Some(source), _) => post(&format!("http://{address}/in/{}", source.name), source).iter().map(|line| format!("  {line}")).collect(),
        (None, Some(source)) => {
            vec![format!("  POST http://{address}/in/{}", source.name), "in the form that its configuration asks for.".to_owned()]
        }
        (None, None) => vec!["  no source is configured: add a [[source]]".to_owned()],
    };
    let mut lines = vec![begin.to_owned(), String::new()];
    lines.extend(how);
    lines
}

/// The id of the first enquiry.
pub(super) const FIRST: &str = "first-1";

/// The shell lines that post an enquiry: a curl command whose body has what the source's rule and map read, and whose headers
/// prove what its `auth` asks. A secret stands in them as the variable or the file that the configuration names.
pub(super) fn post(url: &str, source: &Source) -> Vec<String> {
    let mut body = Value::Object(Map::new());
    let mut headers = vec!["content-type: application/json".to_owned()];
    let mut say = |place: &Place, value: &str| match place {
        Place::Body(pointer) => put(&mut body, &pointer.0, value),
        // The scheme has it already.
        Place::Header(name) if name == "webhook-id" && matches!(source.auth, Auth::StandardWebhooks { .. }) => {}
        Place::Header(name) => headers.push(format!("{name}: {value}")),
    };
    for place in &source.identity.submission {
        say(place, FIRST);
    }
    let samples =
        [("contact.email", "you@example.com"), ("contact.name", "Your Name"), ("message", "We need a quote for 40 chairs by Friday.")];
    for (field, value) in samples {
        if let Some(place) = source.map.get(field).and_then(|places| places.first()) {
            say(place, value);
        }
    }
    if let Some(time) = &source.identity.time {
        say(&time.at, "2026-03-02T09:15:04Z");
    }
    let proof = proof(&source.auth);
    let curl = format!("curl {url} {}", headers.iter().map(|header| format!("-H {}", quoted(header))).collect::<Vec<_>>().join(" "));
    let body = quoted(&body.to_string());
    let (mut lines, data) = if proof.reads_body { (vec![format!("BODY={body}")], "\"$BODY\"".to_owned()) } else { (Vec::new(), body) };
    lines.extend(proof.before);
    let parts: Vec<String> = [curl].into_iter().chain(proof.options).chain([format!("-d {data}")]).collect();
    let last = parts.len() - 1;
    lines.extend(
        parts.iter().enumerate().map(|(n, part)| format!("{}{part}{}", if n == 0 { "" } else { "  " }, if n == last { "" } else { " \\" })),
    );
    lines
}

/// What proves a request, in the shell.
#[derive(Default)]
struct Proof {
    /// Whether it needs the body in `BODY`.
    reads_body: bool,
    /// Lines before the request.
    before: Vec<String>,
    /// Options of curl.
    options: Vec<String>,
}

fn proof(auth: &Auth) -> Proof {
    let header = |name: &str, value: &str| vec![format!("-H \"{}: {value}\"", in_double_quotes(name))];
    match auth {
        Auth::None { .. } => Proof::default(),
        Auth::Bearer { header: name, prefix, secrets } => {
            let value = format!("{}{}", in_double_quotes(prefix), in_shell(secrets));
            Proof { options: header(name, &value), ..Proof::default() }
        }
        Auth::Basic { user, passwords } => {
            Proof { options: vec![format!("-u \"{}:{}\"", in_double_quotes(user), in_shell(passwords))], ..Proof::default() }
        }
        Auth::HmacSha256 { header: name, prefix, encoding, secrets } => {
            let signed = format!("printf %s \"$BODY\" | openssl dgst -sha256 -hmac \"{}\"", in_shell(secrets));
            let written = match encoding {
                SignatureEncoding::Base64 => format!("$({signed} -binary | openssl base64)"),
                SignatureEncoding::Hex | SignatureEncoding::Either => format!("$({signed} -r | cut -d' ' -f1)"),
            };
            let value = format!("{}{written}", in_double_quotes(prefix));
            Proof { reads_body: true, options: header(name, &value), ..Proof::default() }
        }
        Auth::StandardWebhooks { secrets } => Proof {
            reads_body: true,
            before: vec![
                format!("ID={FIRST}; TIME=$(date +%s); SECRET=\"{}\"", in_shell(secrets)),
                // The secret is the key in base64; openssl takes it as hexadecimal.
                "KEY=$(printf %s \"${SECRET#whsec_}\" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \\n')".to_owned(),
                "SIGNATURE=$(printf %s \"$ID.$TIME.$BODY\" | openssl dgst -sha256 -mac HMAC -macopt \"hexkey:$KEY\" -binary | openssl base64)"
                    .to_owned(),
            ],
            options: vec!["-H \"webhook-id: $ID\" -H \"webhook-timestamp: $TIME\" -H \"webhook-signature: v1,$SIGNATURE\"".to_owned()],
        },
    }
}

/// The first secret, as a shell writes it within double quotes.
fn in_shell(secrets: &[SecretRef]) -> String {
    match secrets.first() {
        Some(SecretRef::Env(name)) => format!("${name}"),
        Some(SecretRef::File(path)) => format!("$(cat {})", quoted(&path.display().to_string())),
        None => String::new(),
    }
}

/// A text that the shell takes as it stands.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A path as one word of the shell's, in quotes where it needs them.
pub(super) fn word(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = text.chars().all(|c| c.is_alphanumeric() || "/._-+@%,:".contains(c));
    if is_plain && !text.is_empty() { text } else { quoted(&text) }
}

fn in_double_quotes(text: &str) -> String {
    text.chars().flat_map(|c| "\\\"$`".contains(c).then_some('\\').into_iter().chain([c])).collect()
}

/// Puts a text where the pointer leads, making what lies between.
fn put(tree: &mut Value, tokens: &[String], text: &str) {
    let Some((token, rest)) = tokens.split_first() else {
        *tree = Value::from(text);
        return;
    };
    if !tree.is_object() {
        *tree = Value::Object(Map::new());
    }
    if let Value::Object(members) = tree {
        put(members.entry(token.clone()).or_insert(Value::Null), rest, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        let text = format!("[server]\ndata_dir = \"/nowhere/at/all\"\n{text}");
        how_to_post(&Config::from_text(Path::new("oncebook.toml"), &text, &|_| None).unwrap()).join("\n")
    }

    #[test]
    fn the_default_source_is_posted_to_at_the_configured_address() {
        let said = said("listen = \"127.0.0.1:9000\"");
        assert!(said.contains("curl http://127.0.0.1:9000/in/web -H 'content-type: application/json'"), "{said}");
        assert!(said.contains(r#""submission_id":"first-1""#), "{said}");
        assert!(said.contains("`oncebook serve`"), "{said}");
    }

    #[test]
    fn a_texts_quotes_stay_the_texts() {
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(word(Path::new("conf/böok-1.toml")), "conf/böok-1.toml");
        assert_eq!(word(Path::new("a $b's.toml")), r"'a $b'\''s.toml'");
        assert_eq!(in_double_quotes(r#"a"$b`c\"#), r#"a\"\$b\`c\\"#);
        let source = "[[source]]\nname = \"form\"\nauth = { scheme = \"bearer\", header = \"X-Key\", prefix = \"a$b \", secret = \"file:/run/k's\" }\n";
        let said = said(source);
        assert!(said.contains(r#"-H "x-key: a\$b $(cat '/run/k'\''s')""#), "{said}");
    }

    #[test]
    fn the_body_has_what_the_source_reads() {
        let said = said(
            "[[source]]\nname = \"form\"\nkind = \"generic\"\nauth = { scheme = \"none\" }\nidentity = { submission = \"/event/id\" }\n\
             map = { \"contact.email\" = \"/event/mail\" }\n",
        );
        assert!(said.contains(r#"-d '{"event":{"id":"first-1","mail":"you@example.com"}}'"#), "{said}");
    }
}
