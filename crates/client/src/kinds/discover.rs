//! Asking a server what it serves, over the endpoints that every version of the API has.

use futures::future::join_all;
use http::Method;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sexton_model::GroupResource;

use super::{Kinds, ServedKind};
use crate::call::{Call, CallError, escape};

/// Why it is not known what a server serves.
#[derive(Debug, thiserror::Error)]
#[error("cannot find out what the server serves")]
pub struct DiscoverError(#[source] pub CallError);

#[derive(Debug, Deserialize)]
struct CoreVersions {
    #[serde(default)]
    versions: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Groups {
    #[serde(default)]
    groups: Vec<Group>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Group {
    name: String,
    #[serde(default)]
    versions: Vec<Version>,
    preferred_version: Option<Version>,
}

#[derive(Debug, Deserialize)]
struct Version {
    version: String,
}

#[derive(Debug, Deserialize)]
struct ResourceList {
    #[serde(default)]
    resources: Vec<Resource>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Resource {
    name: String,
    #[serde(default)]
    singular_name: String,
    #[serde(default)]
    namespaced: bool,
    kind: String,
    #[serde(default)]
    verbs: Vec<String>,
    #[serde(default)]
    short_names: Vec<String>,
    #[serde(default)]
    categories: Vec<String>,
}

struct GroupVersion {
    group: String,
    version: String,
    preferred: bool,
}

impl Kinds {
    /// Asks a server for all it serves. A group that does not answer is remembered as unread.
    ///
    /// # Errors
    /// The server does not even say which groups it has.
    pub async fn discover(client: &kube::Client) -> Result<Kinds, DiscoverError> {
        let wanted = group_versions(client).await.map_err(DiscoverError)?;
        let asked = wanted.iter().map(|wanted| resources(client, wanted));
        let mut kinds = Kinds::default();
        for (wanted, answer) in wanted.iter().zip(join_all(asked).await) {
            match answer {
                Ok(list) => {
                    kinds.bulk |= wanted.group == "sexton.dev" && list.resources.iter().any(is_bulk);
                    kinds.all.extend(list.resources.into_iter().filter_map(|found| served(wanted, found)))
                }
                Err(CallError::Refused(status)) => {
                    kinds.unread.push((format!("{}/{}", wanted.group, wanted.version), status));
                }
                Err(error) => return Err(DiscoverError(error)),
            }
        }
        Ok(kinds)
    }
}

async fn ask<T: DeserializeOwned>(client: &kube::Client, path: &str) -> Result<T, CallError> {
    let answer = Call::new(Method::GET, path).send(client).await?;
    serde_json::from_value(answer.value).map_err(|error| CallError::Strange(format!("{path}: {error}")))
}

async fn group_versions(client: &kube::Client) -> Result<Vec<GroupVersion>, CallError> {
    let core: CoreVersions = ask(client, "/api").await?;
    let groups: Groups = ask(client, "/apis").await?;
    let core = core.versions.into_iter().enumerate();
    let mut wanted: Vec<GroupVersion> = core
        .map(|(at, version)| GroupVersion { group: String::new(), version, preferred: at == 0 })
        .collect();
    for group in groups.groups {
        let preferred = group.preferred_version.map(|preferred| preferred.version);
        wanted.extend(group.versions.into_iter().map(|Version { version }| GroupVersion {
            group: group.name.clone(),
            preferred: preferred.as_ref() == Some(&version),
            version,
        }));
    }
    Ok(wanted)
}

async fn resources(client: &kube::Client, wanted: &GroupVersion) -> Result<ResourceList, CallError> {
    let version = escape(&wanted.version);
    let path = match wanted.group.as_str() {
        "" => format!("/api/{version}"),
        group => format!("/apis/{}/{version}", escape(group)),
    };
    ask(client, &path).await
}

/// The verb of our own, which stands among the resources.
fn is_bulk(found: &Resource) -> bool {
    found.name == "bulk" && found.verbs == ["create"]
}

/// Parts of an object such as `deployments/status` are no kinds; neither is what can only be asked, such as a review of
/// somebody's access, or the verb of our own: nobody ever finds an object of it.
fn served(from: &GroupVersion, found: Resource) -> Option<ServedKind> {
    if found.name.contains('/') || found.verbs == ["create"] {
        return None;
    }
    let singular =
        if found.singular_name.is_empty() { found.kind.to_lowercase() } else { found.singular_name };
    Some(ServedKind {
        resource: GroupResource::new(from.group.as_str(), found.name),
        version: from.version.clone(),
        preferred: from.preferred,
        kind: found.kind,
        singular,
        short_names: found.short_names,
        categories: found.categories,
        namespaced: found.namespaced,
        verbs: found.verbs,
    })
}
