//! Calls the methods of classes: programs and services of others, which may hang, flood, lie or crash.
//!
//! It must not know what follows from an answer. An error is never the end of an object: what a hook did before it
//! failed is unknown, so the call is made again with the same key.

pub mod allowance;
mod error;
mod exec;
pub mod group;
mod http;
pub mod keeper;
mod output;
mod script;
mod tls;

pub use error::HookError;
pub use exec::complete;
pub use keeper::Keeper;
pub use script::{Scripts, place_of};
pub use tls::Tls;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustls::RootCertStore;
use sexton_model::class::{Method, Run};
use sexton_model::hook::{Allowance, Call, Verdict};
use sexton_model::{secrets, time};
use tokio::sync::Semaphore;

/// The most calls at a time, unless set otherwise.
pub const DEFAULT_PARALLEL: usize = 64;

/// Calls methods.
#[derive(Debug, Clone)]
pub struct Hooks {
    slots: Arc<Semaphore>,
    tls: Tls,
    scripts: Option<Scripts>,
    allowance: Option<Arc<Allowance>>,
    keeper: Option<Keeper>,
}

impl Default for Hooks {
    fn default() -> Self {
        Hooks::new()
    }
}

impl Hooks {
    /// With the default number of calls at a time, and the certificate authorities of this machine.
    pub fn new() -> Hooks {
        Hooks {
            slots: Arc::new(Semaphore::new(DEFAULT_PARALLEL)),
            tls: Tls::of_this_machine(),
            scripts: None,
            allowance: None,
            keeper: None,
        }
    }

    /// Sets the most calls at a time; at least one.
    #[must_use]
    pub fn parallel(mut self, most: usize) -> Hooks {
        self.slots = Arc::new(Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS)));
        self
    }

    /// Trusts these certificate authorities instead of those of this machine.
    #[must_use]
    pub fn trusting(mut self, roots: RootCertStore) -> Hooks {
        self.tls = Tls::trusting(roots);
        self
    }

    /// Runs and calls only what an operator allows. Without this, whatever classes say: for a user's own documents.
    #[must_use]
    pub fn allowing(mut self, allowance: Allowance) -> Hooks {
        self.allowance = Some(Arc::new(allowance));
        self
    }

    /// Also runs methods that are written in a script.
    #[must_use]
    pub fn with_scripts(mut self, scripts: Scripts) -> Hooks {
        self.scripts = Some(scripts);
        self
    }

    /// Starts programs under keepers. Without them, processes of an earlier collector are not found, and neither are
    /// those that left the group of a program.
    #[must_use]
    pub fn kept_by(mut self, keeper: Keeper) -> Hooks {
        self.keeper = Some(keeper);
        self
    }

    /// Makes one call and waits for its verdict.
    ///
    /// It ends when the method's time is up, and not after the deadline in the call. Dropping the future ends what
    /// was started.
    ///
    /// # Errors
    /// There is no verdict. See [`HookError`].
    pub async fn call(&self, method: &Method, call: &Call) -> Result<Verdict, HookError> {
        let document = call.document().map_err(HookError::Unsayable)?;
        let wait = remaining(call).unwrap_or(method.deadline);
        let slot = tokio::time::timeout(wait, self.slots.acquire()).await;
        let _slot = slot.map_err(|_| HookError::Late)?;
        let budget = remaining(call).map_or(method.deadline, |left| left.min(method.deadline));
        if budget.is_zero() {
            return Err(HookError::Late);
        }
        let what = method.run.word();
        tracing::debug!(what, method = call.method, key = call.idempotency_key, call.attempt, "hook call");
        let result = match &method.run {
            Run::Exec { argv, dir, env } => {
                let (allowance, keeper) = (self.allowance.as_ref(), self.keeper.as_ref());
                let real = exec::allowed(allowance, argv, dir.as_deref(), env).await?;
                let (dir, key) = (dir.as_deref(), &call.idempotency_key);
                let program = exec::Program { argv, dir, env, key, real, keeper };
                exec::run(&program, document, budget, method.max_output).await
            }
            Run::Http { url } => {
                let (key, epoch, allowance) = (&call.idempotency_key, call.epoch, self.allowance.as_deref());
                let request = http::Post { url, key, epoch, tls: &self.tls, allowance };
                let answer = http::post(&request, document, method.max_output);
                let timed = tokio::time::timeout(budget, answer).await;
                timed.unwrap_or(Err(HookError::Deadline { after: budget }))
            }
            Run::Lua { source } => match &self.scripts {
                Some(scripts) => {
                    let (allowance, keeper) = (self.allowance.as_deref(), self.keeper.as_ref());
                    scripts.call(source.as_deref(), method, call, budget, (allowance, keeper)).await
                }
                None => Err(HookError::Script("nobody runs scripts here".into())),
            },
        };
        match &result {
            Ok(verdict) => {
                tracing::debug!(key = call.idempotency_key, verdict = verdict.word(), "hook answer")
            }
            Err(error) => {
                let error = error.to_string();
                let documents: Vec<_> = [&call.object].into_iter().chain(&call.subscriber).collect();
                let error = secrets::scrub(&error, &documents);
                tracing::debug!(key = call.idempotency_key, %error, "hook failure")
            }
        }
        result
    }
}

/// The time until the moment that the call names. It is written in whole seconds, so all of the last one counts.
fn remaining(call: &Call) -> Option<Duration> {
    let end = u64::try_from(time::parse(&call.deadline)?).ok()?.saturating_add(1);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(Duration::from_secs(end).saturating_sub(now))
}
