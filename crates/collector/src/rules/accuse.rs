//! Writes accusations, each with its evidence: the server checks in the same transaction that the owners do not
//! exist, or checks right before it where it is not ours.
//!
//! It must not know how the candidates were found, and destroys nothing: the collector does.

use std::collections::BTreeMap;

use sexton_client::Gateway;
use sexton_client::resources::BulkError;
use sexton_model::Key;
use sexton_model::accusation::{Accusation, Accuser};
use sexton_model::bulk::{Action, Bulk, Epoch, Item, ItemResult};
use sexton_model::marks::{ACCUSED, DEPLOYMENT_ID};

use super::found::Found;

/// The most objects in one request.
const TOGETHER: usize = 1_000;

/// What all accusations of one search have in common.
#[derive(Debug, Clone)]
pub struct Charge {
    /// The search that found them.
    pub accuser: Accuser,
    /// The name of the rule or command: `Rule/web`.
    pub by: String,
    /// The collection to which all of them belong.
    pub collection: String,
    /// The requester.
    pub initiator: Option<String>,
}

/// The outcome of accusations.
#[derive(Debug, Clone, Default)]
pub struct Accused {
    /// The uids of the objects that are accused now.
    pub accused: Vec<String>,
    /// How many were accused before, and still are: nothing was written.
    pub before: usize,
    /// Objects that the server refused to change, and why: they are not what was seen any more.
    pub refused: Vec<(String, String)>,
    /// Which guarantee a server of another make could not give.
    pub weaker: Option<String>,
}

/// Accuses objects. One with a valid accusation is left as it is.
///
/// # Errors
/// See [`BulkError`]: what was written before stands.
pub async fn accuse(
    gateway: &dyn Gateway,
    epoch: Option<&Epoch>,
    condemned: &[&Found],
    charge: &Charge,
) -> Result<Accused, BulkError> {
    let mut done = Accused::default();
    let mut items: Vec<(Item, Vec<String>)> = Vec::new();
    let mut same: BTreeMap<(String, String, String, String), usize> = BTreeMap::new();
    for found in condemned {
        if is_accused(found) {
            done.before += 1;
            continue;
        }
        // On other servers a user could copy the annotation to another object, so there it contains the uid of its
        // own.
        let text = accusation(found, charge, !gateway.resumes()).encode();
        let of = (found.kind.resource.group.clone(), found.kind.resource.resource.clone());
        let place = (of.0, of.1, found.namespace.clone(), text.clone());
        match same.get(&place).map(|at| &mut items[*at]).filter(|(item, _)| item.count() < TOGETHER) {
            Some((item, labels)) => {
                item.also.push((found.name.clone(), found.uid.clone()));
                labels.push(found.label());
            }
            None => {
                same.insert(place, items.len());
                items.push((item(found, text), vec![found.label()]));
            }
        }
    }
    let mut rest = items.into_iter().peekable();
    while rest.peek().is_some() {
        let (mut bulk, mut labels) = (Bulk { epoch: epoch.cloned(), items: Vec::new() }, Vec::new());
        while let Some((item, mut named)) =
            rest.next_if(|(item, _)| bulk.items.is_empty() || bulk.count() + item.count() <= TOGETHER)
        {
            bulk.items.push(item);
            labels.append(&mut named);
        }
        let result = gateway.bulk(&bulk).await?;
        let lives = bulk.items.iter().flat_map(Item::lives);
        for ((life, label), result) in lives.zip(labels).zip(result.items) {
            done.note(life.1, label, result);
        }
    }
    Ok(done)
}

impl Accused {
    fn note(&mut self, uid: &str, label: String, result: ItemResult) {
        self.weaker = self.weaker.take().or(result.weaker);
        match result.code {
            ..400 => self.accused.push(uid.to_owned()),
            // It is gone already.
            404 => {}
            _ => {
                let why = result.status.map(|status| status.message.clone()).unwrap_or_default();
                self.refused.push((label, why));
            }
        }
    }
}

fn accusation(found: &Found, charge: &Charge, names_life: bool) -> Accusation {
    Accusation {
        accuser: charge.accuser,
        by: charge.by.clone(),
        because: found.evidence.clone(),
        collection: charge.collection.clone(),
        initiator: charge.initiator.clone(),
        deployment: found.deployment.clone(),
        absent: found.owner_uids(),
        policy: None,
        parallel: None,
        uid: names_life.then(|| found.uid.clone()),
    }
}

/// Whether an object carries an accusation that holds, from any source.
fn is_accused(found: &Found) -> bool {
    let written = found.accused.as_deref().and_then(|text| Accusation::decode(text).ok());
    let owners = found.owners.iter().map(|owner| owner.uid.as_str());
    written.is_some_and(|written| written.holds_for(&found.uid, found.deployment.as_deref(), owners))
}

fn item(found: &Found, text: String) -> Item {
    let (namespace, name) = (found.namespace.clone(), found.name.clone());
    let key = Key { kind: found.kind.resource.clone(), namespace, name };
    let action = Action::annotate([(ACCUSED.to_owned(), Some(text))].into());
    Item {
        absent: found.owner_uids(),
        owners: Some(found.owner_uids()),
        unprotected: true,
        annotated: [(DEPLOYMENT_ID.to_owned(), found.deployment.clone())].into(),
        unmarked: true,
        ..Item::new(key, found.uid.as_str(), action)
    }
}
