//! Tests of what only this engine can do.
