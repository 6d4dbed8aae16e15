//! Who carries a module's label without having been put by it: others copy labels, and what they make is theirs.
//!
//! Endpoints carry the labels of their service, and the children of many controllers those of their parents. Whoever
//! swept these would destroy what is in use.

use std::collections::BTreeSet;

use super::Member;

/// Which of the resources with a module's label may be copies of its marks, by their places. Who wrote them tells for sure.
///
/// `kinds` are those of which the module ever put something, as `resource.group`; without them it may be any. Whoever has
/// an owner may be a copy, with a mark of a deployment as well: many controllers copy annotations, some only once, so that
/// neither the round nor the place have to be those that the owner has now. Without a mark it is also whoever is of a kind
/// of which the module has nothing.
pub fn copies(members: &[Member], kinds: Option<&BTreeSet<String>>) -> BTreeSet<usize> {
    let is_strange = |member: &Member| kinds.is_some_and(|kinds| !kinds.contains(&kind_of(member)));
    let may_be_copy =
        |member: &Member| !member.owners.is_empty() || (member.deployment.is_none() && is_strange(member));
    (0..).zip(members).filter(|(_, member)| may_be_copy(member)).map(|(at, _)| at).collect()
}

/// `resource.group`, as records of modules name kinds.
pub fn kind_of(member: &Member) -> String {
    match member.group.as_str() {
        "" => member.resource.clone(),
        group => format!("{}.{group}", member.resource),
    }
}
