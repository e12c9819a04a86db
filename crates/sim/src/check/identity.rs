//! I1 to I4 and I8: what was answered is in the book, and each original event is one enquiry.

use std::collections::{BTreeMap, BTreeSet};

use domain::enquiry::{Enquiry, Standing};
use domain::ids::EnquiryId;
use store::memory::Memory;
use store::{Dossier, Store as _, Verdict};

use crate::plan::Sent;
use crate::sources::{EVENT_STEP_MS, SOURCES, first_event_at};
use crate::world::World;

/// One original event with one content.
type Event = (usize, u32, u8);

/// Checks the deliveries that were answered.
pub async fn check(world: &World, book: &Memory, all: &[Dossier]) {
    let acks = world.state().acks.clone();
    let enquiries: BTreeMap<&EnquiryId, &Enquiry> = all.iter().map(|d| (&d.enquiry.id, &d.enquiry)).collect();
    let mut carried: BTreeMap<Event, BTreeSet<EnquiryId>> = BTreeMap::new();
    for ack in &acks {
        let sent = &world.plan.sent[ack.sent];
        let named = format!("delivery {} of event {}", ack.delivery.id, sent.event);
        let kept = book.delivery(ack.delivery.id.as_str()).await;
        if !matches!(kept, Ok(Some(kept)) if kept.items.iter().any(|item| item.enquiry == ack.delivery.enquiry && item.verdict == ack.delivery.verdict))
        {
            world.breach("I1", format!("{named} was answered and is not in the book as it was answered"));
        }
        match (&ack.delivery.enquiry, sent.broken) {
            (None, true) if ack.delivery.verdict == Verdict::Quarantined => {}
            (Some(id), false) => match enquiries.get(id) {
                Some(enquiry) => {
                    carried.entry(event_of(sent)).or_default().insert(canonical(enquiry));
                }
                None => world.breach("I1", format!("{named} was answered with an enquiry that is not in the book")),
            },
            _ => world.breach("I1", format!("{named} was answered {}", ack.delivery.verdict.as_str())),
        }
    }
    let answered: BTreeSet<usize> = acks.iter().map(|ack| ack.sent).collect();
    for n in (0..world.plan.sent.len()).filter(|n| !answered.contains(n)) {
        world.breach("I1", format!("delivery {n} of event {} was never answered, however often it was sent", world.plan.sent[n].event));
    }
    for (event, found) in &carried {
        if found.len() > 1 {
            world.breach("I2", format!("event {event:?} is {} enquiries", found.len()));
        }
    }
    one_an_event(world, all, &carried);
}

fn event_of(sent: &Sent) -> Event {
    (sent.source, sent.event, sent.content)
}

/// A revision counts as the enquiry that it was merged into.
fn canonical(enquiry: &Enquiry) -> EnquiryId {
    match (&enquiry.standing, &enquiry.flags.conflict_with) {
        (Standing::Merged, Some(first)) => first.clone(),
        _ => enquiry.id.clone(),
    }
}

/// The book has one enquiry for every content that came of an event, and one of them is the first.
fn one_an_event(world: &World, all: &[Dossier], carried: &BTreeMap<Event, BTreeSet<EnquiryId>>) {
    let mut firsts: BTreeSet<(usize, u32)> = BTreeSet::new();
    let mut entered: BTreeSet<Event> = BTreeSet::new();
    for Dossier { enquiry, entries, effects, .. } in all {
        if enquiry.id != enquiry.key.enquiry_id() {
            world.breach("I8", format!("{} has an id that is not its key's", enquiry.key));
        }
        let Some(event) = read(enquiry) else {
            world.breach("I3", format!("{} is no event that was sent", enquiry.key));
            continue;
        };
        if !entered.insert(event) {
            world.breach("I2", format!("event {event:?} stands twice in the book, once as {}", enquiry.key));
        }
        if enquiry.flags.conflict_with.is_none() && !firsts.insert((event.0, event.1)) {
            world.breach("I4", format!("event {event:?} has two first enquiries, one of them {}", enquiry.key));
        }
        let is_let_go = entries.iter().any(|entry| entry.kind == "enquiry.separated");
        if enquiry.flags.conflict_with.is_some() && !is_let_go && !effects.is_empty() {
            world.breach("I4", format!("{} is a conflict that nobody has decided, and has effects", enquiry.key));
        }
    }
    for event in carried.keys().filter(|event| !entered.contains(event)) {
        world.breach("I3", format!("event {event:?} was answered and swallowed: it is no enquiry of its own"));
    }
}

/// Which event an enquiry is: its time and its words say so.
fn read(enquiry: &Enquiry) -> Option<Event> {
    let source = SOURCES.iter().position(|source| *source == enquiry.key.source)?;
    let fields = enquiry.fields.as_ref()?;
    let at = fields.timestamp.as_deref()?.parse::<jiff::Timestamp>().ok()?.as_millisecond();
    let event = u32::try_from((at - first_event_at()) / EVENT_STEP_MS).ok()?;
    let content = fields.message.as_deref()?.rsplit_once(" v")?.1.parse().ok()?;
    Some((source, event, content))
}
