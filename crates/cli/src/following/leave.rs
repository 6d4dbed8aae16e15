//! How following ends on a cluster that is not ours while objects still exist.
//!
//! Controllers there delete objects, and this process sees neither their plans nor their retries. Following ends once
//! nothing has happened for a while ([`Follow::is_stalled`]). Then finalizers of ours that only keep an order are
//! handed over, so that no object waits for a command that has ended ([`Follow::hand_over`]), and terminating
//! namespaces are read as whole objects, because their blockers are in spec and status ([`Follow::namespaces`]).

use std::time::Duration;

use sexton_client::{Place, ServedKind};
use sexton_collector::handover::hand_over;
use sexton_collector::{namespace_holds, waits_for_us};
use sexton_lifecycle::NodeId;

use super::{Follow, Work, now};
use crate::output::why::Why;
use crate::showing::{namespaces, why};

/// Without progress for this long, the controllers of the cluster, which pause between attempts, count as stopped.
const STALLED: Duration = Duration::from_secs(30);
/// Namespaces that are read at the end; more would repeat the same reasons.
const MAX_NAMESPACES: usize = 5;

impl Follow<'_> {
    /// Whether nothing that is left goes on without a person: its calls were refused or given up, or it waits until others
    /// of which that is true are gone.
    pub(super) fn waits_for_people(&self) -> bool {
        let (snapshot, stopped) = (self.seen.snapshot(), &self.standing.stopped);
        let waits = |life: NodeId| stopped.contains(&life) || waits_for_us(snapshot, life);
        !stopped.is_empty() && self.left.keys().all(|uid| snapshot.get(uid).is_some_and(waits))
    }

    /// Whether the controllers of a cluster have stopped. What may take its time, such as a pod, says until when.
    pub(super) fn is_stalled(&self) -> bool {
        let snapshot = self.seen.snapshot();
        let ends_later = |life| snapshot.terminating_since(life).is_some_and(|at| at > now());
        self.deadline.is_none()
            && self.moved.elapsed() >= STALLED
            && !self.left.keys().filter_map(|uid| snapshot.get(uid)).any(ends_later)
    }

    /// Hands terminating objects that are left over to the garbage collector of the cluster, and returns how many. Does
    /// nothing on our own servers, and if another collector of ours has the lease: it continues the work.
    pub(super) async fn hand_over(&self, work: &Work) -> usize {
        let others = work.summary().is_none_or(|summary| summary.other.is_some());
        if !self.place.foreign || others || self.left.is_empty() {
            return 0;
        }
        let handed = hand_over(self.place.gateway.clone(), self.seen.snapshot(), self.left.keys()).await;
        handed.unwrap_or_else(|error| {
            tracing::warn!(%error, "finalizers of ours could not be taken off");
            0
        })
    }

    /// What the first few namespaces that are left wait for. Empty on our own servers.
    pub(super) async fn namespaces(&self) -> Vec<Why> {
        let mut found = Vec::new();
        if !self.place.foreign {
            return found;
        }
        let snapshot = self.seen.snapshot();
        let place = Place::new(&ServedKind::well_known("", "namespaces", "Namespace", false), None);
        let left = self.left.keys().filter_map(|uid| snapshot.get(uid));
        for life in left.filter(|life| snapshot.is_namespace(*life)).take(MAX_NAMESPACES) {
            // A namespace that cannot be read is explained from the snapshot alone.
            if let Ok(Some(namespace)) = self.place.resources.find(&place, snapshot.name(life)).await {
                let subject = self.names.of(snapshot, life);
                let mut lines = namespaces::finalizers(&namespace);
                let holds = namespace_holds(&self.place.resources, &self.place.kinds, &namespace).await;
                lines.extend(holds.into_iter().map(why::hold));
                found.push(Why { subject, headline: "is being deleted".to_owned(), lines, ..Why::default() });
            }
        }
        found
    }
}
