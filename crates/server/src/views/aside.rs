//! Deliveries that nothing came of, and that a person can still do something about: those that could not be understood
//! (quarantined) and those that were not authentic (refused). One that came again since is told apart: reading a kept
//! delivery again makes a new one, and the old one stays as it was.

use std::collections::BTreeMap;

use store::Error;

use super::{DeliveryView, Query, Reader};

/// How many of each kind are looked at.
const MOST: usize = 1000;
/// How many pages of later deliveries are looked through for one that brought the same again.
const PAGES: usize = 5;

/// What was set aside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetAside {
    /// Quarantined deliveries that did not come again.
    pub quarantined: usize,
    /// Refused deliveries that did not come again.
    pub refused: usize,
    /// There are more than were counted.
    pub more: bool,
    /// Of those that came again: the delivery that brought the same since.
    pub came_again: BTreeMap<String, String>,
}

impl SetAside {
    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.quarantined == 0 && self.refused == 0
    }

    /// `2 deliveries quarantined, 1 refused`.
    pub fn says(&self) -> String {
        let more = if self.more { " or more" } else { "" };
        let plural = |count: usize| if count == 1 { "delivery" } else { "deliveries" };
        let told = [(self.quarantined, "quarantined"), (self.refused, "refused as not authentic")];
        let told = told.iter().filter(|(count, _)| *count > 0);
        told.map(|(count, what)| format!("{count}{more} {} {what}", plural(*count))).collect::<Vec<_>>().join(", ")
    }
}

/// What makes two deliveries the same: where they came from and what they brought.
type Brought = (String, String);

impl Reader {
    /// Counts what was set aside and waits for a person.
    pub async fn set_aside(&self) -> Result<SetAside, Error> {
        let (quarantined, more) = self.in_state("quarantined").await?;
        let (refused, more_refused) = self.in_state("refused").await?;
        let mut found = SetAside { more: more || more_refused, ..SetAside::default() };
        let Some(oldest) = quarantined.iter().chain(&refused).map(|delivery| delivery.arrived_at).min() else { return Ok(found) };
        let latest = self.latest_since(oldest).await?;
        let again = |delivery: &DeliveryView| {
            let later = latest.get(&brought(delivery))?;
            (later.id != delivery.id && later.arrived_at >= delivery.arrived_at).then(|| later.id.clone())
        };
        for (deliveries, count) in [(&quarantined, &mut found.quarantined), (&refused, &mut found.refused)] {
            let mut last = None;
            for delivery in deliveries {
                // The items of a batch stand together: it is one delivery.
                if last.replace(&delivery.id) == Some(&delivery.id) {
                    continue;
                }
                match again(delivery) {
                    Some(later) => drop(found.came_again.insert(delivery.id.clone(), later)),
                    None => *count += 1,
                }
            }
        }
        Ok(found)
    }

    async fn in_state(&self, state: &str) -> Result<(Vec<DeliveryView>, bool), Error> {
        let page = self.deliveries(&Query { limit: MOST, state: Some(state.to_owned()), ..Query::default() }).await?;
        Ok((page.items, page.next_cursor.is_some()))
    }

    /// The latest delivery of everything that was brought since then, as far back as is looked.
    async fn latest_since(&self, oldest: super::At) -> Result<BTreeMap<Brought, DeliveryView>, Error> {
        let mut latest = BTreeMap::new();
        let mut query = Query { limit: MOST, ..Query::default() };
        for _ in 0..PAGES {
            let page = self.deliveries(&query).await?;
            let is_past = page.items.last().is_none_or(|delivery| delivery.arrived_at < oldest);
            for delivery in page.items {
                latest.entry(brought(&delivery)).or_insert(delivery);
            }
            query.cursor = page.next_cursor;
            if is_past || query.cursor.is_none() {
                break;
            }
        }
        Ok(latest)
    }
}

fn brought(delivery: &DeliveryView) -> Brought {
    (delivery.source.clone(), delivery.body_sha256.clone())
}
