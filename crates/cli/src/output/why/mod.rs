//! Why something is as it is: a chain of waiting, one line each, and what to type about it.
//!
//! It must not know how the reasons were found.

use serde::Serialize;

use super::Paint;
use super::ndjson::{Event, line};
use super::style::{Style, harmless, padded, width};

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
/// What is left of the line for an aside on a narrow terminal.
const ASIDE_LEAST: usize = 24;

/// The explanation for people. Asides and commands stand in one column; asides are broken, commands never.
pub(crate) fn text(why: &Why, style: Style) -> String {
    let mut rows = Vec::new();
    for line in &why.lines {
        let depth = line.depth.min(DEEPEST);
        rows.push((depth, harmless(&line.text), None, harmless(&line.aside)));
        for command in &line.commands {
            rows.push((depth + 1, harmless(&command.what), Some(&command.note), harmless(&command.command)));
        }
    }
    let begin = |depth: usize, text: &str| format!("{:indent$}{text}", "", indent = 2 + 2 * depth);
    let widest = rows.iter().map(|(depth, text, ..)| width(&begin(*depth, text))).max().unwrap_or(0);
    let column = widest.min(style.columns().saturating_sub(ASIDE_LEAST + GAP)) + GAP;
    let headline = match why.headline.is_empty() {
        true => harmless(&why.subject).into_owned(),
        false => format!("{} {}", harmless(&why.subject), harmless(&why.headline)),
    };
    let mut out = wrapped(&headline, style.columns(), 2);
    for (depth, text, note, right) in rows {
        let left = style.fit(&begin(depth, &text), column - GAP);
        let left = padded(&left, column);
        match note {
            Some(note) if note.is_empty() => out.push(format!("{left}{}", style.paint(&right, Paint::Good))),
            Some(note) => {
                let note = style.paint(&format!("({})", harmless(note)), Paint::Faint);
                out.push(format!("{left}{}   {note}", style.paint(&right, Paint::Good)));
            }
            None => {
                let mut parts = wrapped(&right, style.columns().saturating_sub(column), 0).into_iter();
                out.push(format!("{left}{}", parts.next().unwrap_or_default()));
                out.extend(parts.map(|part| format!("{:column$}{part}", "")));
            }
        }
    }
    for line in &why.footer {
        out.extend(wrapped(&harmless(line), style.columns(), 2));
    }
    out.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// A text in lines of at most so many columns, broken between words; all but the first are indented.
fn wrapped(text: &str, columns: usize, indent: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && width(&line) + 1 + width(word) > columns {
            lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
        } else if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

/// The explanation for programs: lines of a stream.
pub(crate) fn ndjson(why: &Why) -> String {
    let Why { subject, headline, lines, footer } = why;
    let head = Event::Why { subject, headline, footer };
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
              give it up            sexton force Volume/data --reason "…"   (leaves a tombstone: may still exist)
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
