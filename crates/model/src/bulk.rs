//! Many deletions, patches and puts in one commit, each with the evidence on which it rests. The wire form of the bulk verb.
//!
//! It must not know why anything is deleted: conditions are about objects and references, nothing else.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::lease::Proof;
use crate::raw::Raw;
use crate::{Key, Status};

/// More items would keep other writers waiting.
pub const MAX_ITEMS: usize = 5_000;

/// Conditions are checked for each object one by one, also those that are said once for many, and so is what is to be
/// written: more of them would be more memory and more time of the writer than the request is large.
pub const MAX_CONDITIONS: usize = 500_000;

/// So many bytes of annotations and labels count like one condition.
const BYTES_PER_CONDITION: usize = 64;

/// The request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Bulk {
    /// The lease whose holder alone may act: checked in the committing transaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<Epoch>,
    /// In this order.
    pub items: Vec<Item>,
}

/// A lease that must still say exactly this.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Epoch {
    /// Where the lease is.
    pub namespace: String,
    /// The lease.
    pub name: String,
    /// The holder's identity.
    pub holder: String,
    /// How often it changed hands.
    pub transitions: i64,
    /// The secret of the holder. Without it the epoch is a condition like any other, and gives no right to write what only
    /// the holder may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
}

/// One write, and what must be true for it in the committing transaction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    /// Empty for the core group.
    #[serde(default)]
    pub group: String,
    /// The plural.
    pub resource: String,
    /// Empty for cluster-scoped kinds.
    #[serde(default)]
    pub namespace: String,
    /// The name.
    pub name: String,
    /// The uid of the object that is meant.
    pub uid: String,
    /// More objects of the same kind and namespace, each as its name and uid, for which all of this is said as well.
    /// What many have in common is said once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<(String, String)>,
    /// The version that is meant, if it matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_version: Option<String>,
    /// Uids of objects that must not exist, anywhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<String>,
    /// Nothing may refer to this object as its owner, be inside of it, or be of the kind that it is about.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unreferenced: bool,
    /// Uids of objects whose references do not count for that: those that go together with this one. Its own never
    /// count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<String>,
    /// The object must name exactly these uids as its owners: the decision was made for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owners: Option<Vec<String>>,
    /// Uids of objects that must be terminating, and not with the policy `Orphan`: this write is a consequence of that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marked: Vec<String>,
    /// Other objects that must be at these versions, each as uid and version, or be gone: the decision was made for
    /// what they say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unchanged: Vec<(String, String)>,
    /// No objects but these may have subscribed to the end of the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscribers: Option<Vec<String>>,
    /// The object must not be protected.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unprotected: bool,
    /// The object must have exactly these annotations; `None` means that it must not have that one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotated: Annotations,
    /// The object must have exactly these labels; `None` means that it must not have that one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labelled: Annotations,
    /// If the object is terminating already, it stays as it is: the first deletion decided what is to follow.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unmarked: bool,
    /// What to do.
    pub action: Action,
    /// If the item removes the object, this is left behind as a `Tombstone`, in the same transaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tombstone: Option<Raw>,
}

impl Bulk {
    /// How many objects it is about: as many results there are.
    pub fn count(&self) -> usize {
        self.items.iter().map(Item::count).sum()
    }

    /// What makes no sense whatever is stored.
    ///
    /// # Errors
    /// What is wrong with it, for the client that made it.
    pub fn check(&self) -> Result<(), String> {
        let count = self.count();
        if count > MAX_ITEMS {
            return Err(format!("{count} items are too many for one request: at most {MAX_ITEMS}"));
        }
        let conditions = self.items.iter().map(Item::conditions).fold(0, usize::saturating_add);
        if conditions > MAX_CONDITIONS {
            return Err(format!(
                "{conditions} conditions are too many for one request: at most {MAX_CONDITIONS}, counted once for each \
                 life that they are said for"
            ));
        }
        let mut slots = HashSet::with_capacity(count);
        for (at, item) in self.items.iter().enumerate() {
            let of_one = item.resource_version.is_some()
                || item.tombstone.is_some()
                || item.subscribers.is_some()
                || matches!(item.action, Action::Put { .. });
            if !item.also.is_empty() && of_one {
                return Err(format!(
                    "items[{at}]: resourceVersion, subscribers, tombstone and put are about one life only"
                ));
            }
            for (name, uid) in item.lives() {
                if item.resource.is_empty() || name.is_empty() || uid.is_empty() {
                    return Err(format!("items[{at}] needs resource, name and uid"));
                }
                if !slots.insert((&item.group, &item.resource, &item.namespace, name)) {
                    return Err(format!("items[{at}]: {} {name:?} occurs twice", item.resource));
                }
            }
        }
        Ok(())
    }
}

