//! The oracle's verbs that read.

use domain::digest::Digest;
use domain::identity::Key;
use domain::ids::{DeliveryId, EffectId, EnquiryId, ReviewId, StreamId};
use evidence::{Blob, Entry};

use super::book::{Book, item_id};
use crate::error::Error;
use crate::model::{Arrived, Ask, Case, Delivery, Dossier, List, Page, Rows, Verdict};

impl Book {
    pub(super) fn case(&self, id: &EnquiryId) -> Option<Case> {
        let work = self.enquiries.table.get(id.as_str())?;
        Some(Case {
            enquiry: work.what.clone(),
            version: work.version,
            effects: self.effects.table.of(id).map(|work| (work.what.clone(), work.version)).collect(),
            reviews: self.reviews.of(id).cloned().collect(),
        })
    }

    pub(super) fn dossier(&self, id: &EnquiryId) -> Option<Dossier> {
        let Case { enquiry, version, effects, reviews } = self.case(id)?;
        let deliveries = self.deliveries.of(id).cloned().collect();
        let places = self.journal_of.get(id).into_iter().flatten();
        let entries = places.map(|place| self.journal[place].clone()).collect();
        Some(Dossier { enquiry, version, effects, deliveries, reviews, entries })
    }

    /// One that belongs to an enquiry is found only by who names that.
    pub(super) fn blob(&self, digest: &Digest, of: Option<&EnquiryId>) -> Option<Blob> {
        let kept = self.blobs.get(digest)?;
        (kept.alone || of.is_some() && kept.enquiry.as_ref() == of).then(|| kept.blob.clone())
    }

    pub(super) fn delivery(&self, id: &str) -> Option<Arrived> {
        let items: Vec<Delivery> = (0..).map(|n| self.deliveries.get(&item_id(id, n)).cloned()).map_while(|item| item).collect();
        if let Some(first) = items.first() {
            let body = self.blob(&first.body, items.iter().find_map(|item| item.enquiry.as_ref()));
            return Some(Arrived { items, body });
        }
        let (delivery, body) = self.refused.iter().find(|(delivery, _)| delivery.id.as_str() == id)?;
        Some(Arrived { items: vec![delivery.clone()], body: Some(body.clone()) })
    }

    pub(super) fn resolve(&self, name: &str) -> Vec<EnquiryId> {
        let key = name.split_once('#').map_or(name, |(key, _)| key);
        let one = |id: Option<EnquiryId>| Vec::from_iter(id);
        let has = |id: &EnquiryId| self.enquiries.table.get(id.as_str()).is_some();
        let ways: [&dyn Fn() -> Vec<EnquiryId>; 7] = [
            &|| one(EnquiryId::parse(name).filter(has)),
            &|| DeliveryId::parse(name).map(|id| self.carried_by(&id)).unwrap_or_default(),
            &|| one(EffectId::parse(name).and_then(|id| self.effects.table.get(id.as_str())).map(|work| work.what.enquiry.clone())),
            &|| one(ReviewId::parse(name).and_then(|id| self.reviews.get(id.as_str())).map(|review| review.enquiry.clone())),
            &|| one(Key::parse(key).map(|key| key.enquiry_id()).filter(has)),
            &|| {
                self.enquiries.table.iter().map(|(_, work)| &work.what).filter(|e| e.key.to_string() == key).map(|e| e.id.clone()).collect()
            },
            &|| self.with_record(name),
        ];
        ways.iter().map(|way| way()).find(|found| !found.is_empty()).unwrap_or_default()
    }

    fn carried_by(&self, id: &DeliveryId) -> Vec<EnquiryId> {
        let arrived = self.delivery(id.as_str());
        unique(arrived.into_iter().flat_map(|arrived| arrived.items).filter_map(|item| item.enquiry))
    }

    fn with_record(&self, external_id: &str) -> Vec<EnquiryId> {
        let effects = self.effects.table.iter().map(|(_, work)| &work.what);
        unique(effects.filter(|effect| effect.external_id() == Some(external_id)).map(|effect| effect.enquiry.clone()))
    }

