//! Oncebook's domain: identity, enquiries, effects and the gate, as pure functions of values.
//!
//! Nothing here reads a clock, draws randomness or does I/O: state and event in; new state, commands and facts out.
//! Time and chance arrive as arguments, or through the traits of [`time`], which the front door implements.
#![warn(missing_docs)]
#![warn(clippy::wildcard_enum_match_arm)]

pub mod digest;
pub mod enquiry;
pub mod gate;
pub mod identity;
pub mod ids;
pub mod planted;
pub mod retry;
pub mod time;
pub mod tree;
