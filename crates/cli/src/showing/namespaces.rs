//! Finalizers in the spec of a terminating namespace. A snapshot has only metadata, so the whole object is needed.

use serde_json::Value;
use sexton_client::resources::text;
use sexton_model::marks::NAMESPACE_HOLD;

use crate::output::why::WhyLine;

/// A line for each finalizer in the spec of a terminating namespace. Empty for a namespace that is not terminating.
pub(crate) fn finalizers(namespace: &Value) -> Vec<WhyLine> {
    if text(namespace, "/metadata/deletionTimestamp").is_empty() {
        return Vec::new();
    }
    let finalizers = namespace.pointer("/spec/finalizers").and_then(Value::as_array).into_iter().flatten();
    finalizers.filter_map(Value::as_str).map(held_by).collect()
}

fn held_by(finalizer: &str) -> WhyLine {
    let aside = match finalizer {
        NAMESPACE_HOLD => "the namespace controller deletes what is in it, then takes the finalizer off",
        _ => "the controller that put it there takes it off",
    };
    WhyLine {
        text: format!("held by the finalizer {finalizer} in its spec"),
        aside: aside.to_owned(),
        ..WhyLine::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn finalizers_hold_what_is_terminating() {
        let mut namespace = json!({
            "metadata": {"name": "prod", "deletionTimestamp": "2026-11-15T20:00:00Z"},
            "spec": {"finalizers": ["kubernetes"]},
        });
        let lines = finalizers(&namespace);
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].text.contains("finalizer kubernetes"), "{lines:?}");
        assert!(lines[0].aside.contains("namespace controller"), "{lines:?}");
        namespace["metadata"]["deletionTimestamp"].take();
        assert_eq!(finalizers(&namespace), Vec::new(), "it is not being deleted");
    }
}
