//! Which kinds are served, and what each of them is like. No kind has code of its own elsewhere: what differs between
//! kinds is a fact here.

mod builtin;
mod custom;
mod defined;
mod described;
mod mistyped;
mod naming;
mod offer;
mod offered;
mod registry;
mod selectable;
mod unknown;

#[cfg(test)]
pub(crate) use builtin::kinds as builtin_kinds;
pub(crate) use builtin::listed as builtin_listed;
pub(crate) use custom::stores as defined_by;
pub use custom::{DefinitionError, check_definition, check_redefinition, complete_definition};
pub use described::{COMPONENTS, component, component_of, with_all_below};
pub(crate) use mistyped::{Mistyped, Type, mistyped};
pub(crate) use naming::settle as settle_names;
pub use offer::{ColumnType, Offer, PrinterColumn, ScalePaths, ScaleSelector};
pub use registry::{Kinds, Registry};
pub(crate) use registry::{classes, definitions};
pub(crate) use unknown::unknown_fields;

use std::sync::Arc;

use sexton_model::GroupResource;
use sexton_model::feed::FeedKind;
use sexton_model::fields::Schema;
use sexton_model::names::{self, Complaint};
use sexton_model::schema::Structural;
use sexton_model::stored::{NotStored, Stored};
use sexton_store::{Guard, Object};

/// How objects of a kind may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameRule {
    /// Most kinds.
    Subdomain,
    /// Namespaces.
    Label,
    /// Services.
    Dns1035,
}

impl NameRule {
    /// Why a name is not allowed.
    pub fn check(self, name: &str) -> Result<(), Complaint> {
        match self {
            NameRule::Subdomain => names::dns_subdomain(name),
            NameRule::Label => names::dns_label(name),
            NameRule::Dns1035 => names::dns1035_label(name),
        }
    }
}

/// A kind whose deletion or preparation follows rules of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Special {
    /// Nothing special.
    None,
    /// Holds other objects; has a second list of finalizers in its spec.
    Namespace,
    /// Defines another kind.
    Definition,
    /// Gives code to another kind.
    Class,
    /// Records what is deployed together.
    Module,
    /// Says what is looked for among other kinds.
    Rule,
    /// Has the program without which the objects in its namespace cannot be destroyed.
    Environment,
    /// Has a write-only `stringData`.
    Secret,
    /// Cannot own or be owned in a way that matters; deletes at once.
    Event,
    /// A lease: while it is held with a proof, only its holder writes it.
    Lease,
    /// Tells what the collector did: only the collector says what is in it.
    Record,
}

/// A served kind in one version.
#[derive(Debug, Clone)]
pub struct Kind {
    /// Group and plural.
    pub resource: GroupResource,
    /// The version, e.g. `v1`.
    pub version: String,
    /// The version in which objects are kept; all versions share them.
    pub stored_version: String,
    /// The kind's name, e.g. `ConfigMap`.
    pub kind: String,
    /// What a list of it is called.
    pub list_kind: String,
    /// The singular.
    pub singular: String,
    /// Short names.
    pub short_names: Vec<String>,
    /// Groups of kinds, e.g. `all`.
    pub categories: Vec<String>,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// Whether `…/status` exists.
    pub status: bool,
    /// Whether the server counts changes of the desired state.
    pub generation: bool,
    /// Whether a PUT may come without a resource version.
    pub unconditional_update: bool,
    /// Whether a DELETE answers with the object instead of a `Status`.
    pub returns_deleted: bool,
    /// How objects may be called.
    pub names: NameRule,
    /// Fields beside name and namespace that can be selected by.
    pub fields: &'static [&'static str],
    /// Rules of its own.
    pub special: Special,
    /// For custom kinds: the definition, as it was when this was read. New objects are written only while it stands.
    pub definition: Option<Guard>,
    /// Whether the definition is going away.
    pub terminating: bool,
    /// How lists and maps merge.
    pub schema: Arc<Schema>,
    /// What it offers beside its objects.
    pub offer: Arc<Offer>,
    /// What objects must be like, where a definition says more than nothing about it.
    pub structural: Option<Arc<Structural>>,
}

/// A kind is shared by all tasks that work on a request for it.
pub type KindRef = Arc<Kind>;

impl Kind {
    /// `apiVersion` of its objects.
    pub fn api_version(&self) -> String {
        self.qualified(&self.version)
    }

    /// `apiVersion` of its objects as they are kept.
    pub fn stored_api_version(&self) -> String {
        self.qualified(&self.stored_version)
    }

    fn qualified(&self, version: &str) -> String {
        if self.resource.group.is_empty() {
            version.to_owned()
        } else {
            format!("{}/{version}", self.resource.group)
        }
    }

    /// As a feed over all kinds tells it.
    fn listed(&self) -> FeedKind {
        FeedKind {
            group: self.resource.group.clone(),
            version: self.version.clone(),
            resource: self.resource.resource.clone(),
            kind: self.kind.clone(),
            namespaced: self.namespaced,
            served: true,
            broken: None,
        }
    }

    /// Whether the schema comes from a definition.
    pub fn is_custom(&self) -> bool {
        self.definition.is_some()
    }

    /// How lists and maps merge.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The component that says of which fields objects of a built-in kind are made, for [`component`]; what is referred
    /// to in it are components, too.
    pub fn known_fields(&self) -> Option<&'static str> {
        component_of(&self.resource.group, &self.kind).filter(|_| !self.is_custom())
    }

    /// Whether objects may get values that they leave out.
    pub(crate) fn gives_defaults(&self) -> bool {
        self.structural.as_ref().is_some_and(|schema| schema.has_defaults())
    }

    /// A stored object with the values that it leaves out and its definition gives. Where a definition gives none this
    /// costs a look.
    pub(crate) fn filled_in(&self, object: Object) -> Result<Object, NotStored> {
        let Some(schema) = self.structural.as_ref().filter(|_| self.gives_defaults()) else {
            return Ok(object);
        };
        let before = object.document()?;
        let mut document = before.clone();
        // What does not fit any more is left out: the object is only shown.
        let _ = schema.fill(document.value_mut());
        if document == before {
            return Ok(object);
        }
        Ok(Object { stored: Stored::encode(&document), ..object })
    }

    /// Whether objects can be selected by this field.
    pub fn selectable(&self, field: &str) -> bool {
        matches!(field, "metadata.name" | "metadata.namespace")
            || self.fields.contains(&field)
            || self.offer.selectable.iter().any(|path| path == field)
    }

    /// Whether objects of it hold other objects: a namespace its contents, a definition its instances; or are held by
    /// others, as a class is by the objects of its kind.
    pub fn holds_others(&self) -> bool {
        matches!(self.special, Special::Namespace | Special::Definition | Special::Class)
    }

    /// Whether objects of it say something about kinds, so that every write of one changes the registry.
    pub fn is_about_kinds(&self) -> bool {
        matches!(self.special, Special::Definition | Special::Class | Special::Rule)
    }

    /// The verbs it offers.
    pub fn verbs(&self) -> &'static [&'static str] {
        match self.special {
            // As in Kubernetes: no single request deletes all namespaces.
            Special::Namespace => &["create", "delete", "get", "list", "patch", "update", "watch"],
            _ => &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
        }
    }
}
