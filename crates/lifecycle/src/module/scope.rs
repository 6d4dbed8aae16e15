//! The scope of a module: which resources belong to it, which of them are unmarked, and what a changed scope means.

use std::cmp::Reverse;

use sexton_model::marks;
use sexton_model::module::{MANAGER_KEY, Scope};

use super::Member;

/// Whether a resource has all attributes of a scope. `manager`, `apiVersion`, `kind`, `namespace` and `name` mean these
/// fields; any other key is a label.
pub fn in_scope(scope: &Scope, member: &Member) -> bool {
    let label = |key: &str| member.labels.get(key).map(String::as_str);
    scope.iter().all(|(key, value)| {
        let has = match key.as_str() {
            MANAGER_KEY => label(marks::MANAGER),
            "apiVersion" => Some(member.api_version.as_str()),
            "kind" => Some(member.kind.as_str()),
            "namespace" => Some(member.namespace.as_str()),
            "name" => Some(member.name.as_str()),
            other => label(other),
        };
        has == Some(value.as_str())
    })
}

/// The labels that a scope asks for. A resource can lose these without becoming another resource.
pub fn scope_labels(scope: &Scope) -> impl Iterator<Item = (&str, &str)> {
    scope.iter().filter_map(|(key, value)| match key.as_str() {
        MANAGER_KEY => Some((marks::MANAGER, value.as_str())),
        "apiVersion" | "kind" | "namespace" | "name" => None,
        label => Some((label, value.as_str())),
    })
}

/// The difference between two scopes, as indexes into the list of resources.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScopeChange {
    /// Resources that were not in scope and are now.
    pub enter: Vec<usize>,
    /// Resources that were in scope and are not any more: they are never swept.
    pub leave: Vec<usize>,
}

/// Which resources a change of the scope adds and removes.
pub fn scope_change(old: &Scope, new: &Scope, members: &[Member]) -> ScopeChange {
    let mut change = ScopeChange::default();
    if old == new {
        return change;
    }
    for (at, member) in members.iter().enumerate() {
        match (in_scope(old, member), in_scope(new, member)) {
            (false, true) => change.enter.push(at),
            (true, false) => change.leave.push(at),
            _ => {}
        }
    }
    change
}

/// The resources of a module by their marks, as indexes into the list of resources.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MarkSplit {
    /// In scope, and put by the deployment.
    pub marked: Vec<usize>,
    /// In scope, and not put by it. In the order in which they are swept: the highest place first, those without one
    /// last.
    pub unmarked: Vec<usize>,
    /// Not in scope: never swept.
    pub outside: Vec<usize>,
}

/// Splits resources by their marks. `is_marked`: whether a resource was or will be put by the deployment.
pub fn split_by_mark(scope: &Scope, members: &[Member], is_marked: impl Fn(&Member) -> bool) -> MarkSplit {
    let mut split = MarkSplit::default();
    for (at, member) in members.iter().enumerate() {
        if !in_scope(scope, member) {
            split.outside.push(at);
        } else if is_marked(member) {
            split.marked.push(at);
        } else {
            split.unmarked.push(at);
        }
    }
    // None is less than any number, so that those without an order come last; ties are broken by key.
    split.unmarked.sort_by(|a, b| {
        let (a, b) = (&members[*a], &members[*b]);
        Reverse(a.order).cmp(&Reverse(b.order)).then_with(|| a.key().cmp(&b.key()))
    });
    split
}
