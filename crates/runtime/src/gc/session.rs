//! The running session, as handlers and destructors see it.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

use hashbrown::HashSet;

use super::Phase;
use crate::world::{Handle, ObjectKey};

/// One collection, as it is shown to a handler or destructor.
#[derive(Clone)]
pub struct Session {
    phase: Phase,
    shared: Rc<SessionState>,
    /// Whether the call that it is shown to is under way.
    called: Rc<Cell<bool>>,
}

/// What all calls of a session see.
#[derive(Default)]
pub(super) struct SessionState {
    pub(super) doomed: RefCell<HashSet<ObjectKey>>,
    pub(super) cancelled: RefCell<Option<String>>,
    pub(super) over: Cell<bool>,
}

/// It cannot be cancelled any more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CancelError {
    /// In this phase it is too late.
    #[error("a collection can be cancelled while it warns and notifies, not in the phase {0}")]
    Late(&'static str),
    /// The handler has ended: what goes on in its name, in a thread that it began, is not asked any more.
    #[error("a collection can be cancelled by a handler, before that has ended")]
    Ended,
}

impl Session {
    pub(super) fn new(phase: Phase, shared: Rc<SessionState>) -> Session {
        Session { phase, shared, called: Rc::new(Cell::new(true)) }
    }

    /// The call that it was shown to has ended.
    pub(super) fn end_call(&self) {
        self.called.set(false);
    }

    /// A session of which only one call is made here: the rest of it happens elsewhere.
    pub fn alone(phase: Phase, doomed: impl IntoIterator<Item = ObjectKey>) -> Session {
        let shared =
            SessionState { doomed: RefCell::new(doomed.into_iter().collect()), ..SessionState::default() };
        Session::new(phase, Rc::new(shared))
    }

    /// Why it is cancelled, if it is.
    pub fn cancelled(&self) -> Option<String> {
        self.shared.cancelled.borrow().clone()
    }

    /// What the call is for.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Whether an object is marked for destruction by this collection, or was destroyed by it.
    pub fn is_doomed(&self, object: &Handle) -> bool {
        !self.shared.over.get() && self.shared.doomed.borrow().contains(&object.key())
    }

    /// Ends the session for all that is not being destroyed yet, once the handler that says so is done.
    ///
    /// # Errors
    /// While something is being destroyed, and after that.
    pub fn cancel(&self, reason: &str) -> Result<(), CancelError> {
        let late = !matches!(self.phase, Phase::Warning | Phase::Notifying);
        if late {
            return Err(CancelError::Late(self.phase.word()));
        }
        if !self.called.get() || self.shared.over.get() {
            return Err(CancelError::Ended);
        }
        self.shared.cancelled.borrow_mut().get_or_insert_with(|| reason.to_owned());
        Ok(())
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("phase", &self.phase).finish()
    }
}
