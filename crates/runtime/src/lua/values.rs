//! Conversion of values between the world and scripts.
//!
//! Lists and maps are copied: a script gets read-only tables, and tables that it writes are read once.

use std::collections::BTreeMap;
use std::fmt::Display;

use mlua::{Lua, Table, Value as Script};

use super::class_value::ClassValue;
use super::engine::Engine;
use super::object::ObjectValue;
use super::weight::VALUE_OVERHEAD_BYTES;
use crate::world::{Contract, Handle, MAX_DEPTH, Value};

/// The script value for a value of the world.
pub(super) fn to_script(engine: &Engine, lua: &Lua, value: &Value) -> mlua::Result<Script> {
    Ok(match value {
        Value::Null => Script::Nil,
        Value::Bool(value) => Script::Boolean(*value),
        Value::Number(number) => Script::Number(*number),
        Value::String(text) => Script::String(lua.create_string(&**text)?),
        Value::Object(object) => Script::UserData(engine.userdata_of(lua, object)?),
        Value::List(items) => {
            let table = lua.create_table_with_capacity(items.len(), 0)?;
            for (at, item) in items.iter().enumerate() {
                engine.memory.relieve(lua);
                table.raw_set(at + 1, to_script(engine, lua, item)?)?;
            }
            table.set_readonly(true);
            Script::Table(table)
        }
        Value::Map(entries) => {
            let table = lua.create_table_with_capacity(0, entries.len())?;
            for (name, item) in entries {
                engine.memory.relieve(lua);
                table.raw_set(name.as_str(), to_script(engine, lua, item)?)?;
            }
            table.set_readonly(true);
            Script::Table(table)
        }
    })
}

/// The world's value for a script value of at most `most` bytes.
///
/// # Errors
/// With a message if it cannot be stored in an object.
pub(super) fn from_script(value: &Script, contract: Option<&Contract>, most: usize) -> Result<Value, String> {
    let mut reader = ValueReader { left: most, most };
    reader.value(value, contract, 0)
}

/// The world's value for a script value that is going to be stored in a property; counted in the weight of the world.
///
/// # Errors
/// With a message if it cannot be stored, or the objects hold too much.
pub(super) fn for_property(
    engine: &Engine,
    value: &Script,
    contract: Option<&Contract>,
) -> Result<Value, String> {
    let most = engine.limits.property;
    let mut reader = ValueReader { left: most, most };
    let value = reader.value(value, contract, 0)?;
    engine.weight.add(&engine.world, most - reader.left)?;
    Ok(value)
}

/// Converts one script value and counts its bytes.
struct ValueReader {
    left: usize,
    most: usize,
}

impl ValueReader {
    fn value(&mut self, value: &Script, contract: Option<&Contract>, depth: usize) -> Result<Value, String> {
        self.count(VALUE_OVERHEAD_BYTES)?;
        match value {
            Script::Nil => Ok(Value::Null),
            Script::Boolean(value) => Ok(Value::Bool(*value)),
            Script::Integer(whole) => Ok(Value::Number(*whole as f64)),
            Script::Number(number) => Ok(Value::Number(*number)),
            Script::String(text) => {
                self.count(text.as_bytes().len())?;
                let text = text.to_str().map_err(|_| "a text that is not UTF-8 cannot be kept".to_owned())?;
                Ok(Value::text(&*text))
            }
            Script::Table(table) => self.table(table, contract, depth),
            Script::UserData(data) => {
                if let Ok(object) = data.borrow::<ObjectValue>() {
                    return Ok(Value::Object(object.0.clone()));
                }
                if data.borrow::<ClassValue>().is_ok() {
                    return Err("a class cannot be kept in an object; keep its name".to_owned());
                }
                Err("this cannot be kept in an object".to_owned())
            }
            other => Err(format!("a {} cannot be kept in an object", kind(other))),
        }
    }

    fn table(&mut self, table: &Table, contract: Option<&Contract>, depth: usize) -> Result<Value, String> {
        if depth >= MAX_DEPTH {
            return Err(format!("it is nested more than {MAX_DEPTH} deep, or contains itself"));
        }
        let inner = match contract {
            Some(Contract::List(inner) | Contract::Map(inner)) => Some(&**inner),
            _ => None,
        };
        let length = table.raw_len();
        let (mut items, mut entries) = (Vec::new(), BTreeMap::new());
        for at in 1..=length {
            let item: Script = table.raw_get(at).map_err(text)?;
            items.push(self.value(&item, inner, depth + 1)?);
        }
        for pair in table.pairs::<Script, Script>() {
            let (key, item) = pair.map_err(text)?;
            match key {
                Script::String(name) => {
                    let name =
                        name.to_str().map_err(|_| "a key that is not UTF-8 cannot be kept".to_owned())?;
                    self.count(name.len())?;
                    let item = self.value(&item, inner, depth + 1)?;
                    entries.insert(name.to_owned(), item);
                }
                Script::Integer(at) if at >= 1 && at as usize <= length => {}
                Script::Number(at) if at >= 1.0 && at.fract() == 0.0 && at as usize <= length => {}
                other => {
                    let what = kind(&other);
                    return Err(format!(
                        "a table is a list from 1 on or has texts as keys; this one has a {what}"
                    ));
                }
            }
        }
        match (items.is_empty(), entries.is_empty()) {
            (false, false) => Err("a table is a list or has texts as keys, not both".to_owned()),
            (true, false) => Ok(Value::Map(entries)),
            (true, true) if matches!(contract, Some(Contract::Map(_))) => Ok(Value::Map(entries)),
            (_, true) => Ok(Value::List(items)),
        }
    }

    fn count(&mut self, bytes: usize) -> Result<(), String> {
        let most = self.most;
        let left = self.left.checked_sub(bytes);
        self.left = left.ok_or_else(|| format!("it is larger than {most} bytes"))?;
        Ok(())
    }
}

fn text(error: impl Display) -> String {
    error.to_string()
}

/// The object, if a script value is one.
pub(super) fn object(value: &Script) -> Option<Handle> {
    let data = value.as_userdata()?;
    let object = data.borrow::<ObjectValue>().ok()?;
    Some(object.0.clone())
}

/// The type of a script value, as messages to script authors name it.
pub(super) fn kind(value: &Script) -> &'static str {
    match value {
        Script::Integer(_) => "number",
        Script::UserData(data) if data.is::<ObjectValue>() => "object",
        Script::UserData(data) if data.is::<ClassValue>() => "class",
        other => other.type_name(),
    }
}
