//! One deployment of a module at a time: a lease that is renewed while somebody works, and expires when nobody does.
//!
//! Whoever was paused and has lost it cannot seal, because the record has changed, and cannot accuse, because that
//! is written under the epoch of the lease. It must not know what is done under the lease.

use std::time::Duration;

use serde_json::{Value, json};
use sexton_client::resources::{DeleteAsk, DeleteError, PutError, text};
use sexton_client::{CallError, Place, Resources, ServedKind};
use sexton_model::Policy;
use sexton_model::bulk::Epoch;
use sexton_model::module::PREFIX;
use sexton_model::time;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::Tools;

/// The namespace that every server has.
pub(super) const NAMESPACE: &str = "default";
/// Somebody who says nothing for so long has lost it.
const DURATION: i64 = 30;
/// How often somebody who works says so: two of these may get lost.
const RENEWAL: Duration = Duration::from_secs(10);

/// Who holds the lease of a module.
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
    /// Whether that is over: then it may be taken.
    pub expired: bool,
}

/// Why the lease is not ours.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    /// Somebody else works on the module.
    #[error("{} is working on the module {module} since {}", .view.holder, .view.since)]
    Held {
        /// Which module.
        module: String,
        /// Who.
        view: Box<LeaseView>,
    },
    /// It was ours, and is not any more.
    #[error("the lease of the module {module} was lost to somebody else")]
    Lost {
        /// Which module.
        module: String,
    },
    /// The server cannot be asked.
    #[error("the lease of the module {module} cannot be taken")]
    Call {
        /// Which module.
        module: String,
        /// Why.
        #[source]
        source: CallError,
    },
}

/// The lease of one module.
#[derive(Debug, Clone)]
pub(super) struct ModuleLease {
    tools: Tools,
    module: String,
    name: String,
    place: Place,
}

/// A lease that is ours, and is kept so as long as this exists. Dropped, it is left to expire, as by a crash.
#[derive(Debug)]
pub(super) struct Locked {
    lease: ModuleLease,
    epoch: Epoch,
    lost: watch::Receiver<bool>,
    work: JoinHandle<()>,
}

impl Drop for Locked {
    fn drop(&mut self) {
        self.work.abort();
    }
}

impl ModuleLease {
    pub(super) fn new(tools: &Tools, module: &str) -> ModuleLease {
        let kind = ServedKind::well_known("coordination.k8s.io", "leases", "Lease", true);
        ModuleLease {
            tools: tools.clone(),
            module: module.to_owned(),
            name: format!("{PREFIX}{module}"),
            place: Place::new(&kind, Some(NAMESPACE)),
        }
    }

    /// Who holds it, if somebody does.
    pub(super) async fn holder(&self) -> Result<Option<LeaseView>, LeaseError> {
        let lease = self.read().await?;
        Ok(lease.as_ref().and_then(|lease| view(lease, self.tools.clock.now())))
    }

    /// Takes it away from whoever holds it.
    pub(super) async fn break_it(&self) -> Result<Option<LeaseView>, LeaseError> {
        let Some(mut lease) = self.read().await? else { return Ok(None) };
        let held = view(&lease, self.tools.clock.now());
        if held.is_some() {
            lease["spec"]["holderIdentity"] = json!("");
            lease["spec"]["leaseTransitions"] = json!(transitions(&lease) + 1);
            let written = self.resources().replace(&self.place, &self.name, &lease).await;
            written.map_err(|error| self.failed(call_error(error)))?;
        }
        Ok(held)
    }

    /// Takes it, and keeps it.
    pub(super) async fn take(&self) -> Result<Locked, LeaseError> {
        let now = self.tools.clock.now();
        let current = self.read().await?;
        let held = current.as_ref().and_then(|lease| view(lease, now)).filter(|view| !view.expired);
        if let Some(view) = held {
            return Err(LeaseError::Held { module: self.module.clone(), view: Box::new(view) });
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
                    "metadata": {"name": self.name, "namespace": NAMESPACE}, "spec": spec,
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

    async fn somebody_was_faster(&self) -> Result<LeaseError, LeaseError> {
        let module = self.module.clone();
        Ok(match self.holder().await? {
            Some(view) => LeaseError::Held { module, view: Box::new(view) },
            None => LeaseError::Lost { module },
        })
    }

    fn locked(&self, lease: &Value, transitions: i64) -> Locked {
        let epoch = Epoch {
            namespace: NAMESPACE.into(),
            name: self.name.clone(),
            holder: self.tools.holder.clone(),
            transitions,
        };
        let (tell, lost) = watch::channel(false);
        let work = tokio::spawn(self.clone().keep(lease.clone(), epoch.clone(), tell));
        Locked { lease: self.clone(), epoch, lost, work }
    }

    /// Renews it until it is somebody else's.
    async fn keep(self, mut lease: Value, epoch: Epoch, tell: watch::Sender<bool>) {
        loop {
            tokio::time::sleep(RENEWAL).await;
            lease["spec"]["renewTime"] = json!(micro_time(self.tools.clock.now()));
            match self.resources().replace(&self.place, &self.name, &lease).await {
                Ok(renewed) => lease = renewed,
                Err(PutError::Conflict(_)) => match self.read().await {
                    Ok(Some(current)) if is_under(&current, &epoch) => lease = current,
                    Ok(_) => {
                        tell.send_replace(true);
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
        LeaseError::Call { module: self.module.clone(), source }
    }
}

impl Locked {
    /// Under what is written.
    pub(super) fn epoch(&self) -> &Epoch {
        &self.epoch
    }

    /// Whether it is still ours, as far as is known.
    pub(super) fn check(&self) -> Result<(), LeaseError> {
        if *self.lost.borrow() {
            return Err(LeaseError::Lost { module: self.lease.module.clone() });
        }
        Ok(())
    }

    /// Gives it back, so that others need not wait for its end.
    pub(super) async fn release(self) {
        self.work.abort();
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
