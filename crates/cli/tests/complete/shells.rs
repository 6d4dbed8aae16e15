//! Real shells with their completion of this program: a line is typed, and what they offer is read.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use crate::common::Play;

/// A shell that completes what the program has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
}

impl Shell {
    /// Those that are here. A shell that is not is named: no check needs all of them.
    pub(crate) fn present() -> Vec<Shell> {
        let (present, absent): (Vec<Shell>, Vec<Shell>) =
            [Shell::Bash, Shell::Zsh, Shell::Fish].into_iter().partition(|shell| {
                Command::new(shell.program())
                    .args(["-c", "exit"])
                    .status()
                    .is_ok_and(|status| status.success())
            });
        for shell in absent {
            // Past what cargo keeps to itself for tests that go well.
            let _ = writeln!(std::io::stdout(), "skipped: needs {}", shell.program());
        }
        present
    }

    fn program(self) -> &'static str {
        match self {
            Shell::Bash => "bash",
            Shell::Zsh => "zsh",
            Shell::Fish => "fish",
        }
    }

    /// What the shell offers at the end of a line, in a directory and with variables of the environment.
    pub(crate) fn offers(self, play: &Play, line: &str, variables: &[(&str, &str)]) -> Vec<String> {
        let home = tempfile::tempdir().unwrap();
        let mut shell = Command::new(self.program());
        match self {
            Shell::Bash => shell.args(["--norc", "-c", &of_bash(line)]),
            Shell::Zsh => {
                let file = home.path().join("_sexton");
                let driver = home.path().join("driver");
                std::fs::write(file, play.run("completions zsh").out).unwrap();
                std::fs::write(&driver, include_str!("zsh.sh")).unwrap();
                shell.arg("-f").args([&driver, home.path()]).arg(line)
            }
            Shell::Fish => {
                let place = home.path().join("fish/completions");
                std::fs::create_dir_all(&place).unwrap();
                std::fs::write(place.join("sexton.fish"), play.run("completions fish").out).unwrap();
                shell.args(["-c", "complete -C $argv[1]", line])
            }
        };
        let program = Path::new(env!("CARGO_BIN_EXE_sexton")).parent().unwrap();
        shell.current_dir(play.path()).env_clear();
        shell.env("PATH", format!("{}:/usr/bin:/bin", program.display()));
        shell.env("HOME", home.path()).env("XDG_CONFIG_HOME", home.path()).env("TERM", "dumb");
        shell.envs(variables.iter().copied());
        let output = shell.output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{self:?}: {line}");
        let text = String::from_utf8(output.stdout).unwrap();
        let words = text.lines().filter(|word| !word.is_empty());
        // Behind a tab, fish says what the word means.
        words.map(|word| word.split('\t').next().unwrap_or_default().to_owned()).collect()
    }
}

/// Asks as bash asks: the script is sourced, and `COMPREPLY` is read.
fn of_bash(line: &str) -> String {
    // Split where bash splits: at spaces, and at the sign behind a flag.
    let words = line.replace('=', " = ");
    format!(
        "source <(sexton completions bash); COMP_WORDS=({}{}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _sexton; \
         printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        words,
        if words.ends_with(' ') { "''" } else { "" }
    )
}
