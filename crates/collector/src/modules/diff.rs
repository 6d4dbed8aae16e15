//! What would change of an object, field by field. Our own marks and what the server counts are left out.

use serde_json::Value;

/// A field that would be another one.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldChange {
    /// Where: `spec.size`, `spec.ports[0].port`, `metadata.labels[a.b/c]`.
    pub path: String,
    /// What is there now.
    pub old: Option<Value>,
    /// What would be there.
    pub new: Option<Value>,
}
