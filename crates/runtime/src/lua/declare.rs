//! `format` and `class`: what a program says of itself before any of it works.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use mlua::{AnyUserData, Function, Lua, Table, Value as Script};

use super::class_value::ClassValue;
use super::code::{ScriptBehavior, ScriptClass};
use super::engine::{Engine, ProgramStage};
use super::fault::raise;
use super::format::Format;
use super::{contracts, values};
use crate::world::{Class, ClassSpec, Contract, Property};

/// Longer names of classes, properties and methods are refused.
const MAX_NAME_BYTES: usize = 100;

/// Puts the functions in place.
pub(super) fn install(lua: &Lua, engine: &Rc<Engine>) -> mlua::Result<()> {
    let of_format = engine.clone();
    let format = move |lua: &Lua, declaration: Script| set_format(lua, &of_format, &declaration);
    lua.globals().raw_set("format", lua.create_function(format)?)?;
    let of_class = engine.clone();
    let class =
        move |lua: &Lua, (name, declaration): (Script, Script)| declare(lua, &of_class, &name, &declaration);
    lua.globals().raw_set("class", lua.create_function(class)?)
}

fn set_format(lua: &Lua, engine: &Engine, declaration: &Script) -> mlua::Result<()> {
    let text = declaration.as_string().map(|text| text.to_string_lossy()).unwrap_or_default();
    let Some(format) = Format::parse(&text) else {
        return Err(raise(lua, "a format is a text of two numbers, as in `format \"1.4\"`"));
    };
    if format < Format::FIRST || format > Format::NEWEST {
        let (first, newest) = (Format::FIRST, Format::NEWEST);
        return Err(raise(lua, format!("format {format} is not understood here, only {first} to {newest}")));
    }
    let begun = engine.stage.get() != ProgramStage::Declaring || !engine.classes.borrow().is_empty();
    if begun || engine.format.get().is_some() {
        return Err(raise(lua, "the format is said once, before any class is declared"));
    }
    engine.format.set(Some(format));
    Ok(())
}

/// The parts of a class's declaration.
struct ClassTable {
    extends: Option<String>,
    properties: BTreeMap<String, Property>,
    functions: HashMap<Rc<str>, Function>,
}

fn declare(lua: &Lua, engine: &Rc<Engine>, name: &Script, declaration: &Script) -> mlua::Result<AnyUserData> {
    if engine.stage.get() != ProgramStage::Declaring {
        return Err(raise(lua, "classes are declared by the text of a program, not while it works"));
    }
    let name = name.as_string().map(|name| name.to_string_lossy()).unwrap_or_default();
    if !is_name(&name) {
        let words = "the name of a class is letters, digits and _, and begins with a letter";
        return Err(raise(lua, format!("{words}; {name:?} is none")));
    }
    let Script::Table(table) = declaration else {
        return Err(raise(
            lua,
            format!("class {name} is declared with a table, not a {}", values::kind(declaration)),
        ));
    };
    let declaration = read(lua, &name, table)?;
    let functions = declaration.functions.clone();
    let code =
        ScriptBehavior { lua: lua.weak(), engine: Rc::downgrade(engine), functions: declaration.functions };
    let (extends, properties) = (declaration.extends, declaration.properties);
    let spec = ClassSpec { name: name.clone(), extends, properties, behavior: Rc::new(code) };
    check(lua, engine, &name, &spec, &functions)?;
    let class = engine.world.declare(spec).map_err(|error| raise(lua, error))?;
    let known = script_class(engine, &class, functions)?;
    engine.classes.borrow_mut().insert(name.into(), Rc::new(known));
    lua.create_any_userdata(ClassValue(class))
}

