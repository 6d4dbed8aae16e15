//! The record of a collection: what it was about, how far it is, and what it waits for. Its size is bounded.
//!
//! It must not know how garbage is found or destroyed, nor read the clock.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::class::API_VERSION;
use crate::hook::ObjectRef;
use crate::text::{self, cut};

/// The kind's name.
pub const KIND: &str = "Collection";
/// The plural.
pub const RESOURCE: &str = "collections";
/// Roots that are named; the rest is counted.
pub const MAX_ROOTS: usize = 100;
/// Blockers that are named; the rest is counted.
pub const MAX_BLOCKERS: usize = 50;
/// Kinds that are counted one by one; the rest is counted together.
pub const MAX_KINDS: usize = 200;
/// Unknown things that are named; the rest is counted.
pub const MAX_UNKNOWN: usize = 20;
/// Bytes of a text for people.
const MAX_TEXT: usize = 1 << 10;

/// What began a collection.
pub mod trigger {
    /// A requester deleted something.
    pub const DELETE: &str = "delete";
    /// Something has no owner left.
    pub const ORPHANS: &str = "orphans";
    /// A module was deployed, and something is not in it any more.
    pub const SWEEP: &str = "sweep";
    /// A former owner of a name left something behind.
    pub const LEFTOVERS: &str = "leftovers";
    /// A program reaches something no longer, or its model does not have it any more.
    pub const PROGRAM: &str = "program";
    /// All of them.
    pub const ALL: [&str; 5] = [DELETE, ORPHANS, SWEEP, LEFTOVERS, PROGRAM];
}

/// A collection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Collection {
    /// Given by the code that began it, always the same for the same collection.
    pub name: String,
    /// What it is about.
    pub spec: Spec,
    /// How far it is.
    pub status: Progress,
}

/// What a collection is about. It does not change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Spec {
    /// What began it: see [`trigger`].
    pub trigger: String,
    /// The requester; `None` if the collector itself began it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// From what everything else follows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roots: Vec<Root>,
    /// Roots that are not named.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub roots_omitted: u64,
    /// The digest of the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Whether a user has seen the plan and agreed to it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub approved: bool,
    /// When it began.
    pub started_at: String,
}

/// An object whose deletion was asked for, or found to be due.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Root {
    /// Empty for the core group.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The kind.
    pub kind: String,
    /// Empty for cluster-scoped kinds.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The name.
    pub name: String,
    /// The uid.
    pub uid: String,
    /// What becomes of dependents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
}

impl Root {
    /// An object and the policy with which it goes.
    pub fn new(life: ObjectRef, policy: Option<String>) -> Root {
        let ObjectRef { group, kind, namespace, name, uid } = life;
        Root { group, kind, namespace, name, uid, policy }
    }
}

/// Whether it goes on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Phase {
    /// It goes on.
    #[default]
    Running,
    /// It goes on when something else has happened.
    Blocked,
    /// It goes on when a user approves it.
    Held,
    /// It is over.
    Done,
    /// It was given up.
    Cancelled,
}

impl Phase {
    /// Whether nothing more will happen.
    pub fn is_over(self) -> bool {
        matches!(self, Phase::Done | Phase::Cancelled)
    }
}

/// How far a collection is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Progress {
    /// Whether it goes on.
    pub phase: Phase,
    /// Objects that end in it.
    #[serde(default)]
    pub doomed: u64,
    /// Of these, those that are gone.
    #[serde(default)]
    pub gone: u64,
    /// Of these, those that wait for something.
    #[serde(default)]
    pub blocked: u64,
    /// Objects that are not destroyed, although something would have it.
    #[serde(default)]
    pub held: u64,
    /// The same per kind, as `Vm.example.com`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kinds: BTreeMap<String, KindCount>,
    /// Kinds that are not counted one by one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub kinds_omitted: u64,
    /// What is waited for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blockers: Vec<Blocker>,
    /// Blockers that are not named.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub blockers_omitted: u64,
    /// What could not be judged and was left alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    /// When it was over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<String>,
    /// How it ended, in one word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// How far a kind is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KindCount {
    /// Objects that end.
    #[serde(default)]
    pub doomed: u64,
    /// Those that are gone.
    #[serde(default)]
    pub gone: u64,
}

/// An object that cannot go on, and what would help.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Blocker {
    /// The object that waits.
    pub object: ObjectRef,
    /// The object that has to go first, as `Vm.example.com/default/web-1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<String>,
    /// What has to act: a controller, a hook, a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// What has to be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// Why it waits.
    pub reason: String,
    /// Since when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// When it is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// What can be typed to get it out of the way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clears: Option<String>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Collection {
    /// Reads a document.
    ///
    /// # Errors
    /// It is not one of a collection.
    pub fn read(document: &Value) -> Result<Collection, serde_json::Error> {
        let name = document.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let status = match document.get("status") {
            None | Some(Value::Null) => Progress::default(),
            Some(status) => Progress::deserialize(status)?,
        };
        Ok(Collection { name, spec: Spec::deserialize(&document["spec"])?, status })
    }

    /// The document.
    ///
    /// # Errors
    /// None in practice: everything in it can be written.
    pub fn document(&self) -> Result<Value, serde_json::Error> {
        let (spec, status) = (serde_json::to_value(&self.spec)?, serde_json::to_value(&self.status)?);
        Ok(json!({
            "apiVersion": API_VERSION,
            "kind": KIND,
            "metadata": {"name": self.name},
            "spec": spec,
            "status": status,
        }))
    }
}

