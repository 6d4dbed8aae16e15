//! Tests of schemas: what is said of which schema and which document, and what holds for any of them.

mod bounded;
mod called;
mod checked;
mod expressed;
mod laws;
mod pruned;
mod validated;

use serde_json::Value;

use super::Structural;

/// JSON, written shorter.
fn yaml(text: &str) -> Value {
    serde_saphyr::from_str(text).unwrap()
}

fn schema(text: &str) -> Structural {
    Structural::compile(&yaml(text))
}

/// A schema whose `spec` is this.
fn spec(text: &str) -> Structural {
    schema(&format!("{{type: object, properties: {{spec: {text}}}}}"))
}

fn lines(errors: &[crate::invalid::FieldError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
