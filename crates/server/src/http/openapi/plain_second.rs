//! OpenAPI v2 in JSON: the schemas of all kinds in one document, for tools that have not learned v3. It has no operations:
//! those are in v3.
//!
//! It must not know requesters.

use serde_json::{Map, Value, json};

use super::components;
use crate::kinds::{COMPONENTS, KindRef, Registry};

/// What v2 has no word for. Kubernetes leaves it out, too.
const UNSAID: [&str; 4] = ["anyOf", "not", "nullable", "oneOf"];

/// `/openapi/v2`
pub(in crate::http) fn document(registry: &Registry) -> Value {
    let kinds: Vec<&KindRef> = registry.all().collect();
    let schemas = components::of(&kinds).into_iter();
    let definitions: Map<String, Value> = schemas.map(|(name, schema)| (name, older(schema))).collect();
    json!({
        "swagger": "2.0",
        "info": {"title": "Sexton", "version": env!("CARGO_PKG_VERSION")},
        "paths": {},
        "definitions": definitions,
    })
}

/// A schema of v3 in the words of v2. Names of properties and values such as defaults are not translated.
fn older(schema: Value) -> Value {
    let Value::Object(schema) = schema else { return schema };
    let typed = schema.contains_key("type");
    let mut older_one = Map::new();
    for (word, value) in schema {
        match (word.as_str(), value) {
            // A number that may be a text is called a text, which both can be written as.
            ("oneOf", Value::Array(parts)) if !typed && parts.iter().any(|part| part["type"] == "string") => {
                older_one.insert("type".to_owned(), "string".into());
            }
            (word, _) if UNSAID.contains(&word) => {}
            ("$ref", Value::String(name)) => {
                older_one.insert(word, moved(&name).into());
            }
            // What v3 wraps because nothing may stand beside a reference there.
            ("allOf", Value::Array(parts)) if matches!(parts.as_slice(), [only] if only.get("$ref").is_some()) => {
                if let Some(name) = parts[0].get("$ref").and_then(Value::as_str) {
                    older_one.insert("$ref".to_owned(), moved(name).into());
                }
            }
            ("allOf", Value::Array(parts)) => {
                older_one.insert(word, parts.into_iter().map(older).collect());
            }
            ("properties", Value::Object(named)) => {
                let named: Map<String, Value> =
                    named.into_iter().map(|(name, property)| (name, older(property))).collect();
                older_one.insert(word, named.into());
            }
            ("items" | "additionalProperties", value) => {
                older_one.insert(word, older(value));
            }
            (_, value) => {
                older_one.insert(word, value);
            }
        }
    }
    older_one.into()
}

fn moved(name: &str) -> String {
    name.strip_prefix(COMPONENTS).map_or_else(|| name.to_owned(), |name| format!("#/definitions/{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_change_and_names_and_values_stay() {
        let schema = json!({
            "type": "object",
            "nullable": true,
            "oneOf": [{"required": ["a"]}],
            "properties": {
                "a": {"description": "A.", "default": {}, "allOf": [{"$ref": "#/components/schemas/x.A"}]},
                "oneOf": {"type": "array", "items": {"$ref": "#/components/schemas/x.B"}},
                "$ref": {"type": "string", "enum": ["oneOf"], "default": "not"},
                "c": {"type": "object", "default": {"nullable": true}, "additionalProperties": {
                    "type": "string", "not": {"enum": ["x"]}}},
                "d": {"allOf": [{"minimum": 1, "nullable": true}, {"maximum": 3}]},
                "e": {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]},
            },
        });
        let expected = json!({
            "type": "object",
            "properties": {
                "a": {"description": "A.", "default": {}, "$ref": "#/definitions/x.A"},
                "oneOf": {"type": "array", "items": {"$ref": "#/definitions/x.B"}},
                "$ref": {"type": "string", "enum": ["oneOf"], "default": "not"},
                "c": {"type": "object", "default": {"nullable": true}, "additionalProperties": {"type": "string"}},
                "d": {"allOf": [{"minimum": 1}, {"maximum": 3}]},
                "e": {"format": "int-or-string", "type": "string"},
            },
        });
        assert_eq!(older(schema), expected);
    }
}
