//! `sexton completions`: what a shell needs to complete what is typed.

use clap::{Command, CommandFactory};
use clap_complete::Shell;

use crate::arguments::Arguments;
use crate::failure::{Exit, Failure};
use crate::output::Output;

/// Print what a shell needs to complete commands, flags, kinds, names and modules
///
/// Kinds, names and modules are those of the target that was typed, if it answers at once; PowerShell and elvish complete
/// commands and flags. For example, in ~/.bashrc: source <(sexton completions bash). For zsh, write it to a file _sexton in a directory of
/// $fpath; for fish, to ~/.config/fish/completions/sexton.fish.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: Args, output: &Output) -> Result<Exit, Failure> {
    output.data(&text(args.shell))?;
    Ok(Exit::Done)
}

fn text(shell: Shell) -> String {
    match shell {
        // These ask the program for every word.
        Shell::Bash => return include_str!("bash.sh").to_owned(),
        Shell::Zsh => return include_str!("zsh.sh").to_owned(),
        Shell::Fish => return include_str!("fish.sh").to_owned(),
        _ => {}
    }
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut offered(), "sexton", &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Everything but the commands that are not for people: shells would offer those, hidden or not.
fn offered() -> Command {
    let whole = Arguments::command();
    let commands = whole.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    let arguments = whole.get_arguments().cloned();
    let offered = Command::new("sexton").version(env!("CARGO_PKG_VERSION")).disable_help_subcommand(true);
    offered.args(arguments).subcommands(commands)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn every_shell_is_told_every_command() {
        for shell in Shell::value_variants() {
            let text = text(*shell);
            if matches!(shell, Shell::Bash | Shell::Zsh | Shell::Fish) {
                assert!(text.contains("sexton complete -- "), "{shell}");
                continue;
            }
            for word in ["why", "orphans", "kubeconfig", "--context"] {
                assert!(text.contains(word), "{shell}: {word}");
            }
            assert!(!text.contains('\0'));
            // What is hidden is for programs.
            assert!(!text.contains("script-worker") && !text.contains("script__worker"), "{shell}");
        }
    }
}
