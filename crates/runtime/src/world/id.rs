//! Ids of objects: random, counted, or given by a model.

use std::fmt;
use std::rc::Rc;

/// The maximum length of an id in bytes.
const MAX_ID_BYTES: usize = 128;

/// The maximum length of an object's name in bytes. Names are stored in an annotation, which has little room.
pub const MAX_NAME_BYTES: usize = 1_000;

/// The id of an object: unique in its world, and the same after the object is stored and read again.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(Rc<str>);

/// The error for a text that is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an id: 1 to {MAX_ID_BYTES} bytes without control characters and spaces")]
pub struct BadId(pub String);

impl ObjectId {
    /// The id with this text.
    ///
    /// # Errors
    /// If the text is empty, too long, or contains spaces or control characters.
    pub fn new(text: &str) -> Result<ObjectId, BadId> {
        let odd = |c: char| c.is_control() || c.is_whitespace();
        if text.is_empty() || text.len() > MAX_ID_BYTES || text.contains(odd) {
            return Err(BadId(text.chars().take(MAX_ID_BYTES).collect()));
        }
        Ok(ObjectId(text.into()))
    }

    /// A new random id (a UUID).
    pub fn random() -> ObjectId {
        let mut buffer = uuid::Uuid::encode_buffer();
        ObjectId(Rc::from(&*uuid::Uuid::new_v4().hyphenated().encode_lower(&mut buffer)))
    }

    pub(crate) fn number(number: u64) -> ObjectId {
        ObjectId(number.to_string().into())
    }

    /// The text of the id.
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
