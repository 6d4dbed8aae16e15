//! Whether somebody is a leftover: nominated by labels with an owner's name in them, and belongs to a former life of
//! that name.
//!
//! The name only nominates. Who is condemned belonged to a uid that is proved absent; whatever belongs to the life that
//! has the name now, or to anybody else who lives, is never touched.

use sexton_model::feed::OwnerReference;
use sexton_model::rule::Leftover;

use super::orphan::{Candidate, protection, sentence, youth};
use super::owners::{Existence, Owners, kind_of};
use super::{Verdict, evidence};

/// The former owner of a leftover.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Former<'a> {
    /// The name that both have or had.
    pub name: &'a str,
    /// The life that is gone.
    pub uid: &'a str,
    /// The life that has the name now.
    pub successor: Option<String>,
}

/// The reference to an owner of the rule's kind and of this name.
pub fn former<'a>(rule: &Leftover, name: &str, owners: &'a [OwnerReference]) -> Option<&'a OwnerReference> {
    owners.iter().find(|reference| reference.name == name && kind_of(reference) == rule.owner)
}

/// The verdict on somebody whom the labels nominate for the owner of this name.
pub fn judge_leftover(
    rule: &Leftover,
    name: &str,
    candidate: &Candidate<'_>,
    owners: &Owners,
    min_age: i64,
) -> Verdict {
    if candidate.owners.is_empty() {
        return Verdict::Ownerless;
    }
    let (mut doubtful, mut successor) = (false, false);
    for reference in candidate.owners {
        match owners.existence(candidate.namespace, reference) {
            Existence::Living => return Verdict::Owned,
            Existence::Absent { successor: now } => {
                successor |= now.is_some() && former(rule, name, std::slice::from_ref(reference)).is_some();
            }
            Existence::Unknown(_) | Existence::Invalid(_) => doubtful = true,
        }
    }
    let Some(_) = former(rule, name, candidate.owners) else {
        // Labels can be set by anybody: without ever having belonged to such an owner it is not its leftover.
        return if doubtful { Verdict::Unknown } else { Verdict::Owned };
    };
    // Somebody made a moment ago for the successor would name it; who names only the former is as old as that.
    let wanted = (rule.on_create && successor) || rule.on_delete;
    if !doubtful && !wanted {
        return Verdict::Owned;
    }
    sentence(candidate, if successor { 0 } else { min_age }, doubtful)
}

/// The evidence for that, in words.
pub fn leftover_evidence(
    rule: &Leftover,
    name: &str,
    candidate: &Candidate<'_>,
    owners: &Owners,
    min_age: i64,
) -> String {
    let said = evidence(&Candidate { protect: None, age: i64::MAX, ..*candidate }, owners, 0);
    match judge_leftover(rule, name, candidate, owners, min_age) {
        Verdict::Owned if former(rule, name, candidate.owners).is_none() => {
            format!("it never belonged to {}/{name}: {said}", rule.owner)
        }
        Verdict::Owned if !said.starts_with("owned") => {
            format!("left alone until the name is taken again: {said}")
        }
        Verdict::Orphan => format!("left over: {said}"),
        Verdict::Protected => format!("{}; {said}", protection(candidate)),
        Verdict::TooYoung => format!("{}; {said}", youth(candidate, min_age)),
        _ => said,
    }
}
