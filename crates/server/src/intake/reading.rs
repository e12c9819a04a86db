//! From a body that was read to the items that the store is asked to enter: pure, but for the ids it draws.
//!
//! One item that cannot be understood is quarantined beside the others, which are entered. Why an item is set aside is told
//! without any of its values (I12).

use domain::digest::BookSecret;
use domain::enquiry::Attachment;
use domain::identity::{Basis, Candidate, Headers, Identity, Rule, Sent};
use domain::ids::RunId;
use domain::time::{Entropy, UtcMs};
use domain::tree::{Pointer, Tree};
use evidence::Blob;
use store::{Item, Proposal, Verdict};

use super::arrive::blob;
use super::attach::{ATTACHMENTS_MAX, Attached};
use super::body::{Body, Content, File, Lines, Repairs, Unreadable};
use super::map::{self, Mapped};
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

/// A body's items as they are read, and the blobs of the files that came with them.
#[derive(Default)]
struct Read {
    items: Vec<Item>,
    files: Vec<Blob>,
}

impl Read {
    fn aside(item: Item) -> Self {
        Self { items: vec![item], files: Vec::new() }
    }

    fn add(&mut self, other: Self) {
        self.items.extend(other.items);
        self.files.extend(other.files);
    }
}

/// What an item stands in.
#[derive(Clone, Copy)]
struct Around<'a> {
    /// The whole body, where a sender may have put its mark for tests.
    whole: &'a Tree,
    repairs: &'a Repairs,
}

