//! The classes: which methods the objects of a kind have. Read whole, because the feed tells only metadata.

use std::collections::BTreeMap;
use std::sync::Arc;

use sexton_client::resources::{ListAsk, ListError, text};
use sexton_client::{CallError, Place, Resources, ServedKind};
use sexton_model::Uid;
use sexton_model::class::Class;

/// All classes, by the kind that each is for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Classes {
    by_kind: BTreeMap<(String, String), (Uid, Arc<Class>)>,
}

impl Classes {
    /// The class of a kind.
    pub(crate) fn of(&self, group: &str, kind: &str) -> Option<&Arc<Class>> {
        self.by_kind.get(&(group.to_owned(), kind.to_owned())).map(|(_, class)| class)
    }

    /// Which class gives code to which kind.
    pub(crate) fn bindings(&self) -> BTreeMap<(String, String), Uid> {
        self.by_kind.iter().map(|(kind, (uid, _))| (kind.clone(), uid.clone())).collect()
    }

    /// Reads all classes. A class that makes no sense is told and left out: its kind has no class then.
    pub(crate) async fn read(resources: &Resources) -> Result<Classes, ListError> {
        let mut classes = Classes::default();
        let listed = match resources.list(&Place::new(&served(), None), &ListAsk::default()).await {
            // A server of another make, on which nobody defined classes.
            Err(ListError::Call(CallError::Refused(status))) if status.code == 404 => return Ok(classes),
            listed => listed?,
        };
        for document in &listed.found {
            match Class::parse(document) {
                Ok(class) => {
                    let uid = Uid(text(document, "/metadata/uid").to_owned());
                    let kind = (class.group.clone(), class.kind.clone());
                    classes.by_kind.entry(kind).or_insert_with(|| (uid, Arc::new(class)));
                }
                Err(errors) => {
                    let name = text(document, "/metadata/name");
                    tracing::warn!(name, errors = errors.len(), "a class cannot be understood");
                }
            }
        }
        Ok(classes)
    }
}

fn served() -> ServedKind {
    ServedKind::of_ours("classes", "Class")
}
