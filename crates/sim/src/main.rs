//! The command: `cargo run --release -p sim -- --seeds N`. Time comes in here, by the server's own clock.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Parser;
use domain::time::Clock as _;
use indicatif::{ProgressBar, ProgressStyle};
use server::clock::SystemClock;
use sim::exhaustive::exhaust;
use sim::many::{Totals, run_many};
use sim::plan::Plan;
use sim::plan::make::plan;
use sim::run::run;
use sim::seeds;
use sim::shrink::shrink;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Simulates the real domain, intake and engine in worlds made from seeds, and checks the invariants after every run.
#[derive(Parser)]
struct Args {
    /// How many seeds to run; the kept ones (seeds.txt) come first and do not count
    #[arg(long, default_value_t = 1_000)]
    seeds: u64,
    /// Run new seeds for so many seconds, however many they are
    #[arg(long)]
    seconds: Option<i64>,
    /// The first seed; without it the clock says
    #[arg(long)]
    from: Option<u64>,
    /// Original events a seed
    #[arg(long, default_value_t = 50)]
    events: u32,
    /// Print what happens in one seed, and nothing else
    #[arg(long)]
    trace: Option<u64>,
    /// Every crash point of one and of two enquiries
    #[arg(long)]
    exhaustive: bool,
    /// Plant each mistake, and say which seed finds it (needs --features planted)
    #[arg(long)]
    planted: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    match command(&args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            drop(writeln!(io::stderr(), "{error}"));
            ExitCode::FAILURE
        }
    }
}

fn command(args: &Args) -> io::Result<bool> {
    if let Some(seed) = args.trace {
        return trace(&plan(seed, args.events));
    }
    if args.planted {
        return planted();
    }
    if args.exhaustive {
        return exhaustive();
    }
    let kept = seeds::kept();
    let nth_kept = |n: u64| usize::try_from(n).ok().and_then(|n| kept.get(n)).map(|(seed, events)| plan(*seed, *events));
    let first = run_many(&nth_kept, &|| true, &|_| {});
    say(&format!("{} kept seeds, {} failed", first.runs, first.failed))?;
    let base = args.from.unwrap_or_else(|| now_ms().unsigned_abs());
    say(&format!("new seeds from {base}"))?;
    let (begun, until) = (now_ms(), args.seconds.map(|seconds| now_ms() + seconds * 1_000));
    let count = if until.is_some() { u64::MAX } else { args.seeds };
    let bar = bar(if until.is_some() { None } else { Some(args.seeds) });
    let nth = |n: u64| (n < count).then(|| plan(base.wrapping_add(n), args.events));
    let totals = run_many(&nth, &|| until.is_none_or(|until| now_ms() < until), &|totals| {
        bar.set_position(totals.runs);
        bar.set_message(format!("{} enquiries, {} failed", totals.enquiries, totals.failed));
    });
    bar.finish_and_clear();
    tell(&totals, now_ms() - begun)?;
    for found in [&first, &totals] {
        failures(found, args.events)?;
    }
    Ok(first.failed == 0 && totals.failed == 0)
}

fn trace(plan: &Plan) -> io::Result<bool> {
    let report = run(plan, true);
    for line in &report.trace {
        say(line)?;
    }
    say(&format!("{} enquiries, {} records; journal heads: {}", report.enquiries, report.records, report.heads.join(", ")))?;
    Ok(report.breaches.is_empty())
}

fn exhaustive() -> io::Result<bool> {
    let (bar, begun) = (bar(None), now_ms());
    let covered = exhaust(&|totals| bar.set_position(totals.runs));
    bar.finish_and_clear();
    say(&format!("{} crash points, {} repeated calls, {} runs", covered.crash_points, covered.repeats, covered.totals.runs))?;
    tell(&covered.totals, now_ms() - begun)?;
    for (plan, report) in &covered.totals.kept {
        say(&format!("{:?} {:?}: {:?}", plan.setup.targets, plan.at_calls, report.breaches))?;
    }
    Ok(covered.totals.failed == 0)
}

#[cfg(feature = "planted")]
fn planted() -> io::Result<bool> {
    let mut caught = 0;
    for (bug, what) in domain::planted::Bug::ALL {
        match sim::planted::hunt(bug) {
            Some((seed, breach)) => {
                caught += 1;
                say(&format!("{what}: seed {seed}, {}: {}", breach.invariant, breach.what))?;
            }
            None => say(&format!("{what}: NOT FOUND"))?,
        }
    }
    let all = domain::planted::Bug::ALL.len();
    say(&format!("{caught} of {all} planted mistakes found"))?;
    Ok(caught == all)
}

#[cfg(not(feature = "planted"))]
fn planted() -> io::Result<bool> {
    say("no mistakes are compiled in: run it with --features planted")?;
    Ok(false)
}

/// The totals, and how each unknown outcome ended.
fn tell(totals: &Totals, took_ms: i64) -> io::Result<()> {
    let rate = i64::try_from(totals.enquiries).unwrap_or(0) * 1_000 / took_ms.max(1);
    say(&format!(
        "{} runs in {} s: {} enquiries ({rate} a second), {} deliveries answered, {} records, {} calls, {} starts of processes",
        totals.runs,
        took_ms / 1_000,
        totals.enquiries,
        totals.deliveries,
        totals.records,
        totals.calls,
        totals.starts
    ))?;
    say(&format!("unknown outcomes: {}", totals.endings.values().sum::<u64>()))?;
    for (how, count) in &totals.endings {
        say(&format!("  {count:>9}  {how}"))?;
    }
    say(&format!("{} runs failed", totals.failed))
}

/// Cuts the failing plans down, prints them, and keeps their seeds.
fn failures(totals: &Totals, events: u32) -> io::Result<()> {
    for (plan, report) in &totals.kept {
        let (short, shown) = shrink(plan, report);
        say(&format!(
            "\nseed {}: {} deliveries and {} faults of {} and {} are enough",
            plan.seed,
            short.sent.len(),
            short.faults.len(),
            plan.sent.len(),
            plan.faults.len()
        ))?;
        say(&format!("{:?}\n{:?}", short.setup, short.fates))?;
        for line in &shown.trace {
            say(line)?;
        }
        let found = report.breaches.first().map(|breach| format!("{}: {}", breach.invariant, breach.what)).unwrap_or_default();
        seeds::keep(plan.seed, events, &found)?;
    }
    Ok(())
}

fn bar(length: Option<u64>) -> ProgressBar {
    let (bar, template) = match length {
        Some(length) => (ProgressBar::new(length), "{bar:30} {pos}/{len} seeds, {per_sec}, {eta} left; {msg}"),
        None => (ProgressBar::no_length(), "{spinner} {pos} runs, {per_sec}, {elapsed}; {msg}"),
    };
    ProgressStyle::with_template(template).map_or_else(|_| bar.clone(), |style| bar.clone().with_style(style))
}

fn now_ms() -> i64 {
    SystemClock.now().0
}

fn say(line: &str) -> io::Result<()> {
    writeln!(io::stdout(), "{line}")
}
