//! Writes new marks to unchanged objects, up to [`TOGETHER`] in one request, instead of one put for each.
//!
//! Precondition of each write: the object has the uid and version that the plan saw. An object that has changed since
//! then is put the ordinary way, and so are all of them on servers without writes in bulk. It must not know how
//! documents are put.

use std::collections::HashSet;

use futures::stream::{self, StreamExt};
use sexton_client::BulkError;
use sexton_model::bulk::{Action, Annotations, Bulk, Item, Outcome};
use sexton_model::{Key, marks};

use super::Modules;
use super::plan::{ModulePlan, Seen};
use super::prepare::Prepared;
use crate::lease::Locked;

/// The most objects in one request.
const TOGETHER: usize = 1_000;
/// The most requests at a time: the server decides one while it writes the other to disk.
const AT_ONCE: usize = 2;

impl Modules {
    /// The indexes of documents that are done, because their objects carry the marks of this deployment now.
    pub(super) async fn renew(&self, plan: &ModulePlan, locked: &Locked) -> HashSet<usize> {
        if !self.tools.gateway.resumes() {
            return HashSet::new();
        }
        let documents = plan.documents.iter().zip(&plan.puts).enumerate();
        let renewals: Vec<(usize, Item)> = documents
            .filter_map(|(at, (document, put))| {
                Some((at, renewal(document, put.seen.as_ref()?, &plan.deployment_id)))
            })
            .collect();
        let (places, mut items): (Vec<usize>, Vec<Item>) = renewals.into_iter().unzip();
        let mut requests = Vec::new();
        while !items.is_empty() {
            let rest = items.split_off(items.len().min(TOGETHER));
            requests.push(self.renew_together(std::mem::replace(&mut items, rest), locked));
        }
        let renewed: Vec<Vec<bool>> = stream::iter(requests).buffered(AT_ONCE).collect().await;
        let renewed = renewed.into_iter().flatten();
        places.into_iter().zip(renewed).filter_map(|(at, renewed)| renewed.then_some(at)).collect()
    }

    /// For each item, whether its object is marked now.
    async fn renew_together(&self, items: Vec<Item>, locked: &Locked) -> Vec<bool> {
        let nobody = vec![false; items.len()];
        if locked.check().is_err() {
            return nobody;
        }
        let bulk = Bulk { epoch: Some(locked.epoch().clone()), items };
        match self.tools.gateway.bulk(&bulk).await {
            Ok(answer) => {
                answer.items.iter().map(|result| result.outcome == Some(Outcome::Patched)).collect()
            }
            Err(error) => {
                // The puts that follow meet the same problem, and can say for which document.
                if !matches!(error, BulkError::StaleEpoch(_)) {
                    tracing::debug!(%error, "marks are not renewed together");
                }
                nobody
            }
        }
    }
}

fn renewal(document: &Prepared, seen: &Seen, deployment: &str) -> Item {
    let key = Key {
        kind: document.place.kind.resource.clone(),
        namespace: document.entry.namespace.clone(),
        name: document.entry.name.clone(),
    };
    let annotations = Annotations::from([
        (marks::DEPLOYMENT_ID.to_owned(), Some(deployment.to_owned())),
        (marks::DEPENDENCY_ORDER.to_owned(), Some(document.order.to_string())),
    ]);
    Item {
        resource_version: Some(seen.version.clone()),
        unmarked: true,
        ..Item::new(key, seen.uid.as_str(), Action::annotate(annotations))
    }
}
