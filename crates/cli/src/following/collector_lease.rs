//! Whether a process collects on the server, by the lease that collectors share.
//!
//! The lease is read at most once a second until the answer is known: no lease, or one without a holder, means that no
//! process collects; a lease that changed between two reads has a live holder; a lease that did not change for its
//! whole duration has expired. Only the clock of this process counts, because the times in a lease are of another
//! machine. A known answer is final: the lease is not read again.

use std::time::Duration;

use sexton_client::{Place, Resources, ServedKind};
use sexton_collector::{Clock, Observed, Settings, SystemClock};
use tokio::time::Instant;

/// Between two reads of the lease.
const LOOK: Duration = Duration::from_secs(1);

/// What this process knows about the holder of the collector's lease.
#[derive(Debug, Default)]
pub(super) struct CollectorLease {
    /// `Some(true)`: no process collects. `Some(false)`: a holder renewed the lease. `None`: not known yet.
    pub(super) is_free: Option<bool>,
    observed: Observed,
    next: Option<Instant>,
}

impl CollectorLease {
    /// Reads the lease and updates `is_free`. Does nothing if the answer is known, or if the last read was less than a
    /// second ago; a read that fails leaves the answer unknown.
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
