//! Reading the book for people: lists by page, and everything behind a name.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use domain::gate::Effect;
use domain::ids::EnquiryId;
use domain::time::UtcMs;
use serde::Serialize;
use store::{Ask, Error, List, Page, Review, ReviewKind, Rows, Store};

use super::{ArrivalView, DeliveryView, DossierView, EffectView, EnquiryView, EntryView, ReviewView, TargetSetup, TargetView};

/// The largest page.
const LIMIT_MAX: usize = 1000;

/// Which page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Where the last page ended.
    pub cursor: Option<String>,
    /// At most so many: 1 to 1000.
    pub limit: usize,
    /// Only of this source (enquiries, deliveries).
    pub source: Option<String>,
    /// Only in this state (enquiries, deliveries by verdict, effects, review items).
    pub state: Option<String>,
    /// Only of the enquiry with this id (deliveries, effects, review items, journal).
    pub enquiry: Option<String>,
}

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PageView<T> {
    /// The records.
    pub items: Vec<T>,
    /// Where the next page begins; none at the end.
    pub next_cursor: Option<String>,
}

/// The open review items: how many there are, and those that have waited longest.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenItems {
    /// How many are open.
    pub count: usize,
    /// The oldest, oldest first.
    pub oldest: Vec<ReviewView>,
}

/// Reads the book.
#[derive(Clone)]
pub struct Reader {
    store: Arc<dyn Store>,
}

impl Reader {
    /// Over this book.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }

    /// Enquiries, newest first.
    pub async fn enquiries(&self, query: &Query) -> Result<PageView<EnquiryView>, Error> {
        let Page { rows, next } = self.page(List::Enquiries, query).await?;
        let Rows::Enquiries(rows) = rows else { return Err(other_list()) };
        Ok(PageView { items: rows.iter().map(EnquiryView::of).collect(), next_cursor: next })
    }

    /// Deliveries, newest first.
    pub async fn deliveries(&self, query: &Query) -> Result<PageView<DeliveryView>, Error> {
        let Page { rows, next } = self.page(List::Deliveries, query).await?;
        let Rows::Deliveries(rows) = rows else { return Err(other_list()) };
        Ok(PageView { items: rows.iter().map(DeliveryView::of).collect(), next_cursor: next })
    }

    /// One delivery with its items and its raw body.
    pub async fn delivery(&self, id: &str) -> Result<Option<ArrivalView>, Error> {
        Ok(self.store.delivery(id).await?.map(|arrived| ArrivalView::of(id, arrived)))
    }

    /// Effects, newest first.
    pub async fn effects(&self, query: &Query) -> Result<PageView<EffectView>, Error> {
        let Page { rows, next } = self.page(List::Effects, query).await?;
        let Rows::Effects(rows) = rows else { return Err(other_list()) };
        Ok(PageView { items: rows.iter().map(EffectView::of).collect(), next_cursor: next })
    }

    /// Review items, newest first.
    pub async fn reviews(&self, query: &Query, now: UtcMs) -> Result<PageView<ReviewView>, Error> {
        let Page { rows, next } = self.page(List::Reviews, query).await?;
        let Rows::Reviews(rows) = rows else { return Err(other_list()) };
        Ok(PageView { items: self.seen(&rows, now).await?, next_cursor: next })
    }

    /// Open review items: their count and the `most` that have waited longest. The book lists newest first, so all are
    /// walked; a queue that people work through is short.
    pub async fn open_items(&self, most: usize, now: UtcMs) -> Result<OpenItems, Error> {
        let mut query = Query { limit: LIMIT_MAX, state: Some("open".to_owned()), ..Query::default() };
        let (mut count, mut oldest) = (0, VecDeque::new());
        loop {
            let Page { rows, next } = self.page(List::Reviews, &query).await?;
            let Rows::Reviews(rows) = rows else { return Err(other_list()) };
            for row in rows {
                count += 1;
                oldest.push_front(row);
                oldest.truncate(most);
            }
            let Some(next) = next else { break };
            query.cursor = Some(next);
        }
        Ok(OpenItems { count, oldest: self.seen(oldest.make_contiguous(), now).await? })
    }

