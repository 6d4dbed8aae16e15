//! Accuses exactly those objects that the plan showed and that are still unmarked, or gives them new places.
//!
//! Preconditions of each write: the uid, the deployment id and the labels that the object had. So an object that was
//! put again, moved to another module or protected meanwhile is not touched. It destroys nothing: that is the
//! collector's.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::time::Duration;

use sexton_client::BulkError;
use sexton_lifecycle::module::{Member, in_scope, renumber, scope_labels};
use sexton_model::accusation::{Accusation, Accuser};
use sexton_model::bulk::{Action, Annotations, Bulk, Epoch, Item, MAX_ITEMS};
use sexton_model::module::Scope;
use sexton_model::{GroupResource, Key, marks};
use tokio::time::Instant;

use super::look::Unlistable;
use super::prepare::APPLY_SET;
use super::victims::{Kept, Victim, spared};
use super::{Event, Modules, Tell};

/// The most objects in one request.
const TOGETHER: usize = 2_500;
const _: () = assert!(TOGETHER <= MAX_ITEMS);

/// A look at a cluster is one list per kind, so it is not repeated within this time.
const LOOK_FRESH: Duration = Duration::from_secs(10);

/// The outcome of a sweep.
#[derive(Debug, Clone, Default)]
pub struct Swept {
    /// The collection to which they belong, if any were accused.
    pub collection: Option<String>,
    /// The objects that were accused.
    pub accused: Vec<Member>,
    /// Objects that the plan showed and that were not accused after all, and why: put again, gone, protected.
    pub spared: Vec<Kept>,
    /// How many got new places instead.
    pub renumbered: usize,
    /// Why nothing was swept, if nothing was.
    pub why_not: Option<String>,
}

/// Why a sweep was broken off. Objects that were accused before stay accused.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// Not all that the module manages can be seen.
    #[error("{} kinds cannot be listed, so nothing was swept", .0.len())]
    Unlistable(Vec<Unlistable>),
    /// The lease has another holder.
    #[error("the lease was lost to somebody else, so nothing more was swept")]
    Lost,
    /// The server did not do it, or it is not known whether it did.
    #[error("the accusations were not written")]
    Bulk(#[source] BulkError),
}

/// What all accusations of a sweep have in common.
#[derive(Debug)]
pub(super) struct Charge<'a> {
    pub(super) module: &'a str,
    /// An object that left the scope since the plan is not swept. Without a scope all that the plan showed are accused.
    pub(super) scope: Option<&'a Scope>,
    /// When the objects were listed for the plan.
    pub(super) looked_at: Instant,
    pub(super) because: String,
    /// How many of them may be destroyed at the same time, if the module sets a bound.
    pub(super) parallel: Option<u32>,
    pub(super) collection: String,
    pub(super) epoch: &'a Epoch,
}

/// The name of a collection, from a module and a deployment, in allowed characters.
pub(super) fn collection_name(trigger: &str, module: &str, deployment: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let deployment: String = deployment.chars().map(plain).collect();
    format!("{trigger}-{module}-{}", deployment.trim_matches('-'))
}

impl Modules {
    /// Accuses those of the shown objects that are still as they were.
    pub(super) async fn accuse(
        &self,
        victims: &[Victim],
        charge: &Charge<'_>,
        tell: &Tell<'_>,
    ) -> Result<Swept, SweepError> {
        let mut swept = Swept::default();
        if victims.is_empty() {
            return Ok(swept);
        }
        // Each write has its own evidence, but the plan had seen everything. Where something cannot be listed any
        // more, the reason is unknown, and nothing is swept.
        let unlistable = match charge.scope.is_some() && !self.is_recent(charge.looked_at) {
            true => self.unlistable().await,
            false => Vec::new(),
        };
        if !unlistable.is_empty() {
            return Err(SweepError::Unlistable(unlistable));
        }
        let mut refused: Vec<(&Member, String)> = Vec::new();
        // One request after the other, in the order of destruction: so an accused object never has to wait for one
        // that is not accused yet.
        for chunk in victims.chunks(TOGETHER) {
            let members: Vec<&Member> = chunk.iter().map(|victim| &victim.member).collect();
            let done = self.send(self.accusations(&members, charge), charge.epoch).await?;
            for member in members {
                match done.get(member.uid.as_str()) {
                    Some(Some(why)) => refused.push((member, why.clone())),
                    _ => swept.accused.push(member.clone()),
                }
            }
            tell(Event::Accused { done: swept.accused.len(), of: victims.len() });
        }
        swept.spared = self.why_spared(refused, charge).await;
        swept.collection = Some(charge.collection.clone()).filter(|_| !swept.accused.is_empty());
        Ok(swept)
    }

