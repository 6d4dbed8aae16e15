//! Leftovers: candidates found by labels with the name of an owner in them, that belong to a former object of that
//! name.
//!
//! The labels only nominate. An object is called a leftover only if it names a uid that is proved absent; what belongs
//! to the object that has the name now, or to any other existing object, is never one.

use sexton_model::feed::OwnerReference;
use sexton_model::rule::Leftover;

use super::orphan::{Candidate, age_text, protection, verdict_without_owner};
use super::owners::{Existence, Owners, kind_of};
use super::{Verdict, evidence};

/// The former owner of a leftover.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormerOwner<'a> {
    /// The name that both have or had.
    pub name: &'a str,
    /// The uid of the former owner.
    pub uid: &'a str,
    /// The uid of the object that has the name now.
    pub successor: Option<String>,
}

/// The reference to an owner of the rule's kind and of this name.
pub fn former_owner<'a>(
    rule: &Leftover,
    name: &str,
    owners: &'a [OwnerReference],
) -> Option<&'a OwnerReference> {
    owners.iter().find(|reference| reference.name == name && kind_of(reference) == rule.owner)
}

/// The verdict on a candidate that the labels nominate for the owner of this name.
pub fn classify_leftover(
    rule: &Leftover,
    name: &str,
    candidate: &Candidate<'_>,
    owners: &Owners,
    min_age: i64,
) -> Verdict {
    if candidate.owners.is_empty() {
        return Verdict::Ownerless;
    }
    let (mut is_doubtful, mut successor) = (false, false);
    for reference in candidate.owners {
        match owners.existence(candidate.namespace, reference) {
            Existence::Exists => return Verdict::Owned,
            Existence::Absent { successor: now } => {
                successor |=
                    now.is_some() && former_owner(rule, name, std::slice::from_ref(reference)).is_some();
            }
            Existence::Unknown(_) | Existence::Invalid(_) => is_doubtful = true,
        }
    }
    let Some(_) = former_owner(rule, name, candidate.owners) else {
        // Any user can set labels: without a reference to such an owner the candidate never belonged to it.
        return if is_doubtful { Verdict::Unknown } else { Verdict::Owned };
    };
    // An object made for the successor would name the successor; one that names only the former owner is as old as
    // that.
    let is_wanted = (rule.on_create && successor) || rule.on_delete;
    if !is_doubtful && !is_wanted {
        return Verdict::Owned;
    }
    verdict_without_owner(candidate, if successor { 0 } else { min_age }, is_doubtful)
}

/// The evidence for [`classify_leftover`], in words.
pub fn leftover_evidence(
    rule: &Leftover,
    name: &str,
    candidate: &Candidate<'_>,
    owners: &Owners,
    min_age: i64,
) -> String {
    let evidence = evidence(&Candidate { protect: None, age: i64::MAX, ..*candidate }, owners, 0);
    match classify_leftover(rule, name, candidate, owners, min_age) {
        Verdict::Owned if former_owner(rule, name, candidate.owners).is_none() => {
            format!("it never belonged to {}/{name}: {evidence}", rule.owner)
        }
        Verdict::Owned if !evidence.starts_with("owned") => {
            format!("left alone until the name is taken again: {evidence}")
        }
        Verdict::Orphan => format!("left over: {evidence}"),
        Verdict::Protected => format!("{}; {evidence}", protection(candidate)),
        Verdict::TooYoung => format!("{}; {evidence}", age_text(candidate, min_age)),
        _ => evidence,
    }
}
