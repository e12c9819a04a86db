//! Views of hand-made records.
