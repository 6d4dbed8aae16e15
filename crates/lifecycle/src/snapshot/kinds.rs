//! The kinds of a server, interned, and which of them are listed completely.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use sexton_model::GroupResource;
use sexton_model::feed::{FeedKind, WHOLE_GROUP};

const DEFINED: &str = "customresourcedefinitions";
/// The resource id of namespaces.
pub(crate) const NAMESPACES: u32 = 0;
/// The resource id of custom resource definitions.
pub(crate) const DEFINITIONS: u32 = 1;
/// The resource id of events.
pub(crate) const EVENTS: u32 = 2;

/// Three interned tables. There are few kinds, so none is ever forgotten.
///
/// | table | key | example |
/// |---|---|---|
/// | `names` | group, kind | `example.com`, `Vm` |
/// | `rows` | name, version, plural (empty in an owner reference, which has none) | `Vm`, `v1`, `vms` |
/// | `resource_ids` | group, plural | `example.com`, `vms` |
///
/// Nodes and references hold a row. Comparing kinds means comparing names, whatever version each was written in.
#[derive(Debug, Clone)]
pub(crate) struct Kinds {
    names: Vec<KindEntry>,
    by_name: HashMap<(String, String), u32>,
    rows: Vec<KindVersion>,
    by_row: HashMap<(u32, String, String), u32>,
    resource_ids: HashMap<(String, String), u32>,
    incomplete: BTreeMap<GroupResource, String>,
}

/// A group and the name of a kind in it.
#[derive(Debug, Clone)]
pub(crate) struct KindEntry {
    pub(crate) group: String,
    pub(crate) kind: String,
    /// Whether its objects are in namespaces; `None` if the server has no such kind now.
    pub(crate) namespaced: Option<bool>,
    /// Why not all of its objects can be listed, if so.
    pub(crate) incomplete: Option<String>,
    /// The resource ids under which its objects may be found.
    pub(crate) resource_ids: Vec<u32>,
}

/// A kind as written in an object or a reference.
#[derive(Debug, Clone)]
pub(crate) struct KindVersion {
    pub(crate) name: u32,
    pub(crate) version: String,
    pub(crate) resource: String,
    /// The number of group and plural.
    pub(crate) resource_id: u32,
    /// The name of the definition of such a kind.
    pub(crate) definition: String,
}

impl Default for Kinds {
    fn default() -> Kinds {
        let known = [
            (("", "namespaces"), NAMESPACES),
            (("apiextensions.k8s.io", DEFINED), DEFINITIONS),
            (("", "events"), EVENTS),
        ];
        let resource_ids = known
            .map(|((group, resource), resource_id)| ((group.to_owned(), resource.to_owned()), resource_id));
        Kinds {
            names: Vec::new(),
            by_name: HashMap::new(),
            rows: Vec::new(),
            by_row: HashMap::new(),
            resource_ids: resource_ids.into_iter().collect(),
            incomplete: BTreeMap::new(),
        }
    }
}

impl Kinds {
    /// Replaces the kinds that the server has.
    pub(crate) fn set(&mut self, kinds: &[FeedKind]) {
        self.names.iter_mut().for_each(|name| name.namespaced = None);
        for kind in kinds {
            let name = self.name(&kind.group, &kind.kind);
            let resource_id = self.resource_id(&kind.group, &kind.resource);
            let name = &mut self.names[name as usize];
            name.namespaced = Some(kind.namespaced);
            if !name.resource_ids.contains(&resource_id) {
                name.resource_ids.push(resource_id);
            }
        }
        self.apply_incomplete();
    }

    /// Sets why not all objects of a kind can be listed; `None`: they can.
    pub(crate) fn set_incomplete(&mut self, kind: GroupResource, reason: Option<String>) {
        match reason {
            Some(reason) => _ = self.incomplete.insert(kind, reason),
            None => _ = self.incomplete.remove(&kind),
        }
        self.apply_incomplete();
    }

    pub(crate) fn incomplete(&self) -> &BTreeMap<GroupResource, String> {
        &self.incomplete
    }

    fn apply_incomplete(&mut self) {
        self.names.iter_mut().for_each(|name| name.incomplete = None);
        for (kind, reason) in &self.incomplete {
            if kind.resource == WHOLE_GROUP {
                let of_group = self.names.iter_mut().filter(|name| name.group == kind.group);
                of_group.for_each(|name| name.incomplete = Some(reason.clone()));
                continue;
            }
            let resource_id = self.resource_ids.get(&(kind.group.clone(), kind.resource.clone()));
            let Some(resource_id) = resource_id else { continue };
            for name in self.names.iter_mut().filter(|name| name.resource_ids.contains(resource_id)) {
                name.incomplete = Some(reason.clone());
            }
        }
    }

    pub(crate) fn find(&self, group: &str, kind: &str) -> Option<u32> {
        self.by_name.get(&(group.to_owned(), kind.to_owned())).copied()
    }

    pub(crate) fn name(&mut self, group: &str, kind: &str) -> u32 {
        let (names, incomplete) = (&mut self.names, &self.incomplete);
        *self.by_name.entry((group.to_owned(), kind.to_owned())).or_insert_with(|| {
            let incomplete = incomplete.get(&GroupResource::new(group, WHOLE_GROUP)).cloned();
            let (group, kind) = (group.to_owned(), kind.to_owned());
            names.push(KindEntry { group, kind, namespaced: None, incomplete, resource_ids: Vec::new() });
            (names.len() - 1) as u32
        })
    }

    fn resource_id(&mut self, group: &str, resource: &str) -> u32 {
        let next = self.resource_ids.len() as u32;
        *self.resource_ids.entry((group.to_owned(), resource.to_owned())).or_insert(next)
    }

    pub(crate) fn find_resource_id(&self, group: &str, resource: &str) -> Option<u32> {
        self.resource_ids.get(&(group.to_owned(), resource.to_owned())).copied()
    }

    /// The row of an object's kind, or, with an empty plural, of the kind in a reference.
    pub(crate) fn row(&mut self, group: &str, version: &str, kind: &str, resource: &str) -> u32 {
        let name = self.name(group, kind);
        let key = (name, version.to_owned(), resource.to_owned());
        if let Some(row) = self.by_row.get(&key) {
            return *row;
        }
        let resource_id = self.resource_id(group, resource);
        if !resource.is_empty() && !self.names[name as usize].resource_ids.contains(&resource_id) {
            self.names[name as usize].resource_ids.push(resource_id);
            self.apply_incomplete();
        }
        let definition = format!("{resource}.{group}");
        let (version, resource) = (version.to_owned(), resource.to_owned());
        self.rows.push(KindVersion { name, version, resource, resource_id, definition });
        let row = (self.rows.len() - 1) as u32;
        self.by_row.insert(key, row);
        row
    }

    pub(crate) fn get(&self, row: u32) -> &KindVersion {
        &self.rows[row as usize]
    }

    pub(crate) fn named(&self, row: u32) -> &KindEntry {
        &self.names[self.rows[row as usize].name as usize]
    }

    pub(crate) fn by_number(&self, name: u32) -> &KindEntry {
        &self.names[name as usize]
    }

    /// The kinds whose objects are found under a plural.
    pub(crate) fn kinds_of_resource(&self, resource_id: u32) -> impl Iterator<Item = u32> + '_ {
        let here =
            self.names.iter().enumerate().filter(move |(_, name)| name.resource_ids.contains(&resource_id));
        here.map(|(number, _)| number as u32)
    }
}
