//! The nested names that form builders write, the same in URL-encoded and multipart forms.
//!
//! `a[b][c]` is a member below members, `a[]` an element, a name that comes again a list. Where two pairs want the same
//! place to be different things (`a=1&a[b]=2`) both stand, as repeated members: nothing that was sent is dropped.

use domain::tree::Tree;

use super::Unreadable;

/// How deep a name may nest.
const DEPTH_MAX: usize = 16;

/// Puts a value under a name. `number` is the pair's, for the words about a name that nests too deep.
pub(super) fn put(members: &mut Vec<(String, Tree)>, name: &str, value: Tree, number: usize) -> Result<(), Unreadable> {
    let tokens = tokens(name);
    if tokens.len() > DEPTH_MAX {
        return Err(Unreadable::because(format!("the name of pair {number} nests deeper than {DEPTH_MAX} levels")));
    }
    put_at(members, tokens[0], &tokens[1..], value);
    Ok(())
}

/// `a[b][]` as `a`, `b` and the empty token. A name that is not written that way throughout is one token. Never empty.
fn tokens(name: &str) -> Vec<&str> {
    let nested = || {
        let (head, rest) = name.split_once('[').filter(|(head, _)| !head.is_empty() && !head.contains(']'))?;
        let inner: Vec<&str> = rest.strip_suffix(']')?.split("][").collect();
        let is_clean = inner.iter().all(|token| !token.contains(['[', ']']));
        is_clean.then(|| std::iter::once(head).chain(inner).collect())
    };
    nested().unwrap_or_else(|| vec![name])
}

/// Puts a value at `name` and `rest` below it. The recursion is as deep as the name, which is bounded.
fn put_at(members: &mut Vec<(String, Tree)>, name: &str, rest: &[&str], value: Tree) {
    let last = members.iter().rposition(|(known, _)| known == name);
    match (last.map(|index| &mut members[index].1), rest) {
        (Some(Tree::List(items)), [] | [""]) => items.push(value),
        (Some(Tree::List(items)), ["", deeper @ ..]) => items.push(grown(deeper, value)),
        (Some(Tree::Map(inner)), [next, deeper @ ..]) if !next.is_empty() => put_at(inner, next, deeper, value),
        // A file is a map itself: two of one name are a list, and so are a text and a file.
        (Some(one @ (Tree::Text(_) | Tree::Map(_))), [] | [""]) if matches!((&*one, &value), (Tree::Text(_), _) | (_, Tree::Map(_))) => {
            let first = std::mem::replace(one, Tree::Null);
            *one = Tree::List(vec![first, value]);
        }
        _ => members.push((name.to_owned(), grown(rest, value))),
    }
}

/// A value below the given tokens.
fn grown(tokens: &[&str], value: Tree) -> Tree {
    match tokens {
        [] => value,
        ["", deeper @ ..] => Tree::List(vec![grown(deeper, value)]),
        [name, deeper @ ..] => Tree::Map(vec![((*name).to_owned(), grown(deeper, value))]),
    }
}
