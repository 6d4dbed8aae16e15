//! The objects that may be garbage, in little memory, because there may be a million. Values that many share are
//! stored once.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use sexton_client::ServedKind;
use sexton_client::resources::Slim;
use sexton_model::feed::OwnerReference;
use sexton_model::marks::{ACCUSED, DESTROYED, PROTECT, deployment_id};
use sexton_model::rule::KindName;
use sexton_model::time;

use super::found::Ask;

/// An object that may be garbage.
#[derive(Debug)]
pub(super) struct Seen {
    kind: u32,
    namespace: u32,
    owners: u32,
    /// Seconds since 1970. An object that does not say when it was created counts as new.
    pub(super) created: i64,
    pub(super) name: Box<str>,
    pub(super) uid: Box<str>,
    /// Facts that few objects have.
    pub(super) rare: Option<Box<Rare>>,
}

#[derive(Debug, Default, PartialEq)]
pub(super) struct Rare {
    protect: Option<String>,
    dying: bool,
    pub(super) deployment: Option<String>,
    pub(super) accused: Option<String>,
    pub(super) of: Option<String>,
}

impl Seen {
    pub(super) fn protect(&self) -> Option<&str> {
        self.rare.as_ref()?.protect.as_deref()
    }

    pub(super) fn dying(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.dying)
    }
}

/// All objects that may be garbage.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    seen: Vec<Seen>,
    kinds: Vec<ServedKind>,
    namespaces: Vec<Box<str>>,
    namespace_ids: HashMap<Box<str>, u32>,
    owners: Vec<Vec<OwnerReference>>,
    /// By a hash of their uids: in a collision the second list is only stored twice.
    owner_ids: HashMap<u64, u32>,
}

/// The owners that objects name.
#[derive(Debug, Default)]
pub(super) struct Named<'a> {
    pub(super) kinds: Vec<KindName>,
    pub(super) uids: HashSet<&'a str>,
    pub(super) names: HashSet<&'a str>,
}

impl Candidates {
    /// The number of objects, to return to with `reset`.
    pub(super) fn mark(&self) -> usize {
        self.seen.len()
    }

    /// Drops the objects that were added after a mark.
    pub(super) fn reset(&mut self, mark: usize) {
        self.seen.truncate(mark);
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (&Seen, &ServedKind)> {
        self.seen.iter().map(|seen| (seen, &self.kinds[seen.kind as usize]))
    }

    pub(super) fn namespace(&self, seen: &Seen) -> &str {
        &self.namespaces[seen.namespace as usize]
    }

    pub(super) fn owners(&self, seen: &Seen) -> &[OwnerReference] {
        &self.owners[seen.owners as usize]
    }

    /// Adds an object that the server selected, unless it is not nominated after all.
    pub(super) fn add(&mut self, kind: &ServedKind, slim: Slim, ask: &Ask) {
        let of = match &ask.leftover {
            None => None,
            Some(leftover) => {
                let name = leftover.name_in(|key| slim.labels.get(key).map(String::as_str));
                match name.filter(|name| ask.name.as_deref().is_none_or(|wanted| wanted == *name)) {
                    Some(name) => Some(name.to_owned()),
                    None => return,
                }
            }
        };
        let note = |name: &str| slim.annotations.get(name).cloned();
        let rare = Rare {
            protect: note(PROTECT).filter(|value| !value.is_empty() && value != "false"),
            dying: slim.deletion_timestamp.is_some() || slim.annotations.contains_key(DESTROYED),
            deployment: deployment_id(|name| slim.labels.get(name).cloned(), note),
            accused: note(ACCUSED),
            of,
        };
        let created = slim.creation_timestamp.as_deref().and_then(time::parse).unwrap_or(i64::MAX);
        let seen = Seen {
            kind: self.kind_id(kind),
            namespace: self.namespace_id(&slim.namespace),
            owners: self.owners_id(slim.owner_references),
            created,
            name: slim.name.into(),
            uid: slim.uid.into(),
            rare: (rare != Rare::default()).then(|| Box::new(rare)),
        };
        self.seen.push(seen);
    }

    fn kind_id(&mut self, kind: &ServedKind) -> u32 {
        if self.kinds.last().is_none_or(|last| last.resource != kind.resource) {
            self.kinds.push(kind.clone());
        }
        small(self.kinds.len() - 1)
    }

    fn namespace_id(&mut self, namespace: &str) -> u32 {
        if let Some(id) = self.namespace_ids.get(namespace) {
            return *id;
        }
        let id = small(self.namespaces.len());
        self.namespaces.push(namespace.into());
        self.namespace_ids.insert(namespace.into(), id);
        id
    }

    fn owners_id(&mut self, owners: Vec<OwnerReference>) -> u32 {
        let same = |other: &[OwnerReference]| *other == *owners;
        // Dependents of one owner usually come together.
        let last = self.owners.len().checked_sub(1);
        if let Some(last) = last.filter(|last| same(&self.owners[*last])) {
            return small(last);
        }
        let mut uids = DefaultHasher::new();
        owners.iter().for_each(|owner| owner.uid.hash(&mut uids));
        let uids = uids.finish();
        if let Some(id) = self.owner_ids.get(&uids).filter(|id| same(&self.owners[**id as usize])) {
            return *id;
        }
        let id = small(self.owners.len());
        self.owners.push(owners);
        self.owner_ids.insert(uids, id);
        id
    }

    /// The owners that any of the objects names.
    pub(super) fn named(&self) -> Named<'_> {
        let mut named = Named::default();
        let mut kinds = HashSet::new();
        let mut used: Vec<u32> = self.seen.iter().map(|seen| seen.owners).collect();
        used.sort_unstable();
        used.dedup();
        for reference in used.iter().flat_map(|id| &self.owners[*id as usize]) {
            named.uids.insert(&reference.uid);
            named.names.insert(&reference.name);
            let group = reference.api_version.rsplit_once('/').map_or("", |(group, _)| group);
            if kinds.insert((group, reference.kind.as_str())) {
                named.kinds.push(KindName { group: group.to_owned(), kind: reference.kind.clone() });
            }
        }
        named
    }
}

/// An index as `u32`: there are never more.
fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
