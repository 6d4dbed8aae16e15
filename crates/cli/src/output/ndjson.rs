//! Lines for programs: one JSON document per line, in the order in which a form names its fields.

use serde::Serialize;
use serde_json::json;

/// One document as one line.
pub(crate) fn line(document: &impl Serialize) -> String {
    let text = serde_json::to_string(document);
    // What this program writes can be written; should it not be, a reader is told so instead of nothing.
    text.unwrap_or_else(|error| json!({"kind": "Error", "message": error.to_string()}).to_string()) + "\n"
}
