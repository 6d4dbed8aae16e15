//! Leaves an unfinished plan to Kubernetes: when a command ends on another make of cluster, our finalizers that hold
//! objects until their turn are replaced by Kubernetes' own, so that its garbage collector continues.
//!
//! It must not decide which objects are doomed: those that it touches are terminating already.

use std::collections::BTreeMap;
use std::sync::Arc;

use sexton_client::Gateway;
use sexton_lifecycle::{NodeId, Snapshot};
use sexton_model::bulk::{Action, Item};
use sexton_model::{Policy, Uid};

use crate::approve::ApproveError;
use crate::perform::Hand;

/// Hands the terminating objects among these over. Returns how many lost our finalizer. Objects with steps keep
/// theirs, because only our collector takes steps.
///
/// # Errors
/// See [`ApproveError`].
pub async fn hand_over<'a>(
    gateway: Arc<dyn Gateway>,
    snapshot: &Snapshot,
    uids: impl IntoIterator<Item = &'a Uid>,
) -> Result<usize, ApproveError> {
    let held = uids.into_iter().filter_map(|uid| snapshot.get(uid)).filter(|life| is_held(snapshot, *life));
    let held: Vec<NodeId> = held.collect();
    if held.is_empty() {
        return Ok(0);
    }
    let hand = Hand::new(gateway, None);
    let held_by_kubernetes = hand.send(held.iter().map(|life| delete(snapshot, *life)).collect()).await?;
    let results = held.into_iter().zip(&held_by_kubernetes.results);
    let ready = results.filter(|(_, result)| result.code < 400).map(|(life, _)| release(snapshot, life));
    let released = hand.send(ready.collect()).await?;
    Ok(released.results.iter().filter(|result| result.code < 400).count())
}

fn cascades(finalizer: &str) -> bool {
    Policy::recorded_by(finalizer) == Some(Policy::Cascade)
}

fn is_held(snapshot: &Snapshot, life: NodeId) -> bool {
    snapshot.is_terminating(life) && snapshot.finalizers(life).any(cascades)
}

/// A second deletion, which adds Kubernetes' finalizer.
fn delete(snapshot: &Snapshot, life: NodeId) -> Item {
    let policy = Some("Foreground".to_owned());
    let action = Action::Delete { policy, annotations: BTreeMap::new(), hold: false };
    Item::new(snapshot.key(life), snapshot.uid(life).0, action)
}

/// Removes our finalizers that cascade.
fn release(snapshot: &Snapshot, life: NodeId) -> Item {
    let ours = snapshot.finalizers(life).filter(|one| cascades(one));
    let action = Action::Patch {
        remove_finalizers: ours.map(str::to_owned).collect(),
        add_finalizers: Vec::new(),
        remove_owners: Vec::new(),
        annotations: BTreeMap::new(),
    };
    Item::new(snapshot.key(life), snapshot.uid(life).0, action)
}