impl Spec {
    /// One more root, or only counted if there are as many as are named.
    pub fn add_root(&mut self, root: impl FnOnce() -> Root) {
        match self.roots.len() {
            0..MAX_ROOTS => self.roots.push(root()),
            _ => self.roots_omitted += 1,
        }
    }

    /// The same within its bounds: what does not fit is counted.
    #[must_use]
    pub fn bounded(mut self) -> Spec {
        self.roots_omitted += text::shorten(&mut self.roots, MAX_ROOTS);
        self.by = self.by.map(|by| cut(&by, MAX_TEXT));
        self.trigger = cut(&self.trigger, MAX_TEXT);
        self
    }
}

impl Progress {
    /// The same within its bounds: what does not fit is counted.
    #[must_use]
    pub fn bounded(mut self) -> Progress {
        self.blockers_omitted += text::shorten(&mut self.blockers, MAX_BLOCKERS);
        if let Some(first) = self.kinds.keys().nth(MAX_KINDS).cloned() {
            self.kinds_omitted += self.kinds.split_off(&first).len() as u64;
        }
        text::shorten_texts(&mut self.unknown, MAX_UNKNOWN, MAX_TEXT);
        for blocker in &mut self.blockers {
            blocker.reason = cut(&blocker.reason, MAX_TEXT);
            let texts = [&mut blocker.waits_for, &mut blocker.who, &mut blocker.what, &mut blocker.clears];
            texts.into_iter().flatten().for_each(|text| *text = cut(text, MAX_TEXT));
        }
        [&mut self.outcome, &mut self.message]
            .into_iter()
            .flatten()
            .for_each(|text| *text = cut(text, MAX_TEXT));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn life(number: usize) -> ObjectRef {
        let name = format!("vm-{number}");
        ObjectRef { kind: "Vm".into(), name, uid: "u".into(), ..ObjectRef::default() }
    }

    fn huge() -> Collection {
        let long = "ä".repeat(100_000);
        let blocker = |number: usize| Blocker {
            object: life(number),
            waits_for: Some(long.clone()),
            who: Some(long.clone()),
            what: Some(long.clone()),
            reason: long.clone(),
            clears: Some(long.clone()),
            ..Blocker::default()
        };
        let roots = (0..500).map(|number| Root::new(life(number), Some("Cascade".into()))).collect();
        let by = Some(long.clone());
        Collection {
            name: "c".into(),
            spec: Spec { trigger: trigger::DELETE.into(), by, roots, ..Spec::default() },
            status: Progress {
                kinds: (0..300).map(|number| (format!("Kind{number}"), KindCount::default())).collect(),
                blockers: (0..80).map(blocker).collect(),
                unknown: (0..50).map(|number| format!("thing {number}")).collect(),
                message: Some(long.clone()),
                outcome: Some(long),
                ..Progress::default()
            },
        }
    }

    #[test]
    fn roots_beyond_those_that_are_named_are_counted() {
        let mut named = huge().spec;
        let all = std::mem::take(&mut named.roots);
        let bounded = Spec { roots: all.clone(), ..named.clone() }.bounded();
        all.into_iter().for_each(|root| named.add_root(|| root));
        assert_eq!((named.roots.len(), named.roots_omitted), (100, 400));
        assert_eq!(named.bounded().roots, bounded.roots);
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let Collection { name, spec, status } = huge();
        let (spec, status) = (spec.bounded(), status.bounded());
        assert_eq!((spec.roots.len(), spec.roots_omitted), (100, 400));
        assert_eq!((status.blockers.len(), status.blockers_omitted), (50, 30));
        assert_eq!((status.kinds.len(), status.kinds_omitted), (200, 100));
        assert_eq!((status.unknown.len(), status.unknown.last().unwrap().as_str()), (20, "…and 31 more"));
        let small = Collection { name, spec, status };
        assert!(small.document().unwrap().to_string().len() < 320 << 10);
        // What fits stays as it is, however often it is looked at.
        let again = Collection {
            name: small.name.clone(),
            spec: small.spec.clone().bounded(),
            status: small.status.clone().bounded(),
        };
        assert_eq!(again, small);
    }

    #[test]
    fn documents_are_read_as_written() {
        for collection in [huge(), Collection::default()] {
            assert_eq!(Collection::read(&collection.document().unwrap()).unwrap(), collection);
        }
    }

    #[test]
    fn unknown_words_are_refused() {
        let good = json!({"metadata": {"name": "c"}, "spec": {"trigger": "delete", "startedAt": ""}});
        assert_eq!(Collection::read(&good).unwrap().status, Progress::default());
        for (pointer, value) in [
            ("/spec", json!({"trigger": "delete", "startedAt": "", "colour": "red"})),
            ("/spec", json!({})),
            ("/status", json!({"phase": "Running"})),
            ("/status", json!({"phase": "running", "doomed": -1})),
        ] {
            let mut bad = good.clone();
            bad["status"] = json!({"phase": "done"});
            *bad.pointer_mut(pointer).unwrap() = value;
            assert!(Collection::read(&bad).is_err(), "{bad}");
        }
    }
}
