//! Stub.
use super::{CliError, Ended};
use std::io::Write;
mod crm;
#[derive(clap::Args)]
pub(super) struct DemoArgs {
    /// End after the scenarios
    #[arg(long)]
    once: bool,
}
pub(super) async fn run(_: &DemoArgs, _: &mut dyn Write) -> Result<Ended, CliError> {
    Ok(Ended::Well)
}
