//! `oncebook bench`: how fast this program is on this machine, beside the limits of the machine, in one run.
//!
//! Every server is a process of its own, posted to over loopback by senders in this one. The instruments are the crate
//! `bench`; [`part`] starts the servers, [`storeless`] is the door with no book, [`report`] writes what came.

mod part;
mod report;
mod storeless;

use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use bench::bare::Rows;
use bench::crm::Crm;
use bench::load::{self, Load, Loaded};
use bench::model::Model;
use bench::spread::{Spread, Times};
use bench::{Watch, disk, process};
use clap::Args;

use self::part::{Part, Setup};
use self::report::{Acks, AtConnections, Growth, Jobs, Report};
use super::{CliError, Common, Ended};

const CONNECTIONS: [usize; 4] = [1, 16, 64, 256];

/// So many deliveries' rows are read for the bare loop.
const BARE_MAX: usize = 20_000;

/// Empty and grown book in turn, so often: the machine's other work then falls on both.
const TURNS: usize = 3;

/// What to measure.
#[derive(Args)]
pub(super) struct BenchArgs {
    /// Seconds that each rate is measured for
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// Whole jobs to do
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    jobs: u64,
    /// Enquiries to which the book is grown
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    grow: u64,
    /// Only these parts
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PART", default_values_t = Measured::ALL)]
    only: Vec<Measured>,
    /// Where the books are made, on the disk to be measured; they are removed again
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// A Markdown file whose part between the marks `<!-- bench -->` is replaced by what came
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// Serve without a book (the bench starts this itself)
    #[arg(long, hide = true)]
    storeless: bool,
}

impl BenchArgs {
    fn is_whole(&self) -> bool {
        Measured::ALL.iter().all(|part| self.only.contains(part))
    }
}

/// A part of the bench.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Measured {
    /// The door: with a book, without one, and the bare loop
    Acks,
    /// Whole jobs
    Jobs,
    /// Arrival to the model's request
    Model,
    /// A book grown large
    Growth,
}

impl Measured {
    const ALL: [Self; 4] = [Self::Acks, Self::Jobs, Self::Model, Self::Growth];
}

pub(super) async fn run(common: &Common, args: &BenchArgs, out: &mut dyn Write) -> Result<Ended, CliError> {
    if args.storeless {
        storeless::serve(common, out).await?;
        return Ok(Ended::Well);
    }
    if args.write.is_some() && !args.is_whole() {
        return Err(CliError::Said("--write takes a whole run: leave --only out".to_owned()));
    }
    let root = Root::make(&args.dir)?;
    let report = measure(&root.0, args).await?;
    let page = format!("Command: `{}`\n\n{}", command(args), report.page());
    if let Some(file) = &args.write {
        std::fs::write(file, placed(&std::fs::read_to_string(file).unwrap_or_default(), &page))?;
    }
    if common.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&report).unwrap_or_default())?;
    } else {
        write!(out, "{page}")?;
    }
    Ok(Ended::Well)
}

/// The directory of the run; removed with it.
struct Root(PathBuf);

impl Root {
    fn make(dir: &Path) -> Result<Self, CliError> {
        let dir = std::path::absolute(dir)?.join(format!("oncebook-bench-{}", std::process::id()));
        std::fs::create_dir_all(&dir)?;
        Ok(Self(dir))
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        // What cannot be removed is only a bench's.
        drop(std::fs::remove_dir_all(&self.0));
    }
}

fn command(args: &BenchArgs) -> String {
    let only: Vec<String> = args.only.iter().map(|part| format!("{part:?}").to_lowercase()).collect();
    let only = if args.is_whole() { String::new() } else { format!(" --only {}", only.join(",")) };
    format!("oncebook bench --seconds {} --jobs {} --grow {}{only}", args.seconds, args.jobs, args.grow)
}

/// A document with the page between its marks, or the page alone if it has none.
fn placed(document: &str, page: &str) -> String {
    const MARK: &str = "<!-- bench -->";
    let mut parts = document.splitn(3, MARK);
    match (parts.next(), parts.next(), parts.next()) {
        (Some(before), Some(_), Some(after)) => format!("{before}{MARK}\n\n{page}\n{MARK}{after}"),
        _ => page.to_owned(),
    }
}

async fn measure(root: &Path, args: &BenchArgs) -> Result<Report, CliError> {
    let time = Duration::from_secs(args.seconds);
    let wanted = |part: Measured| args.only.contains(&part);
    say("the disk");
    let fdatasync = disk::fdatasync(root, time.min(Duration::from_secs(2)))?;
    let acks = if wanted(Measured::Acks) { Some(acks(root, time).await?) } else { None };
    let jobs = if wanted(Measured::Jobs) { Some(jobs(root, args.jobs).await?) } else { None };
    let to_model = if wanted(Measured::Model) { Some(to_model(root).await?) } else { None };
    let growth = if wanted(Measured::Growth) { Some(growth(root, args.grow, time).await?) } else { None };
    Ok(Report { program: concat!("oncebook ", env!("CARGO_PKG_VERSION")), fdatasync, acks, jobs, to_model, growth })
}

/// A server that does what follows, so many runs at once.
fn working(crm: Option<SocketAddr>, model: Option<SocketAddr>) -> Setup<'static> {
    Setup { workers: 32, crm, model, arguments: &["serve"] }
}

/// Only entered, nothing worked on: what the bare loop does too.
const ENTERS: Setup<'static> = Setup { workers: 0, crm: None, model: None, arguments: &["serve"] };

/// The door with no book behind it.
const STORELESS: Setup<'static> = Setup { workers: 0, crm: None, model: None, arguments: &["bench", "--storeless"] };

