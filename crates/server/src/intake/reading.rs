//! From a body that was read to the items that the store is asked to enter: pure, but for the ids it draws.
//!
//! One item that cannot be understood is quarantined beside the others, which are entered. Why an item is set aside is told
//! without any of its values (I12).

use std::borrow::Cow;
use std::cell::Cell;

use domain::digest::{BookSecret, Digest};
use domain::enquiry::{Attachment, Fields, Note};
use domain::identity::{Basis, Candidate, Headers, Identity, Rule, Sent};
use domain::ids::RunId;
use domain::time::{Entropy, UtcMs};
use domain::tree::{Pointer, Tree};
use evidence::Blob;
use store::{Item, Proposal, Verdict};

use super::arrive::blob;
use super::attach::{ATTACHMENTS_MAX, ATTACHMENTS_MAX_BODY, Attached, Found};
use super::body::{Body, Content, File, Lines, Repairs, Unreadable};
use super::map::{self, ATTACHMENTS, Mapped};
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
pub(super) struct Read {
    pub(super) items: Vec<Item>,
    pub(super) files: Vec<Blob>,
    /// What had to be mended for all of it to be read.
    pub(super) repairs: Repairs,
}

impl Read {
    fn aside(item: Item) -> Self {
        Self { items: vec![item], ..Self::default() }
    }

    fn add(&mut self, other: Self) {
        self.items.extend(other.items);
        self.files.extend(other.files);
        self.repairs.join(&other.repairs);
    }
}

/// What an item stands in.
#[derive(Clone, Copy)]
struct Around<'a> {
    /// How many attachments of the body may still be listed.
    room: &'a Cell<usize>,
    /// The whole body, where a sender may have put its mark for tests.
    whole: &'a Tree,
    /// The part that the item is of the body as it was read before, where that is another.
    before: Option<&'a Tree>,
    /// The item, read with marks where something was lost.
    marked: Option<&'a Tree>,
}

