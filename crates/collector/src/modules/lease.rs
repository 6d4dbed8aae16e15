//! One at a time works on a module, or an environment: a lease that is renewed while somebody works, and expires when
//! nobody does.
//!
//! Whoever was paused and has lost it notices before the next put, cannot seal, because the record has changed, and cannot
//! accuse, because that is written under the epoch of the lease. It must not know what is done under the lease.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use sexton_client::resources::{DeleteAsk, DeleteError, PutError, text};
use sexton_client::{CallError, Place, Resources, ServedKind};
use sexton_model::Policy;
use sexton_model::bulk::Epoch;
use sexton_model::module::PREFIX;
use sexton_model::time;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::Tools;

/// The namespace that every server has.
pub(super) const NAMESPACE: &str = "default";
/// Somebody who says nothing for so long has lost it.
const DURATION: i64 = 30;
/// How often somebody who works says so: two of these may get lost.
const RENEWAL: Duration = Duration::from_secs(10);
/// What was known of the lease so long ago may be wrong: whoever sleeps does not hear that it was taken away.
const FRESH: Duration = Duration::from_millis(500);

/// Who holds a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseView {
    /// Who.
    pub holder: String,
    /// Since when.
    pub since: String,
    /// When it was renewed last.
    pub renewed: String,
    /// For how many seconds it holds after that.
    pub seconds: i64,
    /// Whether that is over, or its holder is dead: then it may be taken.
    pub expired: bool,
}

/// Why the lease is not ours.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    /// Somebody else works on it.
    #[error("{} is working on {subject} since {}", .view.holder, .view.since)]
    Held {
        /// Of what: `the module shop`.
        subject: String,
        /// Who.
        view: Box<LeaseView>,
    },
    /// It was ours, and is not any more.
    #[error("the lease of {subject} was lost to somebody else")]
    Lost {
        /// Of what: `the module shop`.
        subject: String,
    },
    /// The server cannot be asked.
    #[error("the lease of {subject} cannot be taken")]
    Call {
        /// Of what: `the module shop`.
        subject: String,
        /// Why.
        #[source]
        source: CallError,
    },
}

/// The lease of one module, or of one environment.
#[derive(Debug, Clone)]
pub struct WorkLease {
    tools: Tools,
    subject: String,
    name: String,
    place: Place,
}

/// A lease that is ours, and is kept so as long as this exists. Dropped, it is left to expire, as by a crash.
#[derive(Debug)]
pub struct Locked {
    lease: WorkLease,
    epoch: Epoch,
    hold: Arc<Hold>,
    work: JoinHandle<()>,
}

/// Gives a lease back; it does not keep it.
#[derive(Debug, Clone)]
pub struct LeaseGiver {
    lease: WorkLease,
    epoch: Epoch,
}

/// What is known of a lease that was taken, for all who work under it.
#[derive(Debug)]
pub(super) struct Hold {
    lease: WorkLease,
    epoch: Epoch,
    lost: AtomicBool,
    /// When it was last known to be ours.
    known: Mutex<Instant>,
}

impl Drop for Locked {
    fn drop(&mut self) {
        self.work.abort();
    }
}

impl WorkLease {
    /// That of a module.
    pub(super) fn of_module(tools: &Tools, module: &str, namespace: &str) -> WorkLease {
        let lease = WorkLease::new(tools, format!("the module {module}"), format!("{PREFIX}{module}"));
        WorkLease { place: Place::new(&lease.place.kind, Some(namespace)), ..lease }
    }

    fn namespace(&self) -> &str {
        self.place.namespace.as_deref().unwrap_or(NAMESPACE)
    }

    /// That of something else, under a name of its own.
    pub fn new(tools: &Tools, subject: String, name: String) -> WorkLease {
        let kind = ServedKind::well_known("coordination.k8s.io", "leases", "Lease", true);
        WorkLease { tools: tools.clone(), subject, name, place: Place::new(&kind, Some(NAMESPACE)) }
    }

    /// Who holds it, if somebody does.
    pub async fn holder(&self) -> Result<Option<LeaseView>, LeaseError> {
        let lease = self.read().await?;
        Ok(lease.as_ref().and_then(|lease| self.view(lease)))
    }

