//! URL-encoded forms: pairs, and the nested names that form builders write into them.
//!
//! `a[b][c]` is a member below members, `a[]` an element, a name that comes again a list. Where two pairs want the same
//! place to be different things (`a=1&a[b]=2`) both stand, as repeated members: nothing that was sent is dropped.

use data_encoding::HEXLOWER_PERMISSIVE;
use domain::tree::Tree;

use super::Unreadable;

/// More pairs than any form has; finding a name among earlier ones is linear, so their number must be bounded.
const PAIRS_MAX: usize = 1000;
/// How deep a name may nest.
const DEPTH_MAX: usize = 16;

/// Reads a form into a map. A line end after the last pair is no part of its value.
pub(super) fn read(bytes: &[u8]) -> Result<Tree, Unreadable> {
    let mut members = Vec::new();
    let pairs = bytes.trim_ascii().split(|byte| *byte == b'&').filter(|pair| !pair.is_empty());
    for (index, pair) in pairs.enumerate() {
        let number = index + 1;
        if number > PAIRS_MAX {
            return Err(Unreadable::because(format!("the form has more than {PAIRS_MAX} pairs")));
        }
        // form_urlencoded replaces what is broken, and a replaced character would become part of a key.
        if std::str::from_utf8(&decoded(pair)).is_err() {
            return Err(Unreadable::because(format!("the form is not UTF-8: pair {number} is broken")));
        }
        for (name, value) in form_urlencoded::parse(pair) {
            let tokens = tokens(&name);
            if tokens.len() > DEPTH_MAX {
                return Err(Unreadable::because(format!("the name of pair {number} nests deeper than {DEPTH_MAX} levels")));
            }
            put(&mut members, tokens[0], &tokens[1..], value.into_owned());
        }
    }
    Ok(Tree::Map(members))
}

/// The bytes that the pair's `%XX` stand for; a lone `%` stands for itself.
fn decoded(pair: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(pair.len());
    let mut rest = pair;
    while let Some((&byte, after)) = rest.split_first() {
        let escaped = after.get(..2).filter(|_| byte == b'%').and_then(|digits| HEXLOWER_PERMISSIVE.decode(digits).ok());
        out.extend(escaped.as_deref().unwrap_or(&[byte]));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    out
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
fn put(members: &mut Vec<(String, Tree)>, name: &str, rest: &[&str], value: String) {
    let last = members.iter().rposition(|(known, _)| known == name);
    match (last.map(|index| &mut members[index].1), rest) {
        (Some(Tree::List(items)), [] | [""]) => items.push(Tree::Text(value)),
        (Some(Tree::List(items)), ["", deeper @ ..]) => items.push(grown(deeper, value)),
        (Some(Tree::Map(inner)), [next, deeper @ ..]) if !next.is_empty() => put(inner, next, deeper, value),
        (Some(text @ Tree::Text(_)), [] | [""]) => {
            let first = std::mem::replace(text, Tree::Null);
            *text = Tree::List(vec![first, Tree::Text(value)]);
        }
        _ => members.push((name.to_owned(), grown(rest, value))),
    }
}

/// A value below the given tokens.
fn grown(tokens: &[&str], value: String) -> Tree {
    match tokens {
        [] => Tree::Text(value),
        ["", deeper @ ..] => Tree::List(vec![grown(deeper, value)]),
        [name, deeper @ ..] => Tree::Map(vec![((*name).to_owned(), grown(deeper, value))]),
    }
}
