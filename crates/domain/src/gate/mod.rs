//! The gate: the one door to every outside effect.
//!
//! [`claim`] is the door for other engines.

pub mod claim;
