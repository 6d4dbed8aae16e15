//! Calls of handlers and destructors. While one is polled, a [`super::Gc::run`] is known to come from inside the
//! session.

use std::future::poll_fn;
use std::rc::Rc;

use sexton_lifecycle::destruction::Outcome;

use super::session::SessionState;
use super::{GcState, Phase, Session};
use crate::world::{Args, Call, Class, CodeError, CodeErrorKind, Handle, Value};

/// How a call ended.
pub(super) struct CallResult {
    /// The outcome, as input for the destruction's step table.
    pub(super) outcome: Outcome,
    /// Set if no more code may run at all (deadline, memory, stopped from outside): why.
    pub(super) stop: Option<String>,
}

impl CallResult {
    fn done() -> CallResult {
        CallResult { outcome: Outcome::Done { output: String::new() }, stop: None }
    }

    pub(super) fn failed(error: &CodeError) -> CallResult {
        let stop = (error.kind != CodeErrorKind::Failed).then(|| error.message.clone());
        CallResult { outcome: Outcome::Failed { reason: error.message.clone() }, stop }
    }
}

/// Calls a subscriber's handler for an object. Calling `gc:cancel` in it is a veto.
pub(super) async fn handler(
    gc: &GcState,
    shared: &Rc<SessionState>,
    phase: Phase,
    subscriber: &Handle,
    object: &Handle,
    handler: &str,
) -> CallResult {
    let class = subscriber.class();
    let Some(class) = class.method(handler) else {
        let what = format!("{} has no method {handler}", class.name());
        return CallResult { outcome: Outcome::Missing { what }, stop: None };
    };
    gc.settings.observer.calling_handler(phase, subscriber, object);
    let session = Session::new(phase, shared.clone());
    let args = Args::Event { gc: session.clone(), object: object.clone() };
    let result = run(gc, class, subscriber, handler, args).await;
    session.end_call();
    let reason = shared.cancelled.borrow_mut().take();
    match (reason, result) {
        (Some(reason), _) => CallResult { outcome: Outcome::Veto { reason, until: None }, stop: None },
        (None, Ok(_)) => CallResult::done(),
        (None, Err(error)) => CallResult::failed(&error),
    }
}

/// Calls `destroy` of the object's class, of its parent, and so on. Classes with a `destroy` that succeeded in an
/// earlier attempt are skipped.
pub(super) async fn destroy(gc: &GcState, shared: &Rc<SessionState>, object: &Handle) -> CallResult {
    let class = object.class();
    let done = object
        .read(|object| object.rare.as_ref().map_or(0, |rare| rare.destroyed_classes))
        .unwrap_or_default();
    for (number, class) in class.ancestry().enumerate().skip(done) {
        if !class.behavior().has("destroy") {
            continue;
        }
        gc.settings.observer.calling_destroy(object, class.name());
        let args = Args::Destroy { gc: Session::new(Phase::Destroying, shared.clone()) };
        if let Err(error) = run(gc, class, object, "destroy", args).await {
            // A later attempt begins with the class that failed.
            object.update(|object| object.rare_mut().destroyed_classes = number);
            return CallResult::failed(&error);
        }
    }
    CallResult::done()
}

async fn run(
    gc: &GcState,
    class: &Class,
    this: &Handle,
    method: &str,
    args: Args,
) -> Result<Value, CodeError> {
    let mut future = class.behavior().call(Call { this: this.clone(), method: method.into(), args });
    poll_fn(|context| {
        let _inside = InsideGuard::new(gc);
        future.as_mut().poll(context)
    })
    .await
}

/// Counts as one running call of the session until it is dropped.
struct InsideGuard<'a>(&'a GcState);

impl<'a> InsideGuard<'a> {
    fn new(gc: &'a GcState) -> InsideGuard<'a> {
        gc.inside.set(gc.inside.get() + 1);
        InsideGuard(gc)
    }
}

impl Drop for InsideGuard<'_> {
    fn drop(&mut self) {
        self.0.inside.set(self.0.inside.get() - 1);
    }
}
