//! The lines of a forest. A child that is destroyed before its cause is above it, one that is destroyed after it below:
//! from top to bottom, a tree is in the order of destruction.

use super::forest::Forest;
use crate::output::style::Style;

/// One line: its guides, and what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) guides: Guides,
    pub(super) says: Says,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Says {
    /// An entry, its `place` in its group, and the size of the group.
    Life { entry: usize, place: usize, of: usize },
    /// Units that were folded: more like the line before.
    More { units: Vec<usize> },
    /// Lines that were left out.
    Gap { rows: Vec<Row> },
}

/// The greatest depth with guides of its own; deeper lines are drawn at this depth.
const DEEPEST: usize = 12;

/// The lines in front of a label.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Guides {
    depth: usize,
    /// Bit `n`: a line goes through in column `n`.
    through: u32,
    branch: Branch,
}

/// How a line is connected to that of its cause.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Branch {
    /// It has no cause here.
    #[default]
    Root,
    /// Its cause is below, and this is the uppermost.
    First,
    /// There are others above and below.
    Middle,
    /// Its cause is above, and this is the lowest.
    Last,
}

impl Guides {
    /// The guides of a child. Its own line is connected by `branch`.
    fn below(self, through: bool, branch: Branch) -> Guides {
        let depth = self.depth + 1;
        let bit = u32::from(through) << self.depth.min(DEEPEST);
        let through = if self.depth < DEEPEST { self.through | bit } else { self.through };
        Guides { depth, through, branch }
    }

    /// The guides of a further line of the same node: the branch continues, or has ended.
    fn continued(self) -> Guides {
        let goes_on = matches!(self.branch, Branch::First | Branch::Middle);
        let bit = u32::from(goes_on) << self.depth.saturating_sub(1).min(DEEPEST);
        Guides { through: self.through | bit, branch: Branch::Root, ..self }
    }

    /// The guides as text.
    pub(super) fn text(self, style: Style) -> String {
        let mut text = String::new();
        let shown = self.depth.min(DEEPEST);
        let inner = if self.branch == Branch::Root { shown } else { shown.saturating_sub(1) };
        for column in 0..inner {
            let through = self.through & (1 << column) != 0;
            text.push_str(if through { style.pick("│  ", "|  ") } else { "   " });
        }
        text.push_str(match self.branch {
            Branch::Root => "",
            Branch::First => style.pick("┌─ ", ",- "),
            Branch::Middle => style.pick("├─ ", "|- "),
            Branch::Last => style.pick("└─ ", "`- "),
        });
        text
    }
}

/// A node of what is drawn: a unit, or several that were folded into one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Drawn {
    Unit(usize),
    More(Vec<usize>),
}

/// What is still to be written.
enum Step {
    /// A node and all its children. `above` are the guides for those before its line, `below` for those after it.
    Node {
        node: Drawn,
        own: Guides,
        above: Guides,
        below: Guides,
    },
    Line {
        unit: usize,
        guides: Guides,
    },
}

/// All lines. `siblings` says what of a list of units is drawn, and may fold some of them.
pub(super) fn rows(forest: &Forest, siblings: &dyn Fn(&[usize]) -> Vec<Drawn>) -> Vec<Row> {
    let mut rows = Vec::new();
    let guides = Guides::default();
    let root = |node: Drawn| Step::Node { node, own: guides, above: guides, below: guides };
    let mut steps: Vec<Step> = siblings(&forest.roots).into_iter().rev().map(root).collect();
    while let Some(step) = steps.pop() {
        match step {
            Step::Line { unit, guides } => write(forest, unit, guides, &mut rows),
            Step::Node { node: Drawn::More(units), own, .. } => {
                rows.push(Row { guides: own, says: Says::More { units } });
            }
            Step::Node { node: Drawn::Unit(at), own, above, below } => {
                let Some(unit) = forest.units.get(at) else { continue };
                let order = |unit: &usize| forest.units.get(*unit).map(|unit| unit.order);
                let split = unit.children.partition_point(|child| order(child) <= Some(unit.order));
                let (before, after) = unit.children.split_at(split);
                // A stack: what is to be written first is pushed last.
                steps.extend(hang_below(siblings(after), below).into_iter().rev());
                steps.push(Step::Line { unit: at, guides: own });
                steps.extend(hang_above(siblings(before), above).into_iter().rev());
            }
        }
    }
    rows
}

fn write(forest: &Forest, unit: usize, guides: Guides, rows: &mut Vec<Row>) {
    let Some(unit) = forest.units.get(unit) else { return };
    let of = unit.members.len();
    for (place, &entry) in unit.members.iter().enumerate() {
        let guides = if place == 0 { guides } else { guides.continued() };
        rows.push(Row { guides, says: Says::Life { entry, place, of } });
    }
}

/// Nodes above their cause: a line leads from the first of them down to it.
fn hang_above(nodes: Vec<Drawn>, from: Guides) -> Vec<Step> {
    let hang = |(at, node): (usize, Drawn)| {
        let branch = if at == 0 { Branch::First } else { Branch::Middle };
        Step::Node {
            node,
            own: from.below(false, branch),
            above: from.below(at > 0, Branch::Root),
            below: from.below(true, Branch::Root),
        }
    };
    nodes.into_iter().enumerate().map(hang).collect()
}

/// Nodes below their cause: a line leads from it down to the last of them.
fn hang_below(nodes: Vec<Drawn>, from: Guides) -> Vec<Step> {
    let last = nodes.len().saturating_sub(1);
    let hang = |(at, node): (usize, Drawn)| {
        let branch = if at == last { Branch::Last } else { Branch::Middle };
        Step::Node {
            node,
            own: from.below(false, branch),
            above: from.below(true, Branch::Root),
            below: from.below(at < last, Branch::Root),
        }
    };
    nodes.into_iter().enumerate().map(hang).collect()
}
