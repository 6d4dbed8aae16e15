//! The `gc` argument of handlers and destructors in scripts.

use mlua::{AnyUserData, Lua, MetaMethod, UserData, UserDataFields, UserDataMethods, Value as Script};

use super::fault::raise;
use super::{object, values};
use crate::gc::Session;

/// A session as a value in scripts.
pub(super) struct SessionValue(Session);

impl SessionValue {
    pub(super) fn userdata_of(lua: &Lua, session: &Session) -> mlua::Result<AnyUserData> {
        lua.create_userdata(SessionValue(session.clone()))
    }
}

impl UserData for SessionValue {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("phase", |_, this| Ok(this.0.phase().word()));
        fields.add_meta_field(MetaMethod::Type, "gc");
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("isDoomed", |lua, this, target: Script| {
            Ok(this.0.is_doomed(&object::given(lua, &target)?))
        });
        methods.add_method("cancel", |lua, this, reason: Script| {
            let reason = match &reason {
                Script::String(text) => text.to_string_lossy(),
                Script::Nil => "no reason was given".to_owned(),
                other => {
                    return Err(raise(lua, format!("a reason is a text, not a {}", values::kind(other))));
                }
            };
            this.0.cancel(&reason).map_err(|error| raise(lua, error))
        });
        methods.add_meta_method(MetaMethod::ToString, |_, this, ()| {
            Ok(format!("garbage collection ({})", this.0.phase().word()))
        });
    }
}
