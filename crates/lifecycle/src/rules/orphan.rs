//! Orphans: candidates that name owners of which none exists.

use sexton_model::feed::OwnerReference;
use sexton_model::rule::duration;
use std::time::Duration;

use super::Verdict;
use super::owners::{Existence, Owners, kind_of};

/// An object that may be garbage, as it was listed before its owners.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// Its namespace; empty if it is in none.
    pub namespace: &'a str,
    /// Its owner references.
    pub owners: &'a [OwnerReference],
    /// Its age in seconds; negative if the clocks disagree.
    pub age: i64,
    /// Why it is protected, if it is.
    pub protect: Option<&'a str>,
}

/// The verdict on a candidate. It is an orphan only if every owner is proved absent: a reference that cannot be
/// resolved, or that does not match the object with its uid, is no proof.
pub fn classify_orphan(candidate: &Candidate<'_>, owners: &Owners, min_age: i64) -> Verdict {
    if candidate.owners.is_empty() {
        return Verdict::Ownerless;
    }
    let mut is_doubtful = false;
    for reference in candidate.owners {
        match owners.existence(candidate.namespace, reference) {
            Existence::Exists => return Verdict::Owned,
            Existence::Absent { .. } => {}
            Existence::Unknown(_) | Existence::Invalid(_) => is_doubtful = true,
        }
    }
    verdict_without_owner(candidate, min_age, is_doubtful)
}

/// The verdict on a candidate without an existing owner.
pub(super) fn verdict_without_owner(candidate: &Candidate<'_>, min_age: i64, is_doubtful: bool) -> Verdict {
    if is_doubtful {
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
    let verdict = classify_orphan(candidate, owners, min_age);
    let references = describe_references(candidate, owners, verdict);
    match verdict {
        Verdict::Protected => format!("{}; {references}", protection(candidate)),
        Verdict::TooYoung => format!("{}; {references}", age_text(candidate, min_age)),
        _ => references,
    }
}

pub(super) fn protection(candidate: &Candidate<'_>) -> String {
    match candidate.protect {
        Some("true") | None => "protected".to_owned(),
        Some(reason) => format!("protected: {reason}"),
    }
}

pub(super) fn age_text(candidate: &Candidate<'_>, min_age: i64) -> String {
    let span = |seconds: i64| duration::format(Duration::from_secs(seconds.max(0).cast_unsigned()));
    format!("only {} old, not {}", span(candidate.age), span(min_age))
}

/// The references that decide the verdict, in words.
fn describe_references(candidate: &Candidate<'_>, owners: &Owners, verdict: Verdict) -> String {
    let mut parts = Vec::new();
    for reference in candidate.owners {
        let named = format!("{}/{}", kind_of(reference), reference.name);
        let existence = owners.existence(candidate.namespace, reference);
        let part = match existence {
            Existence::Exists if verdict == Verdict::Owned => return format!("owned by {named}"),
            Existence::Exists => continue,
            Existence::Absent { successor: None } => format!("{named} ({}) does not exist", reference.uid),
            Existence::Absent { successor: Some(uid) } => {
                format!("{named} ({}) does not exist, the name belongs to {uid} now", reference.uid)
            }
            Existence::Unknown(why) => format!("whether {named} exists is not known: {why}"),
            Existence::Invalid(why) => format!("the reference to {named} is not right: {why}"),
        };
        let is_doubtful = part.starts_with("whether") || part.starts_with("the reference");
        if verdict != Verdict::Unknown || is_doubtful {
            parts.push(part);
        }
    }
    if parts.is_empty() { "it names no owner".to_owned() } else { parts.join("; ") }
}
