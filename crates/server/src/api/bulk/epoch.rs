//! Whose turn it is to act: a lease that must still say so in the committing transaction.

use serde_json::Value;
use sexton_model::bulk::Epoch;
use sexton_model::{GroupResource, Key, Status};
use sexton_store::{At, Guard};

use crate::api::{Api, Result};

/// Who may act in this round.
pub(super) enum Turn {
    /// Nobody asked for a turn.
    Anybody,
    /// Whoever holds the lease in this version.
    Holder(Guard),
}

impl Turn {
    pub(super) fn guard(&self) -> Option<Guard> {
        match self {
            Turn::Anybody => None,
            Turn::Holder(guard) => Some(guard.clone()),
        }
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
        Ok(Turn::Holder(lease.unchanged()))
    }
}