impl Item {
    /// How much is to be checked and written, all of it once for each of its objects: in conditions and entries of
    /// lists.
    pub fn conditions(&self) -> usize {
        let words = |words: &Annotations| {
            let bytes: usize =
                words.iter().map(|(name, value)| name.len() + value.as_ref().map_or(0, String::len)).sum();
            words.len() + bytes / BYTES_PER_CONDITION
        };
        let changed = match &self.action {
            Action::Delete { annotations, .. } => words(annotations),
            Action::Patch { remove_finalizers, add_finalizers, remove_owners, annotations } => {
                remove_finalizers.len() + add_finalizers.len() + remove_owners.len() + words(annotations)
            }
            Action::Put { .. } => 0,
        };
        let known = |list: &Option<Vec<String>>| list.as_ref().map_or(0, Vec::len);
        let others = self.absent.len() + self.marked.len() + self.unchanged.len() + self.except.len();
        let own =
            known(&self.owners) + known(&self.subscribers) + words(&self.annotated) + words(&self.labelled);
        self.count().saturating_mul(others + own + changed)
    }

    /// About how many bytes it takes in a request: never much less than it does.
    pub fn about_bytes(&self) -> usize {
        const FIELDS: usize = 256;
        const QUOTES: usize = 8;
        let one = |text: &String| text.len() + QUOTES;
        let list = |list: &[String]| list.iter().map(one).sum::<usize>();
        let pairs = |list: &[(String, String)]| list.iter().map(|(a, b)| one(a) + one(b)).sum::<usize>();
        let known = |known: &Option<Vec<String>>| known.as_deref().map_or(0, list);
        // Journals are JSON within JSON: their quotes are written with a backslash.
        let words = |words: &Annotations| {
            words
                .iter()
                .map(|(name, value)| one(name) + 2 * value.as_ref().map_or(4, String::len))
                .sum::<usize>()
        };
        let changed = match &self.action {
            Action::Delete { annotations, .. } => words(annotations),
            Action::Patch { remove_finalizers, add_finalizers, remove_owners, annotations } => {
                list(remove_finalizers) + list(add_finalizers) + list(remove_owners) + words(annotations)
            }
            Action::Put { object, .. } => object.text().len(),
        };
        let others = list(&self.absent) + list(&self.marked) + list(&self.except) + pairs(&self.unchanged);
        let own =
            known(&self.owners) + known(&self.subscribers) + words(&self.annotated) + words(&self.labelled);
        let tombstone = self.tombstone.as_ref().map_or(0, |tombstone| tombstone.text().len());
        FIELDS + pairs(&self.also) + self.name.len() + others + own + changed + tombstone
    }

    /// A write about the object with this key, on no condition but its uid.
    pub fn new(key: Key, uid: impl Into<String>, action: Action) -> Item {
        Item {
            group: key.kind.group,
            resource: key.kind.resource,
            namespace: key.namespace,
            name: key.name,
            uid: uid.into(),
            also: Vec::new(),
            resource_version: None,
            absent: Vec::new(),
            unreferenced: false,
            except: Vec::new(),
            owners: None,
            marked: Vec::new(),
            unchanged: Vec::new(),
            subscribers: None,
            unprotected: false,
            annotated: Annotations::new(),
            labelled: Annotations::new(),
            unmarked: false,
            action,
            tombstone: None,
        }
    }

