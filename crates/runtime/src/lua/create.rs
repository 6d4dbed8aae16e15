//! Functions of the host for creating objects, calling methods and logging: `new`, `log`, `print`, and what the
//! prelude needs to wrap methods.

use std::rc::Rc;

use mlua::{AnyUserData, Lua, Table, Value as Script, Variadic};

use super::class_value::ClassValue;
use super::engine::Engine;
use super::fault::raise;
use super::weight::OBJECT_OVERHEAD_BYTES;
use super::{object, values};
use crate::world::{Class, Handle, MAX_NAME_BYTES, NewObject, Value};

/// The host's functions for the prelude.
pub(super) fn host(lua: &Lua, engine: &Rc<Engine>) -> mlua::Result<Table> {
    let host = lua.create_table()?;
    let of_enter = engine.clone();
    let enter = move |lua: &Lua, (this, number): (Script, usize)| enter(lua, &of_enter, &this, number);
    host.raw_set("enter", lua.create_function(enter)?)?;
    let of_leave = engine.clone();
    let leave = move |_: &Lua, ()| {
        of_leave.current.leave();
        Ok(())
    };
    host.raw_set("leave", lua.create_function(leave)?)?;
    let of_create = engine.clone();
    let create = move |lua: &Lua, arguments: NewArguments| create(lua, &of_create, arguments);
    host.raw_set("create", lua.create_function(create)?)?;
    let of_init = engine.clone();
    let initialize = move |lua: Lua, object: Script| {
        let engine = of_init.clone();
        async move {
            let object = object::given(&lua, &object)?;
            engine.world.initialize(&object).await.map_err(|error| raise(&lua, error))
        }
    };
    host.raw_set("initialize", lua.create_async_function(initialize)?)?;
    let of_native = engine.clone();
    let native = move |lua: Lua, (this, name, given): (Script, String, Variadic<Script>)| {
        let engine = of_native.clone();
        async move { native(lua, engine, this, name, given).await }
    };
    host.raw_set("native", lua.create_async_function(native)?)?;
    Ok(host)
}

/// Defines `log` and `print`.
pub(super) fn install_log(lua: &Lua, engine: &Rc<Engine>) -> mlua::Result<()> {
    for (name, between) in [("log", " "), ("print", "\t")] {
        let engine = engine.clone();
        let log = move |lua: &Lua, parts: Variadic<Script>| {
            // Check the length before copying any text.
            let long = parts.iter().filter_map(Script::as_string).map(|text| text.as_bytes().len());
            if long.sum::<usize>() <= engine.limits.output {
                let parts: mlua::Result<Vec<String>> = parts.iter().map(Script::to_string).collect();
                if engine.output.log(&parts?.join(between)) {
                    return Ok(());
                }
            }
            Err(raise(lua, format!("a program may write {} bytes, and not more", engine.limits.output)))
        };
        lua.globals().raw_set(name, lua.create_function(log)?)?;
    }
    Ok(())
}

/// Begins a method: checks that it can be called on this object, and makes the object the caller.
fn enter(lua: &Lua, engine: &Engine, this: &Script, number: usize) -> mlua::Result<()> {
    let methods = engine.methods.borrow();
    let Some((class, name)) = methods.get(number) else { return Ok(()) };
    let Some(object) = values::object(this) else {
        let what = values::kind(this);
        let words = format!("{name} is a method of {}: call it with a colon", class.name());
        return Err(raise(lua, format!("{words}, object:{name}(…), not on a {what}")));
    };
    if object.is_destroyed() || object.init_failed() {
        let error = object.callable(name).err().map(|error| error.to_string());
        return Err(raise(lua, error.unwrap_or_default()));
    }
    if !is_a(&object, class) {
        let of = object.class().name().to_owned();
        return Err(raise(lua, format!("{name} is a method of {}, and this is a {of}", class.name())));
    }
    engine.current.enter(object);
    Ok(())
}

fn is_a(object: &Handle, class: &Class) -> bool {
    object.class().ancestry().any(|own| own == class)
}

/// The arguments of `new`: class, properties, owner, name.
type NewArguments = (Script, Script, Script, Script);

/// Creates an object. The second value is whether its `init` has to run.
fn create(
    lua: &Lua,
    engine: &Rc<Engine>,
    (class, given, owner, name): NewArguments,
) -> mlua::Result<(AnyUserData, bool)> {
    engine.check_stage(lua, "new")?;
    if engine.world.len() >= engine.limits.objects {
        return Err(raise(lua, format!("there are {} objects, and may not be more", engine.limits.objects)));
    }
    engine.weight.add(&engine.world, OBJECT_OVERHEAD_BYTES).map_err(|error| raise(lua, error))?;
    let class = class_of(lua, engine, &class)?;
    let properties = match &given {
        Script::Nil => Default::default(),
        Script::Table(given) => object::properties(lua, engine, &class, given)?,
        other => return Err(raise(lua, format!("properties are a table, not a {}", values::kind(other)))),
    };
    let owner = match &owner {
        Script::Nil => None,
        owner => Some(object::given(lua, owner)?),
    };
    let name = match &name {
        // Without a name, a property `name` is used.
        Script::Nil => match properties.get("name") {
            Some(Value::String(name)) if (1..=MAX_NAME_BYTES).contains(&name.len()) => Some(name.to_string()),
            _ => None,
        },
        Script::String(name) if name.as_bytes().len() > MAX_NAME_BYTES => {
            return Err(raise(lua, format!("a name has at most {MAX_NAME_BYTES} bytes")));
        }
        Script::String(name) => Some(name.to_string_lossy()),
        other => return Err(raise(lua, format!("a name is a text, not a {}", values::kind(other)))),
    };
    let new = NewObject { id: None, name, owner, properties };
    let object = engine.world.create(class.name(), new).map_err(|error| raise(lua, error))?;
    let has_init = match engine.script_class(class.name()) {
        Some(known) => known.has_init,
        None => class.ancestry().any(|class| class.behavior().has("init")),
    };
    if !has_init {
        engine.world.assume_initialized(&object);
    }
    Ok((engine.userdata_of(lua, &object)?, has_init))
}

fn class_of(lua: &Lua, engine: &Engine, value: &Script) -> mlua::Result<Class> {
    let Some(name) = ClassValue::name_of(value) else {
        let words = "new wants a class, the properties of the object, its owner; this is a";
        let hint = match value {
            Script::Nil => {
                " (within its own declaration a class is known by its name only: new(\"Name\", …))"
            }
            _ => "",
        };
        return Err(raise(lua, format!("{words} {}{hint}", values::kind(value))));
    };
    engine.world.class(&name).ok_or_else(|| raise(lua, format!("new wants a class, and {name} is none")))
}

/// Calls a method that is not written in a script; arguments and result are converted.
async fn native(
    lua: Lua,
    engine: Rc<Engine>,
    this: Script,
    name: String,
    given: Variadic<Script>,
) -> mlua::Result<Script> {
    let object = object::given(&lua, &this)?;
    let most = engine.limits.property;
    let args = given.iter().map(|value| values::from_script(value, None, most));
    let args: Result<Vec<Value>, String> = args.collect();
    let args = args.map_err(|error| raise(&lua, error))?;
    // What it is given is its own from here on; nothing is held in its name.
    drop((this, given));
    let answer = object.call(&name, args).await.map_err(|error| raise(&lua, error))?;
    values::to_script(&engine, &lua, &answer)
}
