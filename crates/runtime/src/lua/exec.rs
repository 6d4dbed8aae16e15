//! `exec`.
use super::engine::Engine;
use mlua::Lua;
use std::rc::Rc;
pub(super) fn install(_lua: &Lua, _engine: &Rc<Engine>) -> mlua::Result<()> {
    Ok(())
}
