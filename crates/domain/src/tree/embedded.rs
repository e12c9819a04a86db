//! JSON that stands as text inside a body: some senders write a whole answer into one field of a form.
//!
//! A source names such places, and what stands there is then read as if it were part of the body. A text that is no JSON
//! object or list stays the text it is.

use std::borrow::Cow;

use super::{Mended, Pointer, Tree};

/// What came of opening the texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    /// What had to be mended in them, over all.
    pub mended: Mended,
    /// Places whose text could not be read: it is no JSON, or nests too deep.
    pub unread: Vec<Pointer>,
}

impl Tree {
    /// The tree with the texts at these places read as JSON; itself, where there is nothing to read. A place may stand below
    /// an earlier one. Beside it, what was replaced in such a text for it to be read.
    pub fn opened(&self, places: &[Pointer]) -> (Cow<'_, Self>, Vec<u8>) {
        let (tree, opened) = self.opened_mended(places);
        (tree, opened.mended.lost)
    }

    /// The same, with all that was mended.
    pub fn opened_mended(&self, places: &[Pointer]) -> (Cow<'_, Self>, Opened) {
        let mut opened = Opened::default();
        let tree = self.opened_by(places, |place, text| {
            let Ok((read, mended)) = Self::from_json_mended(text) else {
                opened.unread.extend((!text.trim().is_empty()).then(|| place.clone()));
                return None;
            };
            if matches!(read, Self::Map(_) | Self::List(_)) {
                opened.mended.join(mended);
            }
            Some(read)
        });
        (tree, opened)
    }

    /// The same of a tree that was read with marks ([`super::marks`]).
    pub fn opened_marked(&self, places: &[Pointer]) -> Cow<'_, Self> {
        self.opened_by(places, |_, text| Self::from_json_marked(text).ok())
    }

    fn opened_by(&self, places: &[Pointer], mut read: impl FnMut(&Pointer, &str) -> Option<Self>) -> Cow<'_, Self> {
        let mut tree = Cow::Borrowed(self);
        for place in places {
            let Some(Self::Text(text)) = tree.at(place) else { continue };
            if let Some(read @ (Self::Map(_) | Self::List(_))) = read(place, text)
                && let Some(slot) = tree.to_mut().at_mut(place)
            {
                *slot = read;
            }
        }
        tree
    }

    fn at_mut(&mut self, pointer: &Pointer) -> Option<&mut Self> {
        pointer.0.iter().try_fold(self, |tree, token| match tree {
            Self::Map(members) => members.iter_mut().rev().find(|(name, _)| name == token).map(|(_, value)| value),
            Self::List(items) => items.get_mut(token.parse::<usize>().ok()?),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointer(text: &str) -> Pointer {
        Pointer::parse(text).unwrap()
    }

    #[test]
    fn json_inside_a_text_is_read_where_the_source_says_so() {
        let tree = Tree::from_json(r#"{"raw":"{\"id\":9007199254740993,\"deep\":\"[1]\"}","other":"{\"id\":1}"}"#).unwrap();
        let (opened, lost) = tree.opened(&[pointer("/raw"), pointer("/raw/deep")]);
        assert_eq!(lost, b"");
        let leaf = |at: &str| opened.at(&pointer(at)).and_then(Tree::leaf).map(str::to_owned);
        assert_eq!(leaf("/raw/id").as_deref(), Some("9007199254740993"));
        assert_eq!(leaf("/raw/deep/0").as_deref(), Some("1"));
        assert_eq!(leaf("/other").as_deref(), Some(r#"{"id":1}"#));
    }

    #[test]
    fn what_is_no_json_stays_the_text_it_is() {
        for body in [r#"{"raw":"{broken"}"#, r#"{"raw":"7"}"#, r#"{"raw":7}"#, "{}", "[]"] {
            let tree = Tree::from_json(body).unwrap();
            assert!(matches!(tree.opened(&[pointer("/raw")]), (Cow::Borrowed(_), lost) if lost.is_empty()), "{body}");
        }
    }

    #[test]
    fn what_is_lost_in_such_a_text_is_told() {
        let tree = Tree::from_json(r#"{"raw":"{\"m\":\"\\ud83d\"}"}"#).unwrap();
        assert_eq!(tree.opened(&[pointer("/raw")]).1, br"\ud83d");
    }
}
