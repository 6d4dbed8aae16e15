//! Which kinds there are, and which of them are seen completely.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use sexton_model::GroupResource;
use sexton_model::feed::{FeedKind, WHOLE_GROUP};

const DEFINED: &str = "customresourcedefinitions";
/// The place of namespaces.
pub(crate) const NAMESPACES: u32 = 0;
/// The place of custom resource definitions.
pub(crate) const DEFINITIONS: u32 = 1;
/// The place of events.
pub(crate) const EVENTS: u32 = 2;

/// Kinds by number. There are few, so none is ever forgotten.
#[derive(Debug, Clone)]
pub(crate) struct Kinds {
    names: Vec<Name>,
    by_name: HashMap<(String, String), u32>,
    rows: Vec<Row>,
    by_row: HashMap<(u32, String, String), u32>,
    places: HashMap<(String, String), u32>,
    incomplete: BTreeMap<GroupResource, String>,
}

/// A group and the name of a kind in it.
#[derive(Debug, Clone)]
pub(crate) struct Name {
    pub(crate) group: String,
    pub(crate) kind: String,
    /// Whether its objects live in namespaces; nothing if there is no such kind.
    pub(crate) namespaced: Option<bool>,
    /// Why not all of its objects are seen.
    pub(crate) incomplete: Option<String>,
    /// Under which plurals objects of it may be found.
    pub(crate) places: Vec<u32>,
}

/// A kind as an object or a reference says it: the name, the version, and the plural if that is said.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) name: u32,
    pub(crate) version: String,
    pub(crate) resource: String,
    /// The number of group and plural.
    pub(crate) place: u32,
    /// What the definition of such a kind is called.
    pub(crate) definition: String,
}

impl Default for Kinds {
    fn default() -> Kinds {
        let known = [
            (("", "namespaces"), NAMESPACES),
            (("apiextensions.k8s.io", DEFINED), DEFINITIONS),
            (("", "events"), EVENTS),
        ];
        let places = known.map(|((group, resource), place)| ((group.to_owned(), resource.to_owned()), place));
        Kinds {
            names: Vec::new(),
            by_name: HashMap::new(),
            rows: Vec::new(),
            by_row: HashMap::new(),
            places: places.into_iter().collect(),
            incomplete: BTreeMap::new(),
        }
    }
}

impl Kinds {
    /// Replaces what is known to exist.
    pub(crate) fn set(&mut self, kinds: &[FeedKind]) {
        self.names.iter_mut().for_each(|name| name.namespaced = None);
        for kind in kinds {
            let name = self.name(&kind.group, &kind.kind);
            let place = self.place(&kind.group, &kind.resource);
            let name = &mut self.names[name as usize];
            name.namespaced = Some(kind.namespaced);
            if !name.places.contains(&place) {
                name.places.push(place);
            }
        }
        self.spread();
    }

    /// Says why not all objects of a kind are seen, or that they are.
    pub(crate) fn set_incomplete(&mut self, kind: GroupResource, reason: Option<String>) {
        match reason {
            Some(reason) => _ = self.incomplete.insert(kind, reason),
            None => _ = self.incomplete.remove(&kind),
        }
        self.spread();
    }

    pub(crate) fn incomplete(&self) -> &BTreeMap<GroupResource, String> {
        &self.incomplete
    }

    fn spread(&mut self) {
        self.names.iter_mut().for_each(|name| name.incomplete = None);
        for (kind, reason) in &self.incomplete {
            if kind.resource == WHOLE_GROUP {
                let of_group = self.names.iter_mut().filter(|name| name.group == kind.group);
                of_group.for_each(|name| name.incomplete = Some(reason.clone()));
                continue;
            }
            let place = self.places.get(&(kind.group.clone(), kind.resource.clone()));
            let Some(place) = place else { continue };
            for name in self.names.iter_mut().filter(|name| name.places.contains(place)) {
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
            names.push(Name { group, kind, namespaced: None, incomplete, places: Vec::new() });
            (names.len() - 1) as u32
        })
    }

    fn place(&mut self, group: &str, resource: &str) -> u32 {
        let next = self.places.len() as u32;
        *self.places.entry((group.to_owned(), resource.to_owned())).or_insert(next)
    }

    pub(crate) fn find_place(&self, group: &str, resource: &str) -> Option<u32> {
        self.places.get(&(group.to_owned(), resource.to_owned())).copied()
    }

    /// The row of an object's kind, or, with an empty plural, of the kind in a reference.
    pub(crate) fn row(&mut self, group: &str, version: &str, kind: &str, resource: &str) -> u32 {
        let name = self.name(group, kind);
        let key = (name, version.to_owned(), resource.to_owned());
        if let Some(row) = self.by_row.get(&key) {
            return *row;
        }
        let place = self.place(group, resource);
        if !resource.is_empty() && !self.names[name as usize].places.contains(&place) {
            self.names[name as usize].places.push(place);
            self.spread();
        }
        let definition = format!("{resource}.{group}");
        let (version, resource) = (version.to_owned(), resource.to_owned());
        self.rows.push(Row { name, version, resource, place, definition });
        let row = (self.rows.len() - 1) as u32;
        self.by_row.insert(key, row);
        row
    }

    pub(crate) fn get(&self, row: u32) -> &Row {
        &self.rows[row as usize]
    }

    pub(crate) fn named(&self, row: u32) -> &Name {
        &self.names[self.rows[row as usize].name as usize]
    }

    pub(crate) fn by_number(&self, name: u32) -> &Name {
        &self.names[name as usize]
    }

    /// The kinds whose objects are found under a plural.
    pub(crate) fn at_place(&self, place: u32) -> impl Iterator<Item = u32> + '_ {
        let here = self.names.iter().enumerate().filter(move |(_, name)| name.places.contains(&place));
        here.map(|(number, _)| number as u32)
    }
}
