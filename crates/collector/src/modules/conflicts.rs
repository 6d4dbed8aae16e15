//! Fields of a document that other managers own with other values: drift.
//!
//! The server names them in its refusal of an apply; here they become data with both values.

use std::cmp::Reverse;

use serde_json::Value;
use sexton_model::module::PREFIX;
use sexton_model::{Cause, Status, marks, secrets};

use super::diff::within;

/// The reason of a cause that names a field of another manager.
const CONFLICT: &str = "FieldManagerConflict";

/// A field that another manager owns, with another value than the document has.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldConflict {
    /// Where, as in [`FieldChange`](super::FieldChange).
    pub path: String,
    /// The other manager: `kubectl-edit`.
    pub manager: String,
    /// What the document says.
    pub ours: Option<Value>,
    /// What is there now.
    pub theirs: Option<Value>,
    /// The field as the server names it.
    field: String,
}

/// Which fields of other managers a put may take over.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TakeOver {
    /// None but our own marks and those of a module that had the object before.
    Nothing,
    /// Only these, which were shown.
    Fields(Vec<FieldConflict>),
    /// All: in a dry run, or where no dry run was possible.
    Everything,
}

impl TakeOver {
    /// Whether an apply that was refused may be repeated with force. The label that says which module an object
    /// belongs to is never taken: the object was transferred meanwhile.
    pub(super) fn allows(&self, refused: &Status) -> bool {
        let causes = causes(refused);
        let allowed = |cause: &&Cause| {
            let field = cause.field.as_str();
            cause.reason == CONFLICT
                && !field.contains(marks::MANAGER)
                && (is_harmless(cause)
                    || match self {
                        TakeOver::Nothing => false,
                        TakeOver::Everything => true,
                        TakeOver::Fields(shown) => shown
                            .iter()
                            .any(|one| one.field == field && Some(&*one.manager) == manager(cause)),
                    })
        };
        !causes.is_empty() && causes.iter().all(allowed)
    }
}

fn causes(refused: &Status) -> Vec<&Cause> {
    refused.details.iter().flat_map(|details| &details.causes).collect()
}

/// Whether a conflict is about our own marks, or with the fields of a module that had the object before.
fn is_harmless(cause: &Cause) -> bool {
    let about = |mark: &str| cause.field.contains(mark);
    about(marks::DEPLOYMENT_ID)
        || about(marks::DEPENDENCY_ORDER)
        || cause.message.contains(&format!("\"{PREFIX}"))
}

/// The manager that a cause names: `conflict with "kubectl-edit" using v1`.
fn manager(cause: &Cause) -> Option<&str> {
    cause.message.split('"').nth(1)
}

/// The conflicts of a refused apply, by path; those of Secrets without values. Empty if it was refused for another
/// reason.
pub(super) fn conflicts(refused: &Status, document: &Value, live: &Value) -> Vec<FieldConflict> {
    let read = |cause: &&Cause| {
        if cause.reason != CONFLICT {
            return None;
        }
        let (ours, theirs) = (resolve(document, &cause.field), resolve(live, &cause.field));
        let path = [&ours, &theirs].into_iter().flatten().next().map(|(path, _)| path.clone());
        let path = path.unwrap_or_else(|| cause.field.trim_start_matches('.').to_owned());
        let is_hidden = secrets::is_secret(document) && secrets::is_hidden(&path);
        let shown = |(_, value): (String, &Value)| {
            let mut value = value.clone();
            if is_hidden {
                secrets::hide(&mut value);
            }
            value
        };
        Some(FieldConflict {
            path,
            manager: manager(cause)?.to_owned(),
            ours: ours.map(shown),
            theirs: theirs.map(shown),
            field: cause.field.clone(),
        })
    };
    let causes = causes(refused);
    let mut found: Vec<FieldConflict> =
        causes.iter().filter(|cause| !is_harmless(cause)).filter_map(read).collect();
    found.sort_by(|a, b| (&a.path, &a.manager).cmp(&(&b.path, &b.manager)));
    found
}

/// The value at a field such as `.spec.ports[port=80,protocol="TCP"].name`, and its path. Names in the field may
/// contain dots, so the longest that exists is tried first.
fn resolve<'v>(root: &'v Value, field: &str) -> Option<(String, &'v Value)> {
    let mut open = vec![(String::new(), root, field)];
    while let Some((path, value, rest)) = open.pop() {
        if rest.is_empty() {
            return Some((path, value));
        }
        if let Some(rest) = rest.strip_prefix('.') {
            let ends = |after: &str| after.is_empty() || after.starts_with(['.', '[']);
            let fits = |key: &&String| rest.strip_prefix(key.as_str()).is_some_and(ends);
            let mut keys: Vec<&String> = value.as_object()?.keys().filter(fits).collect();
            // A stack: what is tried first is pushed last.
            keys.sort_by_key(|key| Reverse(Reverse(key.len())));
            open.extend(
                keys.into_iter().map(|key| (within(&path, key), &value[key.as_str()], &rest[key.len()..])),
            );
        } else if let Some((which, rest)) = rest.strip_prefix('[').and_then(bracket) {
            let items = value.as_array().map_or(&[][..], Vec::as_slice);
            if let Some(item) = items.iter().enumerate().find(|(at, item)| is_meant(which, *at, item)) {
                open.push((format!("{path}[{which}]"), item.1, rest));
            }
        }
    }
    None
}

