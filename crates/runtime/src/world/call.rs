//! Method calls: the method is looked up in the object's class first, then in the class that it extends, and so on.

use super::object::ObjectState;
use super::{Args, Call, Class, CodeError, Handle, ObjectId, Value};

/// Why a method call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The object was destroyed.
    #[error("{class} {id} was destroyed: its methods cannot be called, its properties can be read")]
    Destroyed {
        /// The class of the object.
        class: String,
        /// The id of the object.
        id: ObjectId,
    },
    /// The object's `init` failed.
    #[error("{class} {id} has no methods: its init failed")]
    InitFailed {
        /// The class of the object.
        class: String,
        /// The id of the object.
        id: ObjectId,
    },
    /// Neither the class nor its parents have the method.
    #[error("class {class} has no method {method}")]
    NoMethod {
        /// The class.
        class: String,
        /// The method.
        method: String,
    },
    /// `init` and `destroy` are called by the runtime only.
    #[error("{0} is called by the runtime only")]
    Reserved(String),
    /// The code failed.
    #[error(transparent)]
    Code(#[from] CodeError),
}

impl Handle {
    /// Calls a method of the object and returns its result.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn call(&self, method: &str, args: Vec<Value>) -> Result<Value, CallError> {
        if matches!(method, "init" | "destroy") {
            return Err(CallError::Reserved(method.to_owned()));
        }
        let class = self.callable(method)?;
        self.run(&class, method, Args::Plain(args)).await.map_err(CallError::Code)
    }

    /// The class of which the code runs when this method is called.
    ///
    /// # Errors
    /// If the method cannot be called.
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

    /// Runs a method of one class in the object's ancestry, without looking it up.
    pub(crate) async fn run(&self, class: &Class, method: &str, args: Args) -> Result<Value, CodeError> {
        class.behavior().call(Call { this: self.clone(), method: method.into(), args }).await
    }
}
