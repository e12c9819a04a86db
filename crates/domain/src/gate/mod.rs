//! The gate: the one door to every outside effect.
//!
//! [`effect`] holds what an effect and its steps may be, [`mod@decide`] how one step moves on an observation, [`whole`] how an
//! effect moves over its steps, holds and dependencies, [`pace`] how fast a target may be called and whether it is there, and
//! [`claim`] is the door for other engines.

pub mod claim;
pub mod decide;
pub mod effect;
pub mod pace;
pub mod whole;

pub use decide::{Moved, Next, Observation, decide};
pub use effect::{Attempt, Attempted, Find, Phase, Policy, Rules, Step, StepKind, Why};
pub use pace::{Away, Heard, Limits, Pace, Turn};
pub use whole::{Door, Effect, Hold, Readiness};
