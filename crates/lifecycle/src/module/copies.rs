//! Who carries a module's label without having been put by it: others copy labels, and what they make is theirs.
//!
//! Endpoints carry the labels of their service, and the children of many controllers those of their parents. Whoever
//! swept these would destroy what is in use.

use std::collections::{BTreeSet, HashMap};

use super::Member;

/// Which of the resources with a module's label may be copies of its marks, by their places. Who wrote them tells for sure.
///
/// `kinds` are those of which the module ever put something, as `resource.group`; without them it may be any. Whoever has
/// no mark of a deployment may be a copy if somebody owns it, or if the module has nothing of its kind. Whoever has one may
/// be a copy if its owner is of the module and stands in the very same place.
pub fn copies(members: &[Member], kinds: Option<&BTreeSet<String>>) -> BTreeSet<usize> {
    let orders: HashMap<&str, Option<i64>> =
        members.iter().map(|member| (member.uid.as_str(), member.order)).collect();
    let is_strange = |member: &Member| kinds.is_some_and(|kinds| !kinds.contains(&kind_of(member)));
    let may_be_copy = |member: &Member| match &member.deployment {
        None => !member.owners.is_empty() || is_strange(member),
        Some(_) => {
            let same_place =
                |owner: &String| orders.get(owner.as_str()).is_some_and(|order| *order == member.order);
            member.order.is_some() && member.owners.iter().any(same_place)
        }
    };
    (0..).zip(members).filter(|(_, member)| may_be_copy(member)).map(|(at, _)| at).collect()
}

/// `resource.group`, as records of modules name kinds.
pub fn kind_of(member: &Member) -> String {
    match member.group.as_str() {
        "" => member.resource.clone(),
        group => format!("{}.{group}", member.resource),
    }
}
