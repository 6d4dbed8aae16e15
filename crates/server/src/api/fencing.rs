//! What only the holder of a lease may write, and the leases themselves.
//!
//! The journal of a destruction, the mark that it is through, and the end of its holds decide whether an object goes with or
//! without its hook. They are accepted from the holder of the collector's lease, proved by a secret whose digest is in the
//! lease; and for the objects of an environment from the holder of that environment's lease. The lease is a guard of
//! the committing transaction, so a takeover between look and commit is refused. So are the records of what the collector did,
//! which a predecessor must not overwrite late.
//!
//! It must not know what is destroyed, nor why.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use sexton_model::bulk::{Action, Annotations, Item};
use sexton_model::environment::CLASSES_GROUP;
use sexton_model::lease::{
    COLLECTOR, COLLECTOR_NAMESPACE, ENVIRONMENT_PREFIX, LEASE_SECONDS, PROOF_DIGEST, Proof, WORK_NAMESPACE,
};
use sexton_model::marks::{self, DELETED_BY, NAMESPACE_HOLD, OF_DELETIONS, OF_MARKS, OF_THE_COLLECTOR};
use sexton_model::{Document, Facts, GroupResource, Key, Status};
use sexton_store::{At, Guard};

use super::{Api, Result, Target};
use crate::kinds::Special;

/// What a requester brings to prove that it holds a lease.
#[derive(Debug, Clone, Default)]
pub(super) struct Claim {
    /// The secret of a holder.
    proof: Option<Proof>,
    /// The requester is part of the process that has the store, and follows the rules of leases by itself. It alone knows
    /// which holders died with an earlier process.
    in_process: bool,
    /// The requester is the collector, which has proved it.
    collects: bool,
}

impl Claim {
    /// Whether the requester is part of the process that has the store.
    pub(super) fn is_in_process(&self) -> bool {
        self.in_process
    }
}

/// What the proof of an epoch gives a right to.
#[derive(Debug, Clone, Default)]
pub(super) struct Rights {
    scope: Scope,
    proof: Option<Proof>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Scope {
    /// Nothing that others may not do, too.
    #[default]
    Nothing,
    /// The objects of one environment.
    Environment(String),
    /// All objects.
    Everything,
}

impl Rights {
    /// Those of the holder of a lease, after it was proved.
    pub(super) fn of_lease(key: &Key, proof: &Proof) -> Rights {
        let environment = key.name.strip_prefix(ENVIRONMENT_PREFIX);
        let scope = match (key.namespace.as_str(), environment) {
            (COLLECTOR_NAMESPACE, _) if key.name == COLLECTOR => Scope::Everything,
            (WORK_NAMESPACE, Some(name)) => Scope::Environment(name.to_owned()),
            _ => Scope::Nothing,
        };
        Rights { scope, proof: Some(proof.clone()) }
    }

    pub(super) fn cover(&self, target: &Target) -> bool {
        match &self.scope {
            Scope::Nothing => false,
            Scope::Everything => true,
            Scope::Environment(name) => {
                target.kind.resource.group == CLASSES_GROUP && target.namespace == *name
            }
        }
    }
}

/// When the holders of leases were heard of, by the steady clock of this process.
#[derive(Debug)]
pub(super) struct Holders {
    /// A holder that was not heard of since may be alive: it had no chance to say so before.
    begin: Duration,
    heard: Mutex<HashMap<(String, String), Duration>>,
}

impl Holders {
    pub(super) fn new(begin: Duration) -> Holders {
        Holders { begin, heard: Mutex::default() }
    }

    fn silent_for(&self, place: &(String, String), now: Duration) -> Duration {
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        now.saturating_sub(heard.get(place).copied().unwrap_or(self.begin))
    }

    fn note(&self, place: (String, String), now: Option<Duration>) {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        match now {
            Some(now) => drop(heard.insert(place, now)),
            None => drop(heard.remove(&place)),
        }
    }
}

impl Api {
    /// The same verbs for a requester that presents the secret of a lease's holder, or is part of this process.
    #[must_use]
    pub fn claiming(&self, proof: Option<Proof>, in_process: bool) -> Api {
        Api { claim: Claim { proof, in_process, collects: false }, ..self.clone() }
    }

    /// The same verbs under what an epoch has proved.
    pub(super) fn under(&self, rights: &Rights) -> Api {
        let (proof, collects) = (rights.proof.clone(), rights.scope == Scope::Everything);
        Api { claim: Claim { proof, collects, ..self.claim.clone() }, ..self.clone() }
    }

    /// Whether the requester may delete an object. There is no authorization: a requester that was let in may delete all
    /// objects. This is the one place that would ask.
    pub fn may_delete(&self, _target: &Target, _name: &str) -> bool {
        true
    }

    /// Refuses to write a record, unless the requester proves that it holds the collector's lease. Gives that lease as a guard of
    /// the commit. What is in the metadata is free: requests to the collector are written there.
    pub(super) async fn fence_record(
        &self,
        target: &Target,
        old: Option<&Document>,
        new: &Document,
    ) -> Result<Option<Guard>> {
        if self.kinds.is_plain() || !says_otherwise(target, old, new) {
            return Ok(None);
        }
        let kind = GroupResource::new("coordination.k8s.io", "leases");
        let key = Key { kind, namespace: COLLECTOR_NAMESPACE.into(), name: COLLECTOR.into() };
        let lease = self.store.get(&key, At::Latest).await?;
        if let (Some(lease), Some(proof)) = (&lease, &self.claim.proof) {
            let document = lease.document()?;
            if held_with(&document).is_some_and(|digest| proof.fits(digest)) {
                return Ok(Some(lease.unchanged()));
            }
        }
        Err(only_the_collector(target, new.name()).into())
    }

