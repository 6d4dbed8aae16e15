//! How kinds are named in rules: by group and kind, in whichever version.

use std::fmt;

use serde_json::Value;

use crate::class::read::{Errors, object, text, within};
use crate::invalid::FieldError;
use crate::names;

/// Group and kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KindName {
    /// Empty for the core group.
    pub group: String,
    /// The kind.
    pub kind: String,
}

impl fmt::Display for KindName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.group.as_str() {
            "" => f.write_str(&self.kind),
            group => write!(f, "{}.{group}", self.kind),
        }
    }
}

/// `{group, kind}`, where the core group need not be said.
pub(super) fn kind_name(value: &Value, path: &str, errors: &mut Errors) -> Option<KindName> {
    let map = object(value, path, &["group", "kind"], errors)?;
    let group = if map.contains_key("group") { text(map, path, "group", errors)? } else { "" };
    let kind = text(map, path, "kind", errors)?;
    if !group.is_empty()
        && let Err(complaint) = names::dns_subdomain(group)
    {
        errors.push(FieldError::invalid(within(path, "group"), group, complaint));
    }
    if names::dns1035_label(&kind.to_ascii_lowercase()).is_err() {
        let detail =
            "must be the name of a kind: letters, digits and '-', a letter first, e.g. 'StatefulSet'";
        errors.push(FieldError::invalid(within(path, "kind"), kind, detail));
    }
    Some(KindName { group: group.to_owned(), kind: kind.to_owned() })
}
