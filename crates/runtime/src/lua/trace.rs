//! Traces: one line for everything that happens to objects (birth, reference, warn, notify, destroy, destroyed,
//! failures).

use std::fmt::Display;
use std::rc::Rc;

use super::object::words;
use super::output::Output;
use crate::gc::{GcObserver, Phase, Reason};
use crate::world::{Handle, ObjectId, WorldObserver};

/// Writes a line for each step of a session, and passes the step on to another observer.
pub(super) struct Trace {
    pub(super) output: Rc<dyn Output>,
    pub(super) next: Rc<dyn GcObserver>,
}

/// Writes a line for each new object, reference and removal.
pub(super) struct WorldTrace {
    pub(super) output: Rc<dyn Output>,
}

fn line(output: &Rc<dyn Output>, what: &str, about: impl Display) {
    let line = format!("{what:<10} {about}");
    let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    output.trace(line.trim_end());
}

impl WorldObserver for WorldTrace {
    fn created(&self, object: &Handle) {
        match object.owner() {
            Some(owner) => {
                line(&self.output, "birth", format!("{}, owned by {}", words(object), words(&owner)))
            }
            None => line(&self.output, "birth", words(object)),
        }
    }

    fn referenced(&self, from: &Handle, property: &str, to: &Handle) {
        line(&self.output, "reference", format!("{}.{property} -> {}", words(from), words(to)));
    }

    fn freed(&self, id: &ObjectId, class: &str) {
        line(&self.output, "freed", format!("{class} {id}"));
    }
}

impl GcObserver for Trace {
    fn candidate(&self, object: &Handle, reason: &Reason) {
        line(&self.output, "garbage", words(object));
        self.next.candidate(object, reason);
    }

    fn rescued(&self, object: &Handle) {
        line(&self.output, "rescued", words(object));
        self.next.rescued(object);
    }

    fn calling_handler(&self, phase: Phase, subscriber: &Handle, object: &Handle) {
        let what = match phase {
            Phase::Warning => "warn",
            Phase::Notifying => "notify",
            Phase::Destroying => "destroy",
            Phase::Destroyed => "tell",
        };
        line(&self.output, what, format!("{} of {}", words(subscriber), words(object)));
        self.next.calling_handler(phase, subscriber, object);
    }

    fn calling_destroy(&self, object: &Handle, class: &str) {
        let own = object.class().name() == class;
        let of = if own { String::new() } else { format!(" as {class}") };
        line(&self.output, "destroy", format!("{}{of}", words(object)));
        self.next.calling_destroy(object, class);
    }

    fn destroyed(&self, object: &Handle) {
        line(&self.output, "destroyed", words(object));
        self.next.destroyed(object);
    }

    fn failed(&self, phase: Phase, callee: &Handle, object: &Handle, error: &str) {
        let (callee_words, of) = (words(callee), words(object));
        line(&self.output, "failed", format!("{callee_words} ({} of {of}): {error}", phase.word()));
        self.next.failed(phase, callee, object, error);
    }

    fn refused(&self, object: &Handle, reason: &str) {
        line(&self.output, "held", format!("{}: {reason}", words(object)));
        self.next.refused(object, reason);
    }

    fn cancelled(&self, by: &Handle, reason: &str) {
        line(&self.output, "cancelled", format!("by {}: {reason}", words(by)));
        self.next.cancelled(by, reason);
    }
}
