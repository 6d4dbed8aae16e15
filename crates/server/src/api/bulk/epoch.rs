//! The lease whose holder may act: it must still say so in the committing transaction. And what that gives a right to.

use serde_json::Value;
use sexton_model::bulk::Epoch;
use sexton_model::lease::PROOF_DIGEST;
use sexton_model::{GroupResource, Key, Status};
use sexton_store::{At, Guard};

use crate::api::fencing::Rights;
use crate::api::{Api, Result};

/// Which requester may act in this round: any, or only the holder of a lease.
#[derive(Default)]
pub(super) struct Turn {
    /// The lease in the version that was looked at.
    guard: Option<Guard>,
    /// What the holder proved.
    pub(super) rights: Rights,
}

impl Turn {
    pub(super) fn guard(&self) -> Option<Guard> {
        self.guard.clone()
    }
}

impl Api {
    /// Compares the lease with what the caller believes it says. That it was renewed meanwhile does not matter.
    pub(super) async fn turn(&self, epoch: &Epoch) -> Result<Turn> {
        let key = Key {
            kind: GroupResource::new("coordination.k8s.io", "leases"),
            namespace: epoch.namespace.clone(),
            name: epoch.name.clone(),
        };
        let stale =
            |why: String| Status::stale_epoch(format!("the lease {}/{} {why}", key.namespace, key.name));
        let Some(lease) = self.store.get(&key, At::Latest).await? else {
            return Err(stale("does not exist".into()).into());
        };
        let document = lease.document()?;
        let spec = |field: &str| document.value().pointer(&format!("/spec/{field}"));
        let holder = spec("holderIdentity").and_then(Value::as_str).unwrap_or_default();
        let transitions = spec("leaseTransitions").and_then(Value::as_i64).unwrap_or(0);
        if (holder, transitions) != (epoch.holder.as_str(), epoch.transitions) {
            let why = format!(
                "is held by {holder:?} after {transitions} transitions, not by {:?} after {}",
                epoch.holder, epoch.transitions
            );
            return Err(stale(why).into());
        }
        let rights = match (document.annotation(PROOF_DIGEST), &epoch.proof) {
            (Some(digest), Some(proof)) if proof.fits(digest) => Rights::of_lease(&key, proof),
            (Some(_), Some(_)) => {
                let why = "the proof that was presented is not that of its holder";
                return Err(Status::forbidden(&key.kind, &key.name, why).into());
            }
            // A condition like any other.
            _ => Rights::default(),
        };
        Ok(Turn { guard: Some(lease.unchanged()), rights })
    }
}
