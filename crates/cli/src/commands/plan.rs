//! `sexton plan`: shows what a command would do, and writes nothing.

use super::{apply, delete};
use crate::allowing::AllowingHere;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::settings::Settings;

/// Show what a command would do, in order; nothing is written
///
/// With -f it is what `sexton apply` would do.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Args {
    #[command(flatten)]
    apply: apply::Args,
    #[command(subcommand)]
    what: Option<What>,
}

impl Args {
    /// What methods of classes on a cluster may run and call here.
    pub(crate) fn allowing(&self) -> AllowingHere {
        match &self.what {
            Some(What::Delete(args)) => args.allowing.clone(),
            None => self.apply.allowing.clone(),
        }
    }
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// What `sexton delete` would do
    Delete(delete::Args),
}

pub(crate) async fn run(args: Args, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    match args.what {
        Some(What::Delete(args)) => {
            delete::run(delete::Args { dry_run: true, ..args }, settings, output).await
        }
        None => apply::run(apply::Args { dry_run: true, ..args.apply }, settings, output).await,
    }
}
