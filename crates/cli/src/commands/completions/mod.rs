//! `sexton completions`: what a shell needs to complete what is typed.

use clap::{Command, CommandFactory};
use clap_complete::Shell;

use crate::arguments::Arguments;
use crate::failure::{Exit, Failure};
use crate::output::Output;

/// Print what a shell needs to complete commands, flags, kinds, names and modules
///
/// Kinds, names and modules are those of the target that the command would have, if it answers at once; PowerShell and elvish
/// complete commands and flags. For example, in ~/.bashrc: source <(sexton completions bash). For zsh, write it to a file
/// _sexton in a directory of $fpath; for fish, to ~/.config/fish/completions/sexton.fish. For "kubectl sexton", write what
/// "kubectl" prints to an executable file kubectl_complete-sexton beside kubectl-sexton: kubectl asks it in every shell.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What asks for the words
    shell: Asking,
}

/// What asks for the words: a shell, or kubectl for any of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Asking {
    Bash,
    Zsh,
    Fish,
    Kubectl,
    #[value(name = "powershell")]
    PowerShell,
    Elvish,
}

pub(crate) fn run(args: Args, output: &Output) -> Result<Exit, Failure> {
    output.data(&text(args.shell))?;
    Ok(Exit::Done)
}

fn text(asking: Asking) -> String {
    let shell = match asking {
        // These ask the program for every word.
        Asking::Bash => return include_str!("bash.sh").to_owned(),
        Asking::Zsh => return include_str!("zsh.sh").to_owned(),
        Asking::Fish => return include_str!("fish.sh").to_owned(),
        Asking::Kubectl => return include_str!("kubectl.sh").to_owned(),
        Asking::PowerShell => Shell::PowerShell,
        Asking::Elvish => Shell::Elvish,
    };
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
        for shell in Asking::value_variants() {
            let text = text(*shell);
            if !matches!(shell, Asking::PowerShell | Asking::Elvish) {
                assert!(text.contains("sexton complete -- "), "{shell:?}");
                continue;
            }
            for word in ["why", "orphans", "kubeconfig", "--context"] {
                assert!(text.contains(word), "{shell:?}: {word}");
            }
            assert!(!text.contains('\0'));
            // What is hidden is for programs.
            assert!(!text.contains("script-worker") && !text.contains("script__worker"), "{shell:?}");
        }
    }
}
