//! All lives as they were last seen, with the indexes that decisions need. Kept up to date by events.
//!
//! Pure memory: it does not know where observations come from, and it decides nothing. Every change costs as much as
//! the changed life has references, never more. It holds metadata and marks; complete documents are found by their key.
//!
//! ```
//! use sexton_lifecycle::{Observation, OwnerRef, Ownership, Snapshot};
//! use sexton_model::{GroupResource, Key, Revision, Uid, feed::FeedKind};
//!
//! let kind = |kind: &str, resource: &str| FeedKind {
//!     group: String::new(), version: "v1".into(), resource: resource.into(), kind: kind.into(),
//!     namespaced: true, served: true, broken: None,
//! };
//! let key = |resource: &str, name: &str| Key {
//!     kind: GroupResource::new("", resource), namespace: "a".into(), name: name.into(),
//! };
//! let mut snapshot = Snapshot::new();
//! snapshot.set_kinds(&[kind("App", "apps"), kind("Vm", "vms")]);
//! let shop = Observation::new(key("apps", "shop"), "App", "v1", Uid("u-shop".into()), Revision::new(1));
//! let mut web = Observation::new(key("vms", "web"), "Vm", "v1", Uid("u-web".into()), Revision::new(2));
//! web.owners = vec![OwnerRef {
//!     group: String::new(), version: "v1".into(), kind: "App".into(), name: "shop".into(),
//!     uid: Uid("u-shop".into()), controller: false, blocks: true,
//! }];
//! snapshot.put(web);
//! snapshot.put(shop);
//! snapshot.set_synced(true);
//!
//! let shop = snapshot.get(&Uid("u-shop".into())).unwrap();
//! let web = snapshot.find(&key("vms", "web")).unwrap();
//! assert_eq!(snapshot.dependents(shop).map(|(life, _)| life).collect::<Vec<_>>(), [web]);
//! assert_eq!(snapshot.owners(web)[0].1, Ownership::Valid(shop));
//! assert_eq!(snapshot.key(web).to_string(), "vms/a/web");
//!
//! snapshot.remove(&Uid("u-shop".into()), Revision::new(3), Some("ada"));
//! assert_eq!(snapshot.owners(web)[0].1, Ownership::Absent { seen: true });
//! ```

mod bag;
mod events;
mod facts;
mod gone;
mod kinds;
mod life;
mod links;
mod observation;
mod owners;
mod subscribers;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use sexton_model::feed::FeedKind;
use sexton_model::{GroupResource, Key, Revision, Uid};

use bag::Bag;
use gone::Memory;
use kinds::Kinds;
use life::{Life, Lives};
use words::{Id, Word, Words};

pub use life::{Accused, LifeId};
pub use observation::{NotObservable, Observation, OwnerRef};
pub use owners::{Ownership, WhyInvalid, WhyUnknown};

/// All lives as they were last seen.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    words: Words,
    kinds: Kinds,
    lives: Lives,
    by_uid: HashTable<u32>,
    by_slot: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// Who refers to a uid, whether that lives or not.
    dependents: HashMap<Id, Bag>,
    /// The uids that are referred to and do not live here.
    absent: BTreeSet<Id>,
    members: HashMap<Word, BTreeSet<u32>>,
    instances: HashMap<u32, BTreeSet<u32>>,
    marked: BTreeSet<u32>,
    accused: BTreeSet<u32>,
    /// How many of them are namespaces or definitions.
    marked_around: usize,
    /// How many of them were approved with a plan.
    marked_approved: usize,
    subscribers_by_uid: HashMap<Id, Bag>,
    subscribers_by_slot: HashMap<[u32; 3], Bag>,
    gone: Memory,
    classes: BTreeMap<u32, Id>,
    revision: Revision,
    synced: bool,
}

impl Snapshot {
    /// An empty one: nothing was listed yet, no kind is known.
    pub fn new() -> Snapshot {
        Snapshot::default()
    }

