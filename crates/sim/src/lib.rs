//! The deterministic fault simulator: the real domain, intake and engine in a world made from a seed.
//!
//! `plan` is what a run is to meet; `world`, `exec` and `happen` let it happen; `node`, `door`, `target`, `model`, `sender` and
//! `people` are who takes part; `crm` and `net` are what stands outside; `check` says what must never be; `run` puts a run
//! together; `many`, `exhaustive` and `planted` make many, and `shrink` and `seeds` keep what fails. Deliberately absent: HTTP and SQL, whose own tests they are.

pub mod chance;
pub mod check;
pub mod crm;
pub mod door;
pub mod exec;
pub mod exhaustive;
pub mod happen;
pub mod many;
pub mod model;
pub mod net;
pub mod node;
pub mod people;
pub mod plan;
#[cfg(feature = "planted")]
pub mod planted;
pub mod run;
pub mod seeds;
pub mod sender;
pub mod shrink;
pub mod sources;
pub mod target;
pub mod unknowns;
pub mod world;