/// What is inside of a bracket, and what is behind it. Brackets in quotes do not count.
fn bracket(text: &str) -> Option<(&str, &str)> {
    let at = outside_quotes(text, ']').next()?;
    Some((&text[..at], &text[at + 1..]))
}

/// Where a character occurs that is not inside of a JSON string.
fn outside_quotes(text: &str, wanted: char) -> impl Iterator<Item = usize> {
    let (mut quoted, mut escaped) = (false, false);
    text.char_indices().filter_map(move |(at, letter)| {
        let found = letter == wanted && !quoted;
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = quoted,
            '"' => quoted = !quoted,
            _ => {}
        }
        found.then_some(at)
    })
}

/// Whether `3`, `="value"` or `name="a",port=80` means an item of a list. A key that the item leaves to a default fits.
fn is_meant(which: &str, at: usize, item: &Value) -> bool {
    let json = |text: &str| serde_json::from_str::<Value>(text).ok();
    if let Ok(index) = which.parse::<usize>() {
        return index == at;
    }
    if let Some(value) = which.strip_prefix('=') {
        return json(value).as_ref() == Some(item);
    }
    let (mut begin, mut keys) = (0, Vec::new());
    for comma in outside_quotes(which, ',').chain([which.len()]) {
        keys.push(&which[begin..comma]);
        begin = comma + 1;
    }
    keys.iter().filter_map(|key| key.split_once('=')).all(|(key, value)| {
        item.is_object() && item.get(key).is_none_or(|found| Some(found) == json(value).as_ref())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(causes: &[(&str, &str)]) -> Status {
        let cause = |(field, message): &(&str, &str)| Cause {
            field: (*field).into(),
            message: (*message).into(),
            reason: CONFLICT.into(),
        };
        let causes = causes.iter().map(cause).collect();
        let details = sexton_model::Details { causes, ..Default::default() };
        Status { details: Some(details), ..Status::bad_request("x") }
    }

    #[test]
    fn fields_are_found_by_their_names() {
        let object = json!({
            "metadata": {"annotations": {"a.b/c": "1", "a": "2"}},
            "data": {"x.y": "3", "x": {"y": "never"}},
            "spec": {"ports": [{"port": 80, "name": "a]b"}, {"port": 81}], "args": ["-v", "-q"], "list": [7, 8]},
        });
        for (field, path, value) in [
            (".metadata.annotations.a.b/c", "metadata.annotations[a.b/c]", json!("1")),
            (".metadata.annotations.a", "metadata.annotations[a]", json!("2")),
            (".data.x.y", "data[x.y]", json!("3")),
            (
                ".spec.ports[port=81,protocol=\"TCP\"].port",
                "spec.ports[port=81,protocol=\"TCP\"].port",
                json!(81),
            ),
            (".spec.ports[name=\"a]b\"].port", "spec.ports[name=\"a]b\"].port", json!(80)),
            (".spec.args[=\"-q\"]", "spec.args[=\"-q\"]", json!("-q")),
            (".spec.list[1]", "spec.list[1]", json!(8)),
        ] {
            assert_eq!(resolve(&object, field), Some((path.to_owned(), &value)), "{field}");
        }
        for field in [".spec.nothing", ".spec.ports[port=82].port", ".spec.ports[", ".data.z", "spec"] {
            assert_eq!(resolve(&object, field), None, "{field}");
        }
    }

    #[test]
    fn both_values_and_the_manager() {
        let status = refused(&[
            (".data.b", "conflict with \"kubectl-edit\" using v1"),
            (".data.a", "conflict with \"helm\""),
            (".metadata.annotations.sexton.dev/deployment-id", "conflict with \"x\""),
        ]);
        let found = conflicts(&status, &json!({"data": {"a": 1, "b": 2}}), &json!({"data": {"a": 3}}));
        let shown: Vec<_> = found.iter().map(|one| (one.path.as_str(), &one.ours, &one.theirs)).collect();
        assert_eq!(shown, [("data.a", &Some(json!(1)), &Some(json!(3))), ("data.b", &Some(json!(2)), &None)]);
        assert_eq!(found[1].manager, "kubectl-edit");
    }

    /// What was not shown is not taken over; and the label of another module never is.
    #[test]
    fn only_what_was_shown_is_taken_over() {
        let edited = (".data.a", "conflict with \"kubectl-edit\" using v1");
        let more = (".data.b", "conflict with \"kubectl-edit\" using v1");
        let marked = (".metadata.annotations.sexton.dev/deployment-id", "conflict with \"x\"");
        let label = (".metadata.labels.sexton.dev/manager", "conflict with \"sexton-module-other\"");
        let shown = TakeOver::Fields(conflicts(&refused(&[edited]), &Value::Null, &Value::Null));
        assert!(shown.allows(&refused(&[edited, marked])));
        assert!(!shown.allows(&refused(&[edited, more])));
        assert!(!shown.allows(&refused(&[(".data.a", "conflict with \"helm\"")])));
        assert!(TakeOver::Nothing.allows(&refused(&[marked])));
        assert!(!TakeOver::Nothing.allows(&refused(&[marked, edited])));
        assert!(TakeOver::Everything.allows(&refused(&[edited, more])));
        assert!(!TakeOver::Everything.allows(&refused(&[edited, label])));
        assert!(!TakeOver::Everything.allows(&refused(&[])), "it was refused for something else");
    }
}
