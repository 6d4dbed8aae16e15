//! Calls of handlers and destructors. What they call back is known to come from inside of the session.

use std::future::poll_fn;
use std::rc::Rc;

use sexton_lifecycle::destruction::Outcome;

use super::session::Shared;
use super::{Inner, Phase, Session};
use crate::world::{Args, Call, Class, CodeError, CodeErrorKind, Handle, Value};

/// How a call ended: what the table of steps is told, and whether any code may still run.
pub(super) struct Answer {
    pub(super) outcome: Outcome,
    pub(super) stop: Option<String>,
}

impl Answer {
    fn done() -> Answer {
        Answer { outcome: Outcome::Done { output: String::new() }, stop: None }
    }

    pub(super) fn failed(error: &CodeError) -> Answer {
        let stop = (error.kind != CodeErrorKind::Failed).then(|| error.message.clone());
        Answer { outcome: Outcome::Failed { reason: error.message.clone() }, stop }
    }
}

/// Lets a subscriber hear of an object.
pub(super) async fn handler(
    gc: &Inner,
    shared: &Rc<Shared>,
    phase: Phase,
    subscriber: &Handle,
    object: &Handle,
    handler: &str,
) -> Answer {
    let class = subscriber.class();
    let Some(class) = class.method(handler) else {
        let what = format!("{} has no method {handler}", class.name());
        return Answer { outcome: Outcome::Missing { what }, stop: None };
    };
    gc.settings.observer.telling(phase, subscriber, object);
    let session = Session::new(phase, shared.clone());
    let args = Args::Event { gc: session.clone(), object: object.clone() };
    let result = run(gc, class, subscriber, handler, args).await;
    session.end_call();
    let reason = shared.cancelled.borrow_mut().take();
    match (reason, result) {
        (Some(reason), _) => Answer { outcome: Outcome::Veto { reason, until: None }, stop: None },
        (None, Ok(_)) => Answer::done(),
        (None, Err(error)) => Answer::failed(&error),
    }
}

/// Calls `destroy` of every class from the actual one up, except those that are done.
pub(super) async fn destroy(gc: &Inner, shared: &Rc<Shared>, object: &Handle) -> Answer {
    let class = object.class();
    let done = object.look(|object| object.rare.as_ref().map_or(0, |rare| rare.undone)).unwrap_or_default();
    for (number, class) in class.ancestry().enumerate().skip(done) {
        if !class.behavior().has("destroy") {
            continue;
        }
        gc.settings.observer.destroying(object, class.name());
        let args = Args::Destroy { gc: Session::new(Phase::Destroying, shared.clone()) };
        if let Err(error) = run(gc, class, object, "destroy", args).await {
            // Should it be tried again, what went well is not done twice.
            object.change(|object| object.rare().undone = number);
            return Answer::failed(&error);
        }
    }
    Answer::done()
}

async fn run(gc: &Inner, class: &Class, this: &Handle, method: &str, args: Args) -> Result<Value, CodeError> {
    let mut future = class.behavior().call(Call { this: this.clone(), method: method.into(), args });
    poll_fn(|context| {
        let _inside = Inside::new(gc);
        future.as_mut().poll(context)
    })
    .await
}

/// While it is there, code of the session is running.
struct Inside<'a>(&'a Inner);

impl<'a> Inside<'a> {
    fn new(gc: &'a Inner) -> Inside<'a> {
        gc.inside.set(gc.inside.get() + 1);
        Inside(gc)
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.inside.set(self.0.inside.get() - 1);
    }
}
