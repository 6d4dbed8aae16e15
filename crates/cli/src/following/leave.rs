//! When following ends before all are gone on a cluster of another make, and what is done and looked at then.

use std::time::Duration;

use sexton_client::{Place, ServedKind};
use sexton_collector::handover::hand_over;
use sexton_collector::namespace_holds;

use super::{Follow, Work, now};
use crate::output::why::Why;
use crate::showing::{namespaces, why};

/// Nothing happened for so long on a cluster of another make: its controllers, which pause between tries, have stopped.
const STALLED: Duration = Duration::from_secs(30);
/// Namespaces that are looked at; more say nothing new.
const MAX_NAMESPACES: usize = 5;

impl Follow<'_> {
    /// Whether the controllers of a cluster have stopped. What may take its time, such as a pod, says until when.
    pub(super) fn is_stalled(&self) -> bool {
        let snapshot = self.seen.snapshot();
        let ends_later = |life| snapshot.terminating_since(life).is_some_and(|at| at > now());
        self.deadline.is_none()
            && self.moved.elapsed() >= STALLED
            && !self.left.keys().filter_map(|uid| snapshot.get(uid)).any(ends_later)
    }

    /// Takes finalizers of ours off what could not be finished, and leaves it to the collector of the cluster; unless a
    /// collector of ours has the work. Returns of how many.
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

    /// What namespaces that are still there wait for.
    pub(super) async fn namespaces(&self) -> Vec<Why> {
        let mut found = Vec::new();
        if !self.place.foreign {
            return found;
        }
        let snapshot = self.seen.snapshot();
        let place = Place::new(&ServedKind::well_known("", "namespaces", "Namespace", false), None);
        let left = self.left.keys().filter_map(|uid| snapshot.get(uid));
        for life in left.filter(|life| snapshot.is_namespace(*life)).take(MAX_NAMESPACES) {
            // One that cannot be looked at is told without this.
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
