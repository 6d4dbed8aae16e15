//! Objects as values in scripts: properties by name, methods with a colon, and the table `Object` with functions about
//! them.
//!
//! A script that holds such a value keeps the object alive. This module must not know when anything is collected.

use std::collections::BTreeMap;
use std::rc::Rc;

use mlua::{
    Function, Lua, MetaMethod, Table, UserDataFields, UserDataMethods, UserDataRegistry, Value as Script,
};

use super::class_value::ClassValue;
use super::engine::Engine;
use super::fault::raise;
use super::{values, weight};
use crate::world::{Class, Handle, Value};

/// An object as a value in scripts.
pub(super) struct ObjectValue(pub(super) Handle);

/// Registers the type with the script engine and defines `Object`.
pub(super) fn install(lua: &Lua, engine: &Rc<Engine>) -> mlua::Result<()> {
    let of_type = engine.clone();
    lua.register_userdata_type::<ObjectValue>(|registry| register(registry, &of_type))?;
    let about = lua.create_table()?;
    about.raw_set("id", lua.create_function(|lua, o| Ok(given(lua, &o)?.id().to_string()))?)?;
    let name = |lua: &Lua, o| Ok(given(lua, &o)?.name().map(|name| name.to_string()));
    about.raw_set("name", lua.create_function(name)?)?;
    let of_owner = engine.clone();
    let owner = move |lua: &Lua, o| {
        let owner = given(lua, &o)?.owner();
        owner.map(|owner| of_owner.userdata_of(lua, &owner)).transpose()
    };
    about.raw_set("owner", lua.create_function(owner)?)?;
    let class = |lua: &Lua, o| Ok(given(lua, &o)?.class().name().to_owned());
    about.raw_set("class", lua.create_function(class)?)?;
    about.raw_set("is", lua.create_function(is)?)?;
    lua.globals().raw_set("Object", about)
}

fn register(registry: &mut UserDataRegistry<ObjectValue>, engine: &Rc<Engine>) {
    let of_read = engine.clone();
    registry.add_meta_method(MetaMethod::Index, move |lua, this, key| read(lua, &of_read, &this.0, key));
    let of_write = engine.clone();
    registry.add_meta_method(MetaMethod::NewIndex, move |lua, this, (key, value)| {
        write(lua, &of_write, &this.0, key, value)
    });
    registry.add_meta_method(MetaMethod::ToString, |_, this, ()| Ok(words(&this.0)));
    registry.add_meta_field(MetaMethod::Type, "object");
}

/// Class, id and name of an object, for messages.
pub(super) fn words(object: &Handle) -> String {
    match object.name() {
        Some(name) => format!("{} {} ({name})", object.class().name(), object.id()),
        None => format!("{} {}", object.class().name(), object.id()),
    }
}

/// The object that a script gave as an argument.
///
/// # Errors
/// If it is another value.
pub(super) fn given(lua: &Lua, value: &Script) -> mlua::Result<Handle> {
    let what = values::kind(value);
    values::object(value).ok_or_else(|| raise(lua, format!("an object was expected, not a {what}")))
}

fn is(lua: &Lua, (object, class): (Script, Script)) -> mlua::Result<bool> {
    let object = given(lua, &object)?;
    let name =
        ClassValue::name_of(&class).ok_or_else(|| raise(lua, "Object.is wants an object and a class"))?;
    Ok(object.class().is_a(&name))
}

fn property_name(lua: &Lua, object: &Handle, key: &Script) -> mlua::Result<String> {
    let name = key.as_string().and_then(|name| Some(name.to_str().ok()?.to_owned()));
    let class = || object.class().name().to_owned();
    name.ok_or_else(|| {
        raise(lua, format!("properties of {} have names, not {}s", class(), values::kind(key)))
    })
}

/// Reads a property or method. Private properties are visible to methods of the object only.
fn read(lua: &Lua, engine: &Rc<Engine>, object: &Handle, key: Script) -> mlua::Result<Script> {
    let name = property_name(lua, object, &key)?;
    let class = object.class();
    if class.property(&name).is_some() {
        return values::to_script(engine, lua, &object.get(&name));
    }
    if let Some(method) = method(lua, engine, &class, &name)? {
        return Ok(method);
    }
    if engine.current.is_caller(object) {
        return values::to_script(engine, lua, &object.get(&name));
    }
    Err(raise(lua, unknown(&class, &name)))
}

fn unknown(class: &Class, name: &str) -> String {
    let class = class.name();
    format!(
        "class {class} has no property or method {name}; private properties are for methods of their object"
    )
}

fn method(lua: &Lua, engine: &Rc<Engine>, class: &Class, name: &str) -> mlua::Result<Option<Script>> {
    if matches!(name, "init" | "destroy") && class.method(name).is_some() {
        let caller = if name == "init" { "new" } else { "the collector" };
        return Err(raise(lua, format!("{name} is called by {caller}, for every class of an object")));
    }
    let known = engine.script_class(class.name());
    if let Some(method) = known.and_then(|class| class.methods.get(name).cloned()) {
        return Ok(Some(Script::Function(method)));
    }
    if class.method(name).is_none() {
        return Ok(None);
    }
    if let Some(known) = engine.natives.borrow().get(name) {
        return Ok(Some(Script::Function(known.clone())));
    }
    let Some(maker) = engine.native.get() else { return Ok(None) };
    let made = maker.call::<Function>(name)?;
    engine.natives.borrow_mut().insert(name.into(), made.clone());
    Ok(Some(Script::Function(made)))
}

/// Sets a declared property, or a private one from a method of the object.
fn write(lua: &Lua, engine: &Engine, object: &Handle, key: Script, value: Script) -> mlua::Result<()> {
    let name = property_name(lua, object, &key)?;
    let class = object.class();
    let declared = class.property(&name);
    let kept = values::for_property(engine, &value, declared.map(|property| &property.contract));
    let kept = kept.map_err(|error| raise(lua, format!("{}.{name}: {error}", class.name())))?;
    if declared.is_some() {
        weight::check_property(object, &name, &kept)
            .map_err(|error| raise(lua, format!("{}.{name}: {error}", class.name())))?;
        return object.set(&name, kept).map_err(|error| raise(lua, error));
    }
    if class.method(&name).is_some() {
        return Err(raise(lua, format!("{name} is a method of class {}", class.name())));
    }
    if !engine.current.is_caller(object) {
        return Err(raise(lua, unknown(&class, &name)));
    }
    object.set_private(&name, kept).map_err(|error| raise(lua, error))
}

/// The properties for a new object, from a table.
pub(super) fn properties(
    lua: &Lua,
    engine: &Engine,
    class: &Class,
    given: &Table,
) -> mlua::Result<BTreeMap<String, Value>> {
    let mut properties = BTreeMap::new();
    for pair in given.pairs::<Script, Script>() {
        let (key, value) = pair?;
        let name = key.as_string().and_then(|name| Some(name.to_str().ok()?.to_owned()));
        let name = name.ok_or_else(|| raise(lua, "properties of a new object have names"))?;
        let contract = class.property(&name).map(|property| &property.contract);
        let kept = values::for_property(engine, &value, contract);
        let kept = kept.map_err(|error| raise(lua, format!("{}.{name}: {error}", class.name())))?;
        properties.insert(name, kept);
    }
    weight::check_new_properties(class, &properties)
        .map_err(|error| raise(lua, format!("{}: {error}", class.name())))?;
    Ok(properties)
}
