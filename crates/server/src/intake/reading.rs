//! From a body that was read to the items that the store is asked to enter: pure, but for the ids it draws.
//!
//! One item that cannot be understood is quarantined beside the others, which are entered. Why an item is set aside is told
//! without any of its values (I12).

use domain::digest::BookSecret;
use domain::identity::{Basis, Candidate, Headers, Identity, Rule};
use domain::ids::RunId;
use domain::time::{Entropy, UtcMs};
use domain::tree::Tree;
use store::{Item, Proposal, Verdict};

use super::body::Unreadable;
use super::map;
use super::source::SourceSetup;

/// More items than this in one body are not split: each is a record of its own.
const ITEMS_MAX: usize = 1000;

const NOTHING_FOUND: &str = "nothing mapped and no submission id found: compare `map` and `identity` with the body";

/// What items are read with.
pub(super) struct Reader<'a> {
    pub(super) source: &'a SourceSetup,
    pub(super) headers: &'a Headers,
    /// When the delivery arrived, which the windows count from; at a replay earlier than now.
    pub(super) arrived: UtcMs,
    pub(super) now: UtcMs,
    pub(super) secret: &'a BookSecret,
    pub(super) entropy: &'a dyn Entropy,
}

impl Reader<'_> {
    /// The items of a body. Never empty.
    pub(super) fn items(&self, body: &Result<Tree, Unreadable>) -> Vec<Item> {
        let body = match body {
            Ok(body) => body,
            Err(why) => return vec![quarantined(why.to_string())],
        };
        let Some(pattern) = &self.source.items else {
            return vec![match body {
                Tree::List(_) => quarantined("the body is a list: name its items in `items` (a plain list's are `/*`)"),
                _ => self.item(body, body),
            }];
        };
        let parts = map::split(body, pattern);
        if parts.is_empty() {
            return vec![Item::Aside { verdict: Verdict::Ignored, reason: "a batch without items".to_owned() }];
        }
        if parts.len() > ITEMS_MAX {
            return vec![quarantined(format!("the batch has {} items, and at most {ITEMS_MAX} are read", parts.len()))];
        }
        let item = |part| match part {
            Ok(item) => self.item(item, body),
            Err(path) => quarantined(format!("`items` finds nothing at {path}")),
        };
        parts.into_iter().map(item).collect()
    }

    /// One item; `whole` is the body it stands in, where a sender may have put its mark for tests.
    fn item(&self, item: &Tree, whole: &Tree) -> Item {
        if let Some(place) = &self.source.test
            && (map::is_true(place, item, self.headers) || map::is_true(place, whole, self.headers))
        {
            return Item::Aside { verdict: Verdict::Test, reason: "marked as a test by its sender".to_owned() };
        }
        if !matches!(item, Tree::Map(_)) {
            return quarantined("the item is no object");
        }
        self.proposal(item).map_or_else(quarantined, |proposal| Item::Enquiry(Box::new(proposal)))
    }

    /// The enquiry that an item would be, or why it cannot be one.
    fn proposal(&self, item: &Tree) -> Result<Proposal, String> {
        let source = self.source;
        let (fields, notes) = map::fields(&source.map, item, self.headers);
        let read = |rule: &Rule| rule.read(&source.id, item, self.headers, &fields, self.secret);
        // What an earlier version cannot read it never entered, so there is nothing to be found under it.
        let earlier: Vec<Identity> = source.earlier.iter().filter_map(|rule| read(rule).ok()).collect();
        let identity = match read(&source.rule) {
            Ok(identity) if !fields.is_empty() || identity.key.basis == Basis::Submission => identity,
            // A body of the shape that an earlier version knew: its id says which event it is (I8).
            not_understood => match earlier.iter().find(|earlier| earlier.key.basis == Basis::Submission) {
                Some(known) => known.clone(),
                None => return Err(not_understood.map_or_else(|why| why.to_string(), |_| NOTHING_FOUND.to_owned())),
            },
        };
        let (mut keys, mut contents) = (vec![identity.key], vec![identity.content]);
        for earlier in earlier {
            if !keys.contains(&earlier.key) {
                keys.push(earlier.key);
            }
            if !contents.contains(&earlier.content) {
                contents.push(earlier.content);
            }
        }
        let candidate = Candidate {
            keys,
            contents,
            look_alike: identity.look_alike,
            at: self.arrived,
            content_window_ms: source.content_window_ms,
            look_alike_window_ms: source.look_alike_window_ms,
        };
        Ok(Proposal {
            candidate,
            fields,
            notes,
            client: source.client.clone(),
            ambiguous_time: identity.ambiguous_time,
            hold_look_alikes: source.hold_look_alikes,
            run: RunId::draw(self.now, self.entropy),
            separate: false,
        })
    }
}

fn quarantined(reason: impl Into<String>) -> Item {
    Item::Aside { verdict: Verdict::Quarantined, reason: reason.into() }
}
