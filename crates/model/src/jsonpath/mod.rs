//! Paths into documents in the dialect that Kubernetes speaks: `.spec.replicas`,
//! `.status.conditions[?(@.type=="Ready")].status`, `.metadata.annotations['a.b']`, `.items[*]`, `[0:2]`, `..name`.
//!
//! A path is compiled once and followed often. What it leads to is found without following anything twice, within
//! bounds. It must not know what a value is wanted for.

mod follow;
mod parse;
#[cfg(test)]
mod tests;

use serde_json::Value;
use thiserror::Error;

/// Bytes of the longest path that is read; longer ones are of no use to people.
pub const MOST_BYTES: usize = 1024;
/// Deeper ones, too.
pub const MOST_STEPS: usize = 64;
/// As many values are looked at before a path is taken to lead nowhere.
pub const MOST_LOOKS: usize = 20_000;

/// A compiled path.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonPath {
    text: String,
    steps: Vec<Step>,
}

/// From some values to others.
#[derive(Debug, Clone, PartialEq)]
enum Step {
    /// One or several named fields.
    Fields(Vec<String>),
    /// All fields or items.
    All,
    /// Single items; a negative number counts from the end.
    Items(Vec<i64>),
    /// Items from, to and how many at a time.
    Slice(Option<i64>, Option<i64>, i64),
    /// Items of which something holds.
    Where(Filter),
    /// The value itself and everything below it.
    Below,
}

impl Step {
    fn field(&self) -> Option<&str> {
        match self {
            Step::Fields(names) if names.len() == 1 => names.first().map(String::as_str),
            _ => None,
        }
    }
}

/// What holds of an item.
#[derive(Debug, Clone, PartialEq)]
struct Filter {
    left: Operand,
    /// Without a comparison: that there is something.
    compared: Option<(Comparison, Operand)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    Different,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

#[derive(Debug, Clone, PartialEq)]
enum Operand {
    /// A path that begins at the item.
    Path(Vec<Step>),
    /// A text, a number, a truth value.
    Value(Value),
}

/// Why a text is no path.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum JsonPathError {
    /// Too long or too deep.
    #[error("is longer than {MOST_BYTES} bytes or {MOST_STEPS} steps")]
    TooLong,
    /// Something that does not belong there.
    #[error("unrecognized character at byte {0}")]
    Unexpected(usize),
    /// A bracket or a quote that is not closed.
    #[error("unterminated array, filter or quoted string that begins at byte {0}")]
    Unterminated(usize),
    /// What stands between brackets means nothing.
    #[error("invalid array index {0:?}")]
    BadIndex(String),
    /// What stands in a filter means nothing.
    #[error("invalid filter {0:?}")]
    BadFilter(String),
}

impl JsonPath {
    /// Compiles a path.
    pub fn parse(text: &str) -> Result<JsonPath, JsonPathError> {
        Ok(JsonPath { text: text.to_owned(), steps: parse::steps(text)? })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// All values that it leads to.
    pub fn all<'a>(&self, value: &'a Value) -> Vec<&'a Value> {
        self.all_within(value, MOST_LOOKS)
    }

    /// The same with another bound on how many values are looked at: for documents of one's own, such as a long list.
    pub fn all_within<'a>(&self, value: &'a Value, most_looks: usize) -> Vec<&'a Value> {
        follow::all(&self.steps, value, most_looks)
    }

    /// The first value that it leads to.
    pub fn first<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        self.all(value).into_iter().next()
    }

    /// The names of the fields on the way, of a path that has nothing but those.
    pub fn fields(&self) -> Option<Vec<&str>> {
        self.steps.iter().map(Step::field).collect()
    }
}
