//! Why something is as it is: a chain of waiting, one line each, and what to type about it.
//!
//! It must not know how the reasons were found.

use serde::Serialize;

use super::Paint;
use super::ndjson::{Event, line};
use super::style::{Style, harmless, padded, width, wrapped};
use crate::suggest;

/// An explanation as it is shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Why {
    /// `Cluster/prod`
    pub(crate) subject: String,
    /// What is the matter with it: `is being destroyed (deleted by ada, 4 min ago)`.
    pub(crate) headline: String,
    /// The chain, from the subject to what it waits for in the end.
    pub(crate) lines: Vec<WhyLine>,
    /// How far it is, and what comes next.
    pub(crate) footer: Vec<String>,
    /// What can be typed about all of it.
    pub(crate) commands: Vec<Command>,
}

/// A link of the chain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct WhyLine {
    /// How far from the subject; 0 is next to it.
    pub(crate) depth: usize,
    /// `waits for App/shop`
    pub(crate) text: String,
    /// What there is to say about it.
    pub(crate) aside: String,
    /// What can be done about it.
    pub(crate) commands: Vec<Command>,
}

/// Something to type.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Command {
    /// For what: `try again now`.
    pub(crate) what: String,
    /// The command.
    pub(crate) command: String,
    /// What to know before it is typed. May be empty.
    pub(crate) note: String,
}

/// Deeper than this is not indented further.
const DEEPEST: usize = 12;
/// Columns are apart by so many spaces.
const GAP: usize = 3;
/// Columns of a text that decide where the column of asides begins, also where nothing limits a line: one long text would
/// push everything below it far to the right.
const LEFT_MOST: usize = 56;
/// What is left of the line for an aside on a narrow terminal.
const ASIDE_LEAST: usize = 24;

