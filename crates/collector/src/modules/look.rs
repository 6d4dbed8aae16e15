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
use sexton_model::{GroupResource, collection, marks, tombstone};

use super::Modules;

/// The most requests at a time.
const AT_ONCE: usize = 16;

/// Kinds that may not be listed and are named; the rest is counted.
const FORBIDDEN_NAMED: usize = 3;

/// A kind that could not be listed: nothing may be concluded from what was not seen.
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

    /// What cannot be seen, in words: what is forbidden is one matter, however many kinds it is.
    pub fn lines(all: &[Unlistable]) -> Vec<String> {
        let (forbidden, others): (Vec<&Unlistable>, Vec<&Unlistable>) =
            all.iter().partition(|one| one.forbidden);
        let single = |one: &Unlistable| format!("{} cannot be listed: {}", one.kind, one.why);
        let mut lines: Vec<String> = match forbidden.as_slice() {
            [named, more @ ..] if more.len() >= FORBIDDEN_NAMED => {
                let named: Vec<&str> = std::iter::once(named)
                    .chain(more)
                    .take(FORBIDDEN_NAMED)
                    .map(|one| one.kind.as_str())
                    .collect();
                let (count, rest) = (forbidden.len(), forbidden.len() - named.len());
                vec![format!(
                    "{count} kinds may not be listed in all namespaces: {} and {rest} more",
                    named.join(", ")
                )]
            }
            few => few.iter().map(|one| single(one)).collect(),
        };
        lines.extend(others.into_iter().map(single));
        lines
    }

    /// Nothing is known of any kind.
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
    while let Some((kind, found, unseen)) = lists.next().await {
        if let Some(error) = unseen {
            let forbidden = is_forbidden(&error);
            let unlistable = Unlistable::new(&kind.resource, error.to_string());
            looked.unlistable.push(Unlistable { forbidden, ..unlistable });
        }
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
        // What nothing can be done with but to look at it was never put.
        if !["patch", "update", "delete"].into_iter().any(|verb| kind.can(verb)) || is_never_put(kind) {
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

/// Whether no module has objects of a kind: records of the collector are written by it alone. Events are served in two
/// groups, and are the same objects in both.
fn is_never_put(kind: &ServedKind) -> bool {
    let records = [collection::RESOURCE, tombstone::RESOURCE];
    match kind.resource.group.as_str() {
        "sexton.dev" => records.contains(&kind.resource.resource.as_str()),
        "events.k8s.io" => kind.resource.resource == "events",
        _ => false,
    }
}

/// Which kinds cannot be listed now. One object of each is asked for, so it does not matter how many there are.
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
    /// All that a module manages now; within a namespace, if it is limited to one. `only` names the kinds of which it can
    /// have something, where that is known.
    pub(super) async fn look_at(
        &self,
        module: &str,
        within: Option<&str>,
        only: Option<&BTreeSet<GroupResource>>,
    ) -> Looked {
        let is_asked = |kind: &ServedKind| only.is_none_or(|only| only.contains(&kind.resource));
        let of = |kinds: &Kinds| Kinds {
            all: kinds.all.iter().filter(|kind| is_asked(kind)).cloned().collect(),
            unread: if only.is_some() { Vec::new() } else { kinds.unread.clone() },
            ..*kinds
        };
        match self.kinds_now().await.map(|kinds| of(&kinds)) {
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

/// The members of one kind, with their documents if they are wanted, and why not all of them can be known. What is outside
/// of the module's namespace need not be known if it may not be. Of a module without one, what is in the user's own
/// namespace is seen at least.
async fn list_within<'a>(
    resources: &Resources,
    kind: &'a ServedKind,
    within: Option<&str>,
    ask: &ListAsk,
    whole: bool,
) -> (&'a ServedKind, Vec<(Member, Option<Value>)>, Option<ListError>) {
    let error = match list(resources, &Place::new(kind, None), ask, whole).await {
        Ok(found) => return (kind, found, None),
        Err(error) => error,
    };
    let narrower = within.or(resources.namespace());
    let (Some(namespace), true) = (narrower, is_forbidden(&error)) else {
        return (kind, Vec::new(), Some(error));
    };
    let found = match kind.namespaced {
        true => list(resources, &Place::new(kind, Some(namespace)), ask, whole).await,
        false => Ok(Vec::new()),
    };
    match (found, within) {
        (Ok(found), Some(_)) => (kind, found, None),
        (Ok(found), None) => (kind, found, Some(error)),
        (Err(narrower), Some(_)) => (kind, Vec::new(), Some(narrower)),
        (Err(_), None) => (kind, Vec::new(), Some(error)),
    }
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
