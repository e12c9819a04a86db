//! What to do with an empty book: the command that posts the first enquiry, made from the configuration.

use domain::identity::Place;
use serde_json::{Map, Value};

use super::client;
use crate::config::{Auth, Config, Source};

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
    let open = config.sources.iter().find(|source| matches!(source.auth, Auth::None { .. }) && source.items.is_none());
    let how = match (open, config.sources.first()) {
        (Some(source), _) => post(&format!("http://{address}/in/{}", source.name), source),
        (None, Some(source)) => vec![
            format!("  POST http://{address}/in/{}", source.name),
            "with the proof and in the form that its configuration asks for.".to_owned(),
        ],
        (None, None) => vec!["  no source is configured: add a [[source]]".to_owned()],
    };
    let mut lines = vec![begin.to_owned(), String::new()];
    lines.extend(how);
    lines
}

/// A curl command whose body has what the source's rule and map read.
fn post(url: &str, source: &Source) -> Vec<String> {
    let mut body = Value::Object(Map::new());
    let mut headers = vec!["content-type: application/json".to_owned()];
    let mut say = |place: &Place, value: &str| match place {
        Place::Body(pointer) => put(&mut body, &pointer.0, value),
        Place::Header(name) => headers.push(format!("{name}: {value}")),
    };
    for place in &source.identity.submission {
        say(place, "first-1");
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
    let headers = headers.join("' -H '");
    vec![format!("  curl {url} -H '{headers}' \\"), format!("    -d '{body}'")]
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
    use std::path::Path;

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
    fn the_body_has_what_the_source_reads() {
        let said = said(
            "[[source]]\nname = \"form\"\nkind = \"generic\"\nauth = { scheme = \"none\" }\nidentity = { submission = \"/event/id\" }\n\
             map = { \"contact.email\" = \"/event/mail\" }\n",
        );
        assert!(said.contains(r#"-d '{"event":{"id":"first-1","mail":"you@example.com"}}'"#), "{said}");
    }
}
