//! Aggregated discovery: all groups with their kinds in one answer, as `apidiscovery.k8s.io` writes it.
//!
//! A version that the server could not refresh is `Stale`: the server behind it does not answer, and nothing may be
//! concluded about what it serves.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::discover::{GroupVersion, Resource};

/// The aggregated form first; a server that does not have it answers with the older one.
pub(super) const ACCEPT: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
    application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

#[derive(Debug, Deserialize)]
struct GroupList {
    #[serde(default, deserialize_with = "or_default")]
    items: Vec<Group>,
}

#[derive(Debug, Deserialize)]
struct Group {
    #[serde(default)]
    metadata: GroupMetadata,
    #[serde(default, deserialize_with = "or_default")]
    versions: Vec<Version>,
}

/// The core group has no name.
#[derive(Debug, Default, Deserialize)]
struct GroupMetadata {
    #[serde(default)]
    name: String,
}

#[derive(Debug, Deserialize)]
struct Version {
    version: String,
    #[serde(default)]
    freshness: String,
    #[serde(default, deserialize_with = "or_default")]
    resources: Vec<Served>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Served {
    resource: String,
    response_kind: Option<ResponseKind>,
    #[serde(default)]
    scope: String,
    #[serde(default)]
    singular_resource: String,
    #[serde(default, deserialize_with = "or_default")]
    verbs: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    short_names: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    categories: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct ResponseKind {
    #[serde(default)]
    kind: String,
}

/// Empty lists are written as `null` by some servers.
fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(from: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

/// A version of a group, with what it serves.
#[derive(Debug)]
pub(super) struct Discovered {
    pub(super) version: GroupVersion,
    pub(super) resources: Vec<Resource>,
    /// The server behind it did not answer when it was asked last.
    pub(super) is_stale: bool,
}

/// Whether an answer is in the aggregated form.
pub(super) fn is_aggregated(answer: &Value) -> bool {
    answer["kind"] == "APIGroupDiscoveryList"
}

/// All versions of all groups of an answer in the aggregated form. The first version of a group is the preferred one.
pub(super) fn read(answer: Value) -> Result<Vec<Discovered>, serde_json::Error> {
    let list: GroupList = serde_json::from_value(answer)?;
    let mut found = Vec::new();
    for group in list.items {
        for (at, version) in group.versions.into_iter().enumerate() {
            found.push(Discovered {
                version: GroupVersion {
                    group: group.metadata.name.clone(),
                    version: version.version,
                    preferred: at == 0,
                },
                is_stale: version.freshness == "Stale",
                resources: version.resources.into_iter().filter_map(resource).collect(),
            });
        }
    }
    Ok(found)
}

/// What stands there only for its subresources has no kind.
fn resource(served: Served) -> Option<Resource> {
    let kind = served.response_kind.map(|response| response.kind).filter(|kind| !kind.is_empty())?;
    Some(Resource {
        name: served.resource,
        singular_name: served.singular_resource,
        namespaced: served.scope == "Namespaced",
        kind,
        verbs: served.verbs,
        short_names: served.short_names,
        categories: served.categories,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn groups_versions_and_what_is_stale() {
        let answer = json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": [
            {"metadata": {"creationTimestamp": null}, "versions": [{"version": "v1", "freshness": "Current",
                "resources": [
                    {"resource": "pods", "responseKind": {"group": "", "version": "v1", "kind": "Pod"},
                        "scope": "Namespaced", "singularResource": "pod", "verbs": ["get", "list"],
                        "shortNames": ["po"], "subresources": [{"subresource": "status"}]},
                    {"resource": "odd", "responseKind": null, "scope": "Cluster", "verbs": null},
                ]}]},
            {"metadata": {"name": "b.io"}, "versions": [
                {"version": "v2", "freshness": "Current", "resources": null},
                {"version": "v1", "freshness": "Stale"},
            ]},
            {"metadata": {"name": "empty.io"}, "versions": null},
        ]});
        assert!(is_aggregated(&answer) && !is_aggregated(&json!({"kind": "APIGroupList"})));
        let found = read(answer).unwrap();
        let shown: Vec<String> = found
            .iter()
            .map(|one| {
                let GroupVersion { group, version, preferred } = &one.version;
                let kinds: Vec<&str> = one.resources.iter().map(|resource| resource.kind.as_str()).collect();
                format!("{group}/{version} {preferred} {} {kinds:?}", one.is_stale)
            })
            .collect();
        assert_eq!(shown, [r#"/v1 true false ["Pod"]"#, "b.io/v2 true false []", "b.io/v1 false true []"]);
        let pods = &found[0].resources[0];
        assert!(pods.namespaced && pods.short_names == ["po"] && pods.singular_name == "pod");
    }
}
