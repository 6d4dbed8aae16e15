//! New marks for what only gets its marks: many in one write, instead of one put each.
//!
//! It rests on what was seen: the life and its version. Whatever was written by anybody since then is left to an ordinary
//! put, and so is all of it where the server does not know such writes. It must not know what is put otherwise.

use std::collections::HashSet;

use futures::stream::{self, StreamExt};
use sexton_client::BulkError;
use sexton_model::bulk::{Action, Annotations, Bulk, Item, Outcome};
use sexton_model::{Key, marks};

use super::Modules;
use super::plan::{ModulePlan, Seen};
use super::prepare::Prepared;
use crate::lease::Locked;

/// Lives in one request.
const TOGETHER: usize = 1_000;
/// Requests at once: one is decided while the next is written down.
const AT_ONCE: usize = 2;

impl Modules {
    /// Which documents of a plan are done, because what is there carries the marks of this deployment now.
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

    /// Whether each of them is marked.
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
                // Whatever it is, the puts that follow meet it as well, and can say of which document.
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
