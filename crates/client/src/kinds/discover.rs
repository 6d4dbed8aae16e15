//! Asking a server what it serves: two requests where discovery is aggregated, one per version of a group elsewhere.
//!
//! One group that does not answer holds up nothing: every request has a deadline, and what did not answer is named.

use std::time::Duration;

use futures::future::join_all;
use http::Method;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sexton_model::{GroupResource, Status};

use super::aggregated::{self, Discovered};
use super::{Kinds, ServedKind};
use crate::call::{Call, CallError, escape};

/// The server itself must say within this which groups it has.
const ROOT_DEADLINE: Duration = Duration::from_secs(10);
/// The server behind one group must say within this what it serves. The servers of extensions are asked through the
/// main server, which itself gives them no longer.
const GROUP_DEADLINE: Duration = Duration::from_secs(5);

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

/// A resource as the older form of discovery writes it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Resource {
    pub(super) name: String,
    #[serde(default)]
    pub(super) singular_name: String,
    #[serde(default)]
    pub(super) namespaced: bool,
    pub(super) kind: String,
    #[serde(default)]
    pub(super) verbs: Vec<String>,
    #[serde(default)]
    pub(super) short_names: Vec<String>,
    #[serde(default)]
    pub(super) categories: Vec<String>,
}

/// A version of a group.
#[derive(Debug)]
pub(super) struct GroupVersion {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) preferred: bool,
}

/// What one of the two roots says: everything, or only which versions there are to ask.
enum Root {
    Whole(Vec<Discovered>),
    Versions(Vec<GroupVersion>),
}

impl Kinds {
    /// Asks a server for all it serves. A group that does not answer is remembered as unread.
    ///
    /// # Errors
    /// The server does not even say which groups it has.
    pub async fn discover(client: &kube::Client) -> Result<Kinds, DiscoverError> {
        let mut kinds = Kinds::default();
        for path in ["/api", "/apis"] {
            match root(client, path).await.map_err(DiscoverError)? {
                Root::Whole(found) => found.into_iter().for_each(|found| kinds.take(found)),
                Root::Versions(versions) => kinds.ask_each(client, versions).await,
            }
        }
        Ok(kinds)
    }

    /// Asks for each version by itself.
    async fn ask_each(&mut self, client: &kube::Client, versions: Vec<GroupVersion>) {
        let asked = versions.iter().map(|version| resources(client, version));
        let answers = join_all(asked).await;
        for (version, answer) in versions.into_iter().zip(answers) {
            match answer {
                Ok(list) => self.take(Discovered { version, resources: list.resources, is_stale: false }),
                Err(CallError::Refused(status)) => self.unread(&version, *status),
                Err(error) => self.unread(&version, Status::unavailable(error.with_sources())),
            }
        }
    }

    fn take(&mut self, found: Discovered) {
        let Discovered { version, resources, is_stale } = found;
        if is_stale {
            self.unread(&version, Status::unavailable("the server behind it does not answer"));
        }
        self.bulk |= version.group == "sexton.dev" && resources.iter().any(is_bulk);
        self.all.extend(resources.into_iter().filter_map(|found| served(&version, found)));
    }

    fn unread(&mut self, version: &GroupVersion, status: Status) {
        self.unread.push((format!("{}/{}", version.group, version.version), Box::new(status)));
    }
}

/// `/api` or `/apis`, in the aggregated form if the server has it.
async fn root(client: &kube::Client, path: &str) -> Result<Root, CallError> {
    let strange = |error: serde_json::Error| CallError::Strange(format!("{path}: {error}"));
    let call = Call::new(Method::GET, path).accept(aggregated::ACCEPT).within(ROOT_DEADLINE);
    let answer = match call.send(client).await {
        // A server so strict that it refuses forms which it does not know.
        Err(error) if error.code() == 406 => {
            Call::new(Method::GET, path).within(ROOT_DEADLINE).send(client).await?.value
        }
        answer => answer?.value,
    };
    match aggregated::is_aggregated(&answer) {
        true => Ok(Root::Whole(aggregated::read(answer).map_err(strange)?)),
        false => Ok(Root::Versions(versions(path, answer).map_err(strange)?)),
    }
}

fn versions(path: &str, answer: Value) -> Result<Vec<GroupVersion>, serde_json::Error> {
    if path == "/api" {
        let core: CoreVersions = serde_json::from_value(answer)?;
        let numbered = core.versions.into_iter().enumerate();
        return Ok(numbered
            .map(|(at, version)| GroupVersion { group: String::new(), version, preferred: at == 0 })
            .collect());
    }
    let groups: Groups = serde_json::from_value(answer)?;
    let mut wanted = Vec::new();
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

async fn ask<T: DeserializeOwned>(client: &kube::Client, path: &str) -> Result<T, CallError> {
    let answer = Call::new(Method::GET, path).within(GROUP_DEADLINE).send(client).await?;
    serde_json::from_value(answer.value).map_err(|error| CallError::Strange(format!("{path}: {error}")))
}

/// The verb of our own, which stands among the resources.
fn is_bulk(found: &Resource) -> bool {
    found.name == "bulk" && found.verbs == ["create"]
}

/// Parts of an object such as `deployments/status` are no kinds; neither is what can only be asked, such as a review of
/// a user's access, or the verb of our own: no object of it is ever found.
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
