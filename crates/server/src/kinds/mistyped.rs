//! Values of another type than a field of Kubernetes' kinds has. A client in a typed language can read neither such an
//! object nor any list with it, so one of them would make the whole list useless.
//!
//! It must not know what is done about them.

use std::fmt;

use serde_json::Value;

use super::described::component;
use super::unknown::resolved;

/// What is wrong, and where.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mistyped {
    path: String,
    wrong: Wrong,
}

#[derive(Debug, PartialEq, Eq)]
enum Wrong {
    /// What there is, and what there should be.
    Type(&'static str, &'static str),
    Base64,
}

impl Mistyped {
    fn new(value: &Value, wanted: &'static str) -> Mistyped {
        let is = match value {
            Value::Null => "null",
            Value::Bool(_) => "bool",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        Mistyped { path: String::new(), wrong: Wrong::Type(is, wanted) }
    }

    /// The same, seen from above: places are only written down when something is wrong.
    pub(crate) fn below(mut self, name: impl fmt::Display) -> Mistyped {
        let dot = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        self.path = format!("{name}{dot}{}", self.path);
        self
    }
}

impl fmt::Display for Mistyped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.wrong {
            Wrong::Type(is, wanted) => {
                write!(f, "json: cannot unmarshal {is} into field {} of type {wanted}", self.path)
            }
            Wrong::Base64 => write!(f, "illegal base64 data in field {}", self.path),
        }
    }
}

/// What a value must be. Null is nothing, and may stand for anything.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Type {
    Text,
    /// Base64.
    Bytes,
    Whole,
    Bool,
    /// A number or a text: ports and quantities.
    Either,
    Number,
    List(&'static Type),
    Map(&'static Type),
    /// Fields by their names; others are not looked at.
    Fields(&'static [(&'static str, Type)]),
}

impl Type {
    /// The first value that is something else.
    pub(crate) fn mistyped(self, value: &Value) -> Option<Mistyped> {
        let (fits, wanted) = match (self, value) {
            (_, Value::Null) => return None,
            (Type::Bytes, Value::String(text)) => {
                let broken = Mistyped { path: String::new(), wrong: Wrong::Base64 };
                return (!is_base64(text)).then_some(broken);
            }
            (Type::List(inner), Value::Array(items)) => {
                let mut items = items.iter().enumerate();
                return items
                    .find_map(|(at, item)| Some(inner.mistyped(item)?.below(format_args!("[{at}]"))));
            }
            (Type::Map(inner), Value::Object(map)) => {
                return map.iter().find_map(|(name, value)| Some(inner.mistyped(value)?.below(name)));
            }
            (Type::Fields(fields), Value::Object(map)) => {
                let mut there = fields.iter().filter_map(|(name, is)| Some((name, is, map.get(*name)?)));
                return there.find_map(|(name, is, value)| Some(is.mistyped(value)?.below(name)));
            }
            (Type::Text | Type::Bytes, _) => (value.is_string(), "string"),
            (Type::Whole, _) => (value.is_i64() || value.is_u64(), "integer"),
            (Type::Number, _) => (value.is_number(), "number"),
            (Type::Bool, _) => (value.is_boolean(), "bool"),
            (Type::Either, _) => (value.is_string() || value.is_number(), "integer or string"),
            (Type::List(_), _) => (false, "array"),
            (Type::Map(_) | Type::Fields(_), _) => (false, "object"),
        };
        (!fits).then(|| Mistyped::new(value, wanted))
    }
}

/// As Go reads it: lines may be wrapped, which `base64` does by itself. Nothing is decoded for that.
fn is_base64(text: &str) -> bool {
    let (mut length, mut padding) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'\r' | b'\n' => continue,
            b'=' => padding += 1,
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' if padding == 0 => {}
            _ => return false,
        }
        length += 1;
    }
    padding <= 2 && length.is_multiple_of(4)
}

/// The first value of a document that is not what its component says.
pub(crate) fn mistyped(name: &str, document: &Value) -> Option<Mistyped> {
    walk(component(name)?, document)
}

