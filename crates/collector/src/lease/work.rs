//! The lease of a module or an environment: one process at a time works on it. A task renews the lease during the
//! work; after a crash it expires.
//!
//! A process that was suspended and lost the lease cannot do harm: it notices before the next put, cannot seal,
//! because the record has changed, and cannot accuse, because accusations are written under the epoch of the lease.
//! It must not know what is done under the lease.

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

/// How often a lease is read while it may expire.
const LOOK: Duration = Duration::from_secs(1);
/// After this time the lease is read again before a put: a suspended process does not notice that it lost the lease.
const FRESH: Duration = Duration::from_millis(500);

/// The holder of a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseView {
    /// Its name.
    pub holder: String,
    /// The time at which it took the lease.
    pub since: String,
    /// The time of the last renewal.
    pub renewed: String,
    /// For how many seconds the lease is valid after that.
    pub seconds: i64,
    /// Whether the lease seems to have expired, by the times written in it, or its holder is known to have ended. A
    /// lease is never taken because of written times: they are of another machine.
    pub expired: bool,
}

/// Why this process does not hold the lease.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    /// Another process holds it.
    #[error("{} is working on {subject} since {}", .view.holder, .view.since)]
    Held {
        /// The subject: `the module shop`.
        subject: String,
        /// Its holder.
        view: Box<LeaseView>,
    },
    /// This process held it, and does not any more.
    #[error("the lease of {subject} was lost to somebody else")]
    Lost {
        /// The subject: `the module shop`.
        subject: String,
    },
    /// The request failed.
    #[error("the lease of {subject} cannot be taken")]
    Call {
        /// The subject: `the module shop`.
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

/// A held lease, renewed as long as this value exists. Dropped, it is left to expire, as after a crash.
#[derive(Debug)]
pub struct Locked {
    lease: WorkLease,
    epoch: Epoch,
    hold: Arc<Hold>,
    work: JoinHandle<()>,
}

/// Gives a lease back, without renewing it.
#[derive(Debug, Clone)]
pub struct LeaseGiver {
    lease: WorkLease,
    epoch: Epoch,
}

/// The state of a held lease, shared by everything that works under it.
#[derive(Debug)]
pub(crate) struct Hold {
    lease: WorkLease,
    epoch: Epoch,
    lost: AtomicBool,
    /// When it was last known to be held.
    known: Mutex<Instant>,
}

impl Drop for Locked {
    fn drop(&mut self) {
        self.work.abort();
    }
}

impl WorkLease {
    /// The lease of a module. It has no proof: `sexton modules unlock` can take it away at any time, and the right to
    /// delete the objects includes the right to write what is written under it.
    pub(crate) fn of_module(tools: &Tools, module: &str, namespace: Option<&str>) -> WorkLease {
        let (namespace, name) = (namespace.unwrap_or(WORK_NAMESPACE), format!("{PREFIX}{module}"));
        let object = LeaseObject::new(&tools.resources, namespace, &name, &tools.holder);
        WorkLease { tools: tools.clone(), subject: format!("the module {module}"), object }
    }

    /// The lease of an environment, with a proof: the state of its objects is written under it.
    pub fn of_environment(tools: &Tools, environment: &str) -> WorkLease {
        let name = format!("{ENVIRONMENT_PREFIX}{environment}");
        let object = LeaseObject::new(&tools.resources, WORK_NAMESPACE, &name, &tools.holder).proved();
        WorkLease { tools: tools.clone(), subject: format!("the environment {environment}"), object }
    }

    /// The holder, if there is one.
    pub async fn holder(&self) -> Result<Option<LeaseView>, LeaseError> {
        let lease = self.read().await?;
        Ok(lease.as_ref().and_then(|lease| self.view(lease)))
    }

    /// Takes the lease away from its holder, and returns the former holder.
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

    /// Takes the lease. If the written times say that it is held, this fails at once. Otherwise it watches the lease
    /// until its holder renews it, or its duration is over.
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

    /// Deletes the lease, once the module is gone.
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

    /// Renews the lease until another process holds it.
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
                // The next renewal may succeed. If none does, the epoch ends, and accusations are refused.
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
    /// The epoch of the writes under this lease.
    pub fn epoch(&self) -> &Epoch {
        &self.epoch
    }

    /// Whether the lease is still held, as far as is known.
    pub fn check(&self) -> Result<(), LeaseError> {
        self.hold.check()
    }

    /// The state, for tasks that work under the lease.
    pub(crate) fn hold(&self) -> Arc<Hold> {
        self.hold.clone()
    }

    /// A value that gives the lease back even if the work under it is broken off.
    pub fn giver(&self) -> LeaseGiver {
        LeaseGiver { lease: self.lease.clone(), epoch: self.epoch.clone() }
    }

    /// Gives it back, so that others need not wait until it expires.
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

    /// Checks that the lease is still held, by reading it if it was not read for a moment: a process that was
    /// suspended for longer than the lease is valid must not go on.
    pub(crate) async fn confirm(&self) -> Result<(), LeaseError> {
        self.check()?;
        let mut known = self.known.lock().await;
        if known.elapsed() < FRESH {
            return self.check();
        }
        // If the request fails, the write that follows most likely fails, too.
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
    // A time that cannot be parsed, or is far in the future, does not show that the holder is alive.
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
