//! What one definition comes to: read once, and kept for as long as the definition stands as it is.
//!
//! A definition that is added must not cost a look at all the others. It must not know how the table of kinds is made.

use std::sync::Arc;

use sexton_model::Revision;
use sexton_model::feed::FeedKind;
use sexton_model::stored::NotStored;
use sexton_store::Object;

use super::naming::{self, Taken};
use super::{KindRef, custom};

/// What a definition defines.
#[derive(Debug)]
pub(super) struct Defined {
    /// When the definition was written.
    revision: Revision,
    /// What the definition is called.
    pub(super) name: String,
    /// The group of what it defines.
    pub(super) group: String,
    /// The names that it has.
    pub(super) names: Taken,
    /// Whether it has all the names that it asks for.
    pub(super) settled: bool,
    /// Every version, served or not.
    pub(super) listed: Vec<FeedKind>,
    /// One per served version.
    pub(super) kinds: Vec<KindRef>,
    /// The version in which objects are kept, if it is not served.
    pub(super) unserved: Option<KindRef>,
}

impl Defined {
    /// Reads a definition, unless this is what was read before.
    pub(super) fn read(object: &Object, before: Option<&Arc<Defined>>) -> Result<Arc<Defined>, NotStored> {
        if let Some(same) = before.filter(|before| before.revision == object.revision) {
            return Ok(same.clone());
        }
        let document = object.document()?;
        let group = document.value().pointer("/spec/group").and_then(|group| group.as_str());
        let mut names = Taken::default();
        names.add(&document);
        let guard = object.unchanged();
        Ok(Arc::new(Defined {
            revision: object.revision,
            name: document.name().to_owned(),
            group: group.unwrap_or_default().to_owned(),
            names,
            settled: naming::has_its_names(&document),
            listed: custom::stores(&document),
            kinds: custom::kinds(&document, &guard).into_iter().map(Arc::new).collect(),
            unserved: custom::unserved(&document, &guard).map(Arc::new),
        }))
    }
}
