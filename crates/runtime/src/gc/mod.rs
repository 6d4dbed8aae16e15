//! The garbage collector that a program can call: finds unreachable objects and destroys them in a verified order.
//!
//! One run of it is a *session*:
//!
//! ```text
//! detect candidates ─► warn their subscribers ─► detect again ─► plan, verify ─► per group of the plan:
//!        ▲                (may save them by a        │                             notify subscribers
//!        │                 new reference, or        rescued                        destroy()
//!        │                 cancel)                                                 tell subscribers
//!        └──────────── while destructors make new garbage (max_rounds) ◄───────────────┘
//! ```
//!
//! Before each detection [`Settings::settle`] lets the script engine collect its own garbage, which may hold handles.
//! Which objects are unreachable, in which order they are destroyed and which step follows is decided by
//! `sexton_lifecycle`; this module applies these decisions to objects in memory.
//!
//! It must not know any script language, nor where objects are stored: a [`DestructionRecorder`] records what happens
//! to stored objects.

mod call;
mod collection;
mod detect;
mod execute;
mod observer;
mod plan;
mod preview;
mod recorder;
mod report;
mod session;
mod snapshot;
mod steps;
mod subscribe;
mod sweep;

use std::cell::Cell;
use std::rc::Rc;

pub(crate) use detect::masks;
pub use observer::{GcObserver, NoGcObserver};
pub use recorder::{DestructionRecorder, Intent, NoRecorder, ObjectJournal, Permit, RecorderError};
pub use report::{
    Cancelled, Doomed, DroppedOwnership, Failure, HeldBack, Preview, Reason, Report, Untold, Waiting,
};
pub use session::{CancelError, Session};
pub use sexton_lifecycle::destruction::Phase;
pub use subscribe::{SubscribeError, Subscription};
pub(crate) use subscribe::{add as add_subscription, known as known_handler, subscriptions};

use crate::world::{Handle, ObjectId, World};

/// Decides whether `doomed` objects out of `total` may be destroyed at once (`limit(doomed, total)`), or returns why
/// not.
pub type Limit = Box<dyn Fn(usize, usize) -> Result<(), String>>;

/// The configuration of a [`Gc`].
pub struct Settings {
    /// How often one session detects garbage: destructors can make new garbage, which is collected in the same session.
    pub max_rounds: usize,
    /// Records the destruction of stored objects.
    pub recorder: Rc<dyn DestructionRecorder>,
    /// Called before each detection: drops handles that only look alive, such as those in a script engine's garbage.
    pub settle: Rc<dyn Fn()>,
    /// Receives every step, for traces.
    pub observer: Rc<dyn GcObserver>,
    /// The deletion limit, asked before any code is called. Without it, everything may be destroyed.
    pub limit: Option<Limit>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            max_rounds: 8,
            recorder: Rc::new(NoRecorder),
            settle: Rc::new(|| {}),
            observer: Rc::new(NoGcObserver),
            limit: None,
        }
    }
}

/// The rule by which objects are garbage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// Objects that are not reachable from roots, static properties or handles, over any property.
    Unreachable,
    /// Objects that are not reachable from the roots over persistable properties.
    NotPersistable,
    /// These objects: they are missing in the incoming model.
    Removed(Vec<ObjectId>),
}

impl Scope {
    fn reason(&self) -> Reason {
        match self {
            Scope::Unreachable => Reason::Unreachable,
            Scope::NotPersistable => Reason::NotPersistable,
            Scope::Removed(_) => Reason::Removed,
        }
    }
}

/// Why there was no collection. No object was touched and no code was called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CollectError {
    /// A handler or destructor of the running session called it.
    #[error("a collection is under way, and this is called by it: collect again when it is over")]
    Inside,
    /// The deletion limit was exceeded.
    #[error("held: {reason}")]
    Held {
        /// How many would be destroyed.
        doomed: usize,
        /// How many live objects there are.
        scope: usize,
        /// What the limit said.
        reason: String,
    },
    /// The recorder could not say which stored objects are protected.
    #[error("the keeper of stored objects: {0}")]
    Recorder(#[from] RecorderError),
    /// The plan did not pass verification: a bug in the planner.
    #[error("the plan is wrong, and nothing of it was done: {0}")]
    Plan(String),
}

/// The garbage collector of one world. Clones share their state.
#[derive(Clone)]
pub struct Gc {
    inner: Rc<GcState>,
}

struct GcState {
    world: World,
    settings: Settings,
    /// Held by the running session; other sessions wait for it.
    turn: tokio::sync::Mutex<()>,
    /// How many handlers and destructors of the running session are being polled right now. Above 0, a call of
    /// [`Gc::run`] comes from inside the session.
    inside: Cell<u32>,
}

impl Gc {
    /// A collector for a world.
    pub fn new(world: &World, settings: Settings) -> Gc {
        let (turn, inside) = (tokio::sync::Mutex::new(()), Cell::new(0));
        Gc { inner: Rc::new(GcState { world: world.clone(), settings, turn, inside }) }
    }

    /// The world that it collects.
    pub fn world(&self) -> &World {
        &self.inner.world
    }

    /// Collects objects that are not reachable from roots, static properties or handles.
    ///
    /// # Errors
    /// If no collection is possible, see [`CollectError`]. Failures of handlers and destructors are in the report.
    pub async fn collect(&self) -> Result<Report, CollectError> {
        self.run(Scope::Unreachable).await
    }

    /// Collects objects that are not reachable from the roots over persistable properties; for after a deployment.
    ///
    /// # Errors
    /// As [`Gc::collect`].
    pub async fn collect_persistable(&self) -> Result<Report, CollectError> {
        self.run(Scope::NotPersistable).await
    }

    /// Destroys objects that are missing in the incoming model; for before a deployment.
    ///
    /// # Errors
    /// As [`Gc::collect`].
    pub async fn destroy_removed(&self, ids: Vec<ObjectId>) -> Result<Report, CollectError> {
        self.run(Scope::Removed(ids)).await
    }

    /// What a collection would destroy now, in which order and why. No code is called and nothing changes.
    ///
    /// # Errors
    /// If the recorder cannot say which objects are protected.
    pub async fn preview(&self, scope: Scope) -> Result<Preview, CollectError> {
        preview::preview(&self.inner, scope).await
    }

    /// Runs one session. Waits for a session under way; refused when called by a handler or destructor of that session,
    /// which would deadlock.
    ///
    /// # Errors
    /// As [`Gc::collect`].
    pub async fn run(&self, scope: Scope) -> Result<Report, CollectError> {
        if self.inner.inside.get() > 0 {
            return Err(CollectError::Inside);
        }
        let _turn = self.inner.turn.lock().await;
        collection::Collection::new(&self.inner, scope).run().await
    }

    /// Whether a session is under way, so that another one would have to wait.
    pub fn is_collecting(&self) -> bool {
        self.inner.turn.try_lock().is_err()
    }

    /// Whether an object was destroyed by any session. Methods of such an object cannot be called.
    pub fn is_destroyed(&self, object: &Handle) -> bool {
        object.is_destroyed()
    }
}
