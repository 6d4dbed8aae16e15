//! What a collection did, or would do, and why.

use std::fmt;
use std::rc::Rc;

use super::Phase;
use crate::world::ObjectId;

/// Why an object dies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// Nothing that is alive refers to it.
    Unreachable,
    /// No persistable property that the roots reach refers to it.
    NotPersistable,
    /// The incoming model does not hold it any more.
    Removed,
    /// A run that was interrupted had begun to destroy it.
    Interrupted,
    /// All of the environment is destroyed.
    EnvironmentEnds,
    /// So does its owner.
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

/// An object that is destroyed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doomed {
    /// Which.
    pub id: ObjectId,
    /// Of which class.
    pub class: Rc<str>,
    /// What people call it.
    pub name: Option<Rc<str>>,
    /// Why.
    pub reasons: Vec<Reason>,
    /// In which wave of its plan, counted from 0; what is in one wave has no order.
    pub wave: usize,
}

/// A handler or destructor failed. The object lives on, and so does what has to come after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Whose destruction is in the way.
    pub id: ObjectId,
    /// Of which class.
    pub class: Rc<str>,
    /// What people call it.
    pub name: Option<Rc<str>>,
    /// In which phase.
    pub phase: Phase,
    /// Whose code it was: the object's own, or a subscriber's.
    pub callee: ObjectId,
    /// What it said.
    pub error: String,
}

/// An object that was not touched, because something that has to go before it lives on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Which.
    pub id: ObjectId,
    /// Of which class.
    pub class: Rc<str>,
    /// What people call it.
    pub name: Option<Rc<str>>,
    /// Who has to go before it.
    pub after: Vec<ObjectId>,
}

/// An object that must not die.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldBack {
    /// Which.
    pub id: ObjectId,
    /// Of which class.
    pub class: Rc<str>,
    /// What people call it.
    pub name: Option<Rc<str>>,
    /// Why.
    pub reason: String,
}

/// The session was cancelled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cancelled {
    /// By whose handler.
    pub by: ObjectId,
    /// Of which class that one is.
    pub class: Rc<str>,
    /// What people call it.
    pub name: Option<Rc<str>>,
    /// For whose sake.
    pub object: ObjectId,
    /// In which phase.
    pub phase: Phase,
    /// Why.
    pub reason: String,
}

/// The first is owned by the second, and did not have to die before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DroppedOwnership {
    /// Who is owned.
    pub owned: ObjectId,
    /// By whom.
    pub owner: ObjectId,
}

/// Somebody could not be told that an object is destroyed, or a keeper could not be told how it ended. It is destroyed
/// all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Untold {
    /// Who is destroyed.
    pub id: ObjectId,
    /// Who should have heard of it; nobody if it was the keeper.
    pub subscriber: Option<ObjectId>,
    /// What went wrong.
    pub error: String,
}

/// What a collection did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// In the order in which they were.
    pub destroyed: Vec<Doomed>,
    /// Were accused, and are reachable again after their subscribers were warned.
    pub rescued: Vec<ObjectId>,
    /// What failed.
    pub failed: Vec<Failure>,
    /// What was not touched for that, or because something is held.
    pub waiting: Vec<Waiting>,
    /// What must not die.
    pub held: Vec<HeldBack>,
    /// Who ended it early.
    pub cancelled: Option<Cancelled>,
    /// What owners had to give up to destruction dependencies.
    pub dropped: Vec<DroppedOwnership>,
    /// Who could not be told.
    pub untold: Vec<Untold>,
    /// How often it looked for garbage and found some.
    pub rounds: usize,
    /// How much garbage is left because that was too often.
    pub left: usize,
    /// Why no more of it may be destroyed, though something was.
    pub limited: Option<String>,
    /// Why no code may run any more: it ended early.
    pub stopped: Option<String>,
    /// How many destroyed objects left the world.
    pub freed: usize,
}

/// What a collection would do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Preview {
    /// In their order.
    pub doomed: Vec<Doomed>,
    /// What would have to wait for something that is held.
    pub waiting: Vec<Waiting>,
    /// What must not die.
    pub held: Vec<HeldBack>,
    /// What owners would have to give up to destruction dependencies.
    pub dropped: Vec<DroppedOwnership>,
    /// Of how many objects that is.
    pub scope: usize,
    /// The digest of the plan: the same order of the same objects has the same one.
    pub digest: String,
}

impl Report {
    /// Whether everything that was found is destroyed or was rescued.
    pub fn is_complete(&self) -> bool {
        let open = self.failed.len() + self.waiting.len() + self.held.len() + self.left;
        open == 0 && self.cancelled.is_none() && self.stopped.is_none()
    }
}
