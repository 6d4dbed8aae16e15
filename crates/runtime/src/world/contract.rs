//! Declarations of properties: their usage (is it stored?) and the contract that every value has to meet.

use std::fmt;

use super::Value;

/// What a property is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Usage {
    /// Input: set from outside. Persistable.
    In,
    /// Output: read from outside. Persistable.
    Out,
    /// Input and output. Persistable.
    InOut,
    /// Exists only while the program runs; never stored.
    Runtime,
    /// One value per class instead of one per object; never stored.
    Static,
}

impl Usage {
    /// Whether the property is stored, so that objects it refers to outlive the program.
    pub fn is_persistable(self) -> bool {
        matches!(self, Usage::In | Usage::Out | Usage::InOut)
    }

    /// The name that programs use.
    pub fn word(self) -> &'static str {
        match self {
            Usage::In => "In",
            Usage::Out => "Out",
            Usage::InOut => "InOut",
            Usage::Runtime => "Runtime",
            Usage::Static => "Static",
        }
    }

    /// The usage with a name.
    pub fn parse(word: &str) -> Option<Usage> {
        let all = [Usage::In, Usage::Out, Usage::InOut, Usage::Runtime, Usage::Static];
        all.into_iter().find(|usage| usage.word() == word)
    }
}

/// The type of a property's values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contract {
    /// Any value.
    Any,
    /// True or false.
    Bool,
    /// A number.
    Number,
    /// A text.
    String,
    /// A list of such values. `Null` is not accepted as an item, except with [`Contract::Any`].
    List(Box<Contract>),
    /// A map from names to such values; `Null` as for lists.
    Map(Box<Contract>),
    /// An object of a class, or of one that extends it.
    Object(String),
}

/// A declared property.
#[derive(Debug, Clone, PartialEq)]
pub struct Property {
    /// Whether it is stored, and per class or per object.
    pub usage: Usage,
    /// The type of its values.
    pub contract: Contract,
    /// Whether `Null` is refused.
    pub required: bool,
    /// The value as long as none was set. Contains no objects.
    pub default: Option<Value>,
}

/// A value that does not meet a contract.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path} must be {expected}, not {found}")]
pub struct ContractError {
    /// The property, and the place in its value.
    pub path: String,
    /// The expected type.
    pub expected: String,
    /// The type of the value there.
    pub found: String,
}

impl Property {
    /// An optional property without a default.
    pub fn new(usage: Usage, contract: Contract) -> Property {
        Property { usage, contract, required: false, default: None }
    }

    /// This property, made required: `Null` is refused.
    pub fn required(self) -> Property {
        Property { required: true, ..self }
    }

    /// This property with a default value.
    pub fn with_default(self, default: Value) -> Property {
        Property { default: Some(default), ..self }
    }

    /// Checks a value for this property.
    ///
    /// # Errors
    /// With the place in the value that does not meet the contract.
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

/// Path in the value, expected type, actual type.
type Mismatch = (String, String, String);

impl Contract {
    /// The first mismatch in a value, depth first and without recursion.
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

    /// Whether an item has to be checked at all. Saves most of the work for long lists of plain values without a
    /// contract.
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
