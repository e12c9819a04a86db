//! What a mapping takes out of a body, and how a batch falls into items.

use super::*;

fn tree(json: &str) -> Tree {
    Tree::from_json(json).unwrap()
}

fn place(text: &str) -> Place {
    Place::parse(text).unwrap()
}

fn mapped(pairs: &[(&str, &str)], body: &str) -> (Fields, Vec<Note>) {
    let mapping = pairs.iter().map(|(field, at)| ((*field).to_owned(), vec![place(at)])).collect();
    let mapped = fields(&mapping, &tree(body), &[("x-form".to_owned(), "F-1".to_owned())], false);
    (mapped.fields, mapped.notes)
}

fn paths(json: &str, pattern: &str) -> Vec<Result<String, String>> {
    let tree = tree(json);
    let parts = split(&tree, &Pointer::parse(pattern).unwrap());
    parts.into_iter().map(|part| part.map(|tree| tree.leaf().unwrap_or("(no leaf)").to_owned())).collect()
}

#[test]
fn leaves_are_taken_as_sent() {
    let (fields, notes) = mapped(
        &[("contact.email", "/c/email"), ("contact.phone", "/phone"), ("consent", "/ok"), ("form", "header:X-Form")],
        r#"{"c":{"email":" Avery@Example.com"},"phone":4930901820123456789,"ok":true}"#,
    );
    assert_eq!(fields.contact.email.as_deref(), Some("avery@example.com"));
    assert_eq!(fields.contact.phone.as_deref(), Some("4930901820123456789"));
    assert_eq!(fields.consent.as_deref(), Some("true"));
    assert_eq!(fields.other["form"], "F-1");
    assert_eq!(notes.iter().map(|note| note.field.as_str()).collect::<Vec<_>>(), ["contact.email"]);
}

#[test]
fn a_list_of_leaves_is_joined_and_anything_else_is_absent() {
    let body = r#"{"l":["a",1,null,true],"e":[],"m":{"x":1},"deep":["a",["b"]],"n":null}"#;
    let at = |pointer: &str| place(pointer).text(&tree(body), &[]);
    assert_eq!(at("/l").as_deref(), Some("a, 1, true"));
    for absent in ["/e", "/m", "/deep", "/n", "/missing", "header:x"] {
        assert_eq!(at(absent), None, "{absent}");
    }
}

#[test]
fn c034_nul_characters_are_replaced_and_counted() {
    let (fields, notes) = mapped(&[("message", "/m")], r#"{"m":"a\u0000b\u0000"}"#);
    assert_eq!(fields.message.as_deref(), Some("a\u{FFFD}b\u{FFFD}"));
    assert_eq!(notes, [Note { field: "message".to_owned(), how: "2 NUL characters replaced".to_owned() }]);
}

#[test]
fn nothing_mapped_is_seen() {
    assert!(mapped(&[("message", "/m"), ("occurred_at", "/t")], r#"{"t":"2026-03-02T09:15:04Z","other":1}"#).0.is_empty());
}

#[test]
fn a_word_for_no_is_not_true() {
    let body = tree(r#"{"t":true,"f":false,"one":1,"zero":0.0,"yes":"yes","no":"No","blank":" ","n":null,"list":[]}"#);
    for yes in ["/t", "/one", "/yes"] {
        assert!(is_true(&place(yes), &body, &[]), "{yes}");
    }
    for no in ["/f", "/zero", "/no", "/blank", "/n", "/list", "/missing"] {
        assert!(!is_true(&place(no), &body, &[]), "{no}");
    }
}

#[test]
fn c020_every_item_of_a_batch_is_found() {
    assert_eq!(paths(r#"["a","b"]"#, "/*"), [Ok("a".to_owned()), Ok("b".to_owned())]);
    assert_eq!(paths(r#"{"entry":[{"changes":[1,2]},{"changes":[3]}]}"#, "/entry/*/changes/*").len(), 3);
    assert_eq!(paths(r#"{"0":"a","1":"b"}"#, "/*").len(), 2);
}

#[test]
fn a_part_that_cannot_be_reached_is_named_and_does_not_spoil_the_others() {
    let found = paths(r#"{"entry":[{"changes":[1]},{"oops":2},{"changes":[]},4]}"#, "/entry/*/changes/*");
    assert_eq!(found, [Ok("1".to_owned()), Err("/entry/1/changes".to_owned()), Err("/entry/3/changes".to_owned())]);
    assert_eq!(paths(r#"{"entries":"x"}"#, "/entries/*"), [Err("/entries/*".to_owned())]);
    assert_eq!(paths(r#"{"avery@example.com":1}"#, "/*/x"), [Err("/*/x".to_owned())]);
    assert_eq!(paths(r#"{"entries":[]}"#, "/entries/*"), []);
}