    /// Whether the list for the plan is recent enough. A server of ours is asked in any case: there it costs next to
    /// nothing.
    fn is_recent(&self, looked_at: Instant) -> bool {
        !self.tools.gateway.resumes() && looked_at.elapsed() < LOOK_FRESH
    }

    /// Why objects were refused, in the words of a plan where those fit, else in the server's.
    async fn why_spared(&self, refused: Vec<(&Member, String)>, charge: &Charge<'_>) -> Vec<Kept> {
        if refused.is_empty() {
            return Vec::new();
        }
        let within = charge.scope.and_then(|scope| scope.get("namespace"));
        let looked = self.look_at(charge.module, within.map(String::as_str), None).await;
        let now: HashMap<&str, &Member> =
            looked.members.iter().map(|member| (member.uid.as_str(), member)).collect();
        let why = |member: &Member, refusal: String| {
            changed(member, now.get(member.uid.as_str()).copied(), charge.scope).unwrap_or(refusal)
        };
        refused
            .into_iter()
            .map(|(member, refusal)| Kept { member: member.clone(), why: why(member, refusal) })
            .collect()
    }

    /// The accusations, with one item for all objects that have the same one.
    fn accusations(&self, members: &[&Member], charge: &Charge<'_>) -> Vec<Item> {
        // On other servers any user can copy an annotation, so there it contains the uid of its object.
        let foreign = !self.tools.gateway.resumes();
        let write = |member: &Member| {
            let accusation = Accusation {
                accuser: Accuser::Unmarked,
                by: format!("Module/{}", charge.module),
                because: charge.because.clone(),
                collection: charge.collection.clone(),
                initiator: Some(self.tools.by.clone()).filter(|by| !by.is_empty()),
                deployment: member.deployment.clone(),
                absent: Vec::new(),
                policy: None,
                parallel: charge.parallel,
                uid: foreign.then(|| member.uid.clone()),
            };
            let mut annotations = Annotations::from([(marks::ACCUSED.to_owned(), Some(accusation.encode()))]);
            if member.order.is_none() {
                // Lower than all places that are given, so that it is destroyed last.
                annotations.insert(marks::DEPENDENCY_ORDER.to_owned(), Some("0".to_owned()));
            }
            annotations
        };
        let mut labelled = Annotations::from([
            (marks::MANAGER.to_owned(), Some(charge.module.to_owned())),
            (APPLY_SET.to_owned(), None),
        ]);
        let scope = charge.scope.into_iter().flat_map(scope_labels);
        labelled.extend(scope.map(|(name, value)| (name.to_owned(), Some(value.to_owned()))));
        // All else is the same for all.
        let differs = |member: &Member| (member.order.is_none(), foreign.then(|| member.uid.clone()));
        let mut items = shared(members, differs, write);
        for item in &mut items {
            item.unprotected = true;
            item.labelled.clone_from(&labelled);
        }
        items
    }

    /// Removes accusations of an earlier sweep from objects that are not terminating yet.
    pub(super) async fn withdraw(&self, unmarked: &[&Member], epoch: &Epoch) -> Result<(), SweepError> {
        let accused: Vec<&Member> = unmarked.iter().copied().filter(|member| member.is_candidate).collect();
        for chunk in accused.chunks(TOGETHER) {
            let write = |_: &Member| Annotations::from([(marks::ACCUSED.to_owned(), None)]);
            self.send(shared(chunk, |_| (), write), epoch).await?;
        }
        Ok(())
    }

