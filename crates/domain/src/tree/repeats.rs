//! Members that stand more than once: how many there are, and whether they make a place say two things.

use std::collections::BTreeSet;

use super::{Pointer, Tree};

/// Up to so many members are compared each with each: sorting them would cost more.
const FEW: usize = 16;

impl Tree {
    /// How many members repeat the name of one before them in the same object.
    pub fn repeats(&self) -> u32 {
        match self {
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) => 0,
            Self::List(items) => items.iter().map(Self::repeats).fold(0, u32::saturating_add),
            Self::Map(members) => members.iter().map(|(_, value)| value.repeats()).fold(again(members), u32::saturating_add),
        }
    }

    /// Everything that may be meant by a place: one value, or several where a member on the way to it stands more than once.
    /// `None` stands for a way that leads to nothing.
    pub fn every(&self, pointer: &Pointer) -> Vec<Option<&Self>> {
        let mut found = Vec::new();
        collect(self, &pointer.0, &mut found);
        found
    }

    /// Whether the character stands anywhere in it, in a name or a text.
    pub fn has(&self, wanted: char) -> bool {
        match self {
            Self::Null | Self::Bool(_) | Self::Number(_) => false,
            Self::Text(text) => text.contains(wanted),
            Self::List(items) => items.iter().any(|item| item.has(wanted)),
            Self::Map(members) => members.iter().any(|(name, value)| name.contains(wanted) || value.has(wanted)),
        }
    }
}

fn again(members: &[(String, Tree)]) -> u32 {
    let count = if members.len() <= FEW {
        members.iter().enumerate().filter(|(n, (name, _))| members[..*n].iter().any(|(before, _)| before == name)).count()
    } else {
        members.len() - members.iter().map(|(name, _)| name).collect::<BTreeSet<_>>().len()
    };
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// As deep as the pointer is long, and never twice through one value.
fn collect<'a>(tree: &'a Tree, tokens: &[String], found: &mut Vec<Option<&'a Tree>>) {
    let Some((token, rest)) = tokens.split_first() else { return found.push(Some(tree)) };
    let before = found.len();
    match tree {
        Tree::Map(members) => {
            for (_, value) in members.iter().filter(|(name, _)| name == token) {
                collect(value, rest, found);
            }
        }
        Tree::List(_) => {
            if let Some(item) = tree.get(token) {
                collect(item, rest, found);
            }
        }
        Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::Text(_) => {}
    }
    if found.len() == before {
        found.push(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_names_are_counted_at_every_depth() {
        for (body, repeats) in
            [(r#"{"a":1,"b":2}"#, 0), (r#"{"a":1,"a":1,"a":2}"#, 2), (r#"[{"a":{"b":1,"b":1}},{"c":1,"c":2}]"#, 2), ("7", 0)]
        {
            assert_eq!(Tree::from_json(body).unwrap().repeats(), repeats, "{body}");
        }
        let many: Vec<String> = (0..40).map(|n| format!("\"k{}\":0", n % 20)).collect();
        assert_eq!(Tree::from_json(&format!("{{{}}}", many.join(","))).unwrap().repeats(), 20);
    }

    #[test]
    fn every_way_to_a_place_is_found() {
        let tree = Tree::from_json(r#"{"c":{"e":"a"},"c":{"e":"b","e":"c"},"c":{}}"#).unwrap();
        let every = tree.every(&Pointer::parse("/c/e").unwrap());
        let texts: Vec<_> = every.iter().map(|value| value.and_then(Tree::leaf)).collect();
        assert_eq!(texts, [Some("a"), Some("b"), Some("c"), None]);
        assert_eq!(tree.every(&Pointer::parse("/x/y").unwrap()), [None]);
    }
}
