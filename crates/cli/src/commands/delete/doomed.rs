//! A life that is going to be deleted: this one and no other, even if its name is taken again.

use serde_json::Value;
use sexton_client::Place;
use sexton_client::resources::text;

/// A life that was named, and is there.
pub(super) struct Doomed {
    pub(super) place: Place,
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) version: String,
    /// Whether somebody wrote its name, or a selector found it.
    pub(super) by_name: bool,
}

impl Doomed {
    pub(super) fn new(place: Place, object: &Value, by_name: bool) -> Doomed {
        let metadata = |field: &str| text(object, &format!("/metadata/{field}")).to_owned();
        Doomed {
            name: metadata("name"),
            uid: metadata("uid"),
            version: metadata("resourceVersion"),
            place,
            by_name,
        }
    }

    pub(super) fn label(&self) -> String {
        let label = self.place.kind.label(&self.name);
        match &self.place.namespace {
            Some(namespace) if namespace != "default" => format!("{label} (in {namespace})"),
            _ => label,
        }
    }

    /// Namespaces and definitions take along what is in them.
    pub(super) fn has_contents(&self) -> bool {
        matches!(self.place.kind.kind.as_str(), "Namespace" | "CustomResourceDefinition")
    }
}
