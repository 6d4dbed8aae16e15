//! Who is in the scope of a module, and who comes into it or leaves it when the scope changes.

use sexton_model::marks;
use sexton_model::module::{MANAGER_KEY, Scope};

use super::Member;

/// Whether a resource has all attributes of a scope. `manager`, `apiVersion`, `kind`, `namespace` and `name` are what
/// they say; any other key is a label.
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

/// The labels that a scope asks for: what a resource in it can lose without becoming another one.
pub fn scope_labels(scope: &Scope) -> impl Iterator<Item = (&str, &str)> {
    scope.iter().filter_map(|(key, value)| match key.as_str() {
        MANAGER_KEY => Some((marks::MANAGER, value.as_str())),
        "apiVersion" | "kind" | "namespace" | "name" => None,
        label => Some((label, value.as_str())),
    })
}

/// What another scope comes to. Places are those in the list of resources.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScopeChange {
    /// Who was not in scope and is now.
    pub enter: Vec<usize>,
    /// Who was in scope and is not any more: it will never be swept.
    pub leave: Vec<usize>,
}

/// Who comes into scope and who leaves it.
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
