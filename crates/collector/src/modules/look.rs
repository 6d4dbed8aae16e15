//! Lists all objects that carry a module's label, over all kinds, and tells which kinds could not be listed.
//!
//! Guarantee: an object with the label that is neither in `members` nor of an unlistable kind did not exist (within
//! the module's namespace, if it is limited to one). Nothing is known about unlistable kinds, so they prevent a
//! sweep.

use std::collections::{BTreeSet, HashMap};

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use futures::stream::{self, StreamExt};
use serde_json::Value;
use sexton_client::resources::{ListAsk, ListError, Slim};
use sexton_client::{CallError, Kinds, Place, Resources, ServedKind};
use sexton_lifecycle::module::Member;
use sexton_model::marks;

use super::Modules;

/// The most requests at a time.
const AT_ONCE: usize = 16;

/// A kind that could not be listed: nothing may be concluded about its objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unlistable {
    /// `resource.group`, or a whole group.
    pub kind: String,
    /// Why, in words.
    pub why: String,
    /// Whether the user lacks the right.
    pub forbidden: bool,
}

impl Unlistable {
    pub(super) fn new(kind: impl ToString, why: impl Into<String>) -> Unlistable {
        Unlistable { kind: kind.to_string(), why: why.into(), forbidden: false }
    }

    /// No kind is known.
    fn all(why: &CallError) -> Unlistable {
        Unlistable::new("all kinds", why.to_string())
    }
}

/// The key of an object: group, plural, namespace, name.
pub(super) type Slot = (String, String, String, String);

/// The result.
#[derive(Debug, Default)]
pub(super) struct Looked {
    /// Sorted by key.
    pub(super) members: Vec<Member>,
    pub(super) unlistable: Vec<Unlistable>,
    /// Groups that do not answer and of which the module has no objects, as far as is known.
    pub(super) unanswered: Vec<Unlistable>,
    /// Objects that carry the label but were not put by the module, once they are separated from the members.
    pub(super) copies: Vec<Member>,
    /// Whole objects, of the kinds for which they are wanted.
    pub(super) objects: HashMap<Slot, Value>,
}

impl Looked {
    /// Separates the groups that do not answer and of which the module never had an object: one extension with a
    /// server that is down must not stop every sweep on the cluster. `kinds` are those that the module is known to
    /// have.
    pub(super) fn set_unanswered_aside<'a>(&mut self, kinds: impl Iterator<Item = &'a str>) {
        let groups: BTreeSet<&str> =
            kinds.map(|kind| kind.split_once('.').map_or("", |(_, group)| group)).collect();
        let is_strange =
            |one: &Unlistable| one.kind.split_once('/').is_some_and(|(group, _)| !groups.contains(group));
        (self.unanswered, self.unlistable) = self.unlistable.drain(..).partition(is_strange);
    }
}

/// Lists all objects with the module's label, of all kinds; for the kinds in `whole`, with their whole contents. If
/// the module is limited to a namespace, it is enough to see that one.
pub(super) async fn look(
    resources: &Resources,
    kinds: &Kinds,
    (manager, within): (&str, Option<&str>),
    whole: &BTreeSet<(String, String)>,
) -> Looked {
    let (listable, unlistable) = to_list(kinds);
    let mut looked = Looked { unlistable, ..Looked::default() };
    let ask = ListAsk { labels: format!("{}={manager}", marks::MANAGER), ..ListAsk::default() };
    let wants_whole =
        |kind: &ServedKind| whole.contains(&(kind.resource.group.clone(), kind.resource.resource.clone()));
    // A list of boxed futures instead of a closure that makes them, because the caller's future must be `Send`.
    let mut lists: Vec<BoxFuture<'_, _>> = Vec::new();
    for kind in listable {
        lists.push(list_within(resources, kind, within, &ask, wants_whole(kind)).boxed());
    }
    let mut lists = stream::iter(lists).buffer_unordered(AT_ONCE);
    let mut uids = BTreeSet::new();
    while let Some((kind, listed)) = lists.next().await {
        let found = match listed {
            Ok(found) => found,
            Err(error) => {
                let forbidden = is_forbidden(&error);
                let unlistable = Unlistable::new(&kind.resource, error.to_string());
                looked.unlistable.push(Unlistable { forbidden, ..unlistable });
                continue;
            }
        };
        for (member, object) in found {
            // Some kinds are served in two groups, with the same objects.
            if uids.insert(member.uid.clone()) {
                if let Some(object) = object {
                    looked.objects.insert(slot_of(&member), object);
                }
                looked.members.push(member);
            }
        }
    }
    looked.members.sort_by(|a, b| a.key().cmp(&b.key()));
    looked.unlistable.sort_by(|a, b| a.kind.cmp(&b.kind));
    looked
}

/// The kinds that have objects: those that can be listed, and those that cannot.
fn to_list(kinds: &Kinds) -> (Vec<&ServedKind>, Vec<Unlistable>) {
    let (mut listable, mut unlistable) = (Vec::new(), Vec::new());
    for (group, status) in &kinds.unread {
        let why = format!("the server does not say what it has: {}", status.message);
        unlistable.push(Unlistable::new(group, why));
    }
    for kind in kinds.preferred() {
        // Objects that can only be read were never put.
        if !["patch", "update", "delete"].into_iter().any(|verb| kind.can(verb)) {
            continue;
        }
        if kind.can("list") {
            listable.push(kind);
        } else {
            let why = "it has objects, but the server does not list them".to_owned();
            unlistable.push(Unlistable::new(&kind.resource, why));
        }
    }
    (listable, unlistable)
}

