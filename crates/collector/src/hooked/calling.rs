//! Makes a call: reads the documents, runs the program or service, and turns its verdict into an event for the table.
//!
//! Flow: take a slot, read the object and the subscriber, check that the call is still wanted, run it within the
//! deadline. Whatever goes wrong is an answer, too. Values of Secrets are scrubbed from every answer, because answers
//! are recorded.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures::FutureExt;
use serde_json::Value;
use sexton_client::resources::{ListAsk, text};
use sexton_client::{CallError, Place, Resources, ServedKind};
use sexton_lifecycle::destruction::{Callee, Event, Outcome, Phase, Retry};
use sexton_model::Revision;
use sexton_model::class::{self, Method};
use sexton_model::hook::{Call, ObjectRef, Verdict};
use sexton_model::{marks, secrets, time};

use super::{Lane, Slots};
use crate::hooks::{HookError, Hooks, allowance};

/// Runs methods: [`Hooks`] runs programs and calls services; tests put something else in its place.
#[async_trait]
pub trait Runner: Debug + Send + Sync {
    /// Makes one call and waits for its verdict.
    ///
    /// # Errors
    /// There is no verdict; whether the call had an effect is unknown.
    async fn call(&self, method: &Method, call: &Call) -> Result<Verdict, HookError>;
}

#[async_trait]
impl Runner for Hooks {
    async fn call(&self, method: &Method, call: &Call) -> Result<Verdict, HookError> {
        Hooks::call(self, method, call).await
    }
}

/// How a call ended.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) uid: String,
    pub(crate) phase: Phase,
    pub(crate) callee: Callee,
    retry: Retry,
    now: i64,
    /// The feed must reach this revision first: a warned subscriber may have saved the object, or others.
    pub(crate) seen: Revision,
    reply: Reply,
}

/// The result of a call.
#[derive(Debug)]
enum Reply {
    /// The verdict, or what went wrong.
    Said(Outcome),
    /// The callee is gone or destroyed, and cannot be called.
    Left,
    /// The call was given up while it waited for a slot, and never made.
    NotMade,
}

impl Answer {
    /// The event for the table; `None` if the call was never made.
    pub(crate) fn event(&self) -> Option<Event> {
        let outcome = match (&self.reply, &self.callee) {
            (Reply::NotMade, _) => return None,
            (Reply::Left, Callee::Subscriber(uid)) => {
                return Some(Event::SubscriberLeft { uid: uid.clone() });
            }
            (Reply::Left, Callee::Destroy) => Outcome::Gone,
            (Reply::Said(outcome), _) => outcome.clone(),
        };
        let (phase, callee) = (self.phase, self.callee.clone());
        Some(Event::Answered { phase, callee, outcome, retry: self.retry, now: self.now })
    }
}

/// One call to be made.
#[derive(Debug)]
pub(crate) struct Caller {
    pub(crate) resources: Resources,
    pub(crate) runner: Arc<dyn Runner>,
    /// The slots, and the lane in which the call waits.
    pub(crate) slots: Slots,
    pub(crate) lane: Lane,
    /// The longest that a call may take, whatever its class says.
    pub(crate) max_time: Duration,
    pub(crate) uid: String,
    pub(crate) object: (ServedKind, String, String),
    pub(crate) subscriber: Option<(ServedKind, String, String, String)>,
    pub(crate) callee: Callee,
    pub(crate) phase: Phase,
    /// The idempotency key: equal for equal calls, in every attempt and every collector.
    pub(crate) key: String,
    /// Whether the call is still to be made.
    pub(crate) wanted: Arc<AtomicBool>,
    pub(crate) attempt: u32,
    pub(crate) session: String,
    pub(crate) epoch: i64,
    pub(crate) doomed: Vec<ObjectRef>,
    pub(crate) doomed_count: usize,
    pub(crate) is_doomed: BTreeMap<String, bool>,
    pub(crate) is_destroyed: BTreeMap<String, bool>,
    /// The method and how its failures are repeated, or what is missing.
    pub(crate) method: Result<(String, Method, class::Retry), String>,
    pub(crate) clock: Arc<dyn crate::clock::Clock>,
}

impl Caller {
    /// Makes the call. Whatever goes wrong is an answer, too.
    pub(crate) async fn make(self) -> Answer {
        let retry = match &self.method {
            Ok((_, _, retry)) => table_retry(retry),
            Err(_) => Retry::default(),
        };
        // A panic is a failure of the call: otherwise the call would stay under way forever.
        let reply = match AssertUnwindSafe(self.ask()).catch_unwind().await {
            Ok(Ok(reply)) => reply,
            Ok(Err(error)) => Reply::Said(Outcome::HookError { reason: error.to_string() }),
            Err(panic) => {
                let reason = format!("the call broke off inside the collector: {}", words(&*panic));
                tracing::error!(key = self.key, reason, "a call of a hook broke off");
                Reply::Said(Outcome::HookError { reason })
            }
        };
        let seen = self.seen_after().await;
        Answer {
            seen,
            uid: self.uid,
            phase: self.phase,
            callee: self.callee,
            retry,
            now: self.clock.now(),
            reply,
        }
    }

