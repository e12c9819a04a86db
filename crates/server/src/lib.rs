//! Oncebook's server: what the binary is made of.

pub mod config;