/// The kinds that cannot be listed now. Asks for one object of each, so that their number does not matter.
async fn cannot_be_listed(resources: &Resources, kinds: &Kinds) -> Vec<Unlistable> {
    let (listable, mut unlistable) = to_list(kinds);
    let mut asked: Vec<BoxFuture<'_, Option<Unlistable>>> = Vec::new();
    for kind in listable {
        let one = async move {
            let ask = ListAsk { limit: Some(1), ..ListAsk::default() };
            let listed = resources.list(&Place::new(kind, None), &ask).await;
            listed.err().map(|error| Unlistable::new(&kind.resource, error.to_string()))
        };
        asked.push(one.boxed());
    }
    unlistable
        .extend(stream::iter(asked).buffer_unordered(AT_ONCE).filter_map(ready).collect::<Vec<_>>().await);
    unlistable
}

pub(super) fn slot_of(member: &Member) -> Slot {
    let (group, resource, namespace, name) = member.key();
    (group.to_owned(), resource.to_owned(), namespace.to_owned(), name.to_owned())
}

impl Modules {
    /// Lists all that a module manages now; within a namespace, if it is limited to one.
    pub(super) async fn look_at(&self, module: &str, within: Option<&str>) -> Looked {
        match self.kinds_now().await {
            Ok(kinds) => look(&self.tools.resources, &kinds, (module, within), &BTreeSet::new()).await,
            Err(error) => Looked { unlistable: vec![Unlistable::all(&error.0)], ..Looked::default() },
        }
    }

    /// The kinds that cannot be listed now.
    pub(super) async fn unlistable(&self) -> Vec<Unlistable> {
        match self.kinds_now().await {
            Ok(kinds) => cannot_be_listed(&self.tools.resources, &kinds).await,
            Err(error) => vec![Unlistable::all(&error.0)],
        }
    }
}

type Listed = Result<Vec<(Member, Option<Value>)>, ListError>;

/// The members of one kind, with their contents if wanted, or why they cannot be listed. If the user may not list the
/// kind in all namespaces, the module's namespace is enough.
async fn list_within<'a>(
    resources: &Resources,
    kind: &'a ServedKind,
    within: Option<&str>,
    ask: &ListAsk,
    whole: bool,
) -> (&'a ServedKind, Listed) {
    let mut listed = list(resources, &Place::new(kind, None), ask, whole).await;
    if let (Err(error), Some(namespace)) = (&listed, within)
        && is_forbidden(error)
    {
        listed = match kind.namespaced {
            true => list(resources, &Place::new(kind, Some(namespace)), ask, whole).await,
            false => Ok(Vec::new()),
        };
    }
    (kind, listed)
}

fn is_forbidden(error: &ListError) -> bool {
    matches!(error, ListError::Call(CallError::Refused(status)) if status.code == 403)
}

async fn list(resources: &Resources, place: &Place, ask: &ListAsk, whole: bool) -> Listed {
    if whole {
        return list_whole(resources, place, ask).await;
    }
    let mut found = Vec::new();
    let read = resources.each_slim(place, ask, |slim| match slim {
        Some(slim) => found.push((member(&place.kind, slim), None)),
        None => found.clear(),
    });
    read.await.map(|()| found)
}

async fn list_whole(resources: &Resources, place: &Place, ask: &ListAsk) -> Listed {
    let strange = |why: String| ListError::Call(CallError::Strange(why));
    let listed = resources.list(place, ask).await?;
    if listed.more {
        return Err(strange("the server did not list all of them".to_owned()));
    }
    let understood = |object: Value| {
        let slim = Slim::of(&object).map_err(ListError::Call)?;
        Ok((member(&place.kind, slim), Some(object)))
    };
    listed.found.into_iter().map(understood).collect()
}

/// The facts about an object that modules need.
pub(super) fn member(kind: &ServedKind, mut slim: Slim) -> Member {
    let protect =
        slim.annotations.remove(marks::PROTECT).filter(|value| !value.is_empty() && *value != "false");
    Member {
        group: kind.resource.group.clone(),
        resource: kind.resource.resource.clone(),
        api_version: kind.api_version(),
        kind: kind.kind.clone(),
        namespace: slim.namespace,
        name: slim.name,
        uid: slim.uid,
        version: slim.resource_version,
        deployment: marks::deployment_id(
            |name| slim.labels.get(name).cloned(),
            |name| slim.annotations.remove(name),
        ),
        labels: slim.labels,
        owners: slim.owner_references.into_iter().map(|owner| owner.uid).collect(),
        is_candidate: slim.annotations.contains_key(marks::ACCUSED),
        order: slim.annotations.get(marks::DEPENDENCY_ORDER).and_then(|order| order.parse().ok()),
        protect,
        is_terminating: slim.deletion_timestamp.is_some(),
    }
}
