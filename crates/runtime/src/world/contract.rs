//! What a property may hold: its usage, and the contract that every value has to meet.

use std::fmt;

use super::Value;

/// What a property is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Usage {
    /// Given from outside.
    In,
    /// Told to the outside.
    Out,
    /// Both.
    InOut,
    /// Only as long as the program runs.
    Runtime,
    /// One for the class instead of one for each object.
    Static,
}

impl Usage {
    /// Whether it is written down, and whether what it refers to outlives the program by that.
    pub fn is_persistable(self) -> bool {
        matches!(self, Usage::In | Usage::Out | Usage::InOut)
    }

    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Usage::In => "In",
            Usage::Out => "Out",
            Usage::InOut => "InOut",
            Usage::Runtime => "Runtime",
            Usage::Static => "Static",
        }
    }

    /// The usage that a word means.
    pub fn parse(word: &str) -> Option<Usage> {
        let all = [Usage::In, Usage::Out, Usage::InOut, Usage::Runtime, Usage::Static];
        all.into_iter().find(|usage| usage.word() == word)
    }
}

/// What kind of value is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contract {
    /// Anything.
    Any,
    /// True or false.
    Bool,
    /// A number.
    Number,
    /// A text.
    String,
    /// A list of such values; nothing is none of them, unless anything goes.
    List(Box<Contract>),
    /// Such values by name, likewise.
    Map(Box<Contract>),
    /// An object of a class, or of one that extends it.
    Object(String),
}

/// A declared property.
#[derive(Debug, Clone, PartialEq)]
pub struct Property {
    /// What it is for.
    pub usage: Usage,
    /// What it holds.
    pub contract: Contract,
    /// Whether nothing is refused.
    pub required: bool,
    /// What it holds as long as nothing else was set. No objects.
    pub default: Option<Value>,
}

/// A value does not meet a contract.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path} must be {expected}, not {found}")]
pub struct ContractError {
    /// The property, and where in its value.
    pub path: String,
    /// What it must be.
    pub expected: String,
    /// What it is.
    pub found: String,
}

impl Property {
    /// A property that may be nothing.
    pub fn new(usage: Usage, contract: Contract) -> Property {
        Property { usage, contract, required: false, default: None }
    }

    /// The same, and it must not be nothing.
    pub fn required(self) -> Property {
        Property { required: true, ..self }
    }

    /// The same with a default.
    pub fn with_default(self, default: Value) -> Property {
        Property { default: Some(default), ..self }
    }

    /// Whether a value may be put there.
    ///
    /// # Errors
    /// With where in the value it is wrong.
    pub fn check(&self, name: &str, value: &Value) -> Result<(), ContractError> {
        if *value == Value::Null && !self.required {
            return Ok(());
        }
        let mismatch = match value {
            Value::Null => Some((String::new(), self.contract.to_string(), "null".to_owned())),
            value => self.contract.mismatch(value, self.usage.is_persistable()),
        };
        match mismatch {
            None => Ok(()),
            Some((path, expected, found)) => {
                Err(ContractError { path: format!("{name}{path}"), expected, found })
            }
        }
    }
}

/// Where it is wrong, what it must be, what it is.
type Mismatch = (String, String, String);

impl Contract {
    /// What is wrong with a value, looked for piece by piece.
    fn mismatch(&self, value: &Value, is_persistable: bool) -> Option<Mismatch> {
        let mut left = vec![(self, value, String::new())];
        while let Some((contract, value, path)) = left.pop() {
            let inner = match contract {
                Contract::List(inner) | Contract::Map(inner) => inner,
                _ => &Contract::Any,
            };
            match value {
                Value::List(items) if matches!(contract, Contract::Any | Contract::List(_)) => {
                    let item = |(at, item)| (inner, item, format!("{path}[{at}]"));
                    left.extend(items.iter().enumerate().rev().map(item).filter(Self::needs_check));
                }
                Value::Map(entries) if matches!(contract, Contract::Any | Contract::Map(_)) => {
                    let entry = |(name, item): (&String, _)| (inner, item, format!("{path}.{name}"));
                    left.extend(entries.iter().rev().map(entry).filter(Self::needs_check));
                }
                Value::Number(number) if is_persistable && !number.is_finite() => {
                    return Some((path, "a finite number".into(), number.to_string()));
                }
                value if contract.meets(value) => {}
                Value::Object(object) => {
                    return Some((path, contract.to_string(), format!("a {}", object.class().name())));
                }
                value => return Some((path, contract.to_string(), value.kind().into())),
            }
        }
        None
    }

    /// Whether a part has to be looked at: most lists hold plain values under no contract.
    fn needs_check(part: &(&Contract, &Value, String)) -> bool {
        *part.0 != Contract::Any || matches!(part.1, Value::Number(_) | Value::List(_) | Value::Map(_))
    }

    fn meets(&self, value: &Value) -> bool {
        match (self, value) {
            (Contract::Any, _)
            | (Contract::Bool, Value::Bool(_))
            | (Contract::Number, Value::Number(_))
            | (Contract::String, Value::String(_)) => true,
            (Contract::Object(class), Value::Object(object)) => object.class().is_a(class),
            _ => false,
        }
    }
}

impl fmt::Display for Contract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Contract::Any => f.write_str("anything but null"),
            Contract::Bool => f.write_str("a boolean"),
            Contract::Number => f.write_str("a number"),
            Contract::String => f.write_str("a string"),
            Contract::List(inner) if **inner == Contract::Any => f.write_str("a list"),
            Contract::List(inner) => write!(f, "a list of which each is {inner}"),
            Contract::Map(inner) if **inner == Contract::Any => f.write_str("a map"),
            Contract::Map(inner) => write!(f, "a map in which each is {inner}"),
            Contract::Object(class) => write!(f, "a {class}"),
        }
    }
}
