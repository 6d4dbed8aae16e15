//! Which kinds there are to follow, again and again; and the proof that one is really gone.
//!
//! A wrong answer of discovery must not be able to make anything disappear: servers that start up, and aggregated
//! ones that are down, answer with too little.

use std::sync::Arc;
use std::time::Duration;

use sexton_model::feed::{FeedKind, WHOLE_GROUP};
use sexton_model::{GroupResource, Status};
use tokio::sync::{Notify, mpsc};

use super::backoff::{Backoff, Pace};
use super::read::{ReadError, find, in_time};
use crate::call::CallError;
use crate::kinds::{Kinds, KnownKinds, ServedKind};

/// Where definitions of kinds are.
pub(super) fn definitions() -> GroupResource {
    GroupResource::new("apiextensions.k8s.io", "customresourcedefinitions")
}

/// The kinds to follow, each in the preferred version: what can be listed, watched and deleted. Events own nothing,
/// are owned by nothing, and are more than all the rest together.
pub(super) fn candidates(kinds: &Kinds) -> impl Iterator<Item = &ServedKind> {
    let wanted = |kind: &&ServedKind| {
        let event = kind.resource.resource == "events"
            && matches!(kind.resource.group.as_str(), "" | "events.k8s.io");
        !event && ["list", "watch", "delete"].iter().all(|verb| kind.can(verb))
    };
    kinds.preferred().filter(wanted)
}

/// All versions of a kind, as the feed tells them.
pub(super) fn versions(kinds: &Kinds, of: &ServedKind) -> Vec<FeedKind> {
    let same = kinds.all.iter().filter(|kind| kind.resource == of.resource);
    same.map(|kind| FeedKind {
        group: kind.resource.group.clone(),
        version: kind.version.clone(),
        resource: kind.resource.resource.clone(),
        kind: kind.kind.clone(),
        namespaced: kind.namespaced,
        served: true,
        broken: None,
    })
    .collect()
}

/// Groups that do not answer, as the feed tells them: whatever they serve is broken.
pub(super) fn unread(kinds: &Kinds) -> Vec<FeedKind> {
    let told = |(unread, status): &(String, Box<Status>)| {
        let (group, version) = unread.rsplit_once('/').unwrap_or(("", unread));
        FeedKind {
            group: group.to_owned(),
            version: version.to_owned(),
            resource: WHOLE_GROUP.to_owned(),
            kind: WHOLE_GROUP.to_owned(),
            namespaced: true,
            served: true,
            broken: Some(status.message.clone()),
        }
    };
    kinds.unread.iter().map(told).collect()
}

/// Whether some version of a group did not answer, so that nothing is known about what it serves.
pub(super) fn is_unread(kinds: &Kinds, group: &str) -> bool {
    kinds.unread_in(group).is_some()
}

/// What the task that asks for the kinds says.
pub(super) enum Discovered {
    /// An answer, perhaps a partial one.
    Kinds(Arc<Kinds>),
    /// There never was an answer, however often the server was asked.
    Never(ReadError),
}

/// How to ask for the kinds.
#[derive(Debug, Clone)]
pub(super) struct Asking {
    pub(super) every: Duration,
    pub(super) patience: Duration,
    pub(super) pace: Pace,
    /// So many tries until the first answer.
    pub(super) attempts: u32,
}

/// Asks for the kinds now, whenever it is poked, and every so often; until the receiver is dropped.
pub(super) async fn ask_again_and_again(
    known: Arc<KnownKinds>,
    asking: Asking,
    poked: Arc<Notify>,
    tell: mpsc::Sender<Discovered>,
) {
    let (mut backoff, mut failures, mut answered) = (Backoff::new(asking.pace), 0, false);
    loop {
        match in_time(asking.patience, ask(&known, answered)).await {
            Ok(kinds) => {
                (answered, failures) = (true, 0);
                backoff = Backoff::new(asking.pace);
                if tell.send(Discovered::Kinds(kinds)).await.is_err() {
                    return;
                }
                tokio::select! {
                    () = tokio::time::sleep(asking.every) => {}
                    () = poked.notified() => {}
                }
            }
            Err(error) => {
                failures += 1;
                tracing::warn!(%error, failures, "the kinds of the server are not known");
                if !answered && failures >= asking.attempts {
                    // If the receiver is gone, the error is not needed.
                    let _ = tell.send(Discovered::Never(error)).await;
                    return;
                }
                tokio::time::sleep(backoff.pause()).await;
            }
        }
    }
}

/// The kinds. An answer without any comes from a server that is starting, or from something in between: it is none.
/// What this process knows already need not be asked for at first.
async fn ask(known: &KnownKinds, again: bool) -> Result<Arc<Kinds>, CallError> {
    let kinds = known.get(again).await.map_err(|error| error.0)?;
    if candidates(&kinds).next().is_none() {
        known.forget().await;
        return Err(CallError::Strange("there is no kind that can be listed and watched".into()));
    }
    Ok(kinds)
}

/// Whether a kind has a definition. Only an answer that names the definition counts.
pub(super) async fn definition(
    client: &kube::Client,
    definitions: &ServedKind,
    kind: &GroupResource,
    patience: Duration,
) -> Result<bool, ReadError> {
    let name = kind.to_string();
    let found = in_time(patience, find(client, definitions, None, &name, false)).await;
    if let Err(error) = &found {
        tracing::debug!(%error, kind = name, "whether there is a definition is not known");
    }
    Ok(found?.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_and_what_cannot_be_watched_are_not_followed() {
        let mut kinds = crate::kinds::sample();
        assert_eq!(candidates(&kinds).count(), 0, "the sample can only be listed");
        for kind in &mut kinds.all {
            kind.verbs = ["delete", "get", "list", "watch"].map(str::to_owned).to_vec();
        }
        let followed: Vec<String> = candidates(&kinds).map(|kind| kind.resource.to_string()).collect();
        assert_eq!(
            followed,
            ["configmaps", "namespaces", "deployments.apps", "boxes.a.io", "boxes.b.io", "lids.b.io"]
        );
        let deployments = kinds.resolve("deploy").unwrap();
        assert_eq!(versions(&kinds, deployments).len(), 2);
        kinds.unread = vec![("a.io/v1".into(), Box::new(Status::unavailable("down")))];
        assert!(is_unread(&kinds, "a.io") && !is_unread(&kinds, "b.io"));
    }
}
