//! A plan of deletions: who dies, in which order, because of whom; who lives on, and what stands in the way.
//!
//! - [`forest`]: who dies because of whom, as a forest. [`rows`]: its lines, last breath first. [`fold`]: thousands of
//!   lives in a few lines. [`commands`]: long ones. [`text`]: for people. [`json`]: for programs.
//!
//! It must not know how a plan is made, and decides nothing: it says what it is given.

pub(crate) mod commands;
mod fold;
mod forest;
pub(crate) mod json;
mod rows;
#[cfg(test)]
mod tests;
pub(crate) mod text;

/// A plan as it is shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DeathPlan {
    /// Where: `.sexton (embedded)`.
    pub(crate) target: String,
    /// What was asked for: `delete Cluster/prod, policy cascade`.
    pub(crate) title: String,
    /// Whether this only shows what would happen.
    pub(crate) preview: bool,
    /// Who dies.
    pub(crate) entries: Vec<Death>,
    /// Who lives on, although one could think otherwise.
    pub(crate) kept: Vec<Beside>,
    /// Who loses a reference, and which.
    pub(crate) loses: Vec<Beside>,
    /// Who is held or blocked, and by what.
    pub(crate) holds: Vec<Beside>,
    /// Of whom nothing certain can be said, and why.
    pub(crate) unknown: Vec<Beside>,
    /// Orders that were given up, because together with others they would go round in a circle.
    pub(crate) dropped: Vec<String>,
    /// The name of exactly this plan, in full.
    pub(crate) digest: String,
    /// What to type next: for what, and the command.
    pub(crate) hints: Vec<(String, String)>,
}

/// A life that ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Death {
    /// `Vm/web-1`
    pub(crate) label: String,
    /// This life and no other in its slot. Only for programs; may be empty.
    pub(crate) uid: String,
    /// The wave in which it dies, from 1.
    pub(crate) order: usize,
    /// Why: `owned by App/shop`.
    pub(crate) reason: String,
    /// The entry because of which it dies. `None`: it was asked for, or nobody refers to it.
    pub(crate) parent: Option<usize>,
    /// Those of one wave with the same number die together, because they go round in a circle.
    pub(crate) group: Option<usize>,
    /// What else is to be known: `destroy ./hooks/vm-rm`, `warns Network/lan`.
    pub(crate) marks: Vec<String>,
}

/// A resource that does not die, and what there is to say about it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Beside {
    /// `Vm/web-1`
    pub(crate) label: String,
    /// `owned by App/blog, too`
    pub(crate) why: String,
}

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fold {
    /// Above so many lines, those that are alike are summed up.
    Above(usize),
    /// Every single one.
    Never,
}

impl Fold {
    /// What fits on a screen or two.
    pub(crate) const USUAL: Fold = Fold::Above(60);
}

/// The kind in a label.
fn kind(label: &str) -> &str {
    label.split_once('/').map_or(label, |(kind, _)| kind)
}
