//! What can be typed. The comments here are the help texts.

use clap::{Parser, Subcommand};

use crate::commands::{backup, collect, delete, get, kinds, kubeconfig, put, serve, version, watch};
use crate::settings::Settings;

/// Finds garbage, tells those who care, and destroys it in the right order.
///
/// Without --server or --context the store in the data directory is used directly, with no server.
#[derive(Debug, Parser)]
#[command(name = "sexton", version, disable_help_subcommand = true, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) settings: Settings,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Get(get::Args),
    Put(put::Args),
    Delete(delete::Args),
    Watch(watch::Args),
    Kinds(kinds::Args),
    Serve(serve::Args),
    Collect(collect::Args),
    Backup(backup::Args),
    Kubeconfig(kubeconfig::Args),
    Version(version::Args),
}
