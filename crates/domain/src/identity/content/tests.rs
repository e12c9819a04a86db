use proptest::prelude::*;

use super::*;

fn pointers(texts: &[&str]) -> Vec<Pointer> {
    texts.iter().map(|text| Pointer::parse(text).unwrap()).collect()
}

fn secret() -> BookSecret {
    BookSecret::new([7; 32])
}

fn of(body: &str, volatile: &[&str]) -> Digest {
    let address = Pointer::parse("/email").unwrap();
    digest(&Tree::from_json(body).unwrap(), &pointers(volatile), Some(&address), &secret())
}

#[test]
fn bodies_that_say_the_same_have_equal_content() {
    for (one, other) in [
        (r#"{"a":1,"b":{"c":2,"d":3}}"#, r#"{"b":{"d":3,"c":2},"a":1}"#),
        (r#"{"id":77}"#, r#"{"id":"77"}"#),
        (r#"{"yes":true}"#, r#"{"yes":"true"}"#),
        (r#"{"a":1,"b":null}"#, r#"{"a":1}"#),
        (r#"{"a":{"b":null}}"#, r#"{"a":{}}"#),
        (r#"{"a":null,"a":1}"#, r#"{"a":1}"#),
        (r#"{"m":"caf\u00e9"}"#, r#"{"m":"cafe\u0301"}"#),
        (r#"{"m":"one\r\ntwo\rthree"}"#, r#"{"m":"one\ntwo\nthree"}"#),
        (r#"{"m":"  one \t two  \n three\t\n"}"#, r#"{"m":"one two\n three"}"#),
        (r#"{"email":" Avery@Example.COM "}"#, r#"{"email":"avery@example.com"}"#),
        (r#"{ "a" : [ 1 , 2 ] }"#, r#"{"a":[1,2]}"#),
    ] {
        assert_eq!(of(one, &[]), of(other, &[]), "{one} and {other}");
    }
}

#[test]
fn bodies_that_say_something_else_have_other_content() {
    for (one, other) in [
        (r#"{"a":1}"#, r#"{"a":2}"#),
        (r#"{"a":1}"#, r#"{"b":1}"#),
        (r#"{"a":1}"#, r#"{"A":1}"#),
        (r#"{"a":1}"#, "{}"),
        (r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#),
        (r#"{"a":[1,null]}"#, r#"{"a":[null,1]}"#),
        (r#"{"a":[1]}"#, r#"{"a":{"0":1}}"#),
        (r#"{"a":[1]}"#, r#"{"a":1}"#),
        (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
        (r#"{"a":1,"a":2}"#, r#"{"a":2,"a":1}"#),
        (r#"{"a":1,"a":1}"#, r#"{"a":1}"#),
        (r#"{"a":[]}"#, r#"{"a":{}}"#),
        (r#"{"b":1,"a":[]}"#, r#"{"b":1}"#),
        (r#"{"b":1,"a":{}}"#, r#"{"b":1}"#),
        (r#"{"a":[]}"#, r#"{"a":""}"#),
        (r#"{"a":""}"#, "{}"),
        (r#"{"a":{"b":1}}"#, r#"{"a/b":1}"#),
        (r#"{"a":{"b":1}}"#, r#"{"a":1,"b":1}"#),
        (r#"{"m":"Hello"}"#, r#"{"m":"hello"}"#),
        (r#"{"m":"a b"}"#, r#"{"m":"ab"}"#),
        (r#"{"m":"a\nb"}"#, r#"{"m":"a b"}"#),
        (r#"{"id":"01"}"#, r#"{"id":1}"#),
        (r#"{"n":1.0}"#, r#"{"n":1}"#),
        (r#"{"id":6084250982513018472}"#, r#"{"id":6084250982513018473}"#),
        // Case is forgiven in the mapped address only.
        (r#"{"other":"Avery@Example.com"}"#, r#"{"other":"avery@example.com"}"#),
        (r#"{"x":{"email":"A@b"}}"#, r#"{"x":{"email":"a@b"}}"#),
    ] {
        assert_ne!(of(one, &[]), of(other, &[]), "{one} and {other}");
    }
}

#[test]
fn volatile_places_and_all_below_them_are_as_if_absent() {
    let volatile = ["/sent_at", "/events/*/attempt", "/meta"];
    let base = of(r#"{"id":1,"events":[{"x":1},{"x":2}]}"#, &volatile);
    for same in [
        r#"{"id":1,"sent_at":1,"events":[{"x":1},{"x":2}]}"#,
        r#"{"id":1,"sent_at":{"deep":[1]},"events":[{"attempt":1,"x":1},{"attempt":"2","x":2}]}"#,
        r#"{"meta":{"a":[]},"id":1,"events":[{"x":1},{"x":2}]}"#,
    ] {
        assert_eq!(of(same, &volatile), base, "{same}");
    }
    for other in [
        r#"{"id":1,"attempt":1,"events":[{"x":1},{"x":2}]}"#,
        r#"{"id":1,"events":[{"x":1,"sent_at":1},{"x":2}]}"#,
        r#"{"id":1,"events":[{"x":1},{"x":3}]}"#,
        r#"{"id":2,"events":[{"x":1},{"x":2}]}"#,
    ] {
        assert_ne!(of(other, &volatile), base, "{other}");
    }
    assert_eq!(of(r#"{"a":{"sent_at":1}}"#, &["/a/sent_at"]), of(r#"{"a":{}}"#, &["/a/sent_at"]));
}

#[test]
fn c005_a_retry_that_counts_itself_has_the_content_of_the_first_try() {
    let volatile = ["/meta/attempt", "/meta/sent_at"];
    let first = r#"{"data":{"id":9,"name":"Avery"},"meta":{"attempt":0,"sent_at":"2026-03-02T09:15:04Z","type":"added"}}"#;
    let retry = r#"{"data":{"id":9,"name":"Avery"},"meta":{"attempt":1,"sent_at":"2026-03-02T09:15:34Z","type":"added"}}"#;
    assert_eq!(of(first, &volatile), of(retry, &volatile));
    assert_ne!(of(first, &[]), of(retry, &[]));
}

#[test]
fn the_digest_is_keyed() {
    let body = Tree::from_json(r#"{"a":1}"#).unwrap();
    assert_ne!(digest(&body, &[], None, &secret()), digest(&body, &[], None, &BookSecret::new([8; 32])));
}

#[test]
fn one_long_name_above_many_leaves_costs_no_more_than_the_body() {
    // 100 kB of name times 100,000 leaves would be 10 GB of written-out paths.
    let body = format!(r#"{{"{}":[{}1]}}"#, "n".repeat(100_000), "1,".repeat(99_999));
    assert_ne!(of(&body, &[]), of("{}", &[]));
}

/// Any body, repeated member names included.
fn trees() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        Just(Tree::Null),
        any::<bool>().prop_map(Tree::Bool),
        any::<u64>().prop_map(|n| Tree::Number(n.to_string())),
        "[a-c \t\r\n\u{e9}]{0,6}".prop_map(Tree::Text),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Tree::List),
            prop::collection::vec(("[a-d]", inner), 0..5).prop_map(Tree::Map),
        ]
    })
}

/// The body with the members of every map in another order; those of one name stay in theirs.
fn rearranged(tree: &Tree, seed: u8) -> Tree {
    match tree {
        Tree::Map(members) => {
            let mut members: Vec<_> = members.iter().map(|(name, value)| (name.clone(), rearranged(value, seed))).collect();
            members.sort_by_key(|(name, _)| Digest::of_parts([name.as_bytes(), &[seed]]));
            Tree::Map(members)
        }
        Tree::List(items) => Tree::List(items.iter().map(|item| rearranged(item, seed)).collect()),
        Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::Text(_) => tree.clone(),
    }
}

/// The body with a volatile member in every map.
fn stamped(tree: &Tree, stamp: &Tree) -> Tree {
    match tree {
        Tree::Map(members) => {
            let mut members: Vec<_> = members.iter().map(|(name, value)| (name.clone(), stamped(value, stamp))).collect();
            members.insert(members.len() / 2, ("sent_at".to_owned(), stamp.clone()));
            Tree::Map(members)
        }
        Tree::List(items) => Tree::List(items.iter().map(|item| stamped(item, stamp)).collect()),
        Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::Text(_) => tree.clone(),
    }
}

proptest! {
    #[test]
    fn member_order_does_not_change_content(tree in trees(), seed in any::<u8>()) {
        prop_assert_eq!(digest(&tree, &[], None, &secret()), digest(&rearranged(&tree, seed), &[], None, &secret()));
    }

    #[test]
    fn volatile_leaves_never_change_the_digest(tree in trees(), stamp in trees()) {
        let volatile: Vec<Pointer> = (0..6).map(|depth| Pointer::parse(&("/*".repeat(depth) + "/sent_at")).unwrap()).collect();
        prop_assert_eq!(digest(&tree, &volatile, None, &secret()), digest(&stamped(&tree, &stamp), &volatile, None, &secret()));
    }

    #[test]
    fn one_changed_leaf_changes_the_digest(tree in trees(), name in "[a-d]") {
        let with = |leaf: &str| Tree::Map(vec![("kept".to_owned(), tree.clone()), (name.clone(), Tree::Text(leaf.to_owned()))]);
        prop_assert_ne!(digest(&with("x"), &[], None, &secret()), digest(&with("y"), &[], None, &secret()));
    }

    /// The definition, word for word: existing books have digests of it.
    #[test]
    fn i8_the_normal_form_is_what_it_was(text in "\\PC{0,20}|[ \t\r\na\u{301}\u{2000}\u{c}]{0,20}") {
        let composed: String = text.nfc().collect();
        let lines = composed.replace("\r\n", "\n").replace('\r', "\n");
        let collapsed = |line: &str| {
            let mut out = String::new();
            for c in line.trim_end().chars() {
                match c {
                    ' ' | '\t' if out.ends_with(' ') => {}
                    ' ' | '\t' => out.push(' '),
                    _ => out.push(c),
                }
            }
            out
        };
        let lines: Vec<String> = lines.split('\n').map(collapsed).collect();
        let lines = lines.join("\n");
        prop_assert_eq!(normal_form(&text), lines.trim());
    }

    #[test]
    fn the_normal_form_is_its_own_normal_form(text in "\\PC{0,20}|[ \t\r\na\u{301}\u{2000}]{0,20}") {
        let normal = normal_form(&text);
        prop_assert_eq!(normal_form(&normal), normal);
    }
}
