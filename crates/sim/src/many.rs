//! Many runs, on every core: seeds are independent of one another.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::plan::Plan;
use crate::run::{Report, run};
use crate::unknowns::Endings;

/// Failing plans that are kept; more say nothing new.
const KEPT_MAX: usize = 5;

/// What many runs came to.
#[derive(Debug, Default)]
pub struct Totals {
    /// Runs.
    pub runs: u64,
    /// Enquiries in their books.
    pub enquiries: u64,
    /// Deliveries that were answered.
    pub deliveries: u64,
    /// Records in their targets.
    pub records: u64,
    /// Calls of the store and of the outside.
    pub calls: u64,
    /// Starts of processes.
    pub starts: u64,
    /// How each unknown outcome ended.
    pub endings: Endings,
    /// Runs that failed.
    pub failed: u64,
    /// The first of them.
    pub kept: Vec<(Plan, Report)>,
}

impl Totals {
    /// Adds a run.
    pub fn add(&mut self, plan: &Plan, report: Report) {
        self.runs += 1;
        self.enquiries += report.enquiries;
        self.deliveries += report.deliveries;
        self.records += report.records;
        self.calls += report.calls;
        self.starts += report.starts;
        for (how, count) in &report.endings {
            *self.endings.entry(how).or_default() += count;
        }
        if !report.breaches.is_empty() {
            self.failed += 1;
            if self.kept.len() < KEPT_MAX {
                self.kept.push((plan.clone(), report));
            }
        }
    }
}

/// Runs the plans that `plan` gives for 0, 1, 2 … until it gives none, or `goes_on` says no. `told` hears of each run.
pub fn run_many(
    plan: &(dyn Fn(u64) -> Option<Plan> + Sync),
    goes_on: &(dyn Fn() -> bool + Sync),
    told: &(dyn Fn(&Totals) + Sync),
) -> Totals {
    let (next, ends) = (AtomicU64::new(0), AtomicBool::new(false));
    let totals = Mutex::new(Totals::default());
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while !ends.load(Ordering::Relaxed) && goes_on() {
                    let Some(plan) = plan(next.fetch_add(1, Ordering::Relaxed)) else {
                        return ends.store(true, Ordering::Relaxed);
                    };
                    let report = run(&plan, false);
                    let mut totals = totals.lock().unwrap_or_else(PoisonError::into_inner);
                    totals.add(&plan, report);
                    told(&totals);
                }
            });
        }
    });
    totals.into_inner().unwrap_or_else(PoisonError::into_inner)
}