    async fn ask(&self) -> Result<Reply, CallError> {
        let (name, method, _) = match &self.method {
            Ok(method) => method,
            Err(what) => return Ok(Reply::Said(Outcome::Missing { what: what.clone() })),
        };
        let _slot = self.slots.take(self.lane.clone()).await;
        let (kind, namespace, own) = &self.object;
        let Some(object) = self.read(kind, namespace, own, &self.uid).await? else {
            return Ok(Reply::Said(Outcome::Gone));
        };
        let subscriber = match &self.subscriber {
            None => None,
            Some((kind, namespace, name, uid)) => match self.read(kind, namespace, name, uid).await? {
                // A destroyed object runs no method any more, also if it was destroyed just now.
                Some(document) if is_destroyed(&document) => return Ok(Reply::Left),
                Some(document) => Some(document),
                None => return Ok(Reply::Left),
            },
        };
        if !self.wanted.load(Ordering::SeqCst) {
            return Ok(Reply::NotMade);
        }
        // A method of its own class may need the values of a Secret to destroy what they open; others do not.
        let (secret, mut object) = (object.clone(), object);
        let secret_subscriber = subscriber.clone().filter(secrets::is_secret);
        if subscriber.is_some() {
            secrets::redact(&mut object);
        }
        let allowed = Method { deadline: method.deadline.min(self.max_time), ..method.clone() };
        let call = Call {
            method: name.clone(),
            phase: self.phase,
            session: self.session.clone(),
            epoch: self.epoch,
            idempotency_key: self.key.clone(),
            attempt: self.attempt,
            deadline: time::format(self.clock.now() + seconds(allowed.deadline)),
            object,
            subscriber,
            doomed: self.doomed.clone(),
            doomed_count: self.doomed_count,
            is_doomed: self.is_doomed.clone(),
            is_destroyed: self.is_destroyed.clone(),
        };
        let verdict = self.runner.call(&allowed, &call).await;
        let said = verdict.map_or_else(|error| failure(error, method, &allowed), outcome);
        let mut told_of = vec![&secret];
        told_of.extend(&secret_subscriber);
        Ok(Reply::Said(scrubbed(said, &told_of)))
    }

    /// A revision not older than anything that a subscriber did before it answered a warning. `NONE` in the other
    /// phases.
    async fn seen_after(&self) -> Revision {
        if self.phase != Phase::Warning {
            return Revision::NONE;
        }
        let place = Place::new(&ServedKind::of_ours("classes", "Class"), None);
        let ask = ListAsk { limit: Some(1), ..ListAsk::default() };
        let listed = self.resources.list(&place, &ask).await;
        listed.ok().and_then(|listed| listed.version.parse().ok()).unwrap_or(Revision::NONE)
    }

    /// The document of an object; `None` if that incarnation is gone.
    async fn read(
        &self,
        kind: &ServedKind,
        namespace: &str,
        name: &str,
        uid: &str,
    ) -> Result<Option<Value>, CallError> {
        let namespace = (!namespace.is_empty()).then_some(namespace);
        let found = self.resources.find(&Place::new(kind, namespace), name).await?;
        Ok(found.filter(|document| text(document, "/metadata/uid") == uid))
    }
}

fn is_destroyed(document: &Value) -> bool {
    let annotations = document.pointer("/metadata/annotations");
    annotations.and_then(|all| all.get(marks::DESTROYED)).is_some_and(|value| value == "true")
}

fn table_retry(retry: &class::Retry) -> Retry {
    Retry { limit: retry.limit, backoff: seconds(retry.backoff), max_backoff: seconds(retry.max_backoff) }
}

/// Whole seconds, at least one, so that nothing is repeated without a pause.
fn seconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_secs_f64().ceil() as u64).unwrap_or(i64::MAX).max(1)
}

fn outcome(verdict: Verdict) -> Outcome {
    match verdict {
        Verdict::Done { output } => Outcome::Done { output: output.unwrap_or_default() },
        Verdict::Gone => Outcome::Gone,
        Verdict::InProgress { after } => Outcome::InProgress { after: after.map_or(5, seconds) },
        Verdict::Blocked { by, reason } => Outcome::Blocked { by: by.unwrap_or_default(), reason },
        Verdict::Veto { reason, until } => Outcome::Veto { reason, until },
        Verdict::Retry { after, reason } => Outcome::Retry { after: after.map_or(1, seconds), reason },
        Verdict::Failed { reason } => Outcome::Failed { reason },
    }
}

/// The answer without the values of the Secrets that were in the call: answers are kept in records.
fn scrubbed(outcome: Outcome, documents: &[&Value]) -> Outcome {
    let clean = |text: String| secrets::scrub(&text, documents).into_owned();
    match outcome {
        Outcome::Done { output } => Outcome::Done { output: clean(output) },
        Outcome::Blocked { by, reason } => Outcome::Blocked { by: clean(by), reason: clean(reason) },
        Outcome::Veto { reason, until } => Outcome::Veto { reason: clean(reason), until },
        Outcome::Retry { after, reason } => Outcome::Retry { after, reason: clean(reason) },
        Outcome::Failed { reason } => Outcome::Failed { reason: clean(reason) },
        Outcome::HookError { reason } => Outcome::HookError { reason: clean(reason) },
        said => said,
    }
}

/// The outcome of a call without a verdict. A call that the operator does not allow has not failed: it is blocked.
fn failure(error: HookError, method: &Method, allowed: &Method) -> Outcome {
    let reason = chain(&error) + &shortened(&error, method, allowed);
    match error {
        HookError::NotAllowed(_) => Outcome::Blocked { by: allowance::OPERATOR.to_owned(), reason },
        _ => Outcome::HookError { reason },
    }
}

/// A note that the deadline was the operator's and not the one of the class, if so.
fn shortened(error: &HookError, method: &Method, allowed: &Method) -> String {
    if !matches!(error, HookError::Deadline { .. }) || allowed.deadline == method.deadline {
        return String::new();
    }
    let (asked, most) = (method.deadline.as_secs_f64(), allowed.deadline.as_secs_f64());
    format!("; its class asks for {asked} seconds, and this collector allows {most} (--max-hook-time)")
}

/// The message of a panic.
fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without words")
}

/// An error and its sources, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
