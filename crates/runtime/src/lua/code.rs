//! The behavior of classes that are written in a script, as the world calls it. After the program was dropped, or
//! reached a time limit, calls fail.

use std::collections::HashMap;
use std::rc::{Rc, Weak};

use futures::future::LocalBoxFuture;
use mlua::{Function, Lua, MultiValue, Value as Script, WeakLua};

use super::context::{CallContext, InContext};
use super::engine::Engine;
use super::fault::Fault;
use super::session::SessionValue;
use super::values;
use crate::world::{Args, Behavior, Call, CodeError, CodeErrorKind, Value};

/// What the runtime knows of a class that is written in a script.
pub(super) struct ScriptClass {
    /// The methods of its objects, those of parents included, wrapped for calls from scripts.
    pub(super) methods: HashMap<Rc<str>, Function>,
    /// Whether it or a parent has `init`, so that creating an object runs code.
    pub(super) has_init: bool,
}

/// The functions of one class. It must not own the script engine, which owns it: both references are weak.
pub(super) struct ScriptBehavior {
    pub(super) lua: WeakLua,
    pub(super) engine: Weak<Engine>,
    pub(super) functions: HashMap<Rc<str>, Function>,
}

impl Behavior for ScriptBehavior {
    fn has(&self, method: &str) -> bool {
        self.functions.contains_key(method)
    }

    fn call<'a>(&'a self, call: Call) -> LocalBoxFuture<'a, Result<Value, CodeError>> {
        Box::pin(self.run(call))
    }
}

impl ScriptBehavior {
    async fn run(&self, call: Call) -> Result<Value, CodeError> {
        let (Some(lua), Some(engine)) = (self.lua.try_upgrade(), self.engine.upgrade()) else {
            let message = "the program of this class is not loaded any more".to_owned();
            return Err(CodeError { message, kind: CodeErrorKind::Stopped });
        };
        if let Some(why) = engine.clock.over() {
            return Err(CodeError { message: why.to_string(), kind: CodeErrorKind::Deadline });
        }
        if engine.current.is_too_deep() {
            return Err(CodeError::failed("methods call each other too deep"));
        }
        let Some(function) = self.functions.get(&call.method) else {
            return Err(CodeError::failed(format!("there is no method {}", call.method)));
        };
        let failure = |error: mlua::Error| Fault::of(&error).into_code_error();
        let args = arguments(&lua, &engine, &call).map_err(failure)?;
        let context = CallContext { thread: engine.current.thread(), callers: vec![call.this] };
        let running = function.call_async::<Script>(args);
        let result = InContext::new(engine.clone(), context, running).await;
        let result = result.map_err(|error| match engine.clock.over() {
            Some(why) => CodeError { message: why.to_string(), kind: CodeErrorKind::Deadline },
            None => failure(error),
        })?;
        if !matches!(call.args, Args::Plain(_)) {
            return Ok(Value::Null);
        }
        let most = engine.limits.property;
        values::from_script(&result, None, most).map_err(CodeError::failed)
    }
}

/// The arguments of a call as script values; the object comes first.
fn arguments(lua: &Lua, engine: &Engine, call: &Call) -> mlua::Result<MultiValue> {
    let mut args = MultiValue::new();
    args.push_back(Script::UserData(engine.userdata_of(lua, &call.this)?));
    match &call.args {
        Args::Init => {}
        Args::Destroy { gc } => args.push_back(Script::UserData(SessionValue::userdata_of(lua, gc)?)),
        Args::Event { gc, object } => {
            args.push_back(Script::UserData(SessionValue::userdata_of(lua, gc)?));
            args.push_back(Script::UserData(engine.userdata_of(lua, object)?));
        }
        Args::Plain(given) => {
            for value in given {
                args.push_back(values::to_script(engine, lua, value)?);
            }
        }
    }
    Ok(args)
}
