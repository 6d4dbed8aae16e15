//! What can be typed. The comments here are the help texts.

use clap::{CommandFactory, Parser, Subcommand};

use crate::allowing::AllowingHere;
use crate::commands::{
    apply, backup, collect, collections, complete, completions, delete, demo, destroy, environments, force,
    get, graph, install_crds, kinds, kubeconfig, modules, orphans, plan, protect, put, restore, resume, run,
    script_worker, serve, subscribe, transfer, version, watch, why,
};
use crate::settings::Settings;

/// Finds garbage, tells those who care, and destroys it in the right order.
///
/// Without --server or --context the store in the data directory is used: by this process itself, or through the server
/// that serves it.
#[derive(Debug, Parser)]
#[command(name = "sexton", version, max_term_width = 100)]
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
    Restore(restore::Args),
    InstallCrds(install_crds::Args),
    Kubeconfig(kubeconfig::Args),
    Completions(completions::Args),
    Version(version::Args),
    #[command(hide = true)]
    Complete(complete::Args),
    #[command(hide = true)]
    ScriptWorker(script_worker::Args),
}

impl Command {
    /// What methods of classes on a cluster may run and call here; nothing for commands that run none.
    pub(crate) fn allowing(&self) -> Option<AllowingHere> {
        Some(match self {
            Command::Apply(args) => args.allowing.clone(),
            Command::Plan(args) => args.allowing(),
            Command::Destroy(args) => args.allowing.clone(),
            Command::Delete(args) => args.allowing.clone(),
            Command::Orphans(args) => args.allowing.clone(),
            Command::Resume(args) => args.allowing.clone(),
            Command::Force(args) => args.allowing.clone(),
            Command::Retry(args) => args.allowing.clone(),
            _ => return None,
        })
    }
}

/// The commands as the help lists them. What is in none of the groups is listed after them.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Modules and programs", &["apply", "plan", "destroy", "modules", "transfer", "run", "environments"]),
    (
        "Objects",
        &["get", "put", "watch", "delete", "kinds", "protect", "unprotect", "subscribe", "unsubscribe"],
    ),
    ("Garbage", &["orphans", "collections", "why", "graph", "resume", "retry", "force"]),
    ("Servers and clusters", &["serve", "kubeconfig", "collect", "backup", "restore", "install-crds"]),
    ("Others", &["demo", "completions", "version"]),
];
/// Where the text about a command begins, and where its lines end.
const TEXT_COLUMN: usize = 16;
const HELP_COLUMNS: usize = 80;

/// The whole program, with its commands in groups.
pub(crate) fn program() -> clap::Command {
    let program = Arguments::command();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{}\n\nOptions of all commands:\n{{options}}{{after-help}}",
        grouped(&program)
    );
    program.help_template(template).after_help("\"sexton help COMMAND\" says more about a command.")
}

fn grouped(program: &clap::Command) -> String {
    let mut commands: Vec<&clap::Command> =
        program.get_subcommands().filter(|one| !one.is_hide_set()).collect();
    let mut text = String::new();
    for (heading, names) in GROUPS {
        text.push_str(&format!("\n{heading}:\n"));
        for name in names {
            if let Some(at) = commands.iter().position(|command| command.get_name() == *name) {
                text.push_str(&line(commands.remove(at)));
            }
        }
    }
    // Of the last group.
    commands.into_iter().for_each(|command| text.push_str(&line(command)));
    text.push_str("  help          Say more about a command");
    text
}

/// A command and what it does, its further lines below the text.
fn line(command: &clap::Command) -> String {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut lines = vec![format!("  {:<14}", command.get_name())];
    for word in about.split_whitespace() {
        let last =
            lines.last_mut().filter(|line| line.chars().count() + 1 + word.chars().count() <= HELP_COLUMNS);
        match last {
            Some(line) if line.len() <= TEXT_COLUMN => line.push_str(word),
            Some(line) => line.extend([" ", word]),
            None => lines.push(format!("{:TEXT_COLUMN$}{word}", "")),
        }
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let help = program().render_help().to_string();
        let listed: Vec<&str> =
            help.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next()).collect();
        let program = program();
        for command in program.get_subcommands() {
            let times = listed.iter().filter(|name| **name == command.get_name()).count();
            assert_eq!(times, usize::from(!command.is_hide_set()), "{}", command.get_name());
        }
        for (_, names) in GROUPS {
            for name in names {
                assert!(program.find_subcommand(name).is_some(), "there is no command {name}");
            }
        }
    }

    /// It fits on a terminal of 80 columns, and what all commands share is not repeated at length.
    #[test]
    fn short_help_is_short() {
        let mut program = program().term_width(HELP_COLUMNS);
        program.build();
        let short = program.render_help().to_string();
        assert!(short.lines().all(|line| line.chars().count() <= HELP_COLUMNS), "{short}");
        for command in program.get_subcommands_mut() {
            let help = command.render_help().to_string();
            let shared = help.split("Options of all commands:").nth(1).unwrap_or_default();
            assert!(shared.lines().count() <= 12, "{}:\n{help}", command.get_name());
        }
    }
}