/// As deep as documents may be.
fn walk(schema: &Value, value: &Value) -> Option<Mistyped> {
    let schema = resolved(schema)?;
    if schema["x-kubernetes-int-or-string"] == true {
        return Type::Either.mistyped(value);
    }
    match (schema["type"].as_str()?, value) {
        (_, Value::Null) => None,
        ("object", Value::Object(fields)) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let others = schema.get("additionalProperties");
            fields.iter().find_map(|(name, value)| {
                let inner = properties.and_then(|all| all.get(name)).or(others)?;
                Some(walk(inner, value)?.below(name))
            })
        }
        ("array", Value::Array(items)) => {
            let inner = schema.get("items")?;
            let mut items = items.iter().enumerate();
            items.find_map(|(at, item)| Some(walk(inner, item)?.below(format_args!("[{at}]"))))
        }
        ("object", _) => Some(Mistyped::new(value, "object")),
        ("array", _) => Some(Mistyped::new(value, "array")),
        ("string", _) if schema["format"] == "byte" => Type::Bytes.mistyped(value),
        ("string", _) => Type::Text.mistyped(value),
        ("integer", _) => Type::Whole.mistyped(value),
        ("number", _) => Type::Number.mistyped(value),
        ("boolean", _) => Type::Bool.mistyped(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_typed_client_cannot_read_is_found() {
        let deployment = |change: &dyn Fn(&mut Value)| {
            let container = json!({"name": "a", "ports": [{"containerPort": 80}], "livenessProbe": {"httpGet":
                {"port": "web"}}, "resources": {"limits": {"cpu": 1, "memory": "1Gi"}}, "env": null});
            let mut deployment = json!({"metadata": {"name": "web"}, "spec": {"replicas": 3, "paused": false,
                "selector": {"matchLabels": {"a": "b"}}, "template": {"spec": {"containers": [container]}}}});
            change(&mut deployment);
            mistyped("io.k8s.api.apps.v1.Deployment", &deployment).map(|wrong| wrong.to_string())
        };
        assert_eq!(deployment(&|_| ()), None);
        assert_eq!(deployment(&|value| value["spec"]["colour"] = json!(1)), None);
        for (place, wrong, expected) in [
            (
                "/spec/replicas",
                json!("3"),
                "json: cannot unmarshal string into field spec.replicas of type integer",
            ),
            (
                "/spec/replicas",
                json!(1.5),
                "json: cannot unmarshal number into field spec.replicas of type integer",
            ),
            (
                "/spec/paused",
                json!("no"),
                "json: cannot unmarshal string into field spec.paused of type bool",
            ),
            (
                "/spec/selector/matchLabels/a",
                json!(true),
                "json: cannot unmarshal bool into field spec.selector.matchLabels.a of type string",
            ),
            (
                "/spec/template/spec/containers/0/ports",
                json!({}),
                "json: cannot unmarshal object into field spec.template.spec.containers[0].ports of type array",
            ),
            (
                "/spec/template/spec/containers/0/resources/limits/cpu",
                json!([]),
                "json: cannot unmarshal array into field spec.template.spec.containers[0].resources.limits.cpu of \
                 type integer or string",
            ),
            (
                "/spec/template",
                json!([1]),
                "json: cannot unmarshal array into field spec.template of type object",
            ),
        ] {
            let found = deployment(&|value| *value.pointer_mut(place).unwrap() = wrong.clone());
            assert_eq!(found.as_deref(), Some(expected), "{place}");
        }
    }

    #[test]
    fn bytes_are_base64() {
        let secret = |data: Value| {
            let found = mistyped("io.k8s.api.core.v1.Secret", &json!({"data": data}));
            found.map(|wrong| wrong.to_string())
        };
        assert_eq!(secret(json!({"a": "aHVudGVyMg==", "b": "", "c": null})), None);
        assert_eq!(secret(json!({"a": "aHVu\ndGVy\r\nMg==\n"})), None);
        for wrong in ["hunter2", "aHVudGVyMg=", "aH==dGVy", "A===", "====", "pass word"] {
            assert!(secret(json!({"a": wrong})).is_some(), "{wrong}");
        }
        assert_eq!(secret(json!({"a": "hunter2"})).as_deref(), Some("illegal base64 data in field data.a"));
    }
}
