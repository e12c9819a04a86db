//! What was measured, as one record and as a page: each figure beside the limit that was measured in the same run.

use std::fmt::Write as _;

use bench::load::Loaded;
use bench::spread::Spread;
use serde::Serialize;

/// What peers did on a machine of this kind (their own defaults, measured before this program was written).
pub(super) const RESTATE_ACCEPTS_PER_S: f64 = 2_765.0;
pub(super) const RESTATE_JOBS_PER_S: f64 = 1_262.0;

/// Everything that one run measured.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    /// `oncebook` and its version.
    pub(super) program: &'static str,
    /// Appending 4 KiB and waiting until it is durable.
    pub(super) fdatasync: Spread,
    pub(super) acks: Option<Acks>,
    pub(super) jobs: Option<Jobs>,
    /// From the sender's first byte to the first byte at the model.
    pub(super) to_model: Option<Spread>,
    /// The book grown.
    pub(super) growth: Option<Growth>,
}

/// The door.
#[derive(Debug, Serialize)]
pub(super) struct Acks {
    pub(super) by_connections: Vec<AtConnections>,
    /// Rows in the book a delivery.
    pub(super) rows_per_delivery: f64,
    /// 64 connections while the jobs behind the deliveries are done.
    pub(super) with_work: Loaded,
}

impl Acks {
    fn at(&self, connections: usize) -> Option<&AtConnections> {
        self.by_connections.iter().find(|row| row.connections == connections)
    }

    fn table(&self, page: &mut String) -> std::fmt::Result {
        let heads = "| connections | durable acks/s | p50 / p99 ms | no store, acks/s | p50 / p99 ms | bare loop, enquiries/s | acks : bare | resident MiB |";
        writeln!(page, "{heads}\n| --- | --- | --- | --- | --- | --- | --- | --- |")?;
        for AtConnections { connections, acks, storeless, bare_per_s, resident_kib } in &self.by_connections {
            writeln!(
                page,
                "| {connections} | {:.0} | {} | {:.0} | {} | {bare_per_s:.0} (batch {connections}) | {:.2} | {} |",
                acks.per_s,
                ends(&acks.answered),
                storeless.per_s,
                ends(&storeless.answered),
                acks.per_s / bare_per_s,
                mib(*resident_kib),
            )?;
        }
        writeln!(page)
    }
}

