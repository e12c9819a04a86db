//! `oncebook`: the one binary. Everything is in the library; here the process begins and ends.

use std::process::ExitCode;

/// Rows are made by one thread and dropped by another, which the system's allocator is slow at (docs/adr/0041).
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    server::cli::main()
}
