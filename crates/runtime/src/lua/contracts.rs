//! Declarations of properties in scripts: usage, contract, default.

use mlua::{Lua, Table, Value as Script};

use super::class_value::ClassValue;
use super::fault::raise;
use super::values;
use crate::world::{Contract, Property, Usage};

/// The keys of a property's declaration.
const PROPERTY_KEYS: [&str; 5] = ["usage", "type", "of", "required", "default"];
/// The maximum size of a default value in bytes.
const MAX_DEFAULT_BYTES: usize = 64 << 10;

/// The property that `properties = { name = … }` declares: with a usage (`"In"`), or a table (`{ usage = "In", type =
/// … }`).
pub(super) fn property(lua: &Lua, class: &str, name: &str, declaration: &Script) -> mlua::Result<Property> {
    let wrong = |message: String| raise(lua, format!("property {name} of class {class}: {message}"));
    match declaration {
        Script::String(word) => {
            let usage = usage(&word.to_string_lossy()).map_err(wrong)?;
            Ok(Property::new(usage, Contract::Any))
        }
        Script::Table(declaration) => from_table(declaration).map_err(wrong),
        other => Err(wrong(format!("a usage or a table is expected, not a {}", values::kind(other)))),
    }
}

fn from_table(declaration: &Table) -> Result<Property, String> {
    let get = |name: &str| declaration.raw_get::<Script>(name).map_err(|error| error.to_string());
    for pair in declaration.pairs::<Script, Script>() {
        let (key, _) = pair.map_err(|error| error.to_string())?;
        let word = key.as_string().map(|word| word.to_string_lossy()).unwrap_or_default();
        if !PROPERTY_KEYS.contains(&word.as_str()) {
            return Err(format!(
                "{word:?} means nothing here; what can be said is {}",
                PROPERTY_KEYS.join(", ")
            ));
        }
    }
    let usage = match get("usage")? {
        Script::String(word) => self::usage(&word.to_string_lossy())?,
        Script::Nil => return Err("its usage is missing".to_owned()),
        other => return Err(format!("a usage is a text, not a {}", values::kind(&other))),
    };
    let mut property = Property::new(usage, contract(&get("type")?, &get("of")?)?);
    property = match get("required")? {
        Script::Boolean(true) => property.required(),
        Script::Boolean(false) | Script::Nil => property,
        other => return Err(format!("required is true or false, not a {}", values::kind(&other))),
    };
    match get("default")? {
        Script::Nil => Ok(property),
        default => {
            let default = values::from_script(&default, Some(&property.contract), MAX_DEFAULT_BYTES)?;
            Ok(property.with_default(default))
        }
    }
}

fn usage(word: &str) -> Result<Usage, String> {
    let unknown = || format!("{word:?} is no usage; there are In, Out, InOut, Runtime and Static");
    Usage::parse(word).ok_or_else(unknown)
}

fn contract(declaration: &Script, of: &Script) -> Result<Contract, String> {
    let inner = || if of.is_nil() { Ok(Contract::Any) } else { contract(of, &Script::Nil) };
    let Some(name) = ClassValue::name_of(declaration) else {
        return match declaration {
            Script::Nil if of.is_nil() => Ok(Contract::Any),
            Script::Nil => Err("`of` is said of lists and maps".to_owned()),
            other => Err(format!("a type is a text or a class, not a {}", values::kind(other))),
        };
    };
    let contract = match name.as_str() {
        "any" => Contract::Any,
        "boolean" => Contract::Bool,
        "number" => Contract::Number,
        "string" => Contract::String,
        "list" => return Ok(Contract::List(Box::new(inner()?))),
        "map" => return Ok(Contract::Map(Box::new(inner()?))),
        _ => Contract::Object(name),
    };
    if of.is_nil() { Ok(contract) } else { Err("`of` is said of lists and maps".to_owned()) }
}
