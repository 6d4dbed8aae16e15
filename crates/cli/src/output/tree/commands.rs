//! Commands that are too long to stand beside an object: they are shown once, below the objects, under a number.

use std::collections::HashMap;

use super::Death;
use crate::output::style::{Style, harmless, width, wrapped};

/// Longer commands get a number, and so do those of several lines.
const INLINE_COLUMNS: usize = 60;
/// What marks with commands begin with.
const METHODS: [&str; 2] = ["destroy ", "handler "];
/// In front of all but the first line of a command.
const INDENT: usize = 6;

/// The long commands of a plan, each once.
#[derive(Debug, Default)]
pub(crate) struct LongCommands<'a> {
    numbers: HashMap<&'a str, usize>,
    commands: Vec<&'a str>,
}

impl<'a> LongCommands<'a> {
    /// The commands of all objects, in the order in which they occur.
    pub(crate) fn of(deaths: &'a [Death]) -> LongCommands<'a> {
        let mut all = LongCommands::default();
        for (_, command) in deaths.iter().flat_map(|death| &death.marks).filter_map(|mark| parts(mark)) {
            let is_long = command.contains('\n') || width(command) > INLINE_COLUMNS;
            if is_long && !all.numbers.contains_key(command) {
                all.commands.push(command);
                all.numbers.insert(command, all.commands.len());
            }
        }
        all
    }

    /// What stands beside an object for one of its marks: `destroy [1]`, or the mark itself.
    pub(crate) fn beside(&self, mark: &str) -> String {
        match parts(mark).and_then(|(method, command)| Some((method, self.numbers.get(command)?))) {
            Some((method, number)) => format!("{method}[{number}]"),
            None => harmless(mark).into_owned(),
        }
    }

    /// The commands, whole. Lines of theirs stay lines, and are indented: none can pass for a line of the plan.
    pub(crate) fn lines(&self, style: Style) -> Vec<String> {
        let mut lines = Vec::new();
        for (at, command) in self.commands.iter().enumerate() {
            for (place, line) in command.lines().enumerate() {
                let begin = if place == 0 { format!("  [{}] ", at + 1) } else { " ".repeat(INDENT) };
                lines.extend(wrapped(&format!("{begin}{}", harmless(line)), style.columns(), INDENT + 2));
            }
        }
        lines
    }
}

/// The method of a mark, with the space behind it, and the command that it runs.
fn parts(mark: &str) -> Option<(&str, &str)> {
    let method = METHODS.iter().find(|method| mark.starts_with(**method))?;
    Some(mark.split_at(method.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deaths(marks: &[&str]) -> Vec<Death> {
        marks.iter().map(|mark| Death { marks: vec![(*mark).to_owned()], ..Death::default() }).collect()
    }

    /// A command of several lines is shown once, each line indented, also if several objects run it.
    #[test]
    fn a_long_command_is_shown_once() {
        let script = "destroy /bin/sh -c 'rm \"$1\"\n- Vm/kept  stays\nexit 0'";
        let all = deaths(&[script, "destroy ./hooks/rm", script, "warns Network/lan"]);
        let long = LongCommands::of(&all);
        let beside: Vec<String> =
            all.iter().flat_map(|death| &death.marks).map(|mark| long.beside(mark)).collect();
        assert_eq!(beside, ["destroy [1]", "destroy ./hooks/rm", "destroy [1]", "warns Network/lan"]);
        let shown = long.lines(Style::PLAIN);
        assert_eq!(shown, ["  [1] /bin/sh -c 'rm \"$1\"", "      - Vm/kept  stays", "      exit 0'"]);
    }

    #[test]
    fn only_what_is_long_gets_a_number() {
        let short = format!("destroy {}", "x".repeat(INLINE_COLUMNS));
        let long = format!("destroy {}", "y ".repeat(INLINE_COLUMNS));
        let all = deaths(&[&short, &long]);
        let commands = LongCommands::of(&all);
        assert_eq!(commands.beside(&short), short);
        assert_eq!(commands.beside(&long), "destroy [1]");
        let narrow = Style { width: Some(40), ..Style::PLAIN };
        assert!(commands.lines(narrow).iter().all(|line| width(line) <= 40));
    }
}