    /// Refuses an item that writes what its requester may not.
    pub(super) fn check_fence(
        &self,
        target: &Target,
        item: &Item,
        facts: &Facts<'_>,
        rights: &Rights,
    ) -> Result<()> {
        let (annotations, released): (&Annotations, &[String]) = match &item.action {
            Action::Delete { annotations, .. } => (annotations, &[]),
            Action::Patch { annotations, remove_finalizers, .. } => (annotations, remove_finalizers),
            // Checked as any other document.
            Action::Put { .. } => return Ok(()),
        };
        if annotations.is_empty() && released.is_empty() && item.tombstone.is_none() {
            return Ok(());
        }
        let written = OF_THE_COLLECTOR.into_iter().find(|name| annotations.contains_key(*name));
        let released = released.iter().map(String::as_str).find(|name| {
            *name == NAMESPACE_HOLD || (marks::is_ours(name) && facts.finalizers.contains(name))
        });
        let refused = |what: &str, others: &str| {
            let why = format!(
                "{what} is written only under the collector's lease or that of its environment, with the proof of its \
                 holder{others}"
            );
            Err(Status::forbidden(&target.kind.resource, &item.name, why).into())
        };
        if rights.cover(target) {
            return Ok(());
        }
        // A deletion may name its requester: it is compared with the one that is known.
        let said_by_mark = |name: &&str| *name == DELETED_BY && matches!(item.action, Action::Delete { .. });
        let mut of_marks = OF_MARKS.into_iter().filter(|name| annotations.contains_key(*name));
        let signed = of_marks.find(|name| !said_by_mark(name));
        let buried = item.tombstone.as_ref().map(|_| "a tombstone");
        if let Some(what) = written.or(released).or(signed).or(buried) {
            return refused(what, "");
        }
        match OF_DELETIONS.into_iter().find(|name| annotations.contains_key(*name)) {
            Some(what) if !item.lives().all(|(name, _)| self.may_delete(target, name)) => {
                refused(what, ", or by a requester that may delete the object")
            }
            _ => Ok(()),
        }
    }

    /// Refuses to write or delete a lease that is held with a proof, unless the requester has that proof or the holder has
    /// not renewed it for its duration. Without `new` it is deleted, or changed in part. Notes that the holder is alive.
    pub(crate) fn check_lease(
        &self,
        target: &Target,
        old: Option<&Document>,
        new: Option<&Document>,
    ) -> Result<()> {
        if self.kinds.is_plain() {
            return Ok(());
        }
        let name = old.or(new).map(Document::name).unwrap_or_default();
        let (place, now) = ((target.namespace.clone(), name.to_owned()), self.nature.steady());
        if let Some((old, digest)) = old.and_then(|old| Some((old, held_with(old)?))) {
            let claim = &self.claim;
            let proved = claim.proof.as_ref().is_some_and(|proof| proof.fits(digest));
            let silent = self.holders.silent_for(&place, now);
            let allowed = proved || claim.in_process || (claim.collects && new.is_none());
            if !allowed && silent <= duration(old) {
                let left = (duration(old) - silent).as_secs() + 1;
                let why = format!(
                    "it is held by {:?}, and only that holder can write it; it is free if it is not renewed for {left} s",
                    holder(old)
                );
                return Err(Status::conflict(&target.kind.resource, name, why).into());
            }
        }
        if new.is_some_and(|new| held_with(new).is_some()) {
            self.holders.note(place, Some(now));
        } else if new.is_some() {
            self.holders.note(place, None);
        }
        Ok(())
    }
}

/// Refuses a record in an item of a requester that has not proved to be the collector.
pub(super) fn check_record(
    target: &Target,
    old: Option<&Document>,
    new: &Document,
    rights: &Rights,
) -> Result<()> {
    match rights.scope == Scope::Everything || !says_otherwise(target, old, new) {
        true => Ok(()),
        false => Err(only_the_collector(target, new.name()).into()),
    }
}

/// Whether this writes a record that says something else than before.
fn says_otherwise(target: &Target, old: Option<&Document>, new: &Document) -> bool {
    let same = |field: &str| old.is_some_and(|old| old.value().get(field) == new.value().get(field));
    target.kind.special == Special::Record && !(same("spec") && same("status"))
}

fn only_the_collector(target: &Target, name: &str) -> Status {
    let why = "it tells what the collector did, and is written only under the collector's lease, with the proof of its holder";
    Status::forbidden(&target.kind.resource, name, why)
}

/// The digest of the proof under which a lease is held, if it is held under one.
fn held_with(lease: &Document) -> Option<&str> {
    lease.annotation(PROOF_DIGEST).filter(|_| !holder(lease).is_empty())
}

fn holder(lease: &Document) -> &str {
    lease.value().pointer("/spec/holderIdentity").and_then(Value::as_str).unwrap_or_default()
}

/// How long a lease holds without being renewed: never longer than leases do.
fn duration(lease: &Document) -> Duration {
    let said = lease.value().pointer("/spec/leaseDurationSeconds").and_then(Value::as_i64);
    Duration::from_secs(said.unwrap_or(LEASE_SECONDS).clamp(1, LEASE_SECONDS).unsigned_abs())
}
