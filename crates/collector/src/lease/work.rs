//! One at a time works on a module, or an environment: a lease that is renewed while somebody works, and expires when
//! nobody does.
//!
//! Whoever was paused and has lost it notices before the next put, cannot seal, because the record has changed, and cannot
//! accuse, because that is written under the epoch of the lease. It must not know what is done under the lease.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use sexton_client::CallError;
use sexton_client::resources::{DeleteAsk, DeleteError, PutError, text};
use sexton_model::Policy;
use sexton_model::bulk::Epoch;
use sexton_model::lease::{ENVIRONMENT_PREFIX, WORK_NAMESPACE};
use sexton_model::module::PREFIX;
use sexton_model::time;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::{LeaseObject, Observed, duration, holder, is_under, micro_time, renewal, transitions};
use crate::modules::Tools;

/// How often a lease is looked at whose holder may be dead.
const LOOK: Duration = Duration::from_secs(1);
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
    /// Whether that seems to be over, by the times that are written there, or its holder is known to be dead. A lease is never
    /// taken on the ground of written times: they are of another machine.
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
    object: LeaseObject,
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
pub(crate) struct Hold {
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
    /// That of a module. It is held without a proof: with `sexton modules unlock` it can be taken away at any time, and what is
    /// written under it is what any requester may write that may delete the objects.
    pub(crate) fn of_module(tools: &Tools, module: &str, namespace: Option<&str>) -> WorkLease {
        let (namespace, name) = (namespace.unwrap_or(WORK_NAMESPACE), format!("{PREFIX}{module}"));
        let object = LeaseObject::new(&tools.resources, namespace, &name, &tools.holder);
        WorkLease { tools: tools.clone(), subject: format!("the module {module}"), object }
    }

    /// That of an environment, held with a proof: what happened to its objects is written under it.
    pub fn of_environment(tools: &Tools, environment: &str) -> WorkLease {
        let name = format!("{ENVIRONMENT_PREFIX}{environment}");
        let object = LeaseObject::new(&tools.resources, WORK_NAMESPACE, &name, &tools.holder).proved();
        WorkLease { tools: tools.clone(), subject: format!("the environment {environment}"), object }
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
            let object = &self.object;
            let written = object.resources.replace(&object.place, &object.name, &lease).await;
            written.map_err(|error| self.failed(call_error(error)))?;
        }
        Ok(held)
    }

    /// Takes it, and keeps it. A lease that seems to be renewed is refused at once; one that does not is looked at until its
    /// holder turns out to be alive, or its duration is over.
    pub async fn take(&self) -> Result<Locked, LeaseError> {
        let clock = &self.tools.clock;
        let mut observed = Observed::default();
        let current = loop {
            let Some(current) = self.read().await? else { break None };
            let Some(view) = self.view(&current) else { break Some(current) };
            let alive = !view.expired || observed.has_changed(&current);
            if self.tools.alone || (!alive && observed.is_over(&current, clock.steady())) {
                break Some(current);
            }
            if alive {
                return Err(LeaseError::Held { subject: self.subject.clone(), view: Box::new(view) });
            }
            clock.pause(LOOK).await;
        };
        let next = current.as_ref().map_or(1, |lease| transitions(lease) + 1);
        match self.object.hold(current, next, clock.now(), None).await {
            Ok(lease) => Ok(self.locked(&lease, next)),
            Err(PutError::Conflict(_)) => Err(self.somebody_was_faster().await?),
            Err(error) => Err(self.failed(call_error(error))),
        }
    }

    /// Removes it for good, once there is no module any more.
    pub(crate) async fn remove(&self) -> Result<(), LeaseError> {
        let ask = DeleteAsk { policy: Some(Policy::Background), ..DeleteAsk::default() };
        match self.object.resources.delete(&self.object.place, &self.object.name, &ask).await {
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
        let epoch = self.object.epoch(transitions);
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
            tokio::time::sleep(renewal(self.object.duration)).await;
            lease["spec"]["renewTime"] = json!(micro_time(self.tools.clock.now()));
            match self.object.resources.replace(&self.object.place, &self.object.name, &lease).await {
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
        self.object.read().await.map_err(|source| self.failed(source))
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
    pub(crate) fn hold(&self) -> Arc<Hold> {
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
        self.lease.object.give_back(&self.epoch).await;
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
    pub(crate) async fn confirm(&self) -> Result<(), LeaseError> {
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

fn view(lease: &Value, now: i64) -> Option<LeaseView> {
    let holder = holder(lease);
    if holder.is_empty() {
        return None;
    }
    let seconds = duration(lease).as_secs().cast_signed();
    let renewed = text(lease, "/spec/renewTime");
    // A time that cannot be read, or lies far ahead, does not show that its holder is alive.
    let is_recent = |at: i64| (at - seconds..=at.saturating_add(seconds)).contains(&now);
    Some(LeaseView {
        holder: holder.to_owned(),
        since: text(lease, "/spec/acquireTime").to_owned(),
        renewed: renewed.to_owned(),
        seconds,
        expired: !time::parse(renewed).is_some_and(is_recent),
    })
}

pub(crate) fn call_error(error: PutError) -> CallError {
    match error {
        PutError::Conflict(status) | PutError::Invalid(status) => CallError::Refused(status),
        PutError::Call(error) => error,
    }
}
