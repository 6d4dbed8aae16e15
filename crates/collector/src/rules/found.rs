//! The input and the result of a search for garbage.
//!
//! It must not know how garbage is found.

use sexton_client::ServedKind;
use sexton_lifecycle::DeletionLimit;
use sexton_lifecycle::rules::{Counts, Verdict};
use sexton_model::feed::OwnerReference;
use sexton_model::rule::{Detector, Leftover, Rule, Targets};

/// What to search for.
#[derive(Debug, Clone)]
pub struct Ask {
    /// The kinds to search.
    pub kinds: Targets,
    /// A label selector; empty for all objects.
    pub selector: String,
    /// The namespaces to search; empty for all.
    pub namespaces: Vec<String>,
    /// The age from which an object can be garbage, in seconds.
    pub min_age: i64,
    /// If leftovers are wanted: of which owners.
    pub leftover: Option<Leftover>,
    /// If leftovers of one name are wanted: that name.
    pub name: Option<String>,
    /// Whether the result also has the objects that are no garbage.
    pub all: bool,
}

impl Ask {
    /// The search that a rule describes.
    pub fn of(rule: &Rule) -> Ask {
        let leftover = match &rule.detector {
            Detector::Orphaned => None,
            Detector::Leftover(leftover) => Some(leftover.clone()),
        };
        Ask {
            kinds: rule.kinds.clone(),
            selector: rule.selector.clone(),
            namespaces: rule.namespaces.clone(),
            min_age: i64::try_from(rule.min_age.as_secs()).unwrap_or(i64::MAX),
            leftover,
            name: None,
            all: false,
        }
    }

    /// The label selector that nominates objects, for the server.
    pub(super) fn labels(&self) -> String {
        let of_owner = self.leftover.as_ref().map(|leftover| match &self.name {
            Some(name) => leftover.selector_for(name),
            None => leftover.selector_for_all(),
        });
        let parts = [of_owner.unwrap_or_default(), self.selector.clone()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(",")
    }
}

/// An object of the result.
#[derive(Debug, Clone)]
pub struct Found {
    /// The kind.
    pub kind: ServedKind,
    /// Empty for cluster-scoped kinds.
    pub namespace: String,
    /// The name.
    pub name: String,
    /// The uid.
    pub uid: String,
    /// The owners that it names.
    pub owners: Vec<OwnerReference>,
    /// The deployment that put it last.
    pub deployment: Option<String>,
    /// The accusation that it carries, as it is written.
    pub accused: Option<String>,
    /// Whether it is terminating, or destroyed already.
    pub dying: bool,
    /// The name of the owner of which it is a leftover.
    pub of: Option<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// The evidence for the verdict.
    pub evidence: String,
}

impl Found {
    /// As users type it: `statefulset.apps/web`.
    pub fn label(&self) -> String {
        self.kind.label(&self.name)
    }

    /// The uids of its owners, in order and each once.
    pub fn owner_uids(&self) -> Vec<String> {
        let mut uids: Vec<String> = self.owners.iter().map(|owner| owner.uid.clone()).collect();
        uids.sort_unstable();
        uids.dedup();
        uids
    }
}

/// The result of a search.
#[derive(Debug, Clone, Default)]
pub struct Scan {
    /// The objects by verdict, the important ones first, then by kind, namespace and name.
    pub found: Vec<Found>,
    /// How many objects have each verdict.
    pub counts: Counts,
    /// How many objects were judged. Those terminating or destroyed already do not count.
    pub scope: usize,
    /// What could not be read, and why. Nothing is concluded about it.
    pub troubles: Vec<String>,
}

impl Scan {
    /// The objects that may be deleted: with the verdict `Orphan`, and neither terminating nor destroyed already.
    pub fn condemned(&self) -> impl Iterator<Item = &Found> {
        self.found.iter().filter(|found| found.verdict == Verdict::Orphan && !found.dying)
    }

    /// Why nothing may be deleted, if that would exceed the deletion limit; the most frequent causes are named.
    ///
    /// # Errors
    /// The reason, in words.
    pub fn fuse(&self, limits: &DeletionLimit, scope: usize) -> Result<(), String> {
        let doomed = self.condemned().count();
        if !limits.is_exceeded(doomed, scope) {
            return Ok(());
        }
        let mut causes = std::collections::BTreeMap::<&str, usize>::new();
        for found in self.condemned() {
            *causes.entry(found.evidence.as_str()).or_default() += 1;
        }
        let mut causes: Vec<(&str, usize)> = causes.into_iter().collect();
        causes.sort_by_key(|(cause, count)| (std::cmp::Reverse(*count), *cause));
        let mut why =
            format!("held: {doomed} of {scope} would be destroyed, and nobody asked for it by name");
        for (cause, count) in causes.iter().take(3) {
            why.push_str(&format!("; {count} because {cause}"));
        }
        Err(why)
    }
}
