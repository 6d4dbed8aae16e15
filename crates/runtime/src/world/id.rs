//! What an object is called for good: random, numbered, or given by whoever wrote it down.

use std::fmt;
use std::rc::Rc;

/// Longer ids are refused.
const MAX_ID_BYTES: usize = 128;

/// What people call an object may not be longer: it is stored beside what else is said of the object, in little room.
pub const MAX_NAME_BYTES: usize = 1_000;

/// The id of an object, unique in its world and kept through writing down and reading back.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(Rc<str>);

/// The text is no id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an id: 1 to {MAX_ID_BYTES} bytes without control characters and spaces")]
pub struct BadId(pub String);

impl ObjectId {
    /// The id that a text is.
    ///
    /// # Errors
    /// If it is empty, too long, or cannot be printed in one word.
    pub fn new(text: &str) -> Result<ObjectId, BadId> {
        let odd = |c: char| c.is_control() || c.is_whitespace();
        if text.is_empty() || text.len() > MAX_ID_BYTES || text.contains(odd) {
            return Err(BadId(text.chars().take(MAX_ID_BYTES).collect()));
        }
        Ok(ObjectId(text.into()))
    }

    /// One that nobody else has.
    pub fn random() -> ObjectId {
        let mut buffer = uuid::Uuid::encode_buffer();
        ObjectId(Rc::from(&*uuid::Uuid::new_v4().hyphenated().encode_lower(&mut buffer)))
    }

    pub(crate) fn number(number: u64) -> ObjectId {
        ObjectId(number.to_string().into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_single_words() {
        assert_eq!(ObjectId::new("vm-1").unwrap().as_str(), "vm-1");
        for bad in ["", "a b", "a\n", &"x".repeat(MAX_ID_BYTES + 1)] {
            assert!(ObjectId::new(bad).is_err(), "{bad:?}");
        }
        assert_ne!(ObjectId::random(), ObjectId::random());
        assert_eq!(ObjectId::random().as_str().len(), 36);
    }
}