impl Reader<'_> {
    /// The items of a body, never none, and the blobs that their attachments name. A body's files belong to its one item; of
    /// a body that is split they stay in the raw body.
    pub(super) fn items(&self, body: Result<Body, Unreadable>) -> Read {
        let room = Cell::new(ATTACHMENTS_MAX_BODY);
        let Body { content, repairs, files, before, marked } = match body {
            Ok(body) => body,
            Err(why) => return Read::aside(quarantined(why.to_string())),
        };
        let mut read = match (content, marked) {
            (Content::One(tree), marked) => {
                let marked = if let Some(Content::One(marked)) = &marked { Some(marked) } else { None };
                self.one(&tree, Around { room: &room, whole: &tree, before: before.as_ref(), marked }, files)
            }
            (Content::Lines(lines), Some(Content::Lines(marked))) => self.lines(&lines, Some(&marked), &room),
            (Content::Lines(lines), _) => self.lines(&lines, None, &room),
        };
        read.repairs.join(&repairs);
        read
    }

    fn one(&self, body: &Tree, around: Around<'_>, files: Vec<File>) -> Read {
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
        let before = around.before.map(|before| map::split(before, pattern)).filter(|before| before.len() == parts.len());
        // Read with marks, a body falls into the same items; if it does not, all that was lost counts for each.
        let marked = around.marked.map(|marked| map::split(marked, pattern)).filter(|marked| marked.len() == parts.len());
        let mut read = Read::default();
        for (n, part) in parts.into_iter().enumerate() {
            let before = before.as_ref().and_then(|before| before[n].as_ref().ok().copied());
            let own = marked.as_ref().and_then(|marked| marked.get(n)?.as_ref().ok().copied());
            read.add(match part {
                Ok(item) => self.item(item, Around { before, marked: own.or(around.marked), ..around }, Vec::new()),
                Err(path) => Read::aside(quarantined(format!("`items` finds nothing at {path}"))),
            });
        }
        read
    }

    /// A line is an item, or holds some: `items` counts from the list of all lines, so its first step is `*`.
    fn lines(&self, lines: &Lines, marked: Option<&Lines>, room: &Cell<usize>) -> Read {
        if let Some(many) = too_many(lines.len()) {
            return Read::aside(many);
        }
        let below = match self.source.items.as_ref().map(|pattern| pattern.0.split_first()) {
            None => None,
            Some(Some((first, rest))) if first == "*" => (!rest.is_empty()).then(|| Pointer(rest.to_vec())),
            Some(_) => return Read::aside(quarantined("the body is read line by line: `items` must begin with `/*`")),
        };
        let mut read = Read::default();
        for (n, (line, _)) in lines.iter().enumerate() {
            let line = match line {
                Ok(line) => line,
                Err(why) => {
                    read.add(Read::aside(quarantined(why.to_string())));
                    continue;
                }
            };
            let marked = marked.and_then(|marked| marked.get(n)?.0.as_ref().ok());
            let around = Around { room, whole: line, before: None, marked };
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
        let mut repairs = Repairs::default();
        let read = self.proposal(item, around, &mut repairs).or_else(|why| match around.before {
            // Nothing to be understood as it is read now: then it is what it was before.
            Some(before) => self.proposal(before, Around { before: None, marked: None, ..around }, &mut repairs).map_err(|_| why),
            None => Err(why),
        });
        match read {
            Ok((mut proposal, attached)) => {
                let all = files.len() + attached.listed.len() + attached.more;
                let listed = files.into_iter().map(Attached::Here).chain(attached.listed).take(ATTACHMENTS_MAX.min(around.room.get()));
                let mut blobs = Vec::new();
                proposal.fields.attachments = listed.map(|attached| self.attachment(attached, &mut blobs)).collect();
                let listed = proposal.fields.attachments.len();
                around.room.set(around.room.get() - listed);
                if listed < all {
                    let how = format!("{} more than are listed: the raw body has them", all - listed);
                    proposal.notes.push(Note { field: ATTACHMENTS.to_owned(), how });
                }
                Read { items: vec![Item::Enquiry(Box::new(proposal))], files: blobs, repairs }
            }
            Err(why) => Read { repairs, ..Read::aside(quarantined(why)) },
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
    fn proposal(&self, item: &Tree, around: Around<'_>, repairs: &mut Repairs) -> Result<(Proposal, Found), String> {
        let source = self.source;
        let (opened, inside) = item.opened_mended(&source.rule.embedded);
        repairs.add_mended(&inside.mended);
        // What was replaced elsewhere in the body says nothing of this item.
        let marked = match around.marked.filter(|_| item.has(char::REPLACEMENT_CHARACTER)) {
            Some(marked) => Some(Cow::Borrowed(marked)),
            None => (inside.mended.surrogates > 0).then(|| Cow::Owned(item.marked())),
        };
        let lost = |rule: &Rule| marked.as_ref().and_then(|marked| marked.opened_marked(&rule.embedded).lost(&rule.volatile));
        let is_damaged = marked.as_ref().is_some_and(|marked| marked.opened_marked(&source.rule.embedded).lost(&[]).is_some());
        let Mapped { mut fields, notes, mut ambiguous, attached } = map::fields(&source.map, &opened, self.headers, is_damaged);
        fields.timestamp = fields.occurred_at.as_deref().and_then(|sent| source.rule.instant(sent)).map(|at| at.to_string());
        fields.channel.get_or_insert_with(|| source.channel.clone());
        let read = |rule: &Rule| {
            let lost = lost(rule);
            rule.read_mended(&source.id, Sent { body: item, lost: lost.as_ref() }, self.headers, &fields, self.secret)
        };
        // What an earlier version cannot read it never entered, so there is nothing to be found under it.
        let earlier: Vec<Identity> = source.earlier.iter().filter_map(|rule| read(rule).ok()).collect();
        let identity = match read(&source.rule) {
            Ok(identity) if says_something(&fields) || identity.key.basis == Basis::Submission => identity,
            // A body of the shape that an earlier version knew: its id says which event it is (I8).
            not_understood => match earlier.iter().find(|earlier| earlier.key.basis == Basis::Submission) {
                Some(known) => known.clone(),
                None if !inside.unread.is_empty() => return Err(not_opened(&inside.unread)),
                None => return Err(not_understood.map_or_else(|why| why.to_string(), |_| NOTHING_FOUND.to_owned())),
            },
        };
        let former = self.former((item, around.before), &lost, &fields, std::iter::once(&identity).chain(&earlier));
        let (mut keys, mut contents) = (Vec::new(), Vec::new());
        for Identity { key, content, .. } in std::iter::once(&identity).chain(&earlier).chain(&former) {
            if !keys.contains(key) {
                keys.push(key.clone());
            }
            if !contents.contains(content) {
                contents.push(*content);
            }
        }
        ambiguous.splice(0..0, identity.ambiguous);
        ambiguous.splice(0..0, map::doubtful_headers(&source.rule, &source.map, self.headers));
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

    /// What every version of the rule read in the same item before it was read as it is now: a book has it under those keys
    /// and contents (I8). Nothing, where they cannot be others.
    fn former<'a>(
        &self,
        (item, before): (&Tree, Option<&Tree>),
        lost: &dyn Fn(&Rule) -> Option<Digest>,
        fields: &Fields,
        mut now: impl Iterator<Item = &'a Identity>,
    ) -> Vec<Identity> {
        let source = self.source;
        let rules = || std::iter::once(&source.rule).chain(&source.earlier);
        let body = before.unwrap_or(item);
        let handle = rules()
            .any(Rule::reads_mapped_contact)
            .then(|| map::handle_before(&source.map, body, self.headers))
            .filter(|handle| handle.contact_handle() != fields.contact_handle());
        if before.is_none() && handle.is_none() && !now.any(|identity| identity.of_several) {
            return Vec::new();
        }
        let fields = handle.as_ref().unwrap_or(fields);
        let read = |rule: &Rule| {
            let lost = if before.is_some() { None } else { lost(rule) };
            rule.read_as_before(&source.id, Sent { body, lost: lost.as_ref() }, self.headers, fields, self.secret).ok()
        };
        rules().filter_map(read).collect()
    }
}

/// Whether anything is mapped that an enquiry is made of, be it nothing but what a field may not hold.
fn says_something(fields: &Fields) -> bool {
    let counts = |field: &str| !matches!(field, "occurred_at" | "consent" | "channel");
    !fields.is_empty() || fields.original.iter().any(|(field, sent)| counts(field) && !sent.trim().is_empty())
}

/// The places are the operator's own words.
fn not_opened(places: &[Pointer]) -> String {
    let places: Vec<String> = places.iter().map(Pointer::to_string).collect();
    format!("the text at {} is `embedded`, and could not be read: it is no JSON, or nests too deep", places.join(", "))
}

fn too_many(items: usize) -> Option<Item> {
    (items > ITEMS_MAX).then(|| quarantined(format!("the batch has {items} items, and at most {ITEMS_MAX} are read")))
}

fn quarantined(reason: impl Into<String>) -> Item {
    Item::Aside { verdict: Verdict::Quarantined, reason: reason.into() }
}
