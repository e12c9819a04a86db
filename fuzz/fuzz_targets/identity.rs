//! Any tree under a rule: the same twice, whatever the order of its members, and a key whose text reads back.
#![no_main]

use domain::digest::BookSecret;
use domain::enquiry::Fields;
use domain::identity::{Basis, Key, Place, Rule, TimeRule};
use domain::tree::{Pointer, Tree};
use libfuzzer_sys::fuzz_target;

fn rule(choice: u8) -> Rule {
    let place = |text: &str| Place::parse(text).expect("a place");
    let time = TimeRule { at: place("/at"), with: vec![place("/form")] };
    Rule {
        submission: match choice & 3 {
            0 => vec![],
            1 => vec![place("/id")],
            2 => vec![place("/a/id"), place("/id")],
            _ => vec![place("/0/id")],
        },
        time: (choice & 4 != 0).then_some(time),
        timezone: (choice & 8 != 0).then(|| "Europe/Berlin".to_owned()),
        volatile: if choice & 16 != 0 { vec![Pointer::parse("/*/sent").expect("a pointer")] } else { vec![] },
        embedded: if choice & 32 != 0 { vec![Pointer::parse("/raw").expect("a pointer")] } else { vec![] },
        ..Rule::default()
    }
}

/// The same tree, its members the other way round.
fn turned(tree: Tree) -> Tree {
    match tree {
        Tree::Map(members) => Tree::Map(members.into_iter().rev().map(|(name, value)| (name, turned(value))).collect()),
        Tree::List(items) => Tree::List(items.into_iter().map(turned).collect()),
        leaf => leaf,
    }
}

fuzz_target!(|data: &[u8]| {
    let [choice, body @ ..] = data else { return };
    let Ok((tree, _)) = Tree::from_json_mended(&String::from_utf8_lossy(body)) else { return };
    let (rule, secret, fields) = (rule(*choice), BookSecret::new([7; 32]), Fields::default());
    let read = |tree: &Tree| rule.read("s", tree, &[], &fields, &secret);
    let identity = read(&tree);
    assert_eq!(identity, read(&tree), "the same twice");
    if tree.repeats() == 0 && rule.embedded.is_empty() {
        assert_eq!(identity, read(&turned(tree)), "the order of members is no content");
    }
    if let Ok(identity) = identity {
        let text = identity.key.to_string();
        assert!(text.len() < 300 && identity.key.variant == 1);
        let is_digest = text.contains(":sha256-") && identity.key.basis != Basis::Content;
        assert!(is_digest || Key::parse(&text) == Some(identity.key), "{text}");
    }
});
