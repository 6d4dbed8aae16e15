//! Whole lists that were read before, for parts of a process that need the same one: as long as nothing in it changed, the
//! server is not asked again.
//!
//! It must not decide whether something changed: the caller says which objects there are in which version.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use sexton_model::GroupResource;

use super::{ListAsk, ListError, Place, Resources, text};

/// Objects by uid, each with its resource version.
pub type Versions = BTreeMap<String, String>;

/// A list that was read.
#[derive(Debug)]
struct ReadList {
    versions: Versions,
    objects: Arc<Vec<Value>>,
}

/// The lists that were read, by kind.
#[derive(Debug, Default)]
pub(super) struct ReadLists(Mutex<BTreeMap<GroupResource, ReadList>>);

impl ReadLists {
    fn find(&self, kind: &GroupResource, versions: &Versions) -> Option<Arc<Vec<Value>>> {
        // A lock that was poisoned guards whole entries only.
        let read = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        read.get(kind).filter(|list| list.versions == *versions).map(|list| list.objects.clone())
    }

    fn keep(&self, kind: &GroupResource, objects: &Arc<Vec<Value>>) {
        let version = |object: &Value| {
            let text = |pointer| text(object, pointer).to_owned();
            (text("/metadata/uid"), text("/metadata/resourceVersion"))
        };
        let entry = ReadList { versions: objects.iter().map(version).collect(), objects: objects.clone() };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(kind.clone(), entry);
    }
}

impl Resources {
    /// All objects of a kind in all namespaces. If `versions` says which ones there are and the last list had exactly these,
    /// it is that list; if there are none, nothing is read.
    ///
    /// # Errors
    /// See [`ListError`].
    pub async fn list_changed(
        &self,
        place: &Place,
        versions: Option<&Versions>,
    ) -> Result<Arc<Vec<Value>>, ListError> {
        let kind = &place.kind.resource;
        match versions {
            Some(versions) if versions.is_empty() => return Ok(Arc::default()),
            Some(versions) => {
                if let Some(known) = self.read.find(kind, versions) {
                    return Ok(known);
                }
            }
            None => {}
        }
        let objects = Arc::new(self.list(place, &ListAsk::default()).await?.found);
        self.read.keep(kind, &objects);
        Ok(objects)
    }
}
