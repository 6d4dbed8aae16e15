//! Who watches a session, step by step.

use super::{Phase, Reason};
use crate::world::Handle;

/// Hears of each step, for traces. It must not change anything, and lets go of the handles that it is shown.
pub trait GcObserver {
    /// An object is accused.
    fn candidate(&self, _object: &Handle, _reason: &Reason) {}
    /// An accused object is reachable again.
    fn rescued(&self, _object: &Handle) {}
    /// A subscriber is about to hear of an object, in the phases warning, notifying and destroyed.
    fn calling_handler(&self, _phase: Phase, _subscriber: &Handle, _object: &Handle) {}
    /// The `destroy` of a class is about to be called.
    fn calling_destroy(&self, _object: &Handle, _class: &str) {}
    /// An object is destroyed.
    fn destroyed(&self, _object: &Handle) {}
    /// A handler (of somebody else than the object) or a destructor failed.
    fn failed(&self, _phase: Phase, _callee: &Handle, _object: &Handle, _error: &str) {}
    /// An object must not die, for this reason.
    fn refused(&self, _object: &Handle, _reason: &str) {}
    /// The session was cancelled.
    fn cancelled(&self, _by: &Handle, _reason: &str) {}
}

/// Does not watch.
pub struct NoGcObserver;

impl GcObserver for NoGcObserver {}
