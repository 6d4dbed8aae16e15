//! What is wrong with a document, and where: the errors behind a 422.

use std::fmt;

use serde_json::Value;

use crate::status::Cause;
use crate::text;

/// Names of fields may be as long as the document; an answer repeats each of them twice.
const MAX_FIELD_BYTES: usize = 1 << 10;
/// Longer than any of our own, and than the message of a rule has to be.
const MAX_DETAIL_BYTES: usize = 4 << 10;

/// What sort of wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    /// The value is not allowed.
    Invalid,
    /// The value is of another type than it must be.
    TypeInvalid,
    /// Something is missing.
    Required,
    /// Fine elsewhere, not here or not now.
    Forbidden,
    /// Not one of the known words.
    NotSupported,
    /// There already.
    Duplicate,
    /// Too many items.
    TooMany,
    /// Too long.
    TooLong,
}

/// One complaint about one field.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldError {
    /// Where, e.g. `metadata.ownerReferences[0].uid`.
    pub field: String,
    /// What sort of wrong.
    pub wrong: Wrong,
    /// The offending value, where showing it helps.
    pub value: Option<Value>,
    /// For people.
    pub detail: String,
}

impl FieldError {
    /// A value that is not allowed.
    pub fn invalid(
        field: impl Into<String>,
        value: impl Into<Value>,
        detail: impl Into<String>,
    ) -> FieldError {
        let (field, detail) = (field.into(), detail.into());
        FieldError { field, wrong: Wrong::Invalid, value: Some(value.into()), detail }
    }

    /// A value of the wrong type.
    pub fn type_invalid(
        field: impl Into<String>,
        value: impl Into<Value>,
        detail: impl Into<String>,
    ) -> FieldError {
        FieldError { wrong: Wrong::TypeInvalid, ..FieldError::invalid(field, value, detail) }
    }

    /// A missing value.
    pub fn required(field: impl Into<String>, detail: impl Into<String>) -> FieldError {
        FieldError { field: field.into(), wrong: Wrong::Required, value: None, detail: detail.into() }
    }

    /// Something that may not be done to this field.
    pub fn forbidden(field: impl Into<String>, detail: impl Into<String>) -> FieldError {
        FieldError { field: field.into(), wrong: Wrong::Forbidden, value: None, detail: detail.into() }
    }

    /// A word that is not one of the known ones.
    pub fn not_supported(field: impl Into<String>, value: impl Into<Value>, known: &[&str]) -> FieldError {
        let known: Vec<String> = known.iter().map(|word| format!("\"{word}\"")).collect();
        FieldError {
            field: field.into(),
            wrong: Wrong::NotSupported,
            value: Some(value.into()),
            detail: format!("supported values: {}", known.join(", ")),
        }
    }

    /// A value that stands there already.
    pub fn duplicate(field: impl Into<String>, value: impl Into<Value>) -> FieldError {
        let detail = String::new();
        FieldError { field: field.into(), wrong: Wrong::Duplicate, value: Some(value.into()), detail }
    }

    /// More items than allowed.
    pub fn too_many(field: impl Into<String>, count: usize, most: usize) -> FieldError {
        let detail = format!("must have at most {most} items");
        FieldError { field: field.into(), wrong: Wrong::TooMany, value: Some(count.into()), detail }
    }

    /// Longer than allowed.
    pub fn too_long(field: impl Into<String>, most: usize) -> FieldError {
        let detail = format!("may not be more than {most} bytes");
        FieldError { field: field.into(), wrong: Wrong::TooLong, value: None, detail }
    }

    /// As a cause of a `Status`.
    pub fn cause(&self) -> Cause {
        Cause { reason: self.reason().to_owned(), message: self.message(), field: self.shown_field() }
    }

    fn shown_field(&self) -> String {
        text::cut(&self.field, MAX_FIELD_BYTES)
    }

    fn reason(&self) -> &'static str {
        match self.wrong {
            Wrong::Invalid => "FieldValueInvalid",
            Wrong::TypeInvalid => "FieldValueTypeInvalid",
            Wrong::Required => "FieldValueRequired",
            Wrong::Forbidden => "FieldValueForbidden",
            Wrong::NotSupported => "FieldValueNotSupported",
            Wrong::Duplicate => "FieldValueDuplicate",
            Wrong::TooMany => "FieldValueTooMany",
            Wrong::TooLong => "FieldValueTooLong",
        }
    }

    fn message(&self) -> String {
        let words = match self.wrong {
            Wrong::Invalid | Wrong::TypeInvalid => "Invalid value",
            Wrong::Required => "Required value",
            Wrong::Forbidden => "Forbidden",
            Wrong::NotSupported => "Unsupported value",
            Wrong::Duplicate => "Duplicate value",
            Wrong::TooMany => "Too many",
            Wrong::TooLong => "Too long",
        };
        let detail = text::cut(&self.detail, MAX_DETAIL_BYTES);
        match (&self.value, detail.is_empty()) {
            (Some(value), true) => format!("{words}: {}", shown(value)),
            (Some(value), false) => format!("{words}: {}: {detail}", shown(value)),
            (None, true) => words.to_owned(),
            (None, false) => format!("{words}: {detail}"),
        }
    }
}

/// A hostile value must not come back as a hostile message.
fn shown(value: &Value) -> String {
    const MOST: usize = 256;
    let text = value.to_string();
    match text.char_indices().nth(MOST) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.shown_field(), self.message())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Status;

    /// However long names, values and messages are, the answer is not.
    #[test]
    fn a_refusal_is_short() {
        let long = "x".repeat(1 << 20);
        let error = FieldError::invalid(format!("spec[{long}]"), long.as_str(), long.as_str());
        let status = Status::invalid("", "ConfigMap", "a", &vec![error; 64]);
        let length = serde_json::to_string(&status).unwrap().len();
        assert!(length < 1 << 20, "{length} bytes");
    }
}
