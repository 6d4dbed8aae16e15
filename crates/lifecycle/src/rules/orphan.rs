//! Whether somebody is an orphan: names owners, and none of them exists.

use sexton_model::feed::OwnerReference;
use sexton_model::rule::duration;
use std::time::Duration;

use super::Verdict;
use super::owners::{Existence, Owners, kind_of};

/// Somebody who may be garbage, as it was seen before the owners were looked at.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// Empty if it is in no namespace.
    pub namespace: &'a str,
    /// Whom it names.
    pub owners: &'a [OwnerReference],
    /// How long it exists, in seconds; less than nothing if the clocks disagree.
    pub age: i64,
    /// Why it must not be destroyed.
    pub protect: Option<&'a str>,
}

/// The verdict. Somebody is condemned only if every reference is proved to lead nowhere: one that cannot be followed, or
/// that leads to something else than it says, is no such proof.
pub fn judge_orphan(candidate: &Candidate<'_>, owners: &Owners, min_age: i64) -> Verdict {
    if candidate.owners.is_empty() {
        return Verdict::Ownerless;
    }
    let mut doubtful = false;
    for reference in candidate.owners {
        match owners.existence(candidate.namespace, reference) {
            Existence::Living => return Verdict::Owned,
            Existence::Absent { .. } => {}
            Existence::Unknown(_) | Existence::Invalid(_) => doubtful = true,
        }
    }
    sentence(candidate, min_age, doubtful)
}

/// What is left to say of somebody without a living owner.
pub(super) fn sentence(candidate: &Candidate<'_>, min_age: i64, doubtful: bool) -> Verdict {
    if doubtful {
        Verdict::Unknown
    } else if candidate.protect.is_some() {
        Verdict::Protected
    } else if candidate.age < min_age {
        Verdict::TooYoung
    } else {
        Verdict::Orphan
    }
}

/// The evidence for the verdict on a candidate, in words.
pub fn evidence(candidate: &Candidate<'_>, owners: &Owners, min_age: i64) -> String {
    let verdict = judge_orphan(candidate, owners, min_age);
    let said = said(candidate, owners, verdict);
    match verdict {
        Verdict::Protected => format!("{}; {said}", protection(candidate)),
        Verdict::TooYoung => format!("{}; {said}", youth(candidate, min_age)),
        _ => said,
    }
}

pub(super) fn protection(candidate: &Candidate<'_>) -> String {
    match candidate.protect {
        Some("true") | None => "protected".to_owned(),
        Some(reason) => format!("protected: {reason}"),
    }
}

pub(super) fn youth(candidate: &Candidate<'_>, min_age: i64) -> String {
    let span = |seconds: i64| duration::format(Duration::from_secs(seconds.max(0).cast_unsigned()));
    format!("only {} old, not {}", span(candidate.age), span(min_age))
}

/// What is said of the references that decide.
fn said(candidate: &Candidate<'_>, owners: &Owners, verdict: Verdict) -> String {
    let mut parts = Vec::new();
    for reference in candidate.owners {
        let named = format!("{}/{}", kind_of(reference), reference.name);
        let existence = owners.existence(candidate.namespace, reference);
        let part = match existence {
            Existence::Living if verdict == Verdict::Owned => return format!("owned by {named}"),
            Existence::Living => continue,
            Existence::Absent { successor: None } => format!("{named} ({}) does not exist", reference.uid),
            Existence::Absent { successor: Some(uid) } => {
                format!("{named} ({}) does not exist, the name belongs to {uid} now", reference.uid)
            }
            Existence::Unknown(why) => format!("whether {named} exists is not known: {why}"),
            Existence::Invalid(why) => format!("the reference to {named} is not right: {why}"),
        };
        let doubtful = part.starts_with("whether") || part.starts_with("the reference");
        if verdict != Verdict::Unknown || doubtful {
            parts.push(part);
        }
    }
    if parts.is_empty() { "it names no owner".to_owned() } else { parts.join("; ") }
}