/// Whether a text can be the name of a class, a property or a method.
pub(super) fn is_name(name: &str) -> bool {
    let begins = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    begins
        && name.len() <= MAX_NAME_BYTES
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn read(lua: &Lua, class: &str, table: &Table) -> mlua::Result<ClassTable> {
    let mut declaration =
        ClassTable { extends: None, properties: BTreeMap::new(), functions: HashMap::new() };
    for pair in table.pairs::<Script, Script>() {
        let (key, value) = pair?;
        let name = key.as_string().map(|name| name.to_string_lossy()).unwrap_or_default();
        if !is_name(&name) {
            let words = "what a class has is named with letters, digits and _";
            return Err(raise(lua, format!("class {class}: {words}; {name:?} is no name")));
        }
        match (name.as_str(), value) {
            ("extends", parent) => {
                let parent = ClassValue::name_of(&parent);
                let none = || raise(lua, format!("class {class} extends something that is no class"));
                declaration.extends = Some(parent.ok_or_else(none)?);
            }
            ("properties", Script::Table(properties)) => {
                declaration.properties = read_properties(lua, class, &properties)?;
            }
            ("properties", other) => {
                let what = values::kind(&other);
                return Err(raise(lua, format!("properties of class {class} are a table, not a {what}")));
            }
            (_, Script::Function(function)) => _ = declaration.functions.insert(name.into(), function),
            (_, other) => {
                let what = values::kind(&other);
                let words = format!("{name} of class {class} is a {what}; methods are functions");
                return Err(raise(lua, format!("{words}, and properties are declared in `properties`")));
            }
        }
    }
    Ok(declaration)
}

fn read_properties(lua: &Lua, class: &str, table: &Table) -> mlua::Result<BTreeMap<String, Property>> {
    let mut properties = BTreeMap::new();
    for pair in table.pairs::<Script, Script>() {
        let (key, declaration) = pair?;
        let name = key.as_string().map(|name| name.to_string_lossy()).unwrap_or_default();
        if !is_name(&name) {
            let words = "properties are named with letters, digits and _";
            return Err(raise(lua, format!("class {class}: {words}; {name:?} is no name")));
        }
        let property = contracts::property(lua, class, &name, &declaration)?;
        properties.insert(name, property);
    }
    Ok(properties)
}

/// Checks that no name is both a property and a method, parents included.
fn check(
    lua: &Lua,
    engine: &Engine,
    class: &str,
    spec: &ClassSpec,
    functions: &HashMap<Rc<str>, Function>,
) -> mlua::Result<()> {
    let parent = spec.extends.as_ref().and_then(|parent| engine.world.class(parent));
    let inherited = |name: &str| parent.as_ref().is_some_and(|parent| parent.property(name).is_some());
    let twice = functions.keys().find(|name| spec.properties.contains_key(&***name) || inherited(name));
    let hidden = spec.properties.keys().find(|name| {
        let method = parent.as_ref().and_then(|parent| parent.method(name));
        method.is_some() || matches!(name.as_str(), "init" | "destroy")
    });
    match twice.map(|name| &**name).or(hidden.map(String::as_str)) {
        None => Ok(()),
        Some(name) => Err(raise(lua, format!("{name} of class {class} is a property and a method"))),
    }
}

fn script_class(
    engine: &Engine,
    class: &Class,
    functions: HashMap<Rc<str>, Function>,
) -> mlua::Result<ScriptClass> {
    let parent = class.parent().and_then(|parent| engine.script_class(parent.name()));
    let mut methods = parent.map(|parent| parent.methods.clone()).unwrap_or_default();
    for (name, function) in functions {
        if matches!(&*name, "init" | "destroy") {
            continue;
        }
        let Some(maker) = engine.method.get() else { continue };
        let number = engine.methods.borrow().len();
        engine.methods.borrow_mut().push((class.clone(), name.clone()));
        methods.insert(name, maker.call::<Function>((function, number))?);
    }
    let has_init = class.ancestry().any(|class| class.behavior().has("init"));
    Ok(ScriptClass { methods, has_init })
}

/// A message about a property with an undeclared class as its type, if there is one. For when the text has run:
/// classes may be declared after the properties that name them.
pub(super) fn undeclared_type(engine: &Engine) -> Option<String> {
    let classes = engine.world.classes();
    for class in &classes {
        for (name, property) in class.properties() {
            let mut contract = &property.contract;
            while let Contract::List(inner) | Contract::Map(inner) = contract {
                contract = inner;
            }
            if let Contract::Object(of) = contract
                && engine.world.class(of).is_none()
            {
                let class = class.name();
                return Some(format!(
                    "property {name} of class {class} is of class {of}, which is not declared"
                ));
            }
        }
    }
    None
}
