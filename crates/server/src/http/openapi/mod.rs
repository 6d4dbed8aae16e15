//! OpenAPI v3: an index, and one document per group and version with everything that can be asked of its kinds.
//!
//! Every command of kubectl asks for the index, so that must be cheap: documents are made when they are asked for, and
//! made again only if a definition in them changed.

mod components;
mod operations;
mod parameters;
mod paths;
mod plain_second;
mod second;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use serde_json::{Map, Value, json};
use sexton_model::Status;

use crate::api::Result;
use crate::kinds::{KindRef, Registry};

pub(super) use plain_second::document as plain_second;
pub(super) use second::document as second;

/// A group and a version.
type GroupVersion = (String, String);

/// What was made so far.
#[derive(Debug, Default)]
pub(super) struct Documents {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// The index of one registry.
    index: Option<(Arc<Registry>, Bytes)>,
    /// Documents, each with the mark of what it was made from.
    documents: BTreeMap<GroupVersion, (u64, Bytes)>,
}

impl Documents {
    fn known(&self) -> MutexGuard<'_, Known> {
        // A thread that panicked while holding it left whole documents behind.
        self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// `/openapi/v3`
    pub(super) fn index(&self, registry: &Arc<Registry>) -> Bytes {
        if let Some((made_for, index)) = &self.known().index
            && Arc::ptr_eq(made_for, registry)
        {
            return index.clone();
        }
        let marks = marks(registry);
        let mut paths = Map::new();
        for ((group, version), mark) in &marks {
            let path = path(group, version);
            // Clients keep a document for as long as its address stays the same.
            let address = format!("/openapi/v3/{path}?hash={mark:016X}");
            paths.insert(path, json!({"serverRelativeURL": address}));
        }
        let index = Bytes::from(json!({"paths": paths}).to_string());
        let mut known = self.known();
        known.documents.retain(|place, _| marks.contains_key(place));
        known.index = Some((registry.clone(), index.clone()));
        index
    }

    /// `/openapi/v3/api/v1`, `/openapi/v3/apis/{group}/{version}`
    pub(super) fn document(&self, registry: &Registry, group: &str, version: &str) -> Result<Bytes> {
        let kinds: Vec<&KindRef> = registry.of(group, version).collect();
        if kinds.is_empty() {
            return Err(Status::no_such_path().into());
        }
        let place = (group.to_owned(), version.to_owned());
        let mut mark = Mark::default();
        kinds.iter().for_each(|kind| mark.add(kind));
        let mark = mark.0.finish();
        if let Some((made_from, document)) = self.known().documents.get(&place)
            && *made_from == mark
        {
            return Ok(document.clone());
        }
        let document = Bytes::from(make(&kinds).to_string());
        self.known().documents.insert(place, (mark, document.clone()));
        Ok(document)
    }
}

fn path(group: &str, version: &str) -> String {
    if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") }
}

/// What a document is made from, in a number.
struct Mark(DefaultHasher);

impl Default for Mark {
    fn default() -> Self {
        let mut hasher = DefaultHasher::new();
        env!("CARGO_PKG_VERSION").hash(&mut hasher);
        Mark(hasher)
    }
}

impl Mark {
    fn add(&mut self, kind: &KindRef) {
        kind.resource.resource.hash(&mut self.0);
        kind.offer.stamp.hash(&mut self.0);
    }
}

/// The marks of all documents. One pass over all kinds: there may be many, each in a group of its own.
fn marks(registry: &Registry) -> BTreeMap<GroupVersion, u64> {
    let mut marks: BTreeMap<GroupVersion, Mark> = BTreeMap::new();
    for kind in registry.all() {
        marks.entry((kind.resource.group.clone(), kind.version.clone())).or_default().add(kind);
    }
    marks.into_iter().map(|(place, mark)| (place, mark.0.finish())).collect()
}

fn make(kinds: &[&KindRef]) -> Value {
    let mut all = Map::new();
    kinds.iter().for_each(|kind| paths::add(kind, &mut all));
    json!({
        "openapi": "3.0.0",
        "info": {"title": "Sexton", "version": env!("CARGO_PKG_VERSION")},
        "paths": all,
        "components": {"schemas": components::of(kinds)},
    })
}
