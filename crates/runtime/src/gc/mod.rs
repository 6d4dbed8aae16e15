//! A collection as a program sees it: who is unreachable, the session that is told to handlers, and the steps.
//!
//! A session goes: detect, warn every subscriber of everybody accused, let the script engine settle, detect again, plan
//! and prove the plan; then, in the order of the plan, notify, `destroy`, mark, tell. Who is garbage, in which order it
//! dies and which step follows is decided by `sexton_lifecycle`; here it is carried out on objects in memory.
//!
//! It must not know of any script language, nor where objects are stored: a [`Keeper`] is told what happens to those.

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

/// Decides whether so many of so many may be destroyed, or says why not.
pub type Limit = Box<dyn Fn(usize, usize) -> Result<(), String>>;

/// What a collector is given.
pub struct Settings {
    /// Garbage that destructors make is collected in the same session, so many times.
    pub max_rounds: usize,
    /// Is told of stored objects.
    pub recorder: Rc<dyn DestructionRecorder>,
    /// Lets go of what only looks alive, before each look at what is reachable.
    pub settle: Rc<dyn Fn()>,
    /// Hears of each step.
    pub observer: Rc<dyn GcObserver>,
    /// Asked before anything is touched: doomed, and of how many.
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

/// Which objects are garbage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// What neither roots, statics nor handles reach, over any property.
    Unreachable,
    /// What the roots do not reach over persistable properties.
    NotPersistable,
    /// These, because they are not in the incoming model any more.
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

/// Why there was no collection. Nothing was touched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CollectError {
    /// A handler or destructor wanted one.
    #[error("a collection is under way, and this is called by it: collect again when it is over")]
    Inside,
    /// It would destroy too much.
    #[error("held: {reason}")]
    Held {
        /// How many would be destroyed.
        doomed: usize,
        /// Of how many.
        scope: usize,
        /// Why that is too much.
        reason: String,
    },
    /// The keeper of stored objects could not say who must not die.
    #[error("the keeper of stored objects: {0}")]
    Recorder(#[from] RecorderError),
    /// The plan could not be proved. That is a fault of the program.
    #[error("the plan is wrong, and nothing of it was done: {0}")]
    Plan(String),
}

/// The garbage collector of one world. Cloning gives another name for the same one.
#[derive(Clone)]
pub struct Gc {
    inner: Rc<GcState>,
}

struct GcState {
    world: World,
    settings: Settings,
    /// One session at a time; others wait.
    turn: tokio::sync::Mutex<()>,
    /// How many calls of the running session are being polled right now.
    inside: Cell<u32>,
}

impl Gc {
    /// A collector for a world.
    pub fn new(world: &World, settings: Settings) -> Gc {
        let (turn, inside) = (tokio::sync::Mutex::new(()), Cell::new(0));
        Gc { inner: Rc::new(GcState { world: world.clone(), settings, turn, inside }) }
    }

    /// Its world.
    pub fn world(&self) -> &World {
        &self.inner.world
    }

    /// Collects what neither roots, statics nor handles reach.
    ///
    /// # Errors
    /// If there can be no collection now; failures of code are in the report.
    pub async fn collect(&self) -> Result<Report, CollectError> {
        self.run(Scope::Unreachable).await
    }

    /// After a deployment: collects what the roots do not reach over persistable properties.
    ///
    /// # Errors
    /// Likewise.
    pub async fn collect_persistable(&self) -> Result<Report, CollectError> {
        self.run(Scope::NotPersistable).await
    }

    /// Before a deployment: destroys what the incoming model does not hold any more.
    ///
    /// # Errors
    /// Likewise.
    pub async fn destroy_removed(&self, ids: Vec<ObjectId>) -> Result<Report, CollectError> {
        self.run(Scope::Removed(ids)).await
    }

    /// What a collection would do now, in which order and why. Nothing is called and nothing changes.
    ///
    /// # Errors
    /// If the keeper cannot say who must not die.
    pub async fn preview(&self, scope: Scope) -> Result<Preview, CollectError> {
        preview::preview(&self.inner, scope).await
    }

    /// One session. From inside of another it is refused; while another is under way it waits.
    ///
    /// # Errors
    /// If there can be no collection now; failures of code are in the report.
    pub async fn run(&self, scope: Scope) -> Result<Report, CollectError> {
        if self.inner.inside.get() > 0 {
            return Err(CollectError::Inside);
        }
        let _turn = self.inner.turn.lock().await;
        collection::Collection::new(&self.inner, scope).run().await
    }

    /// Whether a session is under way, so that another would have to wait for it.
    pub fn is_collecting(&self) -> bool {
        self.inner.turn.try_lock().is_err()
    }

    /// Whether an object was destroyed in some session, so that none of its methods can be called.
    pub fn is_destroyed(&self, object: &Handle) -> bool {
        object.is_destroyed()
    }
}
