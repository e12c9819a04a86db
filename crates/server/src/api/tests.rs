//! The router over a real book.
