//! The collector's view of the server: a snapshot updated by the feed, and the classes.
//!
//! It decides nothing; for each line it says whether a round is needed.

mod classes;

pub(crate) use classes::Classes;

use std::collections::HashSet;

use sexton_client::resources::Versions;
use sexton_lifecycle::{NodeId, Observation, Ownership, Snapshot};
use sexton_model::feed::{FeedKind, FeedObject, Line};
use sexton_model::{GroupResource, Revision, Uid};

/// The view.
#[derive(Debug, Default)]
pub(crate) struct View {
    pub(crate) snapshot: Snapshot,
    pub(crate) classes: Classes,
    /// Every kind in every version, from the last `Kinds` line.
    pub(crate) kinds: Vec<FeedKind>,
    /// Objects with a journal that are not terminating: candidates, perhaps of an earlier collector.
    accused: HashSet<Uid>,
    /// The classes that were told, by uid, each in its version.
    class_versions: Versions,
    /// While everything is told from the beginning.
    listing: Option<Listing>,
    synced: bool,
}

/// The uids that a listing has named; what it does not name is removed at its end. Not needed if nothing was known
/// before.
#[derive(Debug)]
enum Listing {
    First,
    Again(HashSet<Uid>),
}

impl Listing {
    fn told(&mut self, uid: Uid) {
        if let Listing::Again(listed) = self {
            listed.insert(uid);
        }
    }

    fn gone(&mut self, uid: &Uid) {
        if let Listing::Again(listed) = self {
            listed.remove(uid);
        }
    }
}

/// What a line implies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Effect {
    /// Whether a round is needed: an object may be garbage, may continue, or is saved.
    pub(crate) matters: bool,
    /// Whether the classes must be listed again.
    pub(crate) classes: bool,
}

impl View {
    /// Whether a complete listing was received. Before that nothing is concluded.
    pub(crate) fn synced(&self) -> bool {
        self.synced
    }

    /// Which classes there are, by uid, each in its version; nothing while that is not known for all of them.
    pub(crate) fn class_versions(&self) -> Option<&Versions> {
        let kind = classes::served().resource;
        let is_complete = self.synced && !self.snapshot.incomplete().contains_key(&kind);
        is_complete.then_some(&self.class_versions)
    }

    /// Objects with a journal that are not terminating.
    pub(crate) fn accused(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.accused.iter().filter_map(|uid| self.snapshot.get(uid))
    }

    /// A complete listing begins.
    pub(crate) fn begin(&mut self) {
        self.listing = Some(match self.snapshot.is_empty() {
            true => Listing::First,
            false => Listing::Again(HashSet::new()),
        });
        self.accused.clear();
        self.class_versions.clear();
        self.synced = false;
        self.snapshot.set_synced(false);
    }

    /// Applies a line.
    pub(crate) fn hear(&mut self, line: Line) -> Effect {
        match line {
            Line::Kinds { kinds } => {
                self.snapshot.set_kinds(&kinds);
                // A kind that is not served any more cannot be incomplete.
                for kind in self.kinds.iter().filter(|kind| kind.broken.is_some()) {
                    let resource = GroupResource::new(kind.group.as_str(), kind.resource.as_str());
                    self.snapshot.set_incomplete(resource, None);
                }
                for kind in &kinds {
                    let resource = GroupResource::new(kind.group.as_str(), kind.resource.as_str());
                    self.snapshot.set_incomplete(resource, kind.broken.clone());
                }
                self.kinds = kinds;
                Effect { matters: true, classes: true }
            }
            Line::Added(seen) | Line::Modified(seen) => self.see(&seen),
            Line::Deleted(seen) => self.miss(&seen),
            Line::Synced { resource_version } => {
                let at = revision(&resource_version);
                if let Some(Listing::Again(listed)) = self.listing.take() {
                    self.snapshot.remove_unlisted(None, &listed, at);
                }
                self.snapshot.advance(at);
                self.snapshot.set_synced(true);
                self.synced = true;
                Effect { matters: true, classes: true }
            }
            Line::Bookmark { resource_version } => {
                self.snapshot.advance(revision(&resource_version));
                Effect::default()
            }
            Line::Error { .. } => Effect::default(),
        }
    }

    fn see(&mut self, seen: &FeedObject) -> Effect {
        let classes = is_class(seen);
        if classes {
            let metadata = &seen.object.metadata;
            self.class_versions.insert(metadata.uid.clone(), metadata.resource_version.clone());
        }
        let observation = match Observation::from_partial(seen) {
            Ok(observation) => observation,
            Err(error) => {
                tracing::warn!(%error, "an object cannot be understood and is left alone");
                return Effect::default();
            }
        };
        let uid = observation.uid.clone();
        match observation.journal.is_some() && observation.terminating_since.is_none() {
            true => _ = self.accused.insert(uid.clone()),
            false => _ = self.accused.remove(&uid),
        }
        let heard = self.hears_of_an_end(&uid);
        let is_new = self.snapshot.get(&uid).is_none();
        let touched = self.snapshot.put(observation);
        let hears = heard || self.hears_of_an_end(&uid);
        let life = self.snapshot.get(&uid);
        // Its dependents may have been judged as if it did not exist.
        let saves = is_new && self.snapshot.dependents_of(&uid).next().is_some();
        if let Some(listing) = &mut self.listing {
            listing.told(uid);
        }
        if self.listing.is_some() {
            // A round follows at the end of the listing.
            return Effect { matters: false, classes };
        }
        let others = touched.iter().any(|one| Some(*one) != life);
        let suspect = life.is_some_and(|life| self.may_be_garbage(life));
        Effect { matters: others || hears || saves || suspect, classes }
    }

