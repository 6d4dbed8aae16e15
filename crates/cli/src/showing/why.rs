//! An explanation as it is shown.

use sexton_lifecycle::explain::{Naming, Story};

use crate::output::why::{Command, Why, WhyLine};

/// The words of `lifecycle`, with flags behind every command of ours that lead to the same target.
pub(crate) fn why(story: Story, flags: &str) -> Why {
    let command = |typed: sexton_lifecycle::explain::Typed| Command {
        what: typed.purpose,
        command: if typed.command.starts_with("sexton ") { typed.command + flags } else { typed.command },
        note: typed.note,
    };
    let line = |line: sexton_lifecycle::explain::Line| WhyLine {
        depth: line.depth,
        text: line.text,
        aside: line.aside,
        commands: line.typed.into_iter().map(command).collect(),
    };
    Why {
        subject: story.subject,
        headline: story.headline,
        lines: story.lines.into_iter().map(line).collect(),
        footer: story.footer,
    }
}

/// How `lifecycle` is to name things for somebody who types in this namespace.
pub(crate) fn naming(namespace: &str) -> Naming {
    Naming { namespace: namespace.to_owned(), groups: false }
}