    /// How many objects it is about.
    pub fn count(&self) -> usize {
        1 + self.also.len()
    }

    /// Names and uids of the objects that it is about, in the order of their results.
    pub fn lives(&self) -> impl Iterator<Item = (&str, &str)> {
        let also = self.also.iter().map(|(name, uid)| (name.as_str(), uid.as_str()));
        std::iter::once((self.name.as_str(), self.uid.as_str())).chain(also)
    }

    /// The same as one item for each object.
    pub fn singles(&self) -> impl Iterator<Item = Item> + '_ {
        let alone = Item { also: Vec::new(), ..self.clone() };
        let single = move |(name, uid): (&str, &str)| Item {
            name: name.to_owned(),
            uid: uid.to_owned(),
            ..alone.clone()
        };
        self.lives().map(single)
    }
}

/// Annotations to set; `None` removes one.
pub type Annotations = BTreeMap<String, Option<String>>;

/// What an item does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Action {
    /// Makes the object terminating, or removes it if nothing holds it: the DELETE verb.
    Delete {
        /// `Cascade`, `Foreground`, `Background` or `Orphan`; without it what is recorded, else `Cascade`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        policy: Option<String>,
        /// Set if the object becomes terminating.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        annotations: Annotations,
        /// The object must be held until its subscribers were notified, it was destroyed, and they were told of that.
        /// Our own server sees to that by itself.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        hold: bool,
    },
    /// Changes metadata; a terminating object that nothing holds afterwards is removed.
    Patch {
        /// Finalizers to take off; a namespace's own hold is called `kubernetes`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        remove_finalizers: Vec<String>,
        /// Finalizers to put on.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        add_finalizers: Vec<String>,
        /// Uids of owners whose references are removed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        remove_owners: Vec<String>,
        /// Annotations to set or remove.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        annotations: Annotations,
    },
    /// Stores a whole object: a new one under the uid of the item, or another version of the one that has it.
    Put {
        /// The object.
        object: Raw,
        /// The manager of its fields.
        field_manager: String,
    },
}

impl Action {
    /// Sets and removes annotations, and nothing else.
    pub fn annotate(annotations: Annotations) -> Action {
        Action::Patch {
            remove_finalizers: Vec::new(),
            add_finalizers: Vec::new(),
            remove_owners: Vec::new(),
            annotations,
        }
    }
}

/// The answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BulkResult {
    /// In the order of the request.
    pub items: Vec<ItemResult>,
}

/// What became of an item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemResult {
    /// As of a request of its own.
    pub code: u16,
    /// What happened, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The version now; of what was removed, the revision of the removal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_version: Option<String>,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Box<Status>>,
    /// Which guarantee could not be given, on a server that does not know this verb.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weaker: Option<String>,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// It is gone.
    Removed,
    /// It is terminating, and held.
    Marked,
    /// It is new.
    Created,
    /// It was changed.
    Patched,
    /// It already was as asked for.
    Unchanged,
}

/// Reasons of refused items that only this verb knows.
pub mod reason {
    /// The lease says something else now.
    pub const STALE_EPOCH: &str = "StaleEpoch";
    /// An object that must be absent exists.
    pub const STILL_PRESENT: &str = "StillPresent";
    /// The owners of the object are others now.
    pub const OWNERS_CHANGED: &str = "OwnersChanged";
    /// An object that must be terminating is not.
    pub const NOT_MARKED: &str = "NotMarked";
    /// The object is protected.
    pub const PROTECTED: &str = "Protected";
    /// The annotations of the object are others now.
    pub const ANNOTATIONS_CHANGED: &str = "AnnotationsChanged";
    /// A label is not what the caller said.
    pub const LABELS_CHANGED: &str = "LabelsChanged";
    /// An object for which the decision was made is at another version now, or there is a subscriber that the caller
    /// did not name.
    pub const CHANGED: &str = "Changed";
    /// Something refers to the object.
    pub const STILL_REFERENCED: &str = "StillReferenced";
}
