//! Of several collectors only one acts: a lease, and an epoch that grows whenever it changes hands.
//!
//! The epoch goes with every write and every call of a hook, so that somebody who was paused and woke up late cannot
//! act on what is no longer theirs. It must not know what is done under the lease.

use std::time::Duration;

use serde_json::{Value, json};
use sexton_client::resources::{PutError, text};
use sexton_client::{CallError, Place, Resources, ServedKind};
use sexton_model::bulk::Epoch;
use sexton_model::time;

/// Where and how the lease is held.
#[derive(Debug, Clone)]
pub struct LeaseSettings {
    /// The namespace of the lease.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Who we are.
    pub holder: String,
    /// A holder that says nothing for so long has lost it.
    pub duration: Duration,
    /// Where it is instead for a user without rights in that namespace.
    pub fallback: Option<String>,
    /// Whether a lease held under our own name is the one of a predecessor that is surely dead: of the server's own
    /// collector, of which there is one per store.
    pub inherits: bool,
}

impl LeaseSettings {
    /// The usual place.
    pub fn new(holder: impl Into<String>) -> LeaseSettings {
        LeaseSettings {
            namespace: "kube-system".into(),
            name: "sexton-collector".into(),
            holder: holder.into(),
            duration: Duration::from_secs(15),
            fallback: None,
            inherits: false,
        }
    }

    /// How often a holder says that it is there.
    pub fn renewal(&self) -> Duration {
        self.duration / 4
    }
}

/// Whose turn it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Ours, under this epoch.
    Ours(Epoch),
    /// Somebody else's.
    Theirs {
        /// Who has it.
        holder: String,
    },
}

/// The lease of the collector.
#[derive(Debug)]
pub(crate) struct Lease {
    settings: LeaseSettings,
    resources: Resources,
    place: Place,
    held: Option<Epoch>,
    /// The version that somebody else wrote, and since when we see it: their clock is not ours.
    seen: Option<(String, i64)>,
}

impl Lease {
    /// A lease that nobody asked for yet.
    pub(crate) fn new(settings: LeaseSettings, resources: Resources) -> Lease {
        let kind = ServedKind::well_known("coordination.k8s.io", "leases", "Lease", true);
        let place = Place::new(&kind, Some(&settings.namespace));
        Lease { settings, resources, place, held: None, seen: None }
    }

    /// How often to ask.
    pub(crate) fn renewal(&self) -> Duration {
        self.settings.renewal()
    }

    /// Takes, keeps or misses the lease. Losing a race is not an error: it is somebody else's turn.
    ///
    /// # Errors
    /// The server cannot be asked; whoever held the lease may no longer rely on it once its duration is over.
    pub(crate) async fn turn(&mut self, now: i64) -> Result<Turn, CallError> {
        match self.try_turn(now).await {
            Err(CallError::Refused(status)) if status.code == 403 => {
                let Some(fallback) = self.settings.fallback.take() else {
                    return Err(CallError::Refused(status));
                };
                self.place = Place::new(&self.place.kind, Some(&fallback));
                self.settings.namespace = fallback;
                self.try_turn(now).await
            }
            turn => turn,
        }
    }

    async fn try_turn(&mut self, now: i64) -> Result<Turn, CallError> {
        let current = self.resources.find(&self.place, &self.settings.name).await?;
        let Some(mut lease) = current else {
            let fresh = json!({
                "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                "metadata": {"name": self.settings.name, "namespace": self.settings.namespace},
                "spec": self.spec(1, now, None),
            });
            return self.take(self.resources.create(&self.place, &fresh).await, 1);
        };
        let holder = text(&lease, "/spec/holderIdentity").to_owned();
        let transitions = lease.pointer("/spec/leaseTransitions").and_then(Value::as_i64).unwrap_or(0);
        let ours =
            self.held.as_ref().is_some_and(|held| held.holder == holder && held.transitions == transitions);
        let inherited = self.settings.inherits && holder == self.settings.holder;
        if !ours && !inherited && !holder.is_empty() && !self.is_over(&lease, now) {
            self.held = None;
            return Ok(Turn::Theirs { holder });
        }
        let transitions = if ours { transitions } else { transitions + 1 };
        let acquired = ours.then(|| lease.pointer("/spec/acquireTime").cloned()).flatten();
        lease["spec"] = self.spec(transitions, now, acquired);
        let replaced = self.resources.replace(&self.place, &self.settings.name, &lease).await;
        self.take(replaced, transitions)
    }

    /// Gives the lease back, so that others need not wait for its end.
    pub(crate) async fn release(&mut self) {
        let Some(held) = self.held.take() else { return };
        let Ok(Some(mut lease)) = self.resources.find(&self.place, &self.settings.name).await else { return };
        let same = text(&lease, "/spec/holderIdentity") == held.holder
            && lease.pointer("/spec/leaseTransitions").and_then(Value::as_i64) == Some(held.transitions);
        if same {
            lease["spec"]["holderIdentity"] = json!("");
            if let Err(error) = self.resources.replace(&self.place, &self.settings.name, &lease).await {
                tracing::debug!(%error, "the lease was not given back");
            }
        }
    }

    fn take(&mut self, written: Result<Value, PutError>, transitions: i64) -> Result<Turn, CallError> {
        match written {
            Ok(_) => {
                let epoch = Epoch {
                    namespace: self.settings.namespace.clone(),
                    name: self.settings.name.clone(),
                    holder: self.settings.holder.clone(),
                    transitions,
                };
                self.held = Some(epoch.clone());
                Ok(Turn::Ours(epoch))
            }
            Err(PutError::Conflict(_)) => {
                self.held = None;
                Ok(Turn::Theirs { holder: "somebody who was faster".into() })
            }
            Err(PutError::Invalid(status)) => Err(CallError::Refused(status)),
            Err(PutError::Call(error)) => Err(error),
        }
    }

    fn spec(&self, transitions: i64, now: i64, acquired: Option<Value>) -> Value {
        let now = micro_time(now);
        json!({
            "holderIdentity": self.settings.holder,
            "leaseDurationSeconds": self.settings.duration.as_secs().max(1),
            "acquireTime": acquired.unwrap_or_else(|| json!(now)),
            "renewTime": now,
            "leaseTransitions": transitions,
        })
    }

    /// Whether the holder said nothing for the whole duration, measured by our clock alone.
    fn is_over(&mut self, lease: &Value, now: i64) -> bool {
        let version = text(lease, "/metadata/resourceVersion");
        let duration = lease.pointer("/spec/leaseDurationSeconds").and_then(Value::as_i64).unwrap_or(15);
        match &self.seen {
            Some((seen, since)) if seen == version => now - since > duration,
            _ => {
                self.seen = Some((version.to_owned(), now));
                false
            }
        }
    }
}

/// Leases have a fraction of a second in their times.
fn micro_time(now: i64) -> String {
    let mut text = time::format(now);
    if text.ends_with('Z') {
        text.truncate(text.len() - 1);
        text.push_str(".000000Z");
    }
    text
}