/// One row of the main table.
#[derive(Debug, Serialize)]
pub(super) struct AtConnections {
    pub(super) connections: usize,
    pub(super) acks: Loaded,
    pub(super) storeless: Loaded,
    /// Deliveries a second of the bare loop, so many a transaction.
    pub(super) bare_per_s: f64,
    /// The most that the server's process ever took so far.
    pub(super) resident_kib: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct Jobs {
    pub(super) count: u64,
    pub(super) per_s: f64,
    pub(super) answered: Spread,
    /// Records in the target, and different keys among them.
    pub(super) records: usize,
    pub(super) keys: usize,
    pub(super) resident_kib: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct Growth {
    pub(super) enquiries: u64,
    /// Rates of an empty book and of the grown one, taken in turn.
    pub(super) empty_per_s: Vec<f64>,
    pub(super) grown_per_s: Vec<f64>,
    pub(super) grown_answered: Spread,
    pub(super) book_mib: u64,
    pub(super) resident_kib: u64,
}

impl Growth {
    fn ratio(&self) -> f64 {
        middle(&self.grown_per_s) / middle(&self.empty_per_s)
    }
}

/// The middle of some rates.
pub(super) fn middle(rates: &[f64]) -> f64 {
    let mut rates = rates.to_vec();
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied().unwrap_or(f64::NAN)
}

/// An aim: what was asked, what came, whether that is enough.
struct Aim {
    asked: &'static str,
    came: String,
    met: bool,
}

impl Report {
    /// The page, in Markdown.
    pub(super) fn page(&self) -> String {
        let mut page = String::new();
        // Writing to a text cannot fail.
        self.write(&mut page).unwrap_or_default();
        page
    }

    fn write(&self, page: &mut String) -> std::fmt::Result {
        if let Some(acks) = &self.acks {
            acks.table(page)?;
        }
        writeln!(page, "| measured | figure |\n| --- | --- |")?;
        for (what, figure) in self.figures() {
            writeln!(page, "| {what} | {figure} |")?;
        }
        writeln!(page, "\n| aim | came | met |\n| --- | --- | --- |")?;
        for Aim { asked, came, met } in self.aims() {
            writeln!(page, "| {asked} | {came} | {} |", if met { "yes" } else { "**no**" })?;
        }
        Ok(())
    }

    fn figures(&self) -> Vec<(String, String)> {
        let mut figures = Vec::new();
        let mut figure = |what: &str, figure: String| figures.push((what.to_owned(), figure));
        figure("fdatasync after 4 KiB, p50 / p99 ms", ends(&self.fdatasync));
        if let Some(acks) = &self.acks {
            figure("rows in the book a delivery", format!("{:.1}", acks.rows_per_delivery));
            let work = &acks.with_work;
            figure("acks/s at 64 connections while jobs are done behind them", format!("{:.0}", work.per_s));
            figure("their p50 / p99 ms", ends(&work.answered));
        }
        if let Some(jobs) = &self.jobs {
            let what = format!("whole jobs/s ({}: entered, qualified by rules, deal written over HTTP and read back)", jobs.count);
            figure(&what, format!("{:.0}", jobs.per_s));
            figure("their records in the target, different keys among them", format!("{}, {}", jobs.records, jobs.keys));
            figure("resident while doing them, most", format!("{} MiB", mib(jobs.resident_kib)));
        }
        if let Some(model) = &self.to_model {
            figure("sender's first byte to the first byte at the model, p50 / p99 ms", ends(model));
        }
        if let Some(growth) = &self.growth {
            let rates = |of: &[f64]| of.iter().map(|rate| format!("{rate:.0}")).collect::<Vec<_>>().join(", ");
            figure("acks/s at 64 connections, an empty book, in turn with", rates(&growth.empty_per_s));
            figure(&format!("the same with {} enquiries in the book", growth.enquiries), rates(&growth.grown_per_s));
            figure(
                "that book, and the process that grew it",
                format!("{} MiB, {} MiB resident", growth.book_mib, mib(growth.resident_kib)),
            );
        }
        figures
    }

    fn aims(&self) -> Vec<Aim> {
        let mut aims = Vec::new();
        let mut aim = |asked, came: String, met| aims.push(Aim { asked, came, met });
        if let Some(row) = self.acks.as_ref().and_then(|acks| acks.at(64)) {
            let share = row.acks.per_s / row.bare_per_s;
            aim("acks at 64 connections at half or more of the bare loop", format!("{share:.2}"), share >= 0.5);
            let times = row.acks.per_s / RESTATE_ACCEPTS_PER_S;
            aim("acks at 64 connections several times Restate's accept-only 2,765/s", format!("{times:.1} times"), times >= 2.0);
        }
        if let Some(jobs) = &self.jobs {
            let times = jobs.per_s / RESTATE_JOBS_PER_S;
            aim("whole jobs ahead of Restate's 1,262/s", format!("{times:.1} times"), times > 1.0);
        }
        if let Some(row) = self.acks.as_ref().and_then(|acks| acks.at(1)) {
            let limit = row.storeless.answered.p50_us + 2 * self.fdatasync.p50_us;
            let came = row.acks.answered.p50_us;
            aim("one ack alone within the storeless p50 plus two fdatasyncs", format!("{} of {} ms", ms(came), ms(limit)), came <= limit);
        }
        let residents = self.acks.iter().flat_map(|acks| &acks.by_connections).map(|row| row.resident_kib);
        if let Some(most) = residents.chain(self.jobs.iter().map(|jobs| jobs.resident_kib)).max() {
            aim("under 64 MiB resident while doing it", format!("{} MiB", mib(most)), most < 64 * 1024);
        }
        if let Some(growth) = &self.growth {
            let share = growth.ratio();
            aim("at 1 M enquiries 90 % of the empty rate", format!("{:.0} % at {}", share * 100.0, growth.enquiries), share >= 0.9);
        }
        if let Some(model) = &self.to_model {
            aim("arrival to model request under 5 ms median", format!("{} ms", ms(model.p50_us)), model.p50_us < 5_000);
        }
        aims
    }
}

/// The middle and the slow end, in ms.
fn ends(spread: &Spread) -> String {
    format!("{} / {}", ms(spread.p50_us), ms(spread.p99_us))
}

fn ms(us: u32) -> String {
    format!("{:.2}", f64::from(us) / 1000.0)
}

fn mib(kib: u64) -> u64 {
    kib.div_ceil(1024)
}
