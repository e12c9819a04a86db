//! Intake: from a request at our door to a durable verdict on it.
//!
//! A delivery is authenticated over its raw bytes ([`signature`]), read into a tree ([`body`]), split and mapped ([`map`]),
//! given its identity by the source's rule, handed to the store in one call ([`arrive`]) and answered ([`answer`]).
//! Whatever is authentic is kept: what cannot be understood is quarantined with a reason, and [`replay`] reads it again.
//! Deliberately absent: the verdict itself (the store's transaction decides it), qualification, effects, configuration
//! (the composition root fills [`SourceSetup`]), and XML and mail bodies, which are quarantined for now.

pub mod answer;
pub mod arrive;
mod attach;
pub mod body;
pub mod map;
mod reading;
pub mod replay;
pub mod routes;
pub mod signature;
pub mod source;

#[cfg(test)]
mod tests;

pub use answer::Answer;
pub use arrive::{Intake, Place, Raw, Refusal, Worker};
pub use map::Mapping;
pub use replay::ReplayError;
pub use routes::router;
pub use signature::{Auth, Encoding, NotAuthentic, Secret};
pub use source::SourceSetup;
