//! Whether a collector is at work: its lease is looked at until its holder turns out to be alive, or not to be there.

use std::time::Duration;

use sexton_client::{Place, Resources, ServedKind};
use sexton_collector::{Clock, Observed, Settings, SystemClock};
use tokio::time::Instant;

/// How often the lease is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// What is known of the holder of the collector's lease.
#[derive(Debug, Default)]
pub(super) struct CollectorLease {
    /// Whether no process collects, once that is known: a holder is alive when it renews the lease, and dead when it has not
    /// for the whole duration.
    pub(super) is_free: Option<bool>,
    observed: Observed,
    next: Option<Instant>,
}

impl CollectorLease {
    /// Looks at the lease, unless it is known already or was looked at a moment ago.
    pub(super) async fn look(&mut self, resources: &Resources) {
        if self.is_free.is_some() || self.next.is_some_and(|next| Instant::now() < next) {
            return;
        }
        self.next = Some(Instant::now() + LOOK);
        let usual = Settings::new("").lease;
        let kind = ServedKind::well_known("coordination.k8s.io", "leases", "Lease", true);
        let lease = resources.find(&Place::new(&kind, Some(&usual.namespace)), &usual.name).await;
        let Ok(lease) = lease else { return };
        self.is_free = match lease {
            None => Some(true),
            Some(lease) if self.observed.has_changed(&lease) => Some(false),
            Some(lease) => self.observed.is_over(&lease, SystemClock.steady()).then_some(true),
        };
    }
}