    /// Journal entries, oldest first.
    pub async fn journal(&self, query: &Query) -> Result<PageView<EntryView>, Error> {
        let Page { rows, next } = self.page(List::Journal, query).await?;
        let Rows::Journal(rows) = rows else { return Err(other_list()) };
        Ok(PageView { items: rows.into_iter().map(EntryView).collect(), next_cursor: next })
    }

    /// One enquiry, without what belongs to it.
    pub async fn enquiry(&self, id: &str) -> Result<Option<EnquiryView>, Error> {
        let Some(id) = EnquiryId::parse(id) else { return Ok(None) };
        Ok(self.store.case(&id).await?.map(|case| EnquiryView::of(&case.enquiry)))
    }

    /// Everything about the enquiries that a name leads to: an enquiry id, a key, a delivery, effect or review id, or an
    /// external record id. Several where an external id is not unique, none where the name leads nowhere.
    pub async fn show(&self, name: &str, now: UtcMs) -> Result<Vec<DossierView>, Error> {
        let mut shown = Vec::new();
        for id in self.store.resolve(name).await? {
            let dossier = self.store.dossier(&id).await?;
            shown.extend(dossier.map(|dossier| DossierView::of(&dossier, now)));
        }
        Ok(shown)
    }

    /// The configured targets, in the configuration's order; then those that are configured no more and have effects
    /// waiting for them, which the book knows as paused.
    pub async fn targets(&self, setups: &[TargetSetup]) -> Result<Vec<TargetView>, Error> {
        let known = self.store.targets().await?;
        let is_gone = |name: &String| !setups.iter().any(|setup| setup.name == *name);
        let gone = known.iter().filter(|state| state.paused.is_some() && is_gone(&state.name)).map(|state| TargetSetup::gone(&state.name));
        Ok(setups.iter().cloned().chain(gone).map(|setup| TargetView::of(&setup, &known)).collect())
    }

    /// Whether the book can take a write now.
    pub async fn ready(&self) -> Result<(), Error> {
        self.store.ping().await
    }

    async fn page(&self, list: List, query: &Query) -> Result<Page, Error> {
        let enquiry = match &query.enquiry {
            Some(text) => Some(EnquiryId::parse(text).ok_or_else(|| Error::Refused(format!("`{text}` is no enquiry's id")))?),
            None => None,
        };
        let Query { cursor, limit, source, state, .. } = query.clone();
        self.store.page(list, Ask { cursor, limit: limit.clamp(1, LIMIT_MAX), source, state, enquiry }).await
    }

    /// Items with what fits them; for those about an effect, that depends on where the effect stands now.
    async fn seen(&self, rows: &[Review], now: UtcMs) -> Result<Vec<ReviewView>, Error> {
        let mut effects: BTreeMap<&str, Vec<Effect>> = BTreeMap::new();
        for row in rows.iter().filter(|row| row.kind == ReviewKind::Effect && row.closed_at.is_none()) {
            if !effects.contains_key(row.enquiry.as_str()) {
                effects.insert(row.enquiry.as_str(), self.effects_of(&row.enquiry).await?);
            }
        }
        let none = Vec::new();
        let view = |row: &Review| ReviewView::of(row, effects.get(row.enquiry.as_str()).unwrap_or(&none), now);
        Ok(rows.iter().map(view).collect())
    }

    async fn effects_of(&self, enquiry: &EnquiryId) -> Result<Vec<Effect>, Error> {
        let query = Query { limit: LIMIT_MAX, enquiry: Some(enquiry.to_string()), ..Query::default() };
        let Rows::Effects(rows) = self.page(List::Effects, &query).await?.rows else { return Err(other_list()) };
        Ok(rows)
    }
}

/// The engine answered with another list's records.
fn other_list() -> Error {
    Error::Corrupt("a page holds another list's records".to_owned())
}