    fn miss(&mut self, gone: &FeedObject) -> Effect {
        let metadata = &gone.object.metadata;
        let uid = Uid(metadata.uid.clone());
        if let Some(listing) = &mut self.listing {
            listing.gone(&uid);
        }
        self.accused.remove(&uid);
        self.class_versions.remove(&uid.0);
        let at = revision(&metadata.resource_version);
        let referenced = self.snapshot.dependents_of(&uid).next().is_some();
        if self.snapshot.get(&uid).is_none() && (referenced || self.listing.is_some()) {
            // It was deleted before it was seen: added for a moment, so that it is known how it ended.
            if let Ok(last) = Observation::from_partial(gone) {
                self.snapshot.put(last);
            }
        }
        // A terminating object is gone, from any cause: the ledger must count it.
        let awaited = self.snapshot.get(&uid).is_some_and(|life| self.snapshot.is_terminating(life));
        let heard = self.hears_of_an_end(&uid);
        let touched = self.snapshot.remove(&uid, at, gone.by.as_deref());
        let followed = self.snapshot.dependents_of(&uid).next().is_some();
        Effect { matters: awaited || heard || followed || !touched.is_empty(), classes: is_class(gone) }
    }

    /// Whether an object subscribes to one that is being destroyed, which may wait for its answer.
    fn hears_of_an_end(&self, uid: &Uid) -> bool {
        let snapshot = &self.snapshot;
        let subscriber = snapshot.get(uid).filter(|life| !snapshot.subscriptions(*life).is_empty());
        let leaves = |life: &NodeId| snapshot.is_terminating(*life) || snapshot.journal(*life).is_some();
        subscriber.is_some_and(|life| snapshot.targets_of(life).iter().any(leaves))
    }

    /// Whether an object that has changed is a reason for a round.
    fn may_be_garbage(&self, life: NodeId) -> bool {
        let snapshot = &self.snapshot;
        let marked = |other: Option<NodeId>| other.is_some_and(|other| snapshot.is_terminating(other));
        snapshot.is_terminating(life)
            || snapshot.journal(life).is_some()
            || snapshot.candidate_record(life).is_some()
            || self.is_about_the_fuse(life)
            || snapshot
                .ownerships(life)
                .any(|leads| !matches!(leads, Ownership::Valid(owner) if !snapshot.is_terminating(owner)))
            || marked(snapshot.namespace_of(life))
            || marked(snapshot.definition_of(life))
    }
}

impl View {
    /// Whether an object is one of our records, with a request of a user.
    fn is_about_the_fuse(&self, life: NodeId) -> bool {
        self.snapshot.group(life) == "sexton.dev" && self.snapshot.request(life).is_some()
    }
}

fn is_class(seen: &FeedObject) -> bool {
    seen.resource == "classes" && seen.object.api_version.starts_with("sexton.dev/")
}

fn revision(text: &str) -> Revision {
    text.parse().unwrap_or(Revision::NONE)
}

#[cfg(test)]
mod tests {
    use sexton_model::feed::{Metadata, OwnerReference, Partial};

    use super::*;

    fn seen(name: &str, version: &str, owner: Option<&str>) -> FeedObject {
        let reference = |uid: &str| OwnerReference {
            api_version: "v1".into(),
            kind: "ConfigMap".into(),
            name: uid.into(),
            uid: uid.into(),
            ..OwnerReference::default()
        };
        let metadata = Metadata {
            name: name.into(),
            namespace: "default".into(),
            uid: name.into(),
            resource_version: version.into(),
            creation_timestamp: Some("2026-11-15T20:00:00Z".into()),
            owner_references: owner.map(reference).into_iter().collect(),
            ..Metadata::default()
        };
        let object = Partial { api_version: "v1".into(), kind: "ConfigMap".into(), metadata };
        FeedObject { resource: "configmaps".into(), object, by: None }
    }
    fn kinds() -> Line {
        let map = FeedKind {
            group: String::new(),
            version: "v1".into(),
            resource: "configmaps".into(),
            kind: "ConfigMap".into(),
            namespaced: true,
            served: true,
            broken: None,
        };
        Line::Kinds { kinds: vec![map] }
    }

    /// A dependent that was judged without its owner is judged again when the owner appears, in whatever way. Other
    /// changes of a known owner are no reason for a round.
    #[test]
    fn an_owner_that_is_heard_of_late_matters() {
        let mut view = View::default();
        view.begin();
        view.hear(kinds());
        view.hear(Line::Synced { resource_version: "1".into() });
        assert!(!view.hear(Line::Added(seen("alone", "2", None))).matters);
        assert!(view.hear(Line::Added(seen("child", "4", Some("owner")))).matters, "its owner is missing");
        assert!(view.hear(Line::Modified(seen("owner", "5", None))).matters, "it is there after all");
        assert!(!view.hear(Line::Modified(seen("owner", "6", None))).matters);
        assert!(!view.hear(Line::Added(seen("other", "7", Some("owner")))).matters);
    }
}
