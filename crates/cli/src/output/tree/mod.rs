//! A plan as it is printed: which objects are destroyed, in which order and why; which ones are not, and blockers.
//!
//! - [`forest`]: causes as a forest. [`rows`]: its lines, from top to bottom in the order of destruction. [`fold`]:
//!   thousands of objects in a few lines. [`commands`]: long ones. [`text`]: for people. [`json`]: for programs.
//!
//! It must not know how a plan is made, and decides nothing: it prints what it is given.

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
    /// The doomed objects, in the order of the plan.
    pub(crate) entries: Vec<Death>,
    /// Objects that are not destroyed although a reader may expect it.
    pub(crate) kept: Vec<Beside>,
    /// Objects that only lose owner references, and which.
    pub(crate) loses: Vec<Beside>,
    /// Objects that are protected or have a blocker, and which.
    pub(crate) holds: Vec<Beside>,
    /// Objects that are left alone because their owners are unknown, and why.
    pub(crate) unknown: Vec<Beside>,
    /// Orders that were given up, because they were part of a cycle.
    pub(crate) dropped: Vec<String>,
    /// The digest of exactly this plan, in full.
    pub(crate) digest: String,
    /// What to type next: for what, and the command.
    pub(crate) hints: Vec<(String, String)>,
}

/// A doomed object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Death {
    /// `Vm/web-1`
    pub(crate) label: String,
    /// The uid: this incarnation and no other of the same key. Only for programs; may be empty.
    pub(crate) uid: String,
    /// Its wave, from 1.
    pub(crate) order: usize,
    /// Why: `owned by App/shop`.
    pub(crate) reason: String,
    /// The index of the entry because of which it is doomed. `None`: it was asked for, or its cause is not in the plan.
    pub(crate) parent: Option<usize>,
    /// Its group: entries of one wave with the same number form a cycle and are destroyed together.
    pub(crate) group: Option<usize>,
    /// What else is to be known: `destroy ./hooks/vm-rm`, `warns Network/lan`.
    pub(crate) marks: Vec<String>,
}

/// An object and a remark about it.
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
    /// Above this many lines, entries that are alike are summed.
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
