//! An explanation as it is shown.

use sexton_collector::NamespaceHold;
use sexton_lifecycle::explain::{Naming, Story};

use crate::output::why::{Command, Why, WhyLine};
use crate::suggest;

/// The words of `lifecycle`, with commands that lead to the same target.
/// A tombstone is promised only where one can be kept.
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

/// Something that holds a namespace, as a line of the explanation.
pub(crate) fn hold(hold: NamespaceHold) -> WhyLine {
    let command = |(what, command): (_, String)| Command {
        what,
        command: suggest::complete(&command),
        note: String::new(),
    };
    let commands = hold.command.into_iter().map(command).collect();
    WhyLine { depth: 0, text: hold.what, aside: hold.says, commands }
}

/// How `lifecycle` is to name things for somebody who types in this namespace.
pub(crate) fn naming(namespace: &str) -> Naming {
    Naming { namespace: namespace.to_owned(), groups: false }
}
