//! Explanations of `lifecycle` as they are shown: its words stay, and its commands get the flags of the target.

use sexton_collector::NamespaceHold;
use sexton_lifecycle::explain::{Naming, Story};

use crate::output::why::{Command, Why, WhyLine};
use crate::suggest;

/// The explanation for output. Every command gets the flags of the target. Without `tombstones` no command promises to
/// leave a tombstone: the target does not have that kind.
pub(crate) fn why(story: Story, tombstones: bool) -> Why {
    let command = |typed: sexton_lifecycle::explain::SuggestedCommand| Command {
        what: typed.purpose,
        command: suggest::complete(&typed.command),
        note: match typed.note.strip_prefix("leaves a tombstone: ") {
            Some(rest) if !tombstones => rest.to_owned(),
            _ => typed.note,
        },
    };
    let line = |line: sexton_lifecycle::explain::Line| WhyLine {
        depth: line.depth,
        text: line.text,
        aside: line.detail,
        commands: line.commands.into_iter().map(command).collect(),
    };
    Why {
        subject: story.subject,
        headline: story.headline,
        lines: story.lines.into_iter().map(line).collect(),
        footer: story.footer,
        commands: Vec::new(),
    }
}

/// A blocker of a namespace, as a line of its explanation.
pub(crate) fn hold(hold: NamespaceHold) -> WhyLine {
    let command = |(what, command): (_, String)| Command {
        what,
        command: suggest::complete(&command),
        note: String::new(),
    };
    let commands = hold.command.into_iter().map(command).collect();
    WhyLine { depth: 0, text: hold.what, aside: hold.says, commands }
}

/// How `lifecycle` names objects for a command that was typed in this namespace.
pub(crate) fn naming(namespace: &str) -> Naming {
    Naming { namespace: namespace.to_owned(), groups: false }
}