    /// Takes it away from whoever holds it.
    pub async fn break_it(&self) -> Result<Option<LeaseView>, LeaseError> {
        let Some(mut lease) = self.read().await? else { return Ok(None) };
        let held = self.view(&lease);
        if held.is_some() {
            lease["spec"]["holderIdentity"] = json!("");
            lease["spec"]["leaseTransitions"] = json!(transitions(&lease) + 1);
            let written = self.resources().replace(&self.place, &self.name, &lease).await;
            written.map_err(|error| self.failed(call_error(error)))?;
        }
        Ok(held)
    }

    /// Takes it, and keeps it.
    pub async fn take(&self) -> Result<Locked, LeaseError> {
        let now = self.tools.clock.now();
        let current = self.read().await?;
        let held = current.as_ref().and_then(|lease| self.view(lease)).filter(|view| !view.expired);
        if let Some(view) = held {
            return Err(LeaseError::Held { subject: self.subject.clone(), view: Box::new(view) });
        }
        let next = current.as_ref().map_or(1, |lease| transitions(lease) + 1);
        let spec = json!({
            "holderIdentity": self.tools.holder,
            "leaseDurationSeconds": DURATION,
            "acquireTime": micro_time(now),
            "renewTime": micro_time(now),
            "leaseTransitions": next,
        });
        let written = match current {
            Some(mut lease) => {
                lease["spec"] = spec;
                self.resources().replace(&self.place, &self.name, &lease).await
            }
            None => {
                let lease = json!({
                    "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                    "metadata": {"name": self.name, "namespace": self.namespace()}, "spec": spec,
                });
                self.resources().create(&self.place, &lease).await
            }
        };
        match written {
            Ok(lease) => Ok(self.locked(&lease, next)),
            Err(PutError::Conflict(_)) => Err(self.somebody_was_faster().await?),
            Err(error) => Err(self.failed(call_error(error))),
        }
    }

    /// Removes it for good, once there is no module any more.
    pub(super) async fn remove(&self) -> Result<(), LeaseError> {
        let ask = DeleteAsk { policy: Some(Policy::Background), ..DeleteAsk::default() };
        match self.resources().delete(&self.place, &self.name, &ask).await {
            Ok(_) | Err(DeleteError::NotFound(_)) => Ok(()),
            Err(DeleteError::Changed(status)) => Err(self.failed(CallError::Refused(status))),
            Err(DeleteError::Call(error)) => Err(self.failed(error)),
        }
    }

    fn view(&self, lease: &Value) -> Option<LeaseView> {
        let view = view(lease, self.tools.clock.now())?;
        Some(LeaseView { expired: view.expired || self.tools.alone, ..view })
    }

    async fn somebody_was_faster(&self) -> Result<LeaseError, LeaseError> {
        let subject = self.subject.clone();
        Ok(match self.holder().await? {
            Some(view) => LeaseError::Held { subject, view: Box::new(view) },
            None => LeaseError::Lost { subject },
        })
    }

    fn locked(&self, lease: &Value, transitions: i64) -> Locked {
        let epoch = Epoch {
            namespace: self.namespace().to_owned(),
            name: self.name.clone(),
            holder: self.tools.holder.clone(),
            transitions,
        };
        let hold = Arc::new(Hold {
            lease: self.clone(),
            epoch: epoch.clone(),
            lost: AtomicBool::new(false),
            known: Mutex::new(Instant::now()),
        });
        let work = tokio::spawn(self.clone().keep(lease.clone(), hold.clone()));
        Locked { lease: self.clone(), epoch, hold, work }
    }

    /// Renews it until it is somebody else's.
    async fn keep(self, mut lease: Value, hold: Arc<Hold>) {
        loop {
            tokio::time::sleep(RENEWAL).await;
            lease["spec"]["renewTime"] = json!(micro_time(self.tools.clock.now()));
            match self.resources().replace(&self.place, &self.name, &lease).await {
                Ok(renewed) => lease = renewed,
                Err(PutError::Conflict(_)) => match self.read().await {
                    Ok(Some(current)) if is_under(&current, &hold.epoch) => lease = current,
                    Ok(_) => {
                        hold.lost.store(true, Ordering::Release);
                        return;
                    }
                    Err(_) => {}
                },
                // Perhaps the next one arrives. If none does, the epoch ends whatever we still want to accuse.
                Err(error) => tracing::warn!(%error, "the lease was not renewed"),
            }
        }
    }

