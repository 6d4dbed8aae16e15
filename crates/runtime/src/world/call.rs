//! Calling methods: by the actual class first, then by what it extends.

use super::object::ObjectState;
use super::{Args, Call, Class, CodeError, Handle, ObjectId, Value};

/// Why a method did not run to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// No method of a destroyed object runs.
    #[error("{class} {id} was destroyed: its methods cannot be called, its properties can be read")]
    Destroyed {
        /// Its class.
        class: String,
        /// Which.
        id: ObjectId,
    },
    /// Nor of one that never came to be.
    #[error("{class} {id} has no methods: its init failed")]
    InitFailed {
        /// Its class.
        class: String,
        /// Which.
        id: ObjectId,
    },
    /// No class has it.
    #[error("class {class} has no method {method}")]
    NoMethod {
        /// The class.
        class: String,
        /// The method.
        method: String,
    },
    /// Nobody calls it but the runtime.
    #[error("{0} is called by the runtime only")]
    Reserved(String),
    /// The code failed.
    #[error(transparent)]
    Code(#[from] CodeError),
}

impl Handle {
    /// Calls a method.
    ///
    /// # Errors
    /// If it cannot be called, or fails.
    pub async fn call(&self, method: &str, args: Vec<Value>) -> Result<Value, CallError> {
        if matches!(method, "init" | "destroy") {
            return Err(CallError::Reserved(method.to_owned()));
        }
        let class = self.callable(method)?;
        self.run(&class, method, Args::Plain(args)).await.map_err(CallError::Code)
    }

    /// The class whose code runs when a method of this object is called.
    ///
    /// # Errors
    /// If none of it can be called.
    pub fn callable(&self, method: &str) -> Result<Class, CallError> {
        let class = self.class();
        let name = || class.name().to_owned();
        match self.read(|object| object.state).unwrap_or(ObjectState::Destroyed) {
            ObjectState::Destroyed => return Err(CallError::Destroyed { class: name(), id: self.id() }),
            ObjectState::InitFailed => return Err(CallError::InitFailed { class: name(), id: self.id() }),
            ObjectState::Created | ObjectState::Initialized => {}
        }
        let found = class.method(method).cloned();
        found.ok_or_else(|| CallError::NoMethod { class: name(), method: method.to_owned() })
    }

    /// Runs the code of one class.
    pub(crate) async fn run(&self, class: &Class, method: &str, args: Args) -> Result<Value, CodeError> {
        class.behavior().call(Call { this: self.clone(), method: method.into(), args }).await
    }
}
