//! The command line: what a person types. Each command is a file; this one parses, sets up the process and says how it ended.
//!
//! Commands write to a writer they are given and say what to do next when something is wrong.

mod bench;
mod check;
mod client;
mod contact;
mod deliveries;
mod demo;
mod first;
mod init;
mod names;
mod order;
mod paging;
mod read;
mod review;
mod serve;
mod show;
mod table;
mod targets;
mod verify;
mod work;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Parser, Subcommand};

use crate::app::{Outside, StartError};
use crate::clock::{OsEntropy, SystemClock};
use crate::config::{Config, ConfigError, schema};
use crate::stops::Stops;

use self::table::print_json;

/// Lead intake that enters every enquiry once, does what follows once, and shows it.
#[derive(Parser)]
#[command(name = "oncebook", version, arg_required_else_help = true)]
struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

/// What every command takes.
#[derive(Args, Clone)]
struct Common {
    /// The configuration file; ./oncebook.toml if it is there, else the defaults
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print records as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Play the whole job in a temporary book: redelivery, conflict, outage, lost answer, crash
    Demo(demo::DemoArgs),
    /// Write a commented configuration for chosen sources and targets
    Init(init::InitArgs),
    /// Run the server
    Serve(serve::ServeArgs),
    /// List enquiries, newest first
    Enquiries(read::EnquiriesArgs),
    /// List what arrived, newest first, also what was quarantined or refused
    Deliveries(deliveries::DeliveriesArgs),
    /// Show everything about an enquiry, by any of its names
    Show(show::ShowArgs),
    /// List what waits for a person, or decide it
    Review(review::ReviewArgs),
    /// Run an enquiry again under its key, or read a quarantined delivery again
    Replay(work::ReplayArgs),
    /// List the targets, and which are paused
    Targets,
    /// Send nothing more to a target
    Pause(work::PauseArgs),
    /// Send to a paused target again
    Resume(work::ResumeArgs),
    /// List the addresses that no message goes to, or change the list
    DoNotContact(contact::ContactArgs),
    /// Check, print or describe the configuration
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Measure this program on this machine, beside the machine's limits
    Bench(bench::BenchArgs),
    /// Identity rules
    Identity {
        #[command(subcommand)]
        command: IdentityCommand,
    },
    /// The journal's evidence
    Evidence {
        #[command(subcommand)]
        command: EvidenceCommand,
    },
}

#[derive(Subcommand)]
enum ConfigCommand {
    /// Name every mistake with file, line and key
    Check,
    /// Print what holds: the file, the variables and the defaults, as one file
    Dump,
    /// Print the JSON Schema of the configuration
    Schema,
}

#[derive(Subcommand)]
enum IdentityCommand {
    /// Accept a source's changed identity rule as its next version
    Accept {
        /// The source's name
        source: String,
    },
}

#[derive(Subcommand)]
enum EvidenceCommand {
    /// Walk the chain and every digest
    Verify(verify::VerifyArgs),
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
enum CliError {
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error("{0}")]
    Said(String),
    #[error("cannot write: {0}")]
    Io(#[from] std::io::Error),
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        Self::Start(StartError::Config(error))
    }
}

/// How a command that could be carried out ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// Well.
    Well,
    /// It found what it looks for: exit 1.
    Found,
}

/// The process: parses, runs, and gives the exit code. 0 well, 1 found something wrong, 2 could not be carried out.
pub fn main() -> ExitCode {
    // The provider is process-wide; it is installed once, before anything can ask for it.
    drop(rustls::crypto::ring::default_provider().install_default());
    let cli = Cli::parse();
    start_logging(matches!(cli.command, Command::Serve(_)));
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&CliError::Io(error)),
    };
    let mut out = std::io::stdout().lock();
    match runtime.block_on(run(cli, &mut out)) {
        Ok(Ended::Well) => ExitCode::SUCCESS,
        Ok(Ended::Found) => ExitCode::from(1),
        // Whoever reads our output has read enough.
        Err(CliError::Io(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => failed(&error),
    }
}

fn failed(error: &CliError) -> ExitCode {
    // If not even this can be written, the exit code still says it.
    drop(writeln!(std::io::stderr().lock(), "oncebook: {error}"));
    ExitCode::from(2)
}

async fn run(cli: Cli, out: &mut dyn Write) -> Result<Ended, CliError> {
    let common = cli.common;
    match cli.command {
        Command::Demo(args) => demo::run(&args, common.json, out, &mut std::io::stderr()).await,
        Command::Init(args) => init::run(&common, &args, out),
        Command::DoNotContact(args) => contact::run(&common, &args, out).await,
        Command::Serve(args) => serve::run(&common, &args, out).await,
        Command::Enquiries(args) => read::enquiries(&common, &args, out).await,
        Command::Deliveries(args) => deliveries::run(&common, &args, out).await,
        Command::Show(args) => show::run(&common, &args, out).await,
        Command::Review(args) => review::run(&common, &args, out).await,
        Command::Replay(args) => work::replay(&common, &args, out).await,
        Command::Targets => targets::run(&common, out).await,
        Command::Pause(args) => work::pause(&common, &args, out).await,
        Command::Resume(args) => work::resume(&common, &args, out).await,
        Command::Config { command: ConfigCommand::Check } => check::check(&common, out),
        Command::Bench(args) => bench::run(&common, &args, out).await,
        Command::Config { command: ConfigCommand::Dump } => check::dump(&common, out),
        Command::Config { command: ConfigCommand::Schema } => print_json(out, &schema()).map(|()| Ended::Well),
        Command::Identity { command: IdentityCommand::Accept { source } } => check::accept_rule(&common, &source, out).await,
        Command::Evidence { command: EvidenceCommand::Verify(args) } => verify::run(&common, &args, out).await,
    }
}

impl Common {
    fn config(&self) -> Result<Config, CliError> {
        Ok(Config::load(self.config.as_deref(), &environment)?)
    }
}

/// The environment, as the configuration reads it.
#[expect(clippy::disallowed_methods, reason = "the front door: everything else is handed a closure")]
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The outside as it really is.
fn outside() -> Result<Outside, CliError> {
    let stops = environment("ONCEBOOK_STOP_AT").map_or_else(|| Ok(Stops::none()), |at| Stops::parse(&at));
    let stops = Arc::new(stops.map_err(|why| CliError::Said(format!("ONCEBOOK_STOP_AT: {why}")))?);
    Ok(Outside { clock: Arc::new(SystemClock), entropy: Arc::new(OsEntropy), env: Arc::new(environment), stops })
}

/// Logs go to standard error: `ONCEBOOK_LOG` (as `RUST_LOG` elsewhere), else `info` for the server and `warn` for the rest.
fn start_logging(serving: bool) {
    let by_default = if serving { "info" } else { "warn" };
    let filter = environment("ONCEBOOK_LOG").unwrap_or_else(|| by_default.to_owned());
    let filter = tracing_subscriber::EnvFilter::try_new(&filter).unwrap_or_else(|_| tracing_subscriber::EnvFilter::new(by_default));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false).init();
}
