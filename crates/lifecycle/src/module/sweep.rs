//! Who is unmarked: in scope, and not put by the deployment that was sealed. And in which order it goes.

use std::cmp::Reverse;

use sexton_model::module::Scope;

use super::Member;
use super::scope::in_scope;

/// The resources of a module after a deployment. Places are those in the list of resources.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sorted {
    /// In scope, and put by the deployment.
    pub marked: Vec<usize>,
    /// In scope, and not put by it: in the order in which they go, the highest first, those without an order last.
    pub unmarked: Vec<usize>,
    /// Not in scope: never swept.
    pub outside: Vec<usize>,
}

/// Divides resources by their marks. `is_marked` says who is or will be put by the deployment.
pub fn sort(scope: &Scope, members: &[Member], is_marked: impl Fn(&Member) -> bool) -> Sorted {
    let mut sorted = Sorted::default();
    for (at, member) in members.iter().enumerate() {
        if !in_scope(scope, member) {
            sorted.outside.push(at);
        } else if is_marked(member) {
            sorted.marked.push(at);
        } else {
            sorted.unmarked.push(at);
        }
    }
    // None is less than any number, so that those without an order come last; ties are broken by slot.
    sorted.unmarked.sort_by(|a, b| {
        let (a, b) = (&members[*a], &members[*b]);
        Reverse(a.order).cmp(&Reverse(b.order)).then_with(|| a.slot().cmp(&b.slot()))
    });
    sorted
}
