//! One decided step: tried out on copies of the rows it names, and put in place only if all of it may be.

use std::collections::BTreeMap;

use domain::enquiry::Enquiry;
use domain::gate::Effect;
use domain::ids::{EffectId, EnquiryId, ReviewId};
use domain::time::UtcMs;

use super::book::Book;
use super::table::Work;
use crate::error::Error;
use crate::model::{EffectChange, EnquiryChange, Kept, Review, Step};

/// What a step would change.
struct Staged<'a> {
    book: &'a Book,
    enquiries: BTreeMap<EnquiryId, Work<Enquiry>>,
    effects: BTreeMap<EffectId, Work<Effect>>,
    /// New effects, in the step's order.
    planned: Vec<EffectId>,
    locks: BTreeMap<String, EffectId>,
    reviews: BTreeMap<ReviewId, Review>,
    /// New review items, in the step's order.
    opened: Vec<ReviewId>,
}

impl Book {
    pub(super) fn commit(&mut self, step: Step) -> Result<(), Error> {
        let mut staged = Staged {
            book: self,
            enquiries: BTreeMap::new(),
            effects: BTreeMap::new(),
            planned: Vec::new(),
            locks: self.locks.clone(),
            reviews: BTreeMap::new(),
            opened: Vec::new(),
        };
        step.enquiries.into_iter().try_for_each(|change| staged.enquiry(change))?;
        step.effects.into_iter().try_for_each(|change| staged.effect(change))?;
        step.reviews.into_iter().try_for_each(|review| staged.review(review))?;
        let named = step.entries.iter().filter_map(|draft| draft.enquiry.as_ref());
        let named = named.chain(step.blobs.iter().filter_map(|(enquiry, _)| enquiry.as_ref()));
        named.into_iter().try_for_each(|id| staged.book.find(id))?;
        if step.kept.iter().any(|kept| staged.book.kept.get(&kept.name) != kept.was.as_ref()) {
            return Err(Error::KEPT_CHANGED);
        }
        let Staged { enquiries, effects, planned, locks, reviews, opened, .. } = staged;
        self.locks = locks;
        for Kept { name, is, .. } in step.kept {
            match is {
                Some(is) => drop(self.kept.insert(name, is)),
                None => drop(self.kept.remove(&name)),
            }
        }
        for (id, work) in enquiries {
            self.enquiries.replace(id.as_str(), work);
        }
        self.put_effects(effects, &planned);
        self.put_reviews(reviews, &opened);
        self.targets.extend(step.targets.into_iter().map(|target| (target.name.clone(), target)));
        for (name, away) in step.away {
            match away {
                Some(away) => drop(self.away.insert(name, away)),
                None => drop(self.away.remove(&name)),
            }
        }
        for (enquiry, blob) in step.blobs {
            self.put_blob((blob.digest(), blob), enquiry.as_ref(), enquiry.is_none(), step.at);
        }
        step.entries.into_iter().for_each(|draft| self.append(draft));
        Ok(())
    }

    fn put_effects(&mut self, mut effects: BTreeMap<EffectId, Work<Effect>>, planned: &[EffectId]) {
        for id in planned {
            let Some(work) = effects.remove(id) else { unreachable!("what was planned is staged") };
            let enquiry = work.what.enquiry.clone();
            self.effects.insert(id.as_str(), &enquiry, work);
        }
        for (id, work) in effects {
            self.effects.replace(id.as_str(), work);
        }
    }

    fn put_reviews(&mut self, mut reviews: BTreeMap<ReviewId, Review>, opened: &[ReviewId]) {
        for id in opened {
            let Some(review) = reviews.remove(id) else { unreachable!("what was opened is staged") };
            self.reviews.insert(id.as_str().to_owned(), Some(&review.enquiry.clone()), review);
        }
        for (id, review) in reviews {
            if let Some(row) = self.reviews.get_mut(id.as_str()) {
                *row = review;
            }
        }
    }
}

impl Staged<'_> {
    fn enquiry(&mut self, change: EnquiryChange) -> Result<(), Error> {
        let id = change.enquiry.id.clone();
        let now = self.enquiries.get(&id).or_else(|| self.book.enquiries.table.get(id.as_str()));
        let now = now.filter(|work| work.is_current(change.version, change.fence)).ok_or(Error::ENQUIRY_CHANGED)?;
        let lease_until = if change.keep_lease { now.lease_until } else { UtcMs(0) };
        let next = Work { what: change.enquiry, due: change.due, lease_until, fence: now.fence, version: now.version + 1 };
        self.enquiries.insert(id, next);
        Ok(())
    }

    fn effect(&mut self, change: EffectChange) -> Result<(), Error> {
        let id = change.effect.id.clone();
        let due = change.effect.due();
        let now = self.effects.get(&id).or_else(|| self.book.effects.table.get(id.as_str()));
        let next = match (change.version, now) {
            (None, Some(_)) => return Err(Error::EXISTS),
            (None, None) => {
                self.book.find(&change.effect.enquiry)?;
                self.planned.push(id.clone());
                Work::new(change.effect, due).taken(change.take_until)
            }
            (Some(version), now) => {
                let now = now.filter(|work| work.is_current(version, change.fence)).ok_or(Error::EFFECT_CHANGED)?;
                let lease_until = if change.keep_lease { now.lease_until } else { UtcMs(0) };
                Work { what: change.effect, due, lease_until, fence: now.fence, version: now.version + 1 }
            }
        };
        self.effects.insert(id.clone(), next);
        self.lock(&id, change.lock)
    }

    /// Gives back what the effect held and takes what it asks for.
    fn lock(&mut self, id: &EffectId, lock: Option<String>) -> Result<(), Error> {
        self.locks.retain(|_, holder| holder != id);
        let Some(lock) = lock else { return Ok(()) };
        match self.locks.insert(lock, id.clone()) {
            None => Ok(()),
            Some(_) => Err(Error::EXISTS),
        }
    }

    fn review(&mut self, review: Review) -> Result<(), Error> {
        self.book.find(&review.enquiry)?;
        let now = self.reviews.get(&review.id).or_else(|| self.book.reviews.get(review.id.as_str()));
        match now {
            None => self.opened.push(review.id.clone()),
            Some(now) if now.enquiry == review.enquiry && (now.closed_at.is_none() || review.closed_at.is_none()) => {}
            Some(_) => return Err(Error::REVIEW_TAKEN),
        }
        self.reviews.insert(review.id.clone(), review);
        Ok(())
    }
}
