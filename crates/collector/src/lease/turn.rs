//! The lease of the collector: of several only its holder acts, under an epoch that grows whenever the holder
//! changes.
//!
//! Every write and every call of a hook carries the epoch. So a collector that was suspended and lost the lease
//! meanwhile cannot change anything any more: the server refuses its writes. It must not know what is done under the
//! lease.

use std::time::Duration;

use serde_json::Value;
use sexton_client::resources::PutError;
use sexton_client::{CallError, Place, Resources};
use sexton_model::bulk::Epoch;
use sexton_model::feed::Line;
use sexton_model::lease::{COLLECTOR, COLLECTOR_NAMESPACE};

use super::{DURATION, LeaseObject, Observed, holder, is_under, renewal, transitions};
use crate::clock::Clock;
use crate::view::View;

/// How often the lease of another holder is looked at, if nothing tells that it was changed.
const LOOK: Duration = Duration::from_secs(2);
/// A lease that was not renewed for this much longer than its duration is over.
const SILENCE: Duration = Duration::from_millis(500);

/// Where and how the lease is held.
#[derive(Debug, Clone)]
pub struct LeaseSettings {
    /// The namespace of the lease.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The name of this process as a holder.
    pub holder: String,
    /// A holder that has not renewed the lease for this time has lost it.
    pub duration: Duration,
    /// The namespace of the lease for a user without rights in the usual one.
    pub fallback: Option<String>,
    /// Whether a lease under our own name is taken at once: its holder was an earlier process of the server's own
    /// collector, of which there is one per store.
    pub inherits: bool,
}

impl LeaseSettings {
    /// The usual place.
    pub fn new(holder: impl Into<String>) -> LeaseSettings {
        LeaseSettings {
            namespace: COLLECTOR_NAMESPACE.into(),
            name: COLLECTOR.into(),
            holder: holder.into(),
            duration: DURATION,
            fallback: None,
            inherits: false,
        }
    }

    /// How often the lease is renewed.
    pub fn renewal(&self) -> Duration {
        renewal(self.duration)
    }
}

/// The holder of the lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Turn {
    /// This process, under this epoch.
    Ours(Epoch),
    /// Another process.
    Theirs {
        /// Its name.
        holder: String,
    },
}

/// The lease of the collector.
#[derive(Debug)]
pub(crate) struct Lease {
    settings: LeaseSettings,
    object: LeaseObject,
    held: Option<Epoch>,
    observed: Observed,
}

impl Lease {
    /// A lease that was not read yet.
    pub(crate) fn new(settings: LeaseSettings, resources: &Resources) -> Lease {
        let object = LeaseObject::new(resources, &settings.namespace, &settings.name, &settings.holder);
        let object = LeaseObject { duration: settings.duration, ..object };
        Lease { settings, object, held: None, observed: Observed::default() }
    }

    /// How often to call [`Lease::turn`].
    pub(crate) fn renewal(&self) -> Duration {
        self.settings.renewal()
    }

    /// Whether a line of the feed says that the lease was changed: that of another holder may be free now.
    pub(crate) fn is_changed_by(&self, line: &Line) -> bool {
        let (Line::Added(seen) | Line::Modified(seen) | Line::Deleted(seen)) = line else { return false };
        let metadata = &seen.object.metadata;
        seen.resource == self.object.place.kind.resource.resource
            && metadata.name == self.object.name
            && metadata.namespace == self.object.namespace()
    }

    /// How long to wait before asking again for the lease of another holder. Where all leases are followed, the feed tells
    /// what happens to it, and only its silence has to be noticed.
    pub(crate) fn pause(&self, view: &View) -> Duration {
        let is_followed =
            view.synced() && !view.snapshot.incomplete().contains_key(&self.object.place.kind.resource);
        if is_followed { self.object.duration + SILENCE } else { self.renewal().min(LOOK) }
    }

    /// Takes, renews or misses the lease. Losing a race is not an error: another process holds it then.
    ///
    /// # Errors
    /// The request failed. A holder may not rely on the lease once its duration is over.
    pub(crate) async fn turn(&mut self, clock: &dyn Clock) -> Result<Turn, CallError> {
        match self.try_turn(clock).await {
            Err(CallError::Refused(status)) if status.code == 403 => {
                let Some(fallback) = self.settings.fallback.take() else {
                    return Err(CallError::Refused(status));
                };
                self.object.place = Place::new(&self.object.place.kind, Some(&fallback));
                self.try_turn(clock).await
            }
            turn => turn,
        }
    }

    async fn try_turn(&mut self, clock: &dyn Clock) -> Result<Turn, CallError> {
        let Some(lease) = self.object.read().await? else {
            self.object = self.object.clone().proved();
            return self.take(self.object.hold(None, 1, clock.now(), None).await, 1);
        };
        let ours = self.held.as_ref().is_some_and(|held| is_under(&lease, held));
        let inherited = self.settings.inherits && holder(&lease) == self.settings.holder;
        if !ours && !inherited && !self.observed.is_over(&lease, clock.steady()) {
            self.held = None;
            return Ok(Turn::Theirs { holder: holder(&lease).to_owned() });
        }
        if !ours {
            // Each turn has a new secret: what began in an earlier turn proves nothing any more.
            self.object = self.object.clone().proved();
        }
        let transitions = transitions(&lease) + i64::from(!ours);
        let since = ours.then(|| lease.pointer("/spec/acquireTime").cloned()).flatten();
        let written = self.object.hold(Some(lease), transitions, clock.now(), since).await;
        self.take(written, transitions)
    }

    /// Gives the lease back, so that others need not wait until it expires.
    pub(crate) async fn release(&mut self) {
        if let Some(held) = self.held.take() {
            self.object.give_back(&held).await;
        }
    }

    fn take(&mut self, written: Result<Value, PutError>, transitions: i64) -> Result<Turn, CallError> {
        match written {
            Ok(_) => {
                let epoch = self.object.epoch(transitions);
                self.held = Some(epoch.clone());
                Ok(Turn::Ours(epoch))
            }
            Err(PutError::Conflict(_)) => {
                self.held = None;
                Ok(Turn::Theirs { holder: "another that was faster".into() })
            }
            Err(PutError::Invalid(status)) => Err(CallError::Refused(status)),
            Err(PutError::Call(error)) => Err(error),
        }
    }
}
