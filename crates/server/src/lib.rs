//! Oncebook's server: intake, qualification, effects, the engine, and what people and machines read.
//!
//! Who may import whom is in ARCHITECTURE.md, and kept by `tests/tidy.rs`.

pub mod api;
pub mod app;
pub mod cli;
pub mod clock;
pub mod config;
pub mod console;
pub mod effects;
pub mod engine;
pub mod intake;
pub mod problem;
pub mod qualify;
pub mod stops;
pub mod views;
