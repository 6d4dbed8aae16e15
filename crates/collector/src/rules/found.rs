//! What a look for garbage asks for, and what it found.
//!
//! It must not know how it was found.

use sexton_client::ServedKind;
use sexton_lifecycle::FuseLimits;
use sexton_lifecycle::rules::{Counts, Verdict};
use sexton_model::feed::OwnerReference;
use sexton_model::rule::{Detector, Leftover, Rule, Targets};

/// What is looked for.
#[derive(Debug, Clone)]
pub struct Ask {
    /// Among which kinds.
    pub kinds: Targets,
    /// Among whom of them: a selector of labels; empty for all.
    pub selector: String,
    /// In which namespaces; empty for all.
    pub namespaces: Vec<String>,
    /// How old somebody has to be to be garbage, in seconds.
    pub min_age: i64,
    /// If leftovers are looked for: whose.
    pub leftover: Option<Leftover>,
    /// If leftovers of one name are looked for: which.
    pub name: Option<String>,
    /// Whether those are told, too, of whom there is nothing to tell.
    pub all: bool,
}

impl Ask {
    /// What a rule looks for.
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

    /// The selector that nominates, for the server.
    pub(super) fn labels(&self) -> String {
        let of_owner = self.leftover.as_ref().map(|leftover| match &self.name {
            Some(name) => leftover.selector_for(name),
            None => leftover.selector_for_all(),
        });
        let parts = [of_owner.unwrap_or_default(), self.selector.clone()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(",")
    }
}

/// One of whom there is something to tell.
#[derive(Debug, Clone)]
pub struct Found {
    /// The kind.
    pub kind: ServedKind,
    /// Empty for cluster-scoped kinds.
    pub namespace: String,
    /// The name.
    pub name: String,
    /// The life.
    pub uid: String,
    /// Whom it names.
    pub owners: Vec<OwnerReference>,
    /// Which deployment put it last.
    pub deployment: Option<String>,
    /// What it is accused of already, as it is written.
    pub accused: Option<String>,
    /// Whether it is marked and on its way out.
    pub dying: bool,
    /// Of which owner's name it is a leftover.
    pub of: Option<String>,
    /// What is said of it.
    pub verdict: Verdict,
    /// And why.
    pub evidence: String,
}

impl Found {
    /// As people write it: `statefulset.apps/web`.
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

/// What a look came to.
#[derive(Debug, Clone, Default)]
pub struct Scan {
    /// Those of whom there is something to tell: by verdict, the ones that matter most first, then by place.
    pub found: Vec<Found>,
    /// How many of each verdict.
    pub counts: Counts,
    /// Among how many was looked. Those on their way out do not count.
    pub scope: usize,
    /// What could not be looked at, and why. Nothing is concluded about it.
    pub troubles: Vec<String>,
}

impl Scan {
    /// Those that may die: condemned, and not on their way out.
    pub fn condemned(&self) -> impl Iterator<Item = &Found> {
        self.found.iter().filter(|found| found.verdict == Verdict::Orphan && !found.dying)
    }

    /// Why nothing of it may be taken, if that is too much of a scope at once; what most of it comes from is named.
    ///
    /// # Errors
    /// The reason, in words.
    pub fn fuse(&self, limits: &FuseLimits, scope: usize) -> Result<(), String> {
        let doomed = self.condemned().count();
        if !limits.exceeded(doomed, scope) {
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
