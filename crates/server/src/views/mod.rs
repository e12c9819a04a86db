//! What an operator may see: the book's records as the API, the console and the command line show them.
//!
//! One struct a record, named and spelled as DESIGN section 1 does; instants are RFC 3339 in UTC with milliseconds. The
//! structs are built from what the store returns ([`Reader`]), so that every surface tells the same story. Deliberately
//! absent: HTTP, HTML, tables, and every verb that changes something.

mod aside;
mod at;
mod delivery;
mod desk;
mod dossier;
mod effect;
mod enquiry;
mod entry;
mod names;
mod reader;
mod redeliver;
mod review;
mod target;
mod timeline;
mod viewer;
mod visible;

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;

pub use aside::SetAside;
pub use at::At;
pub use delivery::{ArrivalView, BodyView, DeliveryView, Suppression, VERDICTS, mended};
pub use desk::DeskBook;
pub use dossier::DossierView;
pub use effect::{AttemptView, EFFECT_STATES, EffectView, StepView};
pub use enquiry::{EnquiryView, FlagsView, STANDINGS, attached};
pub use entry::EntryView;
pub use names::{meant, state_called};
pub use reader::{OpenItems, PageView, Query, Reader};
pub use redeliver::{Redeliver, RedeliverRefused};
pub use review::{Fitting, REVIEW_STATES, ReviewView};
pub use target::{TargetSetup, TargetView};
pub use timeline::{Happening, says};
pub use viewer::{NotAName, Viewer};
pub use visible::visible;
