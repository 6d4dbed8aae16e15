//! The tests that the garbage collector was asked to pass, in programs: what is collected and what is not, in which
//! order, and which subscribers are told. The same against the Rust API is beside this folder.

use crate::harness::check;

/// REQ-MUR-77, REQ-MUR-78, REQ-MUR-79, REQ-MUR-81, REQ-MUR-82, REQ-MUR-83, REQ-MUR-41, REQ-MUR-52: what properties of
/// any kind, statics, locals and arguments hold is not collected; single objects and circles without a reference are.
#[test]
fn what_can_be_reached_is_not_collected() {
    check("roots.luau", false);
}

/// REQ-MUR-85, REQ-MUR-42: locals, arguments, upvalues, tables and pending calls of threads other than the collecting
/// one hold what they hold, and nothing else.
#[test]
fn other_threads_hold_what_they_hold() {
    check("threads.luau", false);
}

/// REQ-MUR-86, REQ-MUR-87, REQ-MUR-88: a parent before the child that depends on it, a child before the parent that
/// depends on it, and the same without a hierarchy.
#[test]
fn dependencies_beat_ownership() {
    check("order.luau", false);
}

/// REQ-MUR-89, REQ-MUR-17, REQ-MUR-18: all objects of a circular dependency are destroyed, and hear of each other.
#[test]
fn circles_of_dependencies_are_destroyed() {
    check("circle.luau", false);
}

/// REQ-MUR-90, REQ-MUR-94, REQ-MUR-95, REQ-MUR-96, REQ-MUR-97, REQ-MUR-98, REQ-MUR-99, REQ-MUR-100, REQ-MUR-55,
/// REQ-MUR-57, REQ-MUR-58, REQ-MUR-60, REQ-MUR-61, REQ-MUR-62, REQ-MUR-63: the order of events, once each however often
/// it was subscribed, not after it was undone; what `phase`, `isDoomed` and `isDestroyed` say in each.
#[test]
fn subscribers_hear_each_phase_once() {
    check("events.luau", false);
}

/// REQ-MUR-91, REQ-MUR-92, REQ-MUR-93, REQ-MUR-33, REQ-MUR-34, REQ-MUR-59: a reference made when warned rescues, one
/// made later keeps a destroyed object; a collection can be cancelled while it warns and notifies.
#[test]
fn a_subscriber_can_rescue_and_cancel() {
    check("rescue.luau", false);
}

/// Everything that happens to objects is told in one line each.
#[test]
fn a_trace_tells_everything() {
    check("trace.luau", true);
}