    async fn read(&self) -> Result<Option<Value>, LeaseError> {
        self.resources().find(&self.place, &self.name).await.map_err(|source| self.failed(source))
    }

    fn resources(&self) -> &Resources {
        &self.tools.resources
    }

    fn failed(&self, source: CallError) -> LeaseError {
        LeaseError::Call { subject: self.subject.clone(), source }
    }
}

impl Locked {
    /// Under what is written.
    pub fn epoch(&self) -> &Epoch {
        &self.epoch
    }

    /// Whether it is still ours, as far as is known.
    pub fn check(&self) -> Result<(), LeaseError> {
        self.hold.check()
    }

    /// For those who work under it elsewhere.
    pub(super) fn hold(&self) -> Arc<Hold> {
        self.hold.clone()
    }

    /// A way to give it back though the work under it was broken off.
    pub fn giver(&self) -> LeaseGiver {
        LeaseGiver { lease: self.lease.clone(), epoch: self.epoch.clone() }
    }

    /// Gives it back, so that others need not wait for its end.
    pub async fn release(self) {
        self.work.abort();
        self.giver().give_back().await;
    }
}

impl LeaseGiver {
    /// Gives the lease back, if it is still the one that was taken. Writes under it are refused from then on.
    pub async fn give_back(&self) {
        let Ok(Some(mut lease)) = self.lease.read().await else { return };
        if is_under(&lease, &self.epoch) {
            lease["spec"]["holderIdentity"] = json!("");
            let written = self.lease.resources().replace(&self.lease.place, &self.lease.name, &lease).await;
            if let Err(error) = written {
                tracing::debug!(%error, "the lease was not given back");
            }
        }
    }
}

impl Hold {
    fn check(&self) -> Result<(), LeaseError> {
        match self.lost.load(Ordering::Acquire) {
            true => Err(LeaseError::Lost { subject: self.lease.subject.clone() }),
            false => Ok(()),
        }
    }

    /// Whether it is still ours. It is asked for if nothing was heard of it for a while: whoever was paused for longer than
    /// others wait must not go on as if nothing had happened.
    pub(super) async fn confirm(&self) -> Result<(), LeaseError> {
        self.check()?;
        let mut known = self.known.lock().await;
        if known.elapsed() < FRESH {
            return self.check();
        }
        // If it cannot be asked for, the write that comes next will most likely not arrive either.
        if let Ok(current) = self.lease.read().await {
            if !current.is_some_and(|current| is_under(&current, &self.epoch)) {
                self.lost.store(true, Ordering::Release);
            }
            *known = Instant::now();
        }
        self.check()
    }
}

fn is_under(lease: &Value, epoch: &Epoch) -> bool {
    text(lease, "/spec/holderIdentity") == epoch.holder && transitions(lease) == epoch.transitions
}

fn transitions(lease: &Value) -> i64 {
    lease.pointer("/spec/leaseTransitions").and_then(Value::as_i64).unwrap_or(0)
}

fn view(lease: &Value, now: i64) -> Option<LeaseView> {
    let holder = text(lease, "/spec/holderIdentity");
    if holder.is_empty() {
        return None;
    }
    let seconds = lease.pointer("/spec/leaseDurationSeconds").and_then(Value::as_i64).unwrap_or(DURATION);
    let renewed = text(lease, "/spec/renewTime");
    // A time that cannot be read proves nothing.
    let expired = time::parse(renewed).is_some_and(|at| now > at.saturating_add(seconds));
    Some(LeaseView {
        holder: holder.to_owned(),
        since: text(lease, "/spec/acquireTime").to_owned(),
        renewed: renewed.to_owned(),
        seconds,
        expired,
    })
}

pub(super) fn call_error(error: PutError) -> CallError {
    match error {
        PutError::Conflict(status) | PutError::Invalid(status) => CallError::Refused(status),
        PutError::Call(error) => error,
    }
}

/// Leases have a fraction of a second in their times.
fn micro_time(now: i64) -> String {
    time::format(now).replace('Z', ".000000Z")
}
