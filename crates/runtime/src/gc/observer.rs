//! An interface that receives every step of a session, for traces.

use super::{Phase, Reason};
use crate::world::Handle;

/// Receives every step of a session. An implementation must not change objects and must not keep the handles that it is
/// given, which would keep the objects alive. All methods do nothing by default.
pub trait GcObserver {
    /// An object is a candidate, for this reason.
    fn candidate(&self, _object: &Handle, _reason: &Reason) {}
    /// A candidate is reachable again.
    fn rescued(&self, _object: &Handle) {}
    /// A subscriber's handler is about to be called for an object, in the phase warning, notifying or destroyed.
    fn calling_handler(&self, _phase: Phase, _subscriber: &Handle, _object: &Handle) {}
    /// The `destroy` of a class is about to be called.
    fn calling_destroy(&self, _object: &Handle, _class: &str) {}
    /// An object is destroyed.
    fn destroyed(&self, _object: &Handle) {}
    /// Code failed: a handler of `callee` for `object`, or the `destroy` of `object` (`callee` is `object` then).
    fn failed(&self, _phase: Phase, _callee: &Handle, _object: &Handle, _error: &str) {}
    /// An object must not be destroyed, for this reason.
    fn refused(&self, _object: &Handle, _reason: &str) {}
    /// A handler of `by` cancelled the session.
    fn cancelled(&self, _by: &Handle, _reason: &str) {}
}

/// Ignores all steps.
pub struct NoGcObserver;

impl GcObserver for NoGcObserver {}
