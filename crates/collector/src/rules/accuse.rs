//! Accuses those who are condemned, each with the evidence on which that rests: that its owners do not exist is looked at
//! again with the write, and where the server can do that, in its transaction.
//!
//! It must not know who condemned them, and destroys nothing: the collector does.

use std::collections::BTreeMap;

use sexton_client::Gateway;
use sexton_client::resources::BulkError;
use sexton_model::Key;
use sexton_model::accusation::{Accusation, Accuser};
use sexton_model::bulk::{Action, Bulk, Epoch, Item, ItemResult};
use sexton_model::marks::{ACCUSED, DEPLOYMENT_ID};

use super::found::Found;

/// Lives in one request.
const TOGETHER: usize = 1_000;

/// Who accuses, and in whose name.
#[derive(Debug, Clone)]
pub struct Charge {
    /// What was looked for.
    pub accuser: Accuser,
    /// On whose behalf: `Rule/web`.
    pub by: String,
    /// The collection in which all of them end.
    pub collection: String,
    /// Who asked for it.
    pub initiator: Option<String>,
}

/// What became of accusations.
#[derive(Debug, Clone, Default)]
pub struct Accused {
    /// The uids of those who are accused now.
    pub accused: Vec<String>,
    /// Those who were accused before, and still are: nothing was written.
    pub before: usize,
    /// Whom the server did not let us accuse, and why: their world is another one by now.
    pub refused: Vec<(String, String)>,
    /// Which guarantee could not be given, on a server of another make.
    pub weaker: Option<String>,
}

/// Accuses. What is accused already, and rightly, is left as it is.
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
        // Elsewhere anybody could copy the annotation to somebody else, so there it names its life.
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

/// Whether it carries an accusation that holds, whoever wrote it.
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
