//! Classes as values in scripts: their static properties, and their methods for calls from classes that extend them.

use std::rc::Rc;

use mlua::{Lua, MetaMethod, UserDataFields, UserDataMethods, UserDataRegistry, Value as Script};

use super::engine::Engine;
use super::fault::raise;
use super::values;
use crate::world::Class;

/// A class as a value in scripts.
pub(super) struct ClassValue(pub(super) Class);

impl ClassValue {
    /// The name of a class that a script gave as a class value or as a text.
    pub(super) fn name_of(value: &Script) -> Option<String> {
        match value {
            Script::String(name) => Some(name.to_str().ok()?.to_owned()),
            Script::UserData(data) => Some(data.borrow::<ClassValue>().ok()?.0.name().to_owned()),
            _ => None,
        }
    }
}

/// Registers the type with the script engine.
pub(super) fn install(lua: &Lua, engine: &Rc<Engine>) -> mlua::Result<()> {
    let engine = engine.clone();
    lua.register_userdata_type::<ClassValue>(move |registry| register(registry, &engine))
}

fn register(registry: &mut UserDataRegistry<ClassValue>, engine: &Rc<Engine>) {
    let of_read = engine.clone();
    registry.add_meta_method(MetaMethod::Index, move |lua, this, name: String| {
        read(lua, &of_read, &this.0, &name)
    });
    let of_write = engine.clone();
    registry.add_meta_method(MetaMethod::NewIndex, move |lua, this, (name, value): (String, Script)| {
        write(lua, &of_write, &this.0, &name, &value)
    });
    registry.add_meta_method(MetaMethod::ToString, |_, this, ()| Ok(format!("class {}", this.0.name())));
    registry.add_meta_field(MetaMethod::Type, "class");
}

fn read(lua: &Lua, engine: &Engine, class: &Class, name: &str) -> mlua::Result<Script> {
    if let Ok(value) = engine.world.get_static(class.name(), name) {
        return values::to_script(engine, lua, &value);
    }
    let known = engine.script_class(class.name());
    if let Some(method) = known.and_then(|known| known.methods.get(name).cloned()) {
        return Ok(Script::Function(method));
    }
    Err(raise(lua, format!("class {} has no static property or method {name}", class.name())))
}

fn write(lua: &Lua, engine: &Engine, class: &Class, name: &str, value: &Script) -> mlua::Result<()> {
    let contract = class.property(name).map(|property| &property.contract);
    let kept = values::for_property(engine, value, contract);
    let kept = kept.map_err(|error| raise(lua, format!("{}.{name}: {error}", class.name())))?;
    engine.world.set_static(class.name(), name, kept).map_err(|error| raise(lua, error))
}
