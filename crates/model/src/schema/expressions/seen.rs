//! Documents as expressions see them: the types are those of the schema, and fields have names that can be typed.

use std::sync::Arc;

use cel::Value as Cel;
use serde_json::Value;

use super::functions;
use crate::schema::node::{Structural, Type};

/// A value as expressions see it: fields that a schema names have names that can be typed.
pub(super) fn seen(value: &Value, schema: Option<&Structural>) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(value) => Cel::Bool(*value),
        Value::Number(number) => match number.as_i64() {
            // What may have a fraction is one kind of number, whether it has one or not.
            Some(whole) if schema.and_then(|schema| schema.kind) != Some(Type::Number) => Cel::Int(whole),
            _ => Cel::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => formatted(text, schema).unwrap_or_else(|| Cel::String(Arc::new(text.clone()))),
        Value::Array(items) => {
            let schema = schema.and_then(|schema| schema.items.as_deref());
            Cel::List(Arc::new(items.iter().map(|item| seen(item, schema)).collect()))
        }
        Value::Object(map) => {
            let named = |name: &str| schema.is_some_and(|schema| schema.properties.contains_key(name));
            let key = |name: &String| if named(name) { typed(name) } else { name.clone() };
            let below = |name: &str| schema.and_then(|schema| schema.field(name));
            let fields = map.iter().map(|(name, value)| (key(name), seen(value, below(name))));
            Cel::Map(fields.collect::<std::collections::HashMap<String, Cel>>().into())
        }
    }
}

/// A text whose format makes it something else.
fn formatted(text: &str, schema: Option<&Structural>) -> Option<Cel> {
    let schema = schema.filter(|schema| schema.kind == Some(Type::String))?;
    match schema.rules.format?.name {
        "date-time" | "datetime" => functions::converted("timestamp", text),
        "date" => functions::converted("timestamp", &format!("{text}T00:00:00Z")),
        "duration" => functions::converted("duration", text),
        _ => None,
    }
}

/// As a name is typed: signs that would mean something else are spelled out.
pub(super) fn typed(name: &str) -> String {
    const RESERVED: [&str; 20] = [
        "true",
        "false",
        "null",
        "in",
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
    ];
    if RESERVED.contains(&name) {
        return format!("__{name}__");
    }
    let spelled = name.replace("__", "__underscores__");
    spelled.replace('.', "__dot__").replace('-', "__dash__").replace('/', "__slash__")
}
