//! Writes back what a script changed: properties only, and only if no other writer changed them meanwhile.

use serde_json::Value;
use sexton_client::resources::{PutError, text};
use sexton_model::hook::ScriptCall;
use sexton_model::marks;

use super::{Scripts, place_of};
use crate::hooks::HookError;

/// How often a write is repeated because metadata changed meanwhile.
const RACES: usize = 5;

impl Scripts {
    /// Writes the objects that a script changed, except the doomed one.
    pub(super) async fn keep(&self, told: &ScriptCall, changed: &[Value]) -> Result<(), HookError> {
        let doomed = text(&told.call.object, "/metadata/uid");
        for object in changed.iter().filter(|object| text(object, "/metadata/uid") != doomed) {
            let uid = text(object, "/metadata/uid");
            let before = told.call.subscriber.iter().chain(&told.around);
            let Some(before) = before.into_iter().find(|one| text(one, "/metadata/uid") == uid) else {
                return Err(HookError::Script("the worker changed an object that it was not told of".into()));
            };
            self.write(before, object).await?;
        }
        Ok(())
    }

    async fn write(&self, before: &Value, after: &Value) -> Result<(), HookError> {
        let (kind, name) = (text(before, "/kind"), text(before, "/metadata/name"));
        let place = place_of(kind, text(before, "/metadata/namespace"));
        let mut current = before.clone();
        for _ in 0..RACES {
            current["spec"] = after["spec"].clone();
            let dependencies = format!("/metadata/annotations/{}", marks::DEPENDENCIES.replace('/', "~1"));
            match after.pointer(&dependencies) {
                Some(said) => current["metadata"]["annotations"][marks::DEPENDENCIES] = said.clone(),
                None => {
                    let all = current.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut);
                    all.map(|all| all.remove(marks::DEPENDENCIES));
                }
            }
            match self.resources.replace(&place, name, &current).await {
                Ok(_) => return Ok(()),
                Err(PutError::Conflict(_)) => {}
                Err(error) => {
                    return Err(HookError::Script(format!("{kind}/{name} was not written: {error}")));
                }
            }
            let found = self.resources.find(&place, name).await;
            let found = found.map_err(|error| HookError::Script(error.to_string()))?;
            // An object that is gone needs no change.
            let Some(now) = found.filter(|now| now["metadata"]["uid"] == before["metadata"]["uid"]) else {
                return Ok(());
            };
            if now["spec"] != before["spec"] {
                break;
            }
            current = now;
        }
        Err(HookError::Script(format!("{kind}/{name} was changed by somebody else meanwhile")))
    }
}
