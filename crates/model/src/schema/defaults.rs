//! Defaulting: values that a document leaves out and its schema gives; and nulls that stand for nothing.
//!
//! A default inside of a list is given once per item, so a short document may grow without end: what is given is
//! counted.

use serde_json::{Map, Value};

use super::node::Structural;
use crate::weight;

/// So much memory may the defaults of one document take: more than the largest object that is stored needs, and what many
/// requests at once can have each.
pub const MAX_DEFAULTS_BYTES: usize = 16 << 20;

/// The defaults of a document are too large together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the values that the schema gives to what is left out take more than {MAX_DEFAULTS_BYTES} bytes together"
)]
pub struct DefaultsTooLarge;

impl Structural {
    /// Gives a document the values that it leaves out. A null where none may be counts as left out.
    ///
    /// # Errors
    /// If they are too large together. The document then has some of them: the first ones, in the order of the schema.
    pub fn fill(&self, document: &mut Value) -> Result<(), DefaultsTooLarge> {
        Filling { left: MAX_DEFAULTS_BYTES }.value(self, document)
    }
}

struct Filling {
    /// How many bytes may still be given.
    left: usize,
}

impl Filling {
    fn value(&mut self, schema: &Structural, value: &mut Value) -> Result<(), DefaultsTooLarge> {
        match value {
            Value::Object(map) => self.map(schema, map),
            Value::Array(items) => {
                let Some(schema) = schema.items.as_deref() else { return Ok(()) };
                for item in items {
                    if item.is_null()
                        && !schema.nullable
                        && let Some(default) = &schema.default
                    {
                        *item = self.given(default)?;
                    }
                    self.value(schema, item)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn map(&mut self, schema: &Structural, map: &mut Map<String, Value>) -> Result<(), DefaultsTooLarge> {
        for (name, property) in &schema.properties {
            if let Some(default) = &property.default
                && map.get(name).is_none_or(|value| value.is_null() && !property.nullable)
            {
                let default = self.given(default)?;
                let room = weight::map_of(map.len() + 1) - weight::map_of(map.len());
                self.take(weight::TEXT_BYTES + name.len() + room)?;
                map.insert(name.clone(), default);
            }
        }
        if schema.properties.is_empty() && schema.additional.schema().is_none() {
            return Ok(());
        }
        let mut outcome = Ok(());
        map.retain(|name, value| {
            let Some(schema) = schema.field(name).filter(|_| outcome.is_ok()) else { return true };
            if value.is_null() && !schema.nullable {
                match &schema.default {
                    Some(default) => match self.given(default) {
                        Ok(default) => *value = default,
                        Err(error) => outcome = Err(error),
                    },
                    None => return false,
                }
            }
            if outcome.is_ok() {
                outcome = self.value(schema, value);
            }
            true
        });
        outcome
    }

    /// A copy of a default, if there is room for it.
    fn given(&mut self, default: &Value) -> Result<Value, DefaultsTooLarge> {
        self.take(weight::of(default))?;
        Ok(default.clone())
    }

    fn take(&mut self, bytes: usize) -> Result<(), DefaultsTooLarge> {
        self.left = self.left.checked_sub(bytes).ok_or(DefaultsTooLarge)?;
        Ok(())
    }
}
