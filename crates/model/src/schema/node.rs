//! A compiled schema: what holds at one place of a document, and the schemas of the places below.
//!
//! Plain data. It must not know how documents are walked.

use std::collections::BTreeMap;

use serde_json::{Number, Value};

use super::expressions::Expression;
use super::formats::Format;
use super::pattern::Pattern;

/// What the schema of a definition says, ready to be used on documents.
#[derive(Debug, Default)]
pub struct Structural {
    pub(super) kind: Option<Type>,
    pub(super) nullable: bool,
    pub(super) properties: BTreeMap<String, Structural>,
    pub(super) additional: Additional,
    pub(super) items: Option<Box<Structural>>,
    pub(super) default: Option<Value>,
    /// Fields that are not named here are kept.
    pub(super) preserves: bool,
    /// A whole resource: its type and metadata are known without being named.
    pub(super) embedded: bool,
    pub(super) int_or_string: bool,
    pub(super) list: List,
    pub(super) rules: Rules,
    /// Whether there is a default here or below.
    pub(super) has_defaults: bool,
    pub(super) expressions: Vec<Expression>,
    /// Whether there is an expression here or below.
    pub(super) has_expressions: bool,
}

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
}

impl Type {
    /// In the order in which complaints name them.
    pub(super) const NAMES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

    pub(super) fn named(name: &str) -> Option<Type> {
        Some(match name {
            "object" => Type::Object,
            "array" => Type::Array,
            "string" => Type::String,
            "integer" => Type::Integer,
            "number" => Type::Number,
            "boolean" => Type::Boolean,
            _ => return None,
        })
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Type::Object => "object",
            Type::Array => "array",
            Type::String => "string",
            Type::Integer => "integer",
            Type::Number => "number",
            Type::Boolean => "boolean",
        }
    }

    /// The name of the type that a value has.
    pub(super) fn of(value: &Value) -> &'static str {
        match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        }
    }

    pub(super) fn is_scalar(self) -> bool {
        !matches!(self, Type::Object | Type::Array)
    }
}

/// What holds for the fields of a map that are not named.
#[derive(Debug, Default)]
pub(super) enum Additional {
    /// There are none.
    #[default]
    No,
    /// There are some, and nothing is known of them.
    Any,
    /// This holds for each of them.
    Each(Box<Structural>),
}

impl Additional {
    pub(super) fn schema(&self) -> Option<&Structural> {
        match self {
            Additional::Each(schema) => Some(schema),
            _ => None,
        }
    }
}

/// How the items of a list are told apart.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum List {
    /// By nothing.
    #[default]
    Atomic,
    /// By what they are.
    Set,
    /// By these of their fields.
    Map(Vec<String>),
}

/// A number that others are compared with.
#[derive(Debug)]
pub(super) struct Bound {
    pub(super) number: Number,
    /// Whether the number itself is out of bounds.
    pub(super) exclusive: bool,
}

/// What a value must be like, beyond its type.
#[derive(Debug, Default)]
pub(super) struct Rules {
    pub(super) required: Vec<String>,
    pub(super) known: Option<Vec<Value>>,
    pub(super) maximum: Option<Bound>,
    pub(super) minimum: Option<Bound>,
    pub(super) multiple_of: Option<Number>,
    pub(super) max_length: Option<u64>,
    pub(super) min_length: Option<u64>,
    pub(super) pattern: Option<Pattern>,
    pub(super) max_items: Option<u64>,
    pub(super) min_items: Option<u64>,
    pub(super) max_properties: Option<u64>,
    pub(super) min_properties: Option<u64>,
    pub(super) format: Option<Format>,
    pub(super) all_of: Vec<Structural>,
    pub(super) any_of: Vec<Structural>,
    pub(super) one_of: Vec<Structural>,
    pub(super) not: Option<Box<Structural>>,
}

impl Structural {
    /// The schema of a field.
    pub(super) fn field(&self, name: &str) -> Option<&Structural> {
        self.properties.get(name).or_else(|| self.additional.schema())
    }

    /// Whether it says nothing of any document, so that there is no need to look at one.
    pub fn is_trivial(&self) -> bool {
        self.preserves
            && matches!(self.kind, None | Some(Type::Object))
            && self.properties.is_empty()
            && matches!(self.additional, Additional::No | Additional::Any)
            && self.items.is_none()
            && !self.has_defaults
            && !self.has_expressions
            && self.rules.is_empty()
    }

    /// Whether documents may get values that they do not have.
    pub fn has_defaults(&self) -> bool {
        self.has_defaults
    }

    /// The names of types that a value may have, as complaints show them.
    pub(super) fn type_names(&self) -> &'static str {
        match self.kind {
            _ if self.int_or_string => "integer,string",
            Some(kind) => kind.name(),
            None => "",
        }
    }
}

impl Rules {
    fn is_empty(&self) -> bool {
        let Rules { required, known, maximum, minimum, multiple_of, max_length, min_length, pattern, .. } =
            self;
        let Rules { max_items, min_items, max_properties, min_properties, format, .. } = self;
        let Rules { all_of, any_of, one_of, not, .. } = self;
        required.is_empty()
            && known.is_none()
            && maximum.is_none()
            && minimum.is_none()
            && multiple_of.is_none()
            && [max_length, min_length, max_items, min_items, max_properties, min_properties]
                .iter()
                .all(|bound| bound.is_none())
            && pattern.is_none()
            && format.is_none()
            && [all_of, any_of, one_of].iter().all(|alternatives| alternatives.is_empty())
            && not.is_none()
    }
}