async fn acks(root: &Path, time: Duration) -> Result<Acks, CliError> {
    let (mut by_connections, mut book) = (Vec::new(), PathBuf::new());
    for connections in CONNECTIONS {
        say(&format!("{connections} connections"));
        let storeless = Part::start(root, &format!("storeless-{connections}"), STORELESS).await?;
        let without = post(&storeless, "s", connections, time, u64::MAX, Arc::default()).await?;
        drop(storeless);
        let part = Part::start(root, &format!("acks-{connections}"), ENTERS).await?;
        let acks = post(&part, "a", connections, time, u64::MAX, Arc::default()).await?;
        let resident_kib = most_resident(&part);
        book = part.end().await?.join("book.db");
        let rows = Rows::read(&book, BARE_MAX).map_err(sqlite)?;
        let bare_per_s = rows.insert(&root.join(format!("bare-{connections}.db")), connections).map_err(sqlite)?;
        by_connections.push(AtConnections { connections, acks, storeless: without, bare_per_s, resident_kib });
    }
    let rows_per_delivery = Rows::read(&book, 1_000).map_err(sqlite)?.per_delivery();
    say("acks while jobs are done behind them");
    let crm = Crm::open().await?;
    let part = Part::start(root, "working", working(Some(crm.address), None)).await?;
    let with_work = post(&part, "w", 64, time, u64::MAX, Arc::default()).await?;
    Ok(Acks { by_connections, rows_per_delivery, with_work })
}

/// From the first post until the last record was read back.
async fn jobs(root: &Path, count: u64) -> Result<Jobs, CliError> {
    say("whole jobs");
    let crm = Crm::open().await?;
    let part = Part::start(root, "jobs", working(Some(crm.address), None)).await?;
    let watch = Watch::start();
    let (posted, ()) = tokio::join!(post(&part, "j", 64, Duration::from_hours(1), count, Arc::default()), crm.wait_until_read(count));
    let per_s = rate(count, watch.seconds());
    let (records, keys) = crm.counts();
    Ok(Jobs { count, per_s, answered: posted?.answered, records, keys, resident_kib: most_resident(&part) })
}

/// One enquiry after the other, each from the sender's first byte to the first byte of the request at the model.
async fn to_model(root: &Path) -> Result<Spread, CliError> {
    say("arrival to model");
    let mut model = Model::open().await?;
    let part = Part::start(root, "model", working(None, Some(model.address))).await?;
    let (mut times, numbers) = (Times::default(), Arc::<AtomicU64>::default());
    for _ in 0..200 {
        let watch = Watch::start();
        let (posted, asked) = tokio::join!(post(&part, "m", 1, Duration::from_secs(30), 1, Arc::clone(&numbers)), model.asked.recv());
        posted?;
        let Some(asked) = asked else { return Err(CliError::Said("the model of the bench is gone".to_owned())) };
        times.note(watch.passed().saturating_sub(asked.passed()));
    }
    Ok(times.spread())
}

/// Grows a book, and measures it beside an empty one, in turn.
async fn growth(root: &Path, count: u64, time: Duration) -> Result<Growth, CliError> {
    say(&format!("growing a book to {count} enquiries"));
    let numbers = Arc::<AtomicU64>::default();
    let grown = Part::start(root, "grown", ENTERS).await?;
    post(&grown, "g", 64, Duration::from_hours(24), count, Arc::clone(&numbers)).await?;
    let (mut empty_per_s, mut grown_per_s, mut grown_answered) = (Vec::new(), Vec::new(), Spread::default());
    for turn in 0..TURNS {
        let empty = Part::start(root, &format!("empty-{turn}"), ENTERS).await?;
        empty_per_s.push(post(&empty, "e", 64, time, u64::MAX, Arc::default()).await?.per_s);
        drop(empty);
        let loaded = post(&grown, "g", 64, time, u64::MAX, Arc::clone(&numbers)).await?;
        grown_per_s.push(loaded.per_s);
        grown_answered = loaded.answered;
    }
    let resident_kib = most_resident(&grown);
    let book = grown.end().await?.join("book.db");
    let book_mib = std::fs::metadata(book)?.len() >> 20;
    Ok(Growth { enquiries: count, empty_per_s, grown_per_s, grown_answered, book_mib, resident_kib })
}

async fn post(
    part: &Part,
    run: &'static str,
    connections: usize,
    time: Duration,
    count_max: u64,
    numbers: Arc<AtomicU64>,
) -> Result<Loaded, CliError> {
    let body = Arc::new(move |n| load::enquiry(run, n));
    let load = Load { address: part.address, path: "/in/web".to_owned(), connections, time, count_max, body, numbers };
    load::post(&load).await.map_err(|why| CliError::Said(format!("the load broke off: {why}")))
}

fn most_resident(part: &Part) -> u64 {
    process::resident_kib(part.pid()).map_or(0, |(_, most)| most)
}

fn rate(count: u64, seconds: f64) -> f64 {
    #[expect(clippy::as_conversions, clippy::cast_precision_loss, reason = "a rate of a few million at most")]
    let rate = count as f64 / seconds;
    rate
}

#[expect(clippy::needless_pass_by_value, reason = "map_err hands it over")]
fn sqlite(error: rusqlite::Error) -> CliError {
    CliError::Said(format!("the bare loop: {error}"))
}

/// Progress goes to standard error: the report is what is written.
fn say(what: &str) {
    drop(writeln!(std::io::stderr(), "bench: {what}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_placed_between_the_marks() {
        let document = "# Speed\n<!-- bench -->\nold\n<!-- bench -->\nafter\n";
        assert_eq!(placed(document, "new\n"), "# Speed\n<!-- bench -->\n\nnew\n\n<!-- bench -->\nafter\n");
        assert_eq!(placed("", "new"), "new");
    }
}