    /// How many lives there are.
    pub fn len(&self) -> usize {
        self.lives.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The highest revision that was seen.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Notes that everything up to a revision has been seen.
    pub fn advance(&mut self, revision: Revision) {
        self.revision = self.revision.max(revision);
    }

    /// Replaces the kinds that there are, in all their versions.
    pub fn set_kinds(&mut self, kinds: &[FeedKind]) {
        self.kinds.set(kinds);
    }

    /// Whether there is such a kind.
    pub fn kind_known(&self, group: &str, kind: &str) -> bool {
        self.kinds.find(group, kind).is_some_and(|name| self.kinds.by_number(name).namespaced.is_some())
    }

    /// Says why not all objects of a kind are seen: nobody of it is held to be absent then. `None` takes it back.
    pub fn set_incomplete(&mut self, kind: GroupResource, reason: Option<String>) {
        self.kinds.set_incomplete(kind, reason);
    }

    /// The kinds that are not seen completely, and why.
    pub fn incomplete(&self) -> &BTreeMap<GroupResource, String> {
        self.kinds.incomplete()
    }

    /// Says whether everything that existed at the start has been told. Until then nobody is held to be absent.
    pub fn set_synced(&mut self, synced: bool) {
        self.synced = synced;
    }

    /// Whether the first listing is complete and every kind is seen.
    pub fn complete(&self) -> bool {
        self.synced && self.kinds.incomplete().is_empty()
    }

    /// Replaces which class gives code to which kind: from group and kind to the uid of the class.
    pub fn set_classes(&mut self, classes: &BTreeMap<(String, String), Uid>) {
        for id in std::mem::take(&mut self.classes).into_values() {
            self.words.release_id(id);
        }
        for ((group, kind), uid) in classes {
            let (name, id) = (self.kinds.name(group, kind), self.words.take_uid(uid));
            self.classes.insert(name, id);
        }
    }

    /// The life with a uid.
    pub fn get(&self, uid: &Uid) -> Option<LifeId> {
        self.by_id(self.words.find_uid(&uid.0)?)
    }

    /// The life in a slot.
    pub fn find(&self, key: &Key) -> Option<LifeId> {
        let place = self.kinds.find_place(&key.kind.group, &key.kind.resource)?;
        let (namespace, name) = (self.words.find(&key.namespace)?, self.words.find(&key.name)?);
        self.in_slot(place, namespace, name)
    }

    /// Whether the life is still there.
    pub fn contains(&self, life: LifeId) -> bool {
        self.lives.find(life).is_some()
    }

    /// Every life there is. Nothing that has to be quick may need it.
    pub fn lives(&self) -> impl Iterator<Item = LifeId> + '_ {
        self.lives.indexes().map(|index| self.lives.id(index))
    }

    /// The lives that are marked, in the order of their ids.
    pub fn marked(&self) -> impl Iterator<Item = LifeId> + '_ {
        self.marked.iter().map(|index| self.lives.id(*index))
    }

    /// The lives of whom somebody says that they are garbage, in the order of their ids.
    pub fn accused(&self) -> impl Iterator<Item = LifeId> + '_ {
        self.accused.iter().map(|index| self.lives.id(*index))
    }

    /// The lives that name an owner who is not there, in the order of their ids.
    pub fn suspects(&self) -> BTreeSet<LifeId> {
        let bags = self.absent.iter().filter_map(|id| self.dependents.get(id));
        bags.flat_map(Bag::iter).map(|index| self.lives.id(index)).collect()
    }

    /// The removed lives that somebody still names as an owner.
    pub fn missed(&self) -> impl Iterator<Item = Uid> + '_ {
        self.missed_ids().map(|id| self.words.uid(id))
    }

    pub(crate) fn missed_ids(&self) -> impl Iterator<Item = Id> + '_ {
        self.gone.iter().filter(|id| self.absent.contains(id))
    }

    /// Who asked for a removal that was seen, as long as that is remembered.
    pub fn removed_by(&self, uid: &Uid) -> Option<&str> {
        self.gone.get(self.words.find_uid(&uid.0)?)?.by.as_deref()
    }

    /// Whether a removal was seen, as long as that is remembered.
    pub fn was_removed(&self, uid: &Uid) -> bool {
        self.words.find_uid(&uid.0).is_some_and(|id| self.gone.get(id).is_some())
    }

    pub(crate) fn uid_of(&self, id: Id) -> Uid {
        self.words.uid(id)
    }

    pub(crate) fn by_id(&self, id: Id) -> Option<LifeId> {
        let same = |index: &u32| self.lives.get(*index).uid == id;
        self.by_uid.find(self.hash_uid(id), same).map(|index| self.lives.id(*index))
    }

    pub(crate) fn in_slot(&self, place: u32, namespace: Word, name: Word) -> Option<LifeId> {
        let same = |index: &u32| {
            let life = self.lives.get(*index);
            (self.kinds.get(life.kind).place, life.namespace, life.name) == (place, namespace, name)
        };
        let hash = self.hash_slot(place, namespace, name);
        self.by_slot.find(hash, same).map(|index| self.lives.id(*index))
    }

    /// What is known of a life.
    ///
    /// # Panics
    /// If it is not there any more: whoever keeps ids while events come in asks [`Snapshot::contains`] first.
    pub(crate) fn life(&self, life: LifeId) -> &Life {
        match self.lives.find(life) {
            Some(life) => life,
            None => panic!("the life is not in the snapshot any more"),
        }
    }
}
