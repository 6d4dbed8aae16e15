//! Leases: one of several collectors acts, and one command at a time works on a module or an environment.
//!
//! One rule for all of them:
//!
//! 1. A holder renews its lease every quarter of the lease's duration.
//! 2. Another process takes it when it has seen the lease unchanged for the whole duration, measured with its own
//!    steady
//!    clock. Written times are of other machines, so they never decide (`observed.rs`).
//! 3. Each takeover increments `leaseTransitions`. Every write under the lease names holder and number (its *epoch*),
//!    and the
//!    server refuses it if the lease has others by then.
//! 4. A holder may have a secret, of which the lease has only the digest; then the server lets only it write the
//!    lease.
//!
//! It must not know what is done under a lease.

mod observed;
mod turn;
mod work;

pub use observed::Observed;
pub use turn::LeaseSettings;
pub(crate) use turn::{Lease, Turn};
pub(crate) use work::{Hold, call_error};
pub use work::{LeaseError, LeaseGiver, LeaseView, Locked, WorkLease};

use std::time::Duration;

use serde_json::{Value, json};
use sexton_client::resources::{PutError, text};
use sexton_client::{CallError, Place, Resources, ServedKind};
use sexton_model::bulk::Epoch;
use sexton_model::lease::{LEASE_SECONDS, PROOF_DIGEST, Proof};
use sexton_model::time;
use uuid::Uuid;

/// The kind of leases.
fn kind() -> ServedKind {
    ServedKind::well_known("coordination.k8s.io", "leases", "Lease", true)
}

/// How often the holder of a lease renews it: two renewals in a row may get lost.
fn renewal(duration: Duration) -> Duration {
    duration / 4
}

/// The usual duration.
const DURATION: Duration = Duration::from_secs(LEASE_SECONDS.unsigned_abs());

/// A secret that no other process can guess: 244 random bits.
fn secret() -> Proof {
    Proof::new(format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple()))
}

/// One `Lease` object on a server: reads and writes it.
#[derive(Debug, Clone)]
struct LeaseObject {
    resources: Resources,
    place: Place,
    name: String,
    holder: String,
    duration: Duration,
    /// Stored as a digest while the lease is held; then the server lets no other requester write the lease.
    proof: Option<Proof>,
}

impl LeaseObject {
    fn new(resources: &Resources, namespace: &str, name: &str, holder: &str) -> LeaseObject {
        let (place, duration) = (Place::new(&kind(), Some(namespace)), DURATION);
        let (name, holder) = (name.to_owned(), holder.to_owned());
        LeaseObject { resources: resources.clone(), place, name, holder, duration, proof: None }
    }

    /// The same, with a new secret.
    fn proved(self) -> LeaseObject {
        let proof = secret();
        let resources = self.resources.proving(proof.clone());
        LeaseObject { resources, proof: Some(proof), ..self }
    }

    fn namespace(&self) -> &str {
        self.place.namespace.as_deref().unwrap_or_default()
    }

    async fn read(&self) -> Result<Option<Value>, CallError> {
        self.resources.find(&self.place, &self.name).await
    }

    /// Takes or renews the lease. `current` is what was read; `since` is when it was taken, for a renewal.
    async fn hold(
        &self,
        current: Option<Value>,
        transitions: i64,
        now: i64,
        since: Option<Value>,
    ) -> Result<Value, PutError> {
        let now = micro_time(now);
        let spec = json!({
            "holderIdentity": self.holder,
            "leaseDurationSeconds": self.duration.as_secs().max(1),
            "acquireTime": since.unwrap_or_else(|| json!(now)),
            "renewTime": now,
            "leaseTransitions": transitions,
        });
        let is_new = current.is_none();
        let mut lease = current.unwrap_or_else(|| {
            json!({
                "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                "metadata": {"name": self.name, "namespace": self.namespace()},
            })
        });
        lease["spec"] = spec;
        if let Some(proof) = &self.proof {
            if !lease["metadata"]["annotations"].is_object() {
                lease["metadata"]["annotations"] = json!({});
            }
            lease["metadata"]["annotations"][PROOF_DIGEST] = json!(proof.digest());
        }
        match is_new {
            true => self.resources.create(&self.place, &lease).await,
            false => self.resources.replace(&self.place, &self.name, &lease).await,
        }
    }

    /// Gives the lease back if it is still held under the epoch, so that others need not wait until it expires.
    async fn give_back(&self, epoch: &Epoch) {
        let Ok(Some(mut lease)) = self.read().await else { return };
        if is_under(&lease, epoch) {
            lease["spec"]["holderIdentity"] = json!("");
            if let Err(error) = self.resources.replace(&self.place, &self.name, &lease).await {
                tracing::debug!(%error, "the lease was not given back");
            }
        }
    }

    /// The epoch that writes under the lease carry.
    fn epoch(&self, transitions: i64) -> Epoch {
        Epoch {
            namespace: self.namespace().to_owned(),
            name: self.name.clone(),
            holder: self.holder.clone(),
            transitions,
            proof: self.proof.clone(),
        }
    }
}

fn holder(lease: &Value) -> &str {
    text(lease, "/spec/holderIdentity")
}

fn transitions(lease: &Value) -> i64 {
    lease.pointer("/spec/leaseTransitions").and_then(Value::as_i64).unwrap_or(0)
}

fn is_under(lease: &Value, epoch: &Epoch) -> bool {
    holder(lease) == epoch.holder && transitions(lease) == epoch.transitions
}

/// How long the lease is valid without a renewal: at most as long as leases are.
fn duration(lease: &Value) -> Duration {
    let said = lease.pointer("/spec/leaseDurationSeconds").and_then(Value::as_i64);
    Duration::from_secs(said.unwrap_or(LEASE_SECONDS).clamp(1, LEASE_SECONDS).unsigned_abs())
}

/// Leases have a fraction of a second in their times.
fn micro_time(now: i64) -> String {
    time::format(now).replace('Z', ".000000Z")
}