    /// Gives the unmarked objects new places after all marked ones.
    pub(super) async fn renumber(
        &self,
        unmarked: &[&Member],
        highest_marked: Option<i64>,
        epoch: &Epoch,
    ) -> Result<usize, SweepError> {
        let orders: Vec<Option<i64>> = unmarked.iter().map(|member| member.order).collect();
        let places = renumber(highest_marked, &orders);
        let new: HashMap<&str, i64> = unmarked.iter().map(|member| member.uid.as_str()).zip(places).collect();
        let moved: Vec<&Member> = unmarked
            .iter()
            .copied()
            .filter(|member| member.order != new.get(member.uid.as_str()).copied())
            .collect();
        let write = |member: &Member| {
            let place = new.get(member.uid.as_str()).map(ToString::to_string);
            Annotations::from([(marks::DEPENDENCY_ORDER.to_owned(), place)])
        };
        let mut count = 0;
        for chunk in moved.chunks(TOGETHER) {
            let place = |member: &Member| new.get(member.uid.as_str()).copied();
            let done = self.send(shared(chunk, place, write), epoch).await?;
            count += done.values().filter(|refusal| refusal.is_none()).count();
        }
        Ok(count)
    }

    /// Makes the writes of one request. Returns for each uid the reason of its refusal, if it was refused.
    async fn send(
        &self,
        items: Vec<Item>,
        epoch: &Epoch,
    ) -> Result<HashMap<String, Option<String>>, SweepError> {
        let bulk = Bulk { epoch: Some(epoch.clone()), items };
        let answer = self.tools.gateway.bulk(&bulk).await.map_err(|error| match error {
            BulkError::StaleEpoch(_) => SweepError::Lost,
            error => SweepError::Bulk(error),
        })?;
        let lives = bulk.items.iter().flat_map(|item| item.lives().map(|(_, uid)| uid.to_owned()));
        let refusal = |result: &sexton_model::bulk::ItemResult| match result.code {
            404 => Some("it is gone already".to_owned()),
            code if code >= 400 => {
                Some(result.status.as_ref().map(|status| status.message.clone()).unwrap_or_default())
            }
            _ => None,
        };
        Ok(lives.zip(answer.items.iter().map(refusal)).collect())
    }
}

/// Why an object is not what the plan showed any more, if it is not.
fn changed(shown: &Member, now: Option<&Member>, scope: Option<&Scope>) -> Option<String> {
    let Some(now) = now else { return Some("it is gone, or not the module's any more".to_owned()) };
    if now.deployment != shown.deployment {
        return Some("it was put again meanwhile".to_owned());
    }
    if scope.is_some_and(|scope| !in_scope(scope, now)) {
        return Some("it is not in scope any more".to_owned());
    }
    spared(now)
}

/// Items for these objects, each with the condition that the object still carries the deployment id that it was shown
/// with. Objects of one kind, namespace and deployment id share an item, unless they differ in what is written.
fn shared<D: Eq + Hash>(
    members: &[&Member],
    differs: impl Fn(&Member) -> D,
    write: impl Fn(&Member) -> Annotations,
) -> Vec<Item> {
    type Common<'a> = (&'a str, &'a str, &'a str, Option<&'a str>);
    let mut places: HashMap<(Common<'_>, D), usize> = HashMap::new();
    let mut items: Vec<Item> = Vec::new();
    for member in members {
        let kind = (member.group.as_str(), member.resource.as_str());
        let common = (kind.0, kind.1, member.namespace.as_str(), member.deployment.as_deref());
        match places.entry((common, differs(member))) {
            Entry::Occupied(place) => {
                items[*place.get()].also.push((member.name.clone(), member.uid.clone()));
                continue;
            }
            Entry::Vacant(place) => place.insert(items.len()),
        };
        let key = Key {
            kind: GroupResource::new(member.group.as_str(), member.resource.as_str()),
            namespace: member.namespace.clone(),
            name: member.name.clone(),
        };
        let item = Item::new(key, member.uid.as_str(), Action::annotate(write(member)));
        let annotated = Annotations::from([(marks::DEPLOYMENT_ID.to_owned(), member.deployment.clone())]);
        items.push(Item { annotated, unmarked: true, ..item });
    }
    items
}
