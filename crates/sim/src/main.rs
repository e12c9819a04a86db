//! The command: `cargo run --release -p sim -- --seeds N`.

use sim::plan::make::plan;
use sim::run::run;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let mut args = std::env::args().skip(1);
    let first: u64 = args.next().and_then(|a| a.parse().ok()).unwrap_or(1);
    let seeds: u64 = args.next().and_then(|a| a.parse().ok()).unwrap_or(10);
    let events: u32 = args.next().and_then(|a| a.parse().ok()).unwrap_or(50);
    let traced = args.next().is_some();
    let mut bad = 0;
    let mut n = 0;
    for seed in first..first + seeds {
        let report = run(&plan(seed, events), traced);
        n += report.enquiries;
        if !report.breaches.is_empty() {
            bad += 1;
            println!("seed {seed}: {} breaches, first {:?}", report.breaches.len(), report.breaches[0]);
            if traced {
                for l in &report.trace {
                    println!("{l}");
                }
            }
        }
        if seeds < 5 {
            println!("{report:?}");
        }
    }
    println!("{n} enquiries, {bad} bad seeds");
}
