//! Cuts a failing plan down: drops deliveries, faults and kinds of fate, as long as what is left still fails in the same way.

use crate::plan::Plan;
use crate::run::{Report, run};

/// Runs that one cutting down may take.
const RUNS_MAX: u32 = 600;

struct Shrinking {
    plan: Plan,
    invariant: &'static str,
    runs: u32,
}

/// The shortest plan that could be found which fails in the invariant of the report's first breach, and its run, traced.
pub fn shrink(plan: &Plan, report: &Report) -> (Plan, Report) {
    let Some(first) = report.breaches.first() else { return (plan.clone(), report.clone()) };
    let mut shrinking = Shrinking { plan: plan.clone(), invariant: first.invariant, runs: 0 };
    loop {
        let before = shrinking.size();
        shrinking.deliveries();
        shrinking.faults();
        shrinking.fates();
        shrinking.setup();
        if shrinking.size() >= before || shrinking.runs >= RUNS_MAX {
            let report = run(&shrinking.plan, true);
            return (shrinking.plan, report);
        }
    }
}

impl Shrinking {
    fn size(&self) -> usize {
        let fates = self.plan.clone().fates.kinds().iter().filter(|(_, share)| **share > 0).count();
        let setup = &self.plan.setup;
        self.plan.sent.len() + self.plan.faults.len() + fates + setup.nodes + setup.workers
    }

    /// Takes the plan if it still fails.
    fn accepts(&mut self, plan: Plan) -> bool {
        if self.runs >= RUNS_MAX {
            return false;
        }
        self.runs += 1;
        let fails = run(&plan, false).breaches.iter().any(|breach| breach.invariant == self.invariant);
        if fails {
            self.plan = plan;
        }
        fails
    }

    fn deliveries(&mut self) {
        let mut chunk = self.plan.sent.len().div_ceil(2).max(1);
        loop {
            let mut at = 0;
            while at < self.plan.sent.len() {
                let mut plan = self.plan.clone();
                plan.sent.drain(at..(at + chunk).min(plan.sent.len()));
                if !self.accepts(plan) {
                    at += chunk;
                }
            }
            if chunk == 1 {
                return;
            }
            chunk = chunk.div_ceil(2);
        }
    }

    fn faults(&mut self) {
        let mut at = 0;
        while at < self.plan.faults.len() {
            let mut plan = self.plan.clone();
            plan.faults.remove(at);
            if !self.accepts(plan) {
                at += 1;
            }
        }
    }

    fn fates(&mut self) {
        for kind in 0..self.plan.fates.kinds().len() {
            let mut plan = self.plan.clone();
            let before = std::mem::take(plan.fates.kinds()[kind].1);
            if before > 0 {
                self.accepts(plan);
            }
        }
    }

    fn setup(&mut self) {
        if self.plan.setup.workers > 1 {
            let mut plan = self.plan.clone();
            plan.setup.workers = 1;
            self.accepts(plan);
        }
        if self.plan.setup.nodes > 1 {
            let mut plan = self.plan.clone();
            plan.setup.nodes -= 1;
            let nodes = plan.setup.nodes;
            plan.faults.retain(|(_, fault)| fault.node().is_none_or(|node| node < nodes));
            self.accepts(plan);
        }
    }
}
