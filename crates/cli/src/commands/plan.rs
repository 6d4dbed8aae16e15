//! `sexton plan`: shows what a command would do, and writes nothing.

use super::delete;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::settings::Settings;

/// Show what a command would destroy, in order and with reasons; nothing is written
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// What `sexton delete` would do
    Delete(delete::Args),
}

pub(crate) async fn run(args: Args, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    let What::Delete(args) = args.what;
    delete::run(delete::Args { dry_run: true, ..args }, settings, output).await
}
