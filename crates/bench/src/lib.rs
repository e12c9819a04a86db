//! The instruments that measure Oncebook from outside, and the limits of the machine beside it.
//!
//! Nothing here knows the product: a server is an address, a book is a file. `oncebook bench` (in `server`'s command line)
//! starts the parts, holds these to them and writes what they say.
#![warn(missing_docs)]

pub mod bare;
pub mod crm;
pub mod disk;
pub mod load;
pub mod model;
pub mod process;
pub mod spread;
mod watch;

pub use watch::Watch;