/// The explanation for people. Asides and commands stand in one column as far as they fit; asides are broken between
/// words, commands never.
pub(crate) fn text(why: &Why, style: Style) -> String {
    let begin =
        |depth: usize, text: &str| format!("{:indent$}{text}", "", indent = 2 + 2 * depth.min(DEEPEST));
    let lefts = why.lines.iter().flat_map(|line| {
        let commands = line.commands.iter().map(|command| begin(line.depth + 1, &harmless(&command.what)));
        let own = (!line.aside.is_empty()).then(|| begin(line.depth, &harmless(&line.text)));
        own.into_iter().chain(commands)
    });
    let most = style.columns().saturating_sub(ASIDE_LEAST + GAP).min(LEFT_MOST);
    let column = lefts.map(|left| width(&left)).filter(|left| *left <= most).max().unwrap_or(0) + GAP;
    let headline = match why.headline.is_empty() {
        true => harmless(&why.subject).into_owned(),
        false => format!("{} {}", harmless(&why.subject), harmless(&why.headline)),
    };
    let mut out = wrapped(&headline, style.columns(), 2);
    for line in &why.lines {
        let left = begin(line.depth, &harmless(&line.text));
        beside(&left, &harmless(&line.aside), column, style, &mut out);
        for command in &line.commands {
            typed(&begin(line.depth + 1, &harmless(&command.what)), command, column, style, &mut out);
        }
    }
    for line in &why.footer {
        out.extend(wrapped(&harmless(line), style.columns(), 2));
    }
    let commands: Vec<(&str, &str)> =
        why.commands.iter().map(|one| (one.what.as_str(), one.command.as_str())).collect();
    out.extend(suggest::lines(&commands, style));
    out.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// A text and what there is to say about it: in the column, or below if the text reaches into it.
fn beside(left: &str, aside: &str, column: usize, style: Style, out: &mut Vec<String>) {
    let mut parts = wrapped(aside, style.columns().saturating_sub(column), 0).into_iter();
    if width(left) + GAP <= column {
        out.push(format!("{}{}", padded(left, column), parts.next().unwrap_or_default()));
    } else {
        let indent = left.chars().take_while(|c| *c == ' ').count() + 2;
        out.extend(wrapped(left, style.columns(), indent));
    }
    out.extend(parts.filter(|part| !part.is_empty()).map(|part| format!("{:column$}{part}", "")));
}

/// Something to type: in the column if all of it fits there, else on a line of its own.
fn typed(left: &str, command: &Command, column: usize, style: Style, out: &mut Vec<String>) {
    let words = style.paint(&harmless(&command.command), Paint::Good);
    let plain = match command.note.as_str() {
        "" => String::new(),
        note => format!("   ({})", harmless(note)),
    };
    let note = style.paint(&plain, Paint::Faint);
    let fits = column + width(&harmless(&command.command)) + width(&plain) <= style.columns();
    match fits && width(left) + GAP <= column {
        true => out.push(format!("{}{words}{note}", padded(left, column))),
        false => {
            let indent = left.chars().take_while(|c| *c == ' ').count() + 2;
            out.push(format!("{left}:{note}"));
            out.push(format!("{:indent$}{words}", ""));
        }
    }
}

/// The explanation for programs: lines of a stream.
pub(crate) fn ndjson(why: &Why) -> String {
    let Why { subject, headline, lines, footer, commands } = why;
    let head = Event::Why { subject, headline, footer, commands };
    let lines = lines.iter().map(|WhyLine { depth, text, aside, commands }| Event::Line {
        depth: *depth,
        text,
        aside,
        commands,
    });
    std::iter::once(head).chain(lines).map(|event| line(&event)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stuck() -> Why {
        let command = |what: &str, command: &str, note: &str| Command {
            what: what.into(),
            command: command.into(),
            note: note.into(),
        };
        Why {
            subject: "Cluster/prod".into(),
            headline: "is being destroyed (deleted by ada, 4 min ago, policy cascade, collection c-18)"
                .into(),
            lines: vec![
                WhyLine {
                    text: "waits for App/shop".into(),
                    aside: "destroyed last, it depends on this cluster".into(),
                    ..WhyLine::default()
                },
                WhyLine {
                    depth: 1,
                    text: "waits for Volume/data".into(),
                    aside:
                        "destroy failed 3 times: ./hooks/volume-rm exited 1: \"volume is attached to vm-9\""
                            .into(),
                    commands: vec![
                        command("try again now", "sexton retry Volume/data", ""),
                        command(
                            "give it up",
                            "sexton force Volume/data --reason \"…\"",
                            "leaves a tombstone: may still exist",
                        ),
                    ],
                },
            ],
            footer: vec!["3 of 5 are gone; next attempt in 40 s.".into()],
            commands: Vec::new(),
        }
    }

    #[test]
    fn a_stuck_deletion_explains_itself() {
        insta::assert_snapshot!(text(&stuck(), Style::PLAIN), @r#"
        Cluster/prod is being destroyed (deleted by ada, 4 min ago, policy cascade, collection c-18)
          waits for App/shop        destroyed last, it depends on this cluster
            waits for Volume/data   destroy failed 3 times: ./hooks/volume-rm exited 1: "volume is attached to vm-9"
              try again now         sexton retry Volume/data
              give it up            sexton force Volume/data --reason "…"   (leaves a tombstone: may still exist)
        3 of 5 are gone; next attempt in 40 s.
        "#);
    }

    #[test]
    fn on_a_narrow_terminal_asides_are_broken_and_commands_are_not() {
        let style = Style { width: Some(64), ..Style::PLAIN };
        insta::assert_snapshot!(text(&stuck(), style), @r#"
        Cluster/prod is being destroyed (deleted by ada, 4 min ago,
          policy cascade, collection c-18)
          waits for App/shop        destroyed last, it depends on this
                                    cluster
            waits for Volume/data   destroy failed 3 times:
                                    ./hooks/volume-rm exited 1: "volume
                                    is attached to vm-9"
              try again now         sexton retry Volume/data
              give it up:   (leaves a tombstone: may still exist)
                sexton force Volume/data --reason "…"
        3 of 5 are gone; next attempt in 40 s.
        "#);
    }

    #[test]
    fn a_life_that_lives_says_what_would_end_it() {
        let why = Why {
            subject: "Vm/web-1".into(),
            headline: "lives: owned by App/shop (uid 3f…, alive), protected: no.".into(),
            footer: vec!["It would die if App/shop is deleted.".into()],
            ..Why::default()
        };
        insta::assert_snapshot!(text(&why, Style::PLAIN), @"
        Vm/web-1 lives: owned by App/shop (uid 3f…, alive), protected: no.
        It would die if App/shop is deleted.
        ");
    }

    #[test]
    fn programs_read_lines() {
        insta::assert_snapshot!(ndjson(&stuck()), @r#"
        {"kind":"Why","subject":"Cluster/prod","headline":"is being destroyed (deleted by ada, 4 min ago, policy cascade, collection c-18)","footer":["3 of 5 are gone; next attempt in 40 s."]}
        {"kind":"Line","depth":0,"text":"waits for App/shop","aside":"destroyed last, it depends on this cluster","commands":[]}
        {"kind":"Line","depth":1,"text":"waits for Volume/data","aside":"destroy failed 3 times: ./hooks/volume-rm exited 1: \"volume is attached to vm-9\"","commands":[{"what":"try again now","command":"sexton retry Volume/data","note":""},{"what":"give it up","command":"sexton force Volume/data --reason \"…\"","note":"leaves a tombstone: may still exist"}]}
        "#);
    }
}
