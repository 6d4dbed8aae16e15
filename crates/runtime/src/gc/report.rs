//! What a collection did, or would do, and why.

use std::fmt;
use std::rc::Rc;

use super::Phase;
use crate::world::ObjectId;

/// Why an object is destroyed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// No live object refers to it.
    Unreachable,
    /// It is not reachable from the roots over persistable properties.
    NotPersistable,
    /// It is missing in the incoming model.
    Removed,
    /// An interrupted run had begun to destroy it.
    Interrupted,
    /// Its whole environment is destroyed.
    EnvironmentEnds,
    /// Its owner, with this id, is destroyed.
    FollowsOwner(ObjectId),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Unreachable => f.write_str("nothing refers to it any more"),
            Reason::NotPersistable => f.write_str("the environment does not reach it any more"),
            Reason::Removed => f.write_str("the model does not have it any more"),
            Reason::Interrupted => f.write_str("an interrupted run had begun to destroy it"),
            Reason::EnvironmentEnds => f.write_str("its environment is destroyed"),
            Reason::FollowsOwner(owner) => write!(f, "its owner {owner} goes"),
        }
    }
}

/// An object that is, or would be, destroyed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doomed {
    /// Its id.
    pub id: ObjectId,
    /// Its class.
    pub class: Rc<str>,
    /// Its name, if it has one.
    pub name: Option<Rc<str>>,
    /// Why it is destroyed.
    pub reasons: Vec<Reason>,
    /// Its wave in the plan, counted from 0. Objects of one wave have no order among each other.
    pub wave: usize,
}

/// A failed handler or destructor. The object stays alive, and so does every object that has to be destroyed after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The id of the object that could not be destroyed.
    pub id: ObjectId,
    /// Its class.
    pub class: Rc<str>,
    /// Its name, if it has one.
    pub name: Option<Rc<str>>,
    /// The phase of the failed call.
    pub phase: Phase,
    /// The owner of the code that failed: the object itself, or a subscriber.
    pub callee: ObjectId,
    /// The error message.
    pub error: String,
}

/// An object that was not touched, because an object that has to be destroyed before it is alive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Its id.
    pub id: ObjectId,
    /// Its class.
    pub class: Rc<str>,
    /// Its name, if it has one.
    pub name: Option<Rc<str>>,
    /// Its blockers: the objects that have to be destroyed before it.
    pub after: Vec<ObjectId>,
}

/// An object that must not be destroyed, for example because it is protected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldBack {
    /// Its id.
    pub id: ObjectId,
    /// Its class.
    pub class: Rc<str>,
    /// Its name, if it has one.
    pub name: Option<Rc<str>>,
    /// Why not.
    pub reason: String,
}

/// The cancellation of a session by a handler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cancelled {
    /// The id of the subscriber with the handler that cancelled it.
    pub by: ObjectId,
    /// The class of the subscriber.
    pub class: Rc<str>,
    /// The subscriber's name, if it has one.
    pub name: Option<Rc<str>>,
    /// The candidate for which the handler was called.
    pub object: ObjectId,
    /// The phase of the call.
    pub phase: Phase,
    /// Why not.
    pub reason: String,
}

/// An ownership that did not decide the order: the dependent was not destroyed before its owner, because a destruction
/// dependency demands the opposite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DroppedOwnership {
    /// The dependent.
    pub owned: ObjectId,
    /// Its owner.
    pub owner: ObjectId,
}

/// A failed notification: a subscriber could not be told that an object is destroyed, or the recorder could not record
/// a step. The object is destroyed all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Untold {
    /// The destroyed object.
    pub id: ObjectId,
    /// The subscriber; none if it was the recorder.
    pub subscriber: Option<ObjectId>,
    /// The error message.
    pub error: String,
}

/// What a collection did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Destroyed objects, in the order of their destruction.
    pub destroyed: Vec<Doomed>,
    /// Candidates that became reachable again after their subscribers were warned.
    pub rescued: Vec<ObjectId>,
    /// Failed handlers and destructors.
    pub failed: Vec<Failure>,
    /// Objects that were not touched because of failures or of protected objects.
    pub waiting: Vec<Waiting>,
    /// Objects that must not be destroyed.
    pub held: Vec<HeldBack>,
    /// The cancellation, if a handler cancelled the session.
    pub cancelled: Option<Cancelled>,
    /// Ownerships that gave way to destruction dependencies.
    pub dropped: Vec<DroppedOwnership>,
    /// Notifications that failed.
    pub untold: Vec<Untold>,
    /// The number of rounds: detections that found garbage.
    pub rounds: usize,
    /// The number of garbage objects that are left because the limit of rounds, or of deletions, was reached.
    pub left: usize,
    /// Why a later round was not allowed by the deletion limit.
    pub limited: Option<String>,
    /// Why the session stopped early: no code may run any more, or a later round failed.
    pub stopped: Option<String>,
    /// The number of destroyed objects that were removed from the world.
    pub freed: usize,
}

/// What a collection would do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Preview {
    /// Objects that would be destroyed, in the order of their destruction.
    pub doomed: Vec<Doomed>,
    /// Objects that would have to wait for protected objects.
    pub waiting: Vec<Waiting>,
    /// Objects that must not be destroyed.
    pub held: Vec<HeldBack>,
    /// Ownerships that would give way to destruction dependencies.
    pub dropped: Vec<DroppedOwnership>,
    /// The number of live objects in the world.
    pub scope: usize,
    /// The digest of the plan: equal for the same objects in the same order.
    pub digest: String,
}

impl Report {
    /// Whether every candidate was destroyed or rescued.
    pub fn is_complete(&self) -> bool {
        let open = self.failed.len() + self.waiting.len() + self.held.len() + self.left;
        open == 0 && self.cancelled.is_none() && self.stopped.is_none()
    }
}
