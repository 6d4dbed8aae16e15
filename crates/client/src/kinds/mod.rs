//! What a server serves, as its discovery tells it.
//!
//! It must not know any kind by name: what it was not told does not exist.

mod aggregated;
mod discover;
mod known;
mod near;
mod resolve;

pub use discover::DiscoverError;
pub(crate) use known::KnownKinds;
pub use near::nearest;
pub use resolve::{NoSuchKind, Word};

use sexton_model::{GroupResource, Status};

use crate::call::escape;

/// A served kind in one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedKind {
    /// Group and plural.
    pub resource: GroupResource,
    /// The version, e.g. `v1`.
    pub version: String,
    /// Whether the server prefers this version of the group.
    pub preferred: bool,
    /// The kind's name, e.g. `ConfigMap`.
    pub kind: String,
    /// The singular, e.g. `configmap`.
    pub singular: String,
    /// Short names.
    pub short_names: Vec<String>,
    /// Groups of kinds, e.g. `all`.
    pub categories: Vec<String>,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// What can be done.
    pub verbs: Vec<String>,
}

impl ServedKind {
    /// A kind that every server of ours has, in our own group and without namespaces.
    pub fn of_ours(plural: &str, kind: &str) -> ServedKind {
        ServedKind::well_known("sexton.dev", plural, kind, false)
    }

    /// A kind that need not be discovered, because it is the same everywhere.
    pub fn well_known(group: &str, plural: &str, kind: &str, namespaced: bool) -> ServedKind {
        ServedKind {
            resource: GroupResource::new(group, plural),
            version: "v1".into(),
            preferred: true,
            kind: kind.into(),
            singular: kind.to_lowercase(),
            short_names: Vec::new(),
            categories: Vec::new(),
            namespaced,
            verbs: Vec::new(),
        }
    }

    /// `apiVersion` of its objects.
    pub fn api_version(&self) -> String {
        match self.resource.group.as_str() {
            "" => self.version.clone(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// An object of the kind as people and scripts write it: `configmap/a`, `deployment.apps/web`.
    pub fn label(&self, name: &str) -> String {
        match self.resource.group.as_str() {
            "" => format!("{}/{name}", self.singular),
            group => format!("{}.{group}/{name}", self.singular),
        }
    }

    /// Whether a verb is offered.
    pub fn can(&self, verb: &str) -> bool {
        self.verbs.iter().any(|offered| offered == verb)
    }

    /// The path of all objects, or of those of a namespace.
    pub(crate) fn path(&self, namespace: Option<&str>) -> String {
        let root = if self.resource.group.is_empty() { "/api" } else { "/apis" };
        let inside = match namespace {
            Some(namespace) if self.namespaced => format!("/namespaces/{}", escape(namespace)),
            _ => String::new(),
        };
        format!("{root}/{}{inside}/{}", self.api_version(), self.resource.resource)
    }
}

/// All that a server serves, in its own order.
#[derive(Debug, Clone, Default)]
pub struct Kinds {
    /// The kinds, every served version of each.
    pub all: Vec<ServedKind>,
    /// Groups that could not be asked, and why. Nothing may be concluded about what they serve.
    pub unread: Vec<(String, Box<Status>)>,
    /// Whether it is a server of ours, with the change feed and the bulk verb. Our kinds alone prove nothing: they may
    /// have been defined elsewhere.
    pub bulk: bool,
}

impl Kinds {
    /// The kinds, each in the version that the server prefers.
    pub fn preferred(&self) -> impl Iterator<Item = &ServedKind> {
        self.all.iter().filter(|kind| {
            let same = |other: &&ServedKind| other.resource == kind.resource;
            kind.preferred || {
                // The preferred version of the group may not have this kind: then it is the first that has.
                let mut versions = self.all.iter().filter(same);
                !self.all.iter().filter(same).any(|other| other.preferred)
                    && versions.next().is_some_and(|first| first.version == kind.version)
            }
        })
    }

    /// The kind that a document says it is.
    pub fn of_document(&self, api_version: &str, kind: &str) -> Option<&ServedKind> {
        self.all.iter().find(|served| served.kind == kind && served.api_version() == api_version)
    }

    /// Whether the server serves a kind, in whatever version; or may do so, because its group does not answer.
    pub fn may_serve(&self, kind: &GroupResource) -> bool {
        self.all.iter().any(|served| served.resource == *kind) || self.unread_in(&kind.group).is_some()
    }

    /// Why a version of a group could not be asked, if one could not.
    pub fn unread_in(&self, group: &str) -> Option<&(String, Box<Status>)> {
        let is_of = |unread: &str| unread.rsplit_once('/').is_some_and(|(name, _)| name == group);
        self.unread.iter().find(|(unread, _)| is_of(unread))
    }

    /// All kinds of a category such as `all`.
    pub fn category(&self, name: &str) -> Vec<&ServedKind> {
        self.preferred().filter(|kind| kind.categories.iter().any(|category| category == name)).collect()
    }
}

#[cfg(test)]
pub(crate) fn sample() -> Kinds {
    let kind = |group: &str, version: &str, plural: &str, kind: &str, short: &str| ServedKind {
        resource: GroupResource::new(group, plural),
        version: version.into(),
        preferred: version == "v1",
        kind: kind.into(),
        singular: kind.to_lowercase(),
        short_names: short.split(',').filter(|name| !name.is_empty()).map(Into::into).collect(),
        categories: if kind == "Deployment" { vec!["all".into()] } else { Vec::new() },
        namespaced: kind != "Namespace",
        verbs: vec!["list".into()],
    };
    Kinds {
        all: vec![
            kind("", "v1", "configmaps", "ConfigMap", "cm"),
            kind("", "v1", "namespaces", "Namespace", "ns"),
            kind("", "v1", "events", "Event", "ev"),
            kind("events.k8s.io", "v1", "events", "Event", "ev"),
            kind("apps", "v1", "deployments", "Deployment", "deploy"),
            kind("apps", "v1beta1", "deployments", "Deployment", "deploy"),
            kind("a.io", "v1", "boxes", "Box", ""),
            kind("b.io", "v1", "boxes", "Box", ""),
            kind("b.io", "v1beta1", "lids", "Lid", ""),
        ],
        bulk: false,
        unread: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_one_preferred_version() {
        let kinds = sample();
        let shown: Vec<String> =
            kinds.preferred().map(|kind| format!("{} {}", kind.resource, kind.version)).collect();
        assert!(shown.contains(&"deployments.apps v1".to_owned()));
        assert!(!shown.contains(&"deployments.apps v1beta1".to_owned()));
        assert!(shown.contains(&"lids.b.io v1beta1".to_owned()));
    }

    #[test]
    fn paths_and_labels() {
        let kinds = sample();
        let deployment = kinds.of_document("apps/v1", "Deployment").unwrap();
        assert_eq!(deployment.path(Some("a b")), "/apis/apps/v1/namespaces/a%20b/deployments");
        assert_eq!(deployment.label("web"), "deployment.apps/web");
        let namespace = kinds.of_document("v1", "Namespace").unwrap();
        assert_eq!(namespace.path(Some("x")), "/api/v1/namespaces");
        assert_eq!(namespace.label("x"), "namespace/x");
    }
}
