//! Defaulting: values that a document leaves out and its schema gives; and nulls that stand for nothing.

use serde_json::{Map, Value};

use super::node::Structural;

impl Structural {
    /// Gives a document the values that it leaves out. A null where none may be counts as left out.
    pub fn fill(&self, document: &mut Value) {
        match document {
            Value::Object(map) => self.default_map(map),
            Value::Array(items) => {
                let Some(schema) = self.items.as_deref() else { return };
                for item in items {
                    if item.is_null() && !schema.nullable {
                        *item = schema.default.clone().unwrap_or_default();
                    }
                    schema.fill(item);
                }
            }
            _ => {}
        }
    }

    fn default_map(&self, map: &mut Map<String, Value>) {
        for (name, property) in &self.properties {
            if let Some(default) = &property.default
                && map.get(name).is_none_or(|value| value.is_null() && !property.nullable)
            {
                map.insert(name.clone(), default.clone());
            }
        }
        if self.properties.is_empty() && self.additional.schema().is_none() {
            return;
        }
        map.retain(|name, value| {
            let Some(schema) = self.field(name) else { return true };
            if value.is_null() && !schema.nullable {
                match &schema.default {
                    Some(default) => *value = default.clone(),
                    None => return false,
                }
            }
            schema.fill(value);
            true
        });
    }
}
