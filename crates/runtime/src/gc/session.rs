//! The `gc` argument of handlers and destructors: the running session, as code sees it.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

use hashbrown::HashSet;

use super::Phase;
use crate::world::{Handle, ObjectKey};

/// The running session, as an argument of one call of a handler or destructor.
#[derive(Clone)]
pub struct Session {
    phase: Phase,
    shared: Rc<SessionState>,
    /// Whether the call that received this value is still running.
    is_call_running: Rc<Cell<bool>>,
}

/// State that all calls of one session share.
#[derive(Default)]
pub(super) struct SessionState {
    /// Objects that the session is going to destroy or has destroyed.
    pub(super) doomed: RefCell<HashSet<ObjectKey>>,
    /// The reason given by a handler that cancelled the session during the current call.
    pub(super) cancelled: RefCell<Option<String>>,
    /// Whether the session has ended. A script may keep the value longer than that.
    pub(super) over: Cell<bool>,
}

/// Why a session cannot be cancelled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CancelError {
    /// Too late: an object is being destroyed, or was.
    #[error("a collection can be cancelled while it warns and notifies, not in the phase {0}")]
    Late(&'static str),
    /// The handler has returned. A thread that it started cannot cancel the session afterwards.
    #[error("a collection can be cancelled by a handler, before that has ended")]
    Ended,
}

impl Session {
    pub(super) fn new(phase: Phase, shared: Rc<SessionState>) -> Session {
        Session { phase, shared, is_call_running: Rc::new(Cell::new(true)) }
    }

    /// Notes that the call that received this value has returned.
    pub(super) fn end_call(&self) {
        self.is_call_running.set(false);
    }

    /// A session of which this process makes a single call; the rest of it runs in another process.
    pub fn alone(phase: Phase, doomed: impl IntoIterator<Item = ObjectKey>) -> Session {
        let shared =
            SessionState { doomed: RefCell::new(doomed.into_iter().collect()), ..SessionState::default() };
        Session::new(phase, Rc::new(shared))
    }

    /// The reason for which the session was cancelled, if it was.
    pub fn cancelled(&self) -> Option<String> {
        self.shared.cancelled.borrow().clone()
    }

    /// The phase of the destruction in which the call is made.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Whether an object is doomed in this session, or was destroyed by it.
    pub fn is_doomed(&self, object: &Handle) -> bool {
        !self.shared.over.get() && self.shared.doomed.borrow().contains(&object.key())
    }

    /// Cancels the session once the calling handler has returned: objects that are not being destroyed yet stay alive.
    ///
    /// # Errors
    /// In the phases destroying and destroyed, and after the handler has returned.
    pub fn cancel(&self, reason: &str) -> Result<(), CancelError> {
        let late = !matches!(self.phase, Phase::Warning | Phase::Notifying);
        if late {
            return Err(CancelError::Late(self.phase.word()));
        }
        if !self.is_call_running.get() || self.shared.over.get() {
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
