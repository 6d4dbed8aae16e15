//! Tombstones: the record of an object that the collector removed.

use sexton_lifecycle::destruction::{Ending, State};
use sexton_lifecycle::{Cause, Finding, NodeId, Snapshot};
use sexton_model::raw::Raw;
use sexton_model::tombstone::{Outcome, Tombstone};

use crate::request::Request;

/// Why an object is doomed, in words for people.
pub(crate) fn reason(snapshot: &Snapshot, finding: &Finding) -> String {
    let named = |life: NodeId| match snapshot.contains(life) {
        true => snapshot.object_ref(life).to_string(),
        false => "something that is gone".to_owned(),
    };
    match &finding.cause {
        Cause::Requested => "asked for".to_owned(),
        Cause::OwnerDoomed { owner } => format!("its owner {} is destroyed", named(*owner)),
        Cause::OwnersGone { .. } => "its owners do not exist any more".to_owned(),
        Cause::Candidate { record: accused } => {
            format!("{}: {}", accused.accusation.by, accused.accusation.because)
        }
        Cause::Unreachable => "nothing alive refers to it".to_owned(),
        Cause::Removed => "the incoming model does not hold it any more".to_owned(),
        Cause::InNamespace { namespace } => format!("its namespace {} is destroyed", named(*namespace)),
        Cause::OfDefinition { definition } => format!("its definition {} is destroyed", named(*definition)),
    }
}

/// The tombstone of an object with a finalizer that a user gave up.
pub(super) fn of_force(snapshot: &Snapshot, finding: &Finding, collection: Option<&str>) -> Option<Raw> {
    let mut tombstone = made(snapshot, finding, collection, None);
    let request = Request::read(snapshot.request(finding.node)?)?;
    tombstone.outcome = Outcome::Abandoned;
    let what = request.blocker.unwrap_or_default();
    let why = request.reason.unwrap_or_default();
    tombstone.causes = vec![format!("abandoned, may still exist: {what} was given up: {why}")];
    Raw::of(&tombstone.bounded()).ok()
}

/// The tombstone of an object, with the outcome of its steps if it went through any.
pub(super) fn of(
    snapshot: &Snapshot,
    finding: &Finding,
    collection: Option<&str>,
    state: Option<&State>,
) -> Option<Raw> {
    Raw::of(&made(snapshot, finding, collection, state).bounded()).ok()
}

fn made(
    snapshot: &Snapshot,
    finding: &Finding,
    collection: Option<&str>,
    state: Option<&State>,
) -> Tombstone {
    let owners = snapshot.owners(finding.node).into_iter();
    let mut tombstone = Tombstone {
        object: snapshot.object_ref(finding.node),
        reason: reason(snapshot, finding),
        by: finding.requester.clone(),
        collection: collection.map(str::to_owned),
        owners: owners.map(|(owner, _)| format!("{}/{} {}", owner.kind, owner.name, owner.uid)).collect(),
        subscriptions: snapshot
            .subscriptions(finding.node)
            .iter()
            .map(|subscription| subscription.target.to_string())
            .collect(),
        ..Tombstone::default()
    };
    if let Some(state) = state {
        tombstone.outcome = match state.outcome {
            _ if state.is_abandoned() => Outcome::Abandoned,
            Some(Ending::Done) => Outcome::Destroyed,
            _ => Outcome::Gone,
        };
        if let Some(output) = &state.output {
            tombstone.outputs.insert("destroy".to_owned(), output.clone());
        }
        if let Some(abandoned) = &state.abandoned {
            tombstone.causes.push(format!(
                "abandoned, may still exist: {} of {} was given up: {}",
                abandoned.phase.word(),
                abandoned.callee,
                abandoned.reason
            ));
        }
    }
    tombstone
}