    pub(super) fn page(&self, list: List, ask: &Ask) -> Result<Page, Error> {
        let about = |enquiry: Option<&EnquiryId>| ask.enquiry.is_none() || ask.enquiry.as_ref() == enquiry;
        let of = |source: &str| ask.source.as_deref().is_none_or(|wanted| wanted == source);
        let in_state = |state: &str| ask.state.as_deref().is_none_or(|wanted| wanted == state);
        let (rows, next) = match list {
            List::Journal => return self.journal_page(ask),
            List::Enquiries => {
                let rows = self.enquiries.table.iter().map(|(n, work)| (n, &work.what));
                let (rows, next) = newest(rows.filter(|(_, e)| of(&e.key.source) && in_state(e.standing.as_str())), ask)?;
                (Rows::Enquiries(rows), next)
            }
            List::Deliveries if ask.state.as_deref() == Some(Verdict::Refused.as_str()) => return Ok(self.refused_page(ask)),
            List::Deliveries => {
                let rows = self.deliveries.iter();
                let wanted = |d: &Delivery| of(&d.source) && in_state(d.verdict.as_str()) && about(d.enquiry.as_ref());
                let (rows, next) = newest(rows.filter(|(_, d)| wanted(d)), ask)?;
                (Rows::Deliveries(rows), next)
            }
            List::Effects => {
                let rows = self.effects.table.iter().map(|(n, work)| (n, &work.what));
                let (rows, next) = newest(rows.filter(|(_, e)| in_state(e.state()) && about(Some(&e.enquiry))), ask)?;
                (Rows::Effects(rows), next)
            }
            List::Reviews => {
                let state = |closed: bool| if closed { "closed" } else { "open" };
                let rows = self.reviews.iter();
                let (rows, next) = newest(rows.filter(|(_, r)| in_state(state(r.closed_at.is_some())) && about(Some(&r.enquiry))), ask)?;
                (Rows::Reviews(rows), next)
            }
        };
        Ok(Page { rows, next })
    }

    /// The ring of deliveries that were not authentic, newest first. Ids sort by time, and a cursor is the last one shown.
    fn refused_page(&self, ask: &Ask) -> Page {
        let limit = ask.limit.clamp(1, 1000);
        let earlier = |d: &&Delivery| ask.cursor.as_deref().is_none_or(|cursor| d.id.as_str() < cursor);
        let wanted = |d: &&Delivery| ask.enquiry.is_none() && ask.source.as_deref().is_none_or(|source| d.source == source);
        let mut rows: Vec<Delivery> = self.refused.iter().map(|(d, _)| d).filter(earlier).filter(wanted).cloned().collect();
        rows.sort_by(|a, b| b.id.cmp(&a.id));
        let next = rows.get(limit.saturating_sub(1)).filter(|_| rows.len() > limit).map(|last| last.id.to_string());
        rows.truncate(limit);
        Page { rows: Rows::Deliveries(rows), next }
    }

    fn journal_page(&self, ask: &Ask) -> Result<Page, Error> {
        let cursor = ask.cursor.as_deref().map(|cursor| cursor.split_once('.').ok_or_else(Error::bad_cursor)).transpose()?;
        let after = match cursor {
            Some((ord, seq)) => (number(ord)?, u64::try_from(number(seq)?).map_err(|_| Error::bad_cursor())?),
            None => (0, 0),
        };
        let limit = ask.limit.clamp(1, 1000);
        let wanted = |entry: &Entry| ask.enquiry.is_none() || ask.enquiry == entry.enquiry;
        let later = self.journal.range(after..).filter(|(place, entry)| **place > after && wanted(entry));
        let mut rows: Vec<_> = later.take(limit + 1).collect();
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().filter(|_| more).map(|((ord, seq), _)| format!("{ord}.{seq}"));
        Ok(Page { rows: Rows::Journal(rows.into_iter().map(|(_, entry)| entry.clone()).collect()), next })
    }

    pub(super) fn journal_after(&self, after: Option<&(StreamId, u64)>, limit: usize) -> Result<Vec<Entry>, Error> {
        let after = match after {
            Some((stream, seq)) => {
                let ord = self.streams.iter().position(|known| known == stream).ok_or_else(Error::no_such_stream)?;
                (i64::try_from(ord).unwrap_or(i64::MAX).saturating_add(1), *seq)
            }
            None => (0, 0),
        };
        Ok(self.journal.range(after..).filter(|(place, _)| **place > after).take(limit).map(|(_, entry)| entry.clone()).collect())
    }
}

/// A page of rows, newest first, and where the next one begins.
fn newest<'a, T: Clone + 'a>(rows: impl DoubleEndedIterator<Item = (i64, &'a T)>, ask: &Ask) -> Result<(Vec<T>, Option<String>), Error> {
    let end = ask.cursor.as_deref().map(number).transpose()?;
    let limit = ask.limit.clamp(1, 1000);
    let mut rows: Vec<_> = rows.rev().filter(|(n, _)| end.is_none_or(|end| *n < end)).take(limit + 1).collect();
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next = rows.last().filter(|_| more).map(|(n, _)| n.to_string());
    Ok((rows.into_iter().map(|(_, row)| row.clone()).collect(), next))
}

fn number(text: &str) -> Result<i64, Error> {
    text.parse().map_err(|_| Error::bad_cursor())
}

fn unique(ids: impl Iterator<Item = EnquiryId>) -> Vec<EnquiryId> {
    ids.fold(Vec::new(), |mut seen, id| {
        if !seen.contains(&id) {
            seen.push(id);
        }
        seen
    })
}
