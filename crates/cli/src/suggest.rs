//! Commands to type next: each has the flags of the current target, and begins with the name by which this program was
//! called.
//!
//! Everything that proposes a command goes through [`complete`], and what shows several of them through [`lines`].

use std::sync::OnceLock;

use sexton_model::hook::{ALLOW_EXEC, ALLOW_HTTP};

use crate::allowing::AllowingHere;
use crate::output::style::{Style, harmless, padded, width};
use crate::plugin;
use crate::settings::Settings;

/// Stands for words that only the user knows, such as a reason.
pub(crate) const PLACEHOLDER: &str = "…";

/// Commands that have no target, or of which the place is what is proposed.
const NAME_THEIR_OWN: [&str; 7] =
    ["serve", "backup", "restore", "kubeconfig", "collect", "run", "completions"];
/// Commands that run methods of classes.
const RUN_METHODS: [&str; 7] = ["apply", "destroy", "delete", "orphans", "resume", "retry", "force"];
/// What says which target is meant.
const TARGETS: [&str; 3] = [" --server ", " --context ", " --data "];
/// What says which namespace is meant.
const NAMESPACES: [&str; 2] = [" -n ", " --namespace "];
/// The widest purpose beside a command; a wider one would push all commands to the right.
const WHAT_MOST: usize = 40;
/// The indent of purposes, and of commands on lines of their own.
const INDENT: usize = 2;
/// Columns between a purpose and its command.
const GAP: usize = 3;

/// The flags with which the target was named do not change while the program runs.
static FLAGS: OnceLock<Flags> = OnceLock::new();

#[derive(Debug, Clone, Default)]
struct Flags {
    namespace: String,
    target: String,
    /// What methods may run and call here.
    allowing: String,
}

impl Flags {
    fn of(settings: &Settings) -> Flags {
        Flags {
            namespace: settings.namespace_flag(),
            target: settings.target_flags(),
            allowing: settings.allowing.as_ref().map(AllowingHere::flags).unwrap_or_default(),
        }
    }
}

/// Remembers which target was named.
pub(crate) fn remember(settings: &Settings) {
    let _ = FLAGS.set(Flags::of(settings));
}

/// A `sexton` command with the flags of the target, as the user types it. Any other text stays as it is.
pub(crate) fn complete(command: &str) -> String {
    let flags = FLAGS.get().cloned().unwrap_or_default();
    plugin::typed(&with_flags(command, &flags)).into_owned()
}

fn with_flags(command: &str, flags: &Flags) -> String {
    let word = command.strip_prefix("sexton ").and_then(|rest| rest.split(' ').next());
    let mut command = command.to_owned();
    if word.is_none_or(|word| NAME_THEIR_OWN.contains(&word)) {
        return command;
    }
    let has = |command: &str, any: &[&str]| any.iter().any(|flag| command.contains(flag));
    let mut missing = String::new();
    if word.is_some_and(|word| RUN_METHODS.contains(&word))
        && !command.contains(ALLOW_EXEC)
        && !command.contains(ALLOW_HTTP)
    {
        missing.push_str(&flags.allowing);
    }
    if !has(&command, &NAMESPACES) {
        missing.push_str(&flags.namespace);
    }
    if !has(&command, &TARGETS) {
        missing.push_str(&flags.target);
    }
    // The flags go before a redirection to a file.
    let at = command.find(" > ").unwrap_or(command.len());
    command.insert_str(at, &missing);
    command
}

/// Lines with commands and their purposes: side by side if all of them fit, else each command on a line of its own, so
/// that it can be copied whole.
pub(crate) fn lines<W: AsRef<str>, C: AsRef<str>>(commands: &[(W, C)], style: Style) -> Vec<String> {
    let commands: Vec<(String, String)> = commands
        .iter()
        .map(|(what, command)| {
            (harmless(what.as_ref()).into_owned(), harmless(&complete(command.as_ref())).into_owned())
        })
        .collect();
    let column = commands.iter().map(|(what, _)| width(what)).max().unwrap_or(0);
    let fits = |(_, command): &(String, String)| INDENT + column + GAP + width(command) <= style.columns();
    if column <= WHAT_MOST && commands.iter().all(fits) {
        let line = |(what, command): &(String, String)| {
            format!("{:INDENT$}{}{:GAP$}{command}", "", padded(what, column), "")
        };
        return commands.iter().map(line).collect();
    }
    let apart = |(what, command): (String, String)| {
        [format!("{:INDENT$}{what}:", ""), format!("{:1$}{command}", "", 2 * INDENT)]
    };
    commands.into_iter().flat_map(apart).collect()
}

/// Whether a word was copied from a proposal without being replaced.
pub(crate) fn is_placeholder(word: &str) -> bool {
    let dots = |text: &str| !text.is_empty() && text.chars().all(|c| c == '.' || c == '…');
    dots(word.trim())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::arguments::Arguments;

    #[test]
    fn what_is_proposed_leads_to_the_same_target() {
        let typed = ["sexton", "kinds", "--context", "prod", "-n", "team"];
        let flags = Flags::of(&Arguments::try_parse_from(typed).unwrap().settings);
        let on = |command: &str| with_flags(command, &flags);
        assert_eq!(on("sexton kinds"), "sexton kinds -n team --context prod");
        assert_eq!(on("sexton get cm --context other"), "sexton get cm --context other -n team");
        assert_eq!(on("sexton why Vm/a -n b"), "sexton why Vm/a -n b --context prod");
        assert_eq!(on("sexton graph -o svg > a.svg"), "sexton graph -o svg -n team --context prod > a.svg");
        assert_eq!(on("sexton serve"), "sexton serve");
        assert_eq!(on("keep one of the two"), "keep one of the two");
        assert_eq!(on(&on("sexton kinds")), on("sexton kinds"), "once is enough");
    }

    #[test]
    fn commands_are_never_broken() {
        let all = [("do it", "sexton delete Vm/a --approve 7c1f"), ("look at it", "sexton graph Vm/a")];
        let shown = |width| lines(&all, Style { width: Some(width), ..Style::PLAIN }).join("\n");
        assert_eq!(
            shown(80),
            "  do it        sexton delete Vm/a --approve 7c1f\n  look at it   sexton graph Vm/a"
        );
        assert_eq!(
            shown(40),
            "  do it:\n    sexton delete Vm/a --approve 7c1f\n  look at it:\n    sexton graph Vm/a"
        );
    }

    /// Without a terminal nothing limits a line, and still no long text moves the commands of others out of sight.
    #[test]
    fn a_long_text_moves_no_command() {
        let long = "a reason ".repeat(30);
        let shown = lines(&[(long.as_str(), "sexton force"), ("look", "sexton why")], Style::PLAIN);
        assert_eq!(shown[1..], ["    sexton force", "  look:", "    sexton why"]);
    }

    #[test]
    fn placeholders_are_noticed() {
        for word in ["…", " … ", "...", "……"] {
            assert!(is_placeholder(word), "{word:?}");
        }
        for word in ["", "because…", "the volume was deleted by hand"] {
            assert!(!is_placeholder(word), "{word:?}");
        }
    }
}
