//! Static properties: one value for the class that declares them, shared by its subclasses. Objects in them are alive.

use super::contract::ContractError;
use super::{ObjectKey, Value, ValueError, World};

/// Why a static property cannot be read or set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StaticError {
    /// There is no such class.
    #[error("there is no class {0}")]
    UnknownClass(String),
    /// The class declares no such static property.
    #[error("class {class} declares no static property {property}")]
    Undeclared {
        /// The class.
        class: String,
        /// The property.
        property: String,
    },
    /// The value does not meet the contract.
    #[error("{class}: {error}")]
    Contract {
        /// The class.
        class: String,
        /// What is wrong.
        error: ContractError,
    },
    /// The value cannot be stored.
    #[error("{property}: {error}")]
    Value {
        /// The property.
        property: String,
        /// Why.
        error: ValueError,
    },
}

impl World {
    /// The value of a static property that a class or one of its parents declares.
    ///
    /// # Errors
    /// If there is no such class or property.
    pub fn get_static(&self, class: &str, name: &str) -> Result<Value, StaticError> {
        let found = self.class(class).ok_or_else(|| StaticError::UnknownClass(class.to_owned()))?;
        let Some((owner, property)) = found.static_property(name) else {
            return Err(undeclared(class, name));
        };
        let known = self.inner.classes.borrow().statics.get(&(owner.number(), name.into())).cloned();
        Ok(match known {
            Some(stored) => stored.value(self),
            None => property.default.clone().unwrap_or_default(),
        })
    }

    /// Sets a static property that a class or one of its parents declares.
    ///
    /// # Errors
    /// See [`StaticError`]; nothing is changed in that case.
    pub fn set_static(&self, class: &str, name: &str, value: Value) -> Result<(), StaticError> {
        let found = self.class(class).ok_or_else(|| StaticError::UnknownClass(class.to_owned()))?;
        let Some((owner, property)) = found.static_property(name) else {
            return Err(undeclared(class, name));
        };
        let wrong = |error| StaticError::Contract { class: class.to_owned(), error };
        property.check(name, &value).map_err(wrong)?;
        let cannot = |error| StaticError::Value { property: name.to_owned(), error };
        let stored = value.stored(self).map_err(cannot)?;
        self.inner.classes.borrow_mut().statics.insert((owner.number(), name.into()), stored);
        Ok(())
    }

    /// Visits every reference in static properties.
    pub(crate) fn visit_statics(&self, found: &mut impl FnMut(ObjectKey)) {
        self.inner.classes.borrow().statics.values().for_each(|value| value.visit(found));
    }
}

fn undeclared(class: &str, property: &str) -> StaticError {
    StaticError::Undeclared { class: class.to_owned(), property: property.to_owned() }
}
