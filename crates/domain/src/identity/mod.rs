//! Identity: which enquiry a delivery carries, and whether it was here before.
//!
//! [`rule`] reads a key out of a delivery, [`doubt`] says where it may be another; [`place`], [`event_time`] and [`content`] serve it; [`mod@judge`] compares what
//! was read with what the book knows. A person's address is never part of a `submission` key, and never alone part of any (I3).

pub mod content;
pub mod doubt;
pub mod event_time;
pub mod judge;
pub mod key;
pub mod place;
pub mod rule;

pub use doubt::{Ambiguity, Doubt};
pub use judge::{Candidate, Judgement, Known, judge};
pub use key::{Basis, Key};
pub use place::{Headers, Place, PlaceError};
pub use rule::{ContactPlaces, Identity, Rule, Sent, TimeRule, Unidentified};
