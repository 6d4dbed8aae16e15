//! Discovery in its plain form: which groups, versions and resources there are.

use serde_json::{Value, json};
use sexton_model::Status;

use super::reviews::{self, Review};
use crate::api::Result;
use crate::kinds::{Kind, Registry, Special};

/// `/`: where else to look.
pub(super) fn paths(registry: &Registry) -> Value {
    let mut paths: Vec<String> = [
        "/api",
        "/api/v1",
        "/apis",
        "/healthz",
        "/livez",
        "/metrics",
        "/openapi/v2",
        "/openapi/v3",
        "/readyz",
        "/version",
    ]
    .map(str::to_owned)
    .to_vec();
    for (group, versions) in ordered(registry).iter().filter(|(group, _)| !group.is_empty()) {
        paths.push(format!("/apis/{group}"));
        paths.extend(versions.iter().map(|version| format!("/apis/{group}/{version}")));
    }
    paths.sort();
    json!({"paths": paths})
}

/// `/api`
pub(super) fn core_versions() -> Value {
    json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []})
}

/// `/apis`
pub(super) fn groups(registry: &Registry) -> Value {
    let groups: Vec<Value> = ordered(registry).iter().map(|(name, versions)| entry(name, versions)).collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// `/apis/{group}`
pub(super) fn group(registry: &Registry, name: &str) -> Result<Value> {
    let groups = ordered(registry);
    let (_, versions) = groups.iter().find(|(group, _)| *group == name).ok_or_else(Status::no_such_path)?;
    let mut group = entry(name, versions);
    group["kind"] = "APIGroup".into();
    group["apiVersion"] = "v1".into();
    Ok(group)
}

/// The groups beside the core group, and their versions, each in the order in which Kubernetes prefers them.
pub(super) fn ordered(registry: &Registry) -> Vec<(&str, Vec<&str>)> {
    let mut groups = registry.groups();
    for review in reviews::ALL {
        let versions = groups.entry(review.group).or_default();
        if !versions.contains(&reviews::VERSION) {
            versions.push(reviews::VERSION);
        }
    }
    let mut groups: Vec<(&str, Vec<&str>)> = groups.into_iter().collect();
    groups.sort_by_key(|(name, _)| place_of(name));
    for (_, versions) in &mut groups {
        prefer(versions);
    }
    groups
}

/// Kubernetes' own groups stand in an order of their own, all others behind them by name.
fn place_of(group: &str) -> usize {
    const FIRST: [&str; 6] = [
        "apps",
        "authentication.k8s.io",
        "authorization.k8s.io",
        "batch",
        "apiextensions.k8s.io",
        "coordination.k8s.io",
    ];
    FIRST.iter().position(|first| *first == group).unwrap_or(FIRST.len())
}

fn prefer(versions: &mut [&str]) {
    versions.sort_by_key(|version| std::cmp::Reverse(maturity(version)));
}

fn entry(name: &str, versions: &[&str]) -> Value {
    let version = |version: &&str| json!({"groupVersion": format!("{name}/{version}"), "version": version});
    let all: Vec<Value> = versions.iter().map(version).collect();
    json!({"name": name, "versions": all, "preferredVersion": all.first().cloned().unwrap_or_default()})
}

/// Stable before beta before alpha, then the higher number: the order in which Kubernetes prefers versions.
fn maturity(version: &str) -> (u8, u32, u32, String) {
    let fallback = (0, 0, 0, version.to_owned());
    let Some(rest) = version.strip_prefix('v') else { return fallback };
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let Ok(major) = rest[..end].parse() else { return fallback };
    let (level, minor) = match &rest[end..] {
        "" => (3, ""),
        tail if tail.starts_with("beta") => (2, &tail[4..]),
        tail if tail.starts_with("alpha") => (1, &tail[5..]),
        _ => return fallback,
    };
    (level, major, minor.parse().unwrap_or(0), String::new())
}

/// `/api/v1`, `/apis/{group}/{version}`
pub(super) fn resources(registry: &Registry, group: &str, version: &str) -> Result<Value> {
    let mut resources = Vec::new();
    for kind in registry.of(group, version) {
        resources.push(resource(kind));
        for (part, verbs) in parts(kind) {
            let mut resource = json!({
                "name": format!("{}/{part}", kind.resource.resource), "singularName": "",
                "namespaced": kind.namespaced, "kind": kind.kind, "verbs": verbs,
            });
            if part == "scale" {
                // What is read and written there is of another kind than the object.
                resource["group"] = "autoscaling".into();
                resource["version"] = "v1".into();
                resource["kind"] = "Scale".into();
            }
            resources.push(resource);
        }
    }
    let built_in = |kind: &Kind| kind.resource.group == "sexton.dev" && kind.definition.is_none();
    if registry.of(group, version).into_iter().any(|kind| built_in(kind)) {
        // By this a client can tell such a server from one where our kinds are only defined.
        resources.push(json!({
            "name": "bulk", "singularName": "bulk", "namespaced": false, "kind": "Bulk", "verbs": ["create"],
        }));
    }
    resources.extend(asked(registry, group, version).map(question));
    if resources.is_empty() {
        return Err(Status::no_such_path().into());
    }
    let group_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    Ok(json!({
        "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": resources,
    }))
}

/// The questions of a group, unless a kind of that name took the place.
fn asked<'a>(
    registry: &'a Registry,
    group: &'a str,
    version: &'a str,
) -> impl Iterator<Item = &'static Review> + 'a {
    let here = move |review: &&Review| {
        review.group == group
            && version == reviews::VERSION
            && registry.find(group, version, review.plural).is_none()
    };
    reviews::ALL.iter().filter(here)
}

fn question(review: &Review) -> Value {
    json!({
        "name": review.plural, "singularName": review.kind.to_lowercase(), "namespaced": review.namespaced,
        "kind": review.kind, "verbs": ["create"],
    })
}

fn resource(kind: &Kind) -> Value {
    let mut resource = json!({
        "name": kind.resource.resource, "singularName": kind.singular, "namespaced": kind.namespaced,
        "kind": kind.kind, "verbs": kind.verbs(),
    });
    if !kind.short_names.is_empty() {
        resource["shortNames"] = json!(kind.short_names);
    }
    if !kind.categories.is_empty() {
        resource["categories"] = json!(kind.categories);
    }
    resource
}

fn parts(kind: &Kind) -> Vec<(&'static str, &'static [&'static str])> {
    let mut parts: Vec<(&'static str, &'static [&'static str])> = Vec::new();
    if kind.special == Special::Namespace {
        parts.push(("finalize", &["update"]));
    }
    if kind.offer.scale.is_some() {
        parts.push(("scale", &["get", "patch", "update"]));
    }
    if kind.status {
        parts.push(("status", &["get", "patch", "update"]));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stable_versions_are_preferred() {
        let preferred = |versions: &[&str]| {
            let mut versions = versions.to_vec();
            prefer(&mut versions);
            entry("x.io", &versions)["preferredVersion"]["version"].clone()
        };
        assert_eq!(preferred(&["v1alpha1", "v1", "v2beta1"]), "v1");
        assert_eq!(preferred(&["v1", "v10", "v2"]), "v10");
        assert_eq!(preferred(&["foo", "v1alpha2", "v1alpha10"]), "v1alpha10");
    }
}
