//! Changing the metadata of one object: finalizers, owners, annotations, and a namespace's own hold.

use http::Method;
use serde_json::{Map, Value, json};
use sexton_model::bulk::{Action, Item, Outcome};
use sexton_model::marks::NAMESPACE_HOLD;

use super::delete::weaker_conditions;
use super::live::{Live, path_of};
use super::{Done, Performer, Refusal};
use crate::call::Call;
use crate::kinds::ServedKind;
use crate::resources::text;

impl Performer<'_> {
    pub(super) async fn patch(&self, item: &Item, kind: &ServedKind) -> Result<Done, Refusal> {
        let of_namespace = item.group.is_empty() && item.resource == "namespaces";
        // The hold of a namespace is in its spec.
        let live = self.live(item, kind, of_namespace).await?;
        live.check_marks(item)?;
        self.check_absent(item, kind, &live).await?;
        let weaker = weaker_conditions(item);
        let change = change(&live, &item.action, of_namespace);
        let release = of_namespace && releases(&live, &item.action);
        let mut now = None;
        if !change.is_empty() {
            now = Some(self.merge(item, kind, &live, change).await?);
        }
        if release {
            let held = now.as_ref().unwrap_or(&live);
            now = Some(self.release_namespace(item, kind, held).await?);
        }
        let Some(now) = now else {
            let version = Some(live.version().to_owned());
            return Ok(Done { outcome: Outcome::Unchanged, version, weaker });
        };
        let (outcome, version) = self.outcome(item, kind, &now).await?;
        Ok(Done { outcome, version, weaker })
    }

    /// A terminating object that nothing holds goes with the write; whether it did is known only by reading it.
    async fn outcome(
        &self,
        item: &Item,
        kind: &ServedKind,
        now: &Live,
    ) -> Result<(Outcome, Option<String>), Refusal> {
        let version = Some(now.version().to_owned()).filter(|version| !version.is_empty());
        let over = now.is_marked()
            && now.finalizers().is_empty()
            && self.same_life(item, kind, false).await?.is_none();
        Ok((if over { Outcome::Removed } else { Outcome::Patched }, version))
    }

    async fn release_namespace(&self, item: &Item, kind: &ServedKind, held: &Live) -> Result<Live, Refusal> {
        let mut body = held.0.clone();
        if let Some(list) = body.pointer_mut("/spec/finalizers").and_then(Value::as_array_mut) {
            list.retain(|name| name != NAMESPACE_HOLD);
        }
        let path = format!("{}/finalize", path_of(item, kind));
        let call = Call::new(Method::PUT, path).body("application/json", &body);
        self.write(item, call).await.map(Live)
    }
}

fn releases(live: &Live, action: &Action) -> bool {
    let Action::Patch { remove_finalizers, .. } = action else { return false };
    let list = live.0.pointer("/spec/finalizers").and_then(Value::as_array).into_iter().flatten();
    remove_finalizers.iter().any(|name| name == NAMESPACE_HOLD)
        && list.into_iter().any(|name| name == NAMESPACE_HOLD)
}

/// What is different from what is wanted, as fields of a merge patch, computed from the object as it is.
fn change(live: &Live, action: &Action, of_namespace: bool) -> Map<String, Value> {
    let mut metadata = Map::new();
    let Action::Patch { remove_finalizers, add_finalizers, remove_owners, annotations } = action else {
        return metadata;
    };
    let before = live.finalizers();
    let stays = |name: &&String| {
        !remove_finalizers.contains(name) || (of_namespace && name.as_str() == NAMESPACE_HOLD)
    };
    let mut after: Vec<String> = before.iter().filter(stays).cloned().collect();
    for name in add_finalizers {
        if !after.contains(name) {
            after.push(name.clone());
        }
    }
    if after != before {
        metadata.insert("finalizers".into(), json!(after));
    }
    let owners = live.owners();
    let kept: Vec<&Value> =
        owners.iter().filter(|owner| !remove_owners.iter().any(|uid| uid == text(owner, "/uid"))).collect();
    if kept.len() != owners.len() {
        metadata.insert("ownerReferences".into(), json!(kept));
    }
    let notes = live.annotations_to_change(annotations);
    if !notes.is_empty() {
        metadata.insert("annotations".into(), Value::Object(notes));
    }
    metadata
}

#[cfg(test)]
mod tests {
    use super::*;
    use sexton_model::bulk::Annotations;

    #[test]
    fn only_what_differs_is_written() {
        let live = Live(json!({"metadata": {
            "finalizers": ["a", "b"], "annotations": {"x": "1", "y": "2"},
            "ownerReferences": [{"uid": "1", "unknown": true}, {"uid": "2"}],
        }}));
        let patch = |remove: &[&str], add: &[&str], owners: &[&str], notes: &[(&str, Option<&str>)]| {
            let words = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
            let notes = notes.iter().map(|(name, value)| ((*name).to_owned(), value.map(str::to_owned)));
            let action = Action::Patch {
                remove_finalizers: words(remove),
                add_finalizers: words(add),
                remove_owners: words(owners),
                annotations: notes.collect::<Annotations>(),
            };
            Value::Object(change(&live, &action, false))
        };
        assert_eq!(patch(&["c"], &["a"], &["9"], &[("x", Some("1")), ("z", None)]), json!({}));
        assert_eq!(patch(&["a"], &["c"], &[], &[]), json!({"finalizers": ["b", "c"]}));
        assert_eq!(patch(&[], &[], &["2"], &[]), json!({"ownerReferences": [{"uid": "1", "unknown": true}]}));
        let notes = patch(&[], &[], &[], &[("x", None), ("y", Some("3"))]);
        assert_eq!(notes, json!({"annotations": {"x": null, "y": "3"}}));
    }
}
