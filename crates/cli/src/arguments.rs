//! What can be typed. The comments here are the help texts.

use clap::{Parser, Subcommand};

use crate::commands::{
    apply, backup, collect, collections, completions, delete, demo, destroy, environments, force, get, graph,
    install_crds, kinds, kubeconfig, modules, orphans, plan, protect, put, resume, run, script_worker, serve,
    subscribe, transfer, version, watch, why,
};
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
    Demo(demo::Args),
    Apply(Box<apply::Args>),
    Get(get::Args),
    Put(put::Args),
    Plan(Box<plan::Args>),
    Destroy(destroy::Args),
    Modules(modules::Args),
    Transfer(transfer::Args),
    Delete(delete::Args),
    Orphans(orphans::Args),
    Run(Box<run::Args>),
    Environments(environments::Args),
    Resume(resume::Args),
    Why(why::Args),
    Graph(graph::Args),
    Collections(collections::Args),
    Force(force::Args),
    Retry(force::RetryArgs),
    Protect(protect::Args),
    Unprotect(protect::UnArgs),
    Subscribe(subscribe::Args),
    Unsubscribe(subscribe::UnArgs),
    Watch(watch::Args),
    Kinds(kinds::Args),
    Serve(serve::Args),
    Collect(collect::Args),
    Backup(backup::Args),
    InstallCrds(install_crds::Args),
    Kubeconfig(kubeconfig::Args),
    Completions(completions::Args),
    Version(version::Args),
    #[command(hide = true)]
    ScriptWorker(script_worker::Args),
}