impl Reader<'_> {
    /// The items of a body, never none, and the blobs that their attachments name. A body's files belong to its one item; of
    /// a body that is split they stay in the raw body.
    pub(super) fn items(&self, body: Result<Body, Unreadable>) -> (Vec<Item>, Vec<Blob>) {
        let read = match body {
            Ok(Body { content: Content::One(tree), repairs, files }) => self.one(&tree, &repairs, files),
            Ok(Body { content: Content::Lines(lines), .. }) => self.lines(&lines),
            Err(why) => Read::aside(quarantined(why.to_string())),
        };
        (read.items, read.files)
    }

    fn one(&self, body: &Tree, repairs: &Repairs, files: Vec<File>) -> Read {
        let around = Around { whole: body, repairs };
        match &self.source.items {
            Some(pattern) => self.split(body, pattern, around),
            None if matches!(body, Tree::List(_)) => {
                Read::aside(quarantined("the body is a list: name its items in `items` (a plain list's are `/*`)"))
            }
            None => self.item(body, around, files),
        }
    }

    fn split(&self, body: &Tree, pattern: &Pointer, around: Around<'_>) -> Read {
        let parts = map::split(body, pattern);
        if parts.is_empty() {
            return Read::aside(Item::Aside { verdict: Verdict::Ignored, reason: "a batch without items".to_owned() });
        }
        if let Some(many) = too_many(parts.len()) {
            return Read::aside(many);
        }
        let mut read = Read::default();
        for part in parts {
            read.add(match part {
                Ok(item) => self.item(item, around, Vec::new()),
                Err(path) => Read::aside(quarantined(format!("`items` finds nothing at {path}"))),
            });
        }
        read
    }

    /// A line is an item, or holds some: `items` counts from the list of all lines, so its first step is `*`.
    fn lines(&self, lines: &Lines) -> Read {
        if let Some(many) = too_many(lines.len()) {
            return Read::aside(many);
        }
        let below = match self.source.items.as_ref().map(|pattern| pattern.0.split_first()) {
            None => None,
            Some(Some((first, rest))) if first == "*" => (!rest.is_empty()).then(|| Pointer(rest.to_vec())),
            Some(_) => return Read::aside(quarantined("the body is read line by line: `items` must begin with `/*`")),
        };
        let mut read = Read::default();
        for (line, repairs) in lines {
            let line = match line {
                Ok(line) => line,
                Err(why) => {
                    read.add(Read::aside(quarantined(why.to_string())));
                    continue;
                }
            };
            let around = Around { whole: line, repairs };
            read.add(match &below {
                None => self.item(line, around, Vec::new()),
                Some(pattern) => self.split(line, pattern, around),
            });
        }
        too_many(read.items.len()).map_or(read, Read::aside)
    }

    /// One item.
    fn item(&self, item: &Tree, around: Around<'_>, files: Vec<File>) -> Read {
        if let Some(place) = &self.source.test
            && (map::is_true(place, item, self.headers) || map::is_true(place, around.whole, self.headers))
        {
            return Read::aside(Item::Aside { verdict: Verdict::Test, reason: "marked as a test by its sender".to_owned() });
        }
        if !matches!(item, Tree::Map(_)) {
            return Read::aside(quarantined("the item is no object"));
        }
        match self.proposal(item, around.repairs) {
            Ok((mut proposal, attached)) => {
                let attached = files.into_iter().map(Attached::Here).chain(attached).take(ATTACHMENTS_MAX);
                let mut blobs = Vec::new();
                proposal.fields.attachments = attached.map(|attached| self.attachment(attached, &mut blobs)).collect();
                Read { items: vec![Item::Enquiry(Box::new(proposal))], files: blobs }
            }
            Err(why) => Read::aside(quarantined(why)),
        }
    }

    /// A file becomes a blob of its own; its bytes are moved there, not copied.
    fn attachment(&self, attached: Attached, blobs: &mut Vec<Blob>) -> Attachment {
        let File { name, content_type, sha256, bytes } = match attached {
            Attached::Elsewhere(attachment) => return attachment,
            Attached::Here(file) => file,
        };
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let blob = blob(bytes, self.entropy);
        let digest = blob.digest();
        blobs.push(blob);
        let known = Attachment { name: Some(name), content_type, ..Attachment::default() };
        Attachment { length: Some(length), sha256: Some(sha256), blob: Some(digest), fetched: true, ..known }
    }

    /// The enquiry that an item would be with what the mapping finds attached, or why it cannot be one.
    fn proposal(&self, item: &Tree, repairs: &Repairs) -> Result<(Proposal, Vec<Attached>), String> {
        let source = self.source;
        // What was replaced elsewhere in the body says nothing of this item.
        let lost = repairs.lost_digest().filter(|_| item.has(char::REPLACEMENT_CHARACTER));
        let (opened, lost_inside) = item.opened(&source.rule.embedded);
        let is_damaged = lost.is_some() || !lost_inside.is_empty();
        let Mapped { mut fields, notes, mut ambiguous, attached } = map::fields(&source.map, &opened, self.headers, is_damaged);
        fields.timestamp = fields.occurred_at.as_deref().and_then(|sent| source.rule.instant(sent)).map(|at| at.to_string());
        fields.channel.get_or_insert_with(|| source.channel.clone());
        let read = |rule: &Rule| rule.read_mended(&source.id, Sent { body: item, lost }, self.headers, &fields, self.secret);
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
        ambiguous.splice(0..0, identity.ambiguous);
        ambiguous.splice(0..0, map::doubtful_headers(&source.rule, &source.map, self.headers));
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
        let proposal = Proposal {
            candidate,
            fields,
            notes,
            client: source.client.clone(),
            ambiguous_time: identity.ambiguous_time,
            ambiguous,
            hold_look_alikes: source.hold_look_alikes,
            run: RunId::draw(self.now, self.entropy),
            separate: false,
        };
        Ok((proposal, attached))
    }
}

fn too_many(items: usize) -> Option<Item> {
    (items > ITEMS_MAX).then(|| quarantined(format!("the batch has {items} items, and at most {ITEMS_MAX} are read")))
}

fn quarantined(reason: impl Into<String>) -> Item {
    Item::Aside { verdict: Verdict::Quarantined, reason: reason.into() }
}
