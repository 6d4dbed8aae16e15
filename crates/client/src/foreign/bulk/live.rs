//! The object that an item is about, as it is now; and the requests that every write is made of.

use http::Method;
use serde_json::{Map, Value};
use sexton_model::bulk::{Annotations, Item};
use sexton_model::{GroupResource, Status, marks};

use super::super::read::{find, says_absent};
use super::{Performer, Refusal};
use crate::call::{Call, CallError, escape};
use crate::kinds::ServedKind;
use crate::resources::text;

/// An object as it is now, or at least its metadata.
pub(super) struct Live(pub(super) Value);

impl Live {
    pub(super) fn uid(&self) -> &str {
        text(&self.0, "/metadata/uid")
    }

    pub(super) fn version(&self) -> &str {
        text(&self.0, "/metadata/resourceVersion")
    }

    pub(super) fn is_marked(&self) -> bool {
        !text(&self.0, "/metadata/deletionTimestamp").is_empty()
    }

    pub(super) fn is_protected(&self) -> bool {
        let annotations = self.0.pointer("/metadata/annotations");
        let value = annotations.and_then(|all| all.get(marks::PROTECT)).and_then(Value::as_str);
        value.is_some_and(|value| !value.is_empty() && value != "false")
    }

    /// Refuses what the item says about annotations and labels, if that is not so.
    pub(super) fn check_marks(&self, item: &Item) -> Result<(), Refusal> {
        let mark = |map: &str| self.0.pointer(&format!("/metadata/{map}"));
        let text = |map: &str, name: &str| mark(map).and_then(|all| all.get(name)).and_then(Value::as_str);
        let annotation = |name: &str| match name {
            marks::DEPLOYMENT_ID => {
                marks::deployment_id(|name| text("labels", name), |name| text("annotations", name))
            }
            _ => text("annotations", name),
        };
        if let Some(other) = changed(&item.annotated, annotation) {
            return Err(Status::annotations_changed(&resource_of(item), &item.name, other).into());
        }
        if let Some(other) = changed(&item.labelled, |name| text("labels", name)) {
            return Err(Status::labels_changed(&resource_of(item), &item.name, other).into());
        }
        Ok(())
    }

    pub(super) fn finalizers(&self) -> Vec<String> {
        let list = self.0.pointer("/metadata/finalizers").and_then(Value::as_array).into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// The references as they are, with fields that are not known here.
    pub(super) fn owners(&self) -> Vec<Value> {
        self.0.pointer("/metadata/ownerReferences").and_then(Value::as_array).cloned().unwrap_or_default()
    }

    /// Those of the annotations that are not as wanted, as a merge patch says them.
    pub(super) fn annotations_to_change(&self, wanted: &Annotations) -> Map<String, Value> {
        let now = self.0.pointer("/metadata/annotations").and_then(Value::as_object);
        let current = |name: &str| now.and_then(|now| now.get(name)).and_then(Value::as_str);
        let change = wanted.iter().filter(|(name, value)| current(name) != value.as_deref());
        change.map(|(name, value)| (name.clone(), value.clone().into())).collect()
    }
}

/// The first annotation or label whose value is not as it was said to be.
fn changed<'a, 'v>(said: &'a Annotations, value: impl Fn(&str) -> Option<&'v str>) -> Option<&'a str> {
    let differs = |(name, said): &(&String, &Option<String>)| value(name) != said.as_deref();
    said.iter().find(differs).map(|(name, _)| name.as_str())
}

pub(super) fn resource_of(item: &Item) -> GroupResource {
    GroupResource::new(item.group.as_str(), item.resource.as_str())
}

/// 404: the object that is meant is gone.
pub(super) fn gone(item: &Item) -> Refusal {
    Status::not_found(&resource_of(item), &item.name).into()
}

pub(super) fn path_of(item: &Item, kind: &ServedKind) -> String {
    format!("{}/{}", kind.path(Some(&item.namespace)), escape(&item.name))
}

impl Performer<'_> {
    /// The object, if it still has the uid and the version that are meant, and its owners are those.
    pub(super) async fn live(&self, item: &Item, kind: &ServedKind, whole: bool) -> Result<Live, Refusal> {
        let live = self.same_life(item, kind, whole).await?.ok_or_else(|| gone(item))?;
        match &item.resource_version {
            Some(wanted) if wanted != live.version() => {
                let why = format!("it is at {} and not at {wanted} any more", live.version());
                return Err(Status::conflict(&resource_of(item), &item.name, why).into());
            }
            _ => {}
        }
        if let Some(meant) = &item.owners {
            let named: Vec<String> =
                live.owners().iter().map(|owner| text(owner, "/uid").to_owned()).collect();
            if !named.iter().all(|uid| meant.contains(uid)) || !meant.iter().all(|uid| named.contains(uid)) {
                let named = named.join(", ");
                return Err(Status::owners_changed(&resource_of(item), &item.name, &named).into());
            }
        }
        Ok(live)
    }

    /// The object, if it still has the uid that is meant.
    pub(super) async fn same_life(
        &self,
        item: &Item,
        kind: &ServedKind,
        whole: bool,
    ) -> Result<Option<Live>, CallError> {
        let found = find(self.client, kind, Some(&item.namespace), &item.name, whole).await?;
        Ok(found.map(Live).filter(|live| live.uid() == item.uid))
    }

    /// A merge patch of exactly the version that was looked at. Answers with the object after it.
    pub(super) async fn merge(
        &self,
        item: &Item,
        kind: &ServedKind,
        live: &Live,
        mut metadata: Map<String, Value>,
    ) -> Result<Live, Refusal> {
        metadata.insert("uid".into(), item.uid.as_str().into());
        metadata.insert("resourceVersion".into(), live.version().into());
        let patch = Value::Object(Map::from_iter([("metadata".to_owned(), Value::Object(metadata))]));
        let call = Call::new(Method::PATCH, path_of(item, kind)).body("application/merge-patch+json", &patch);
        self.write(item, call).await.map(Live)
    }

    /// A write, and what a refusal means for the item.
    pub(super) async fn write(&self, item: &Item, call: Call) -> Result<Value, Refusal> {
        match call.send(self.client).await {
            Ok(answer) => Ok(answer.value),
            Err(CallError::Refused(status)) if says_absent(&status, &item.name) => Err(gone(item)),
            // Another version, or another uid: only reading it can tell.
            Err(CallError::Refused(status)) if status.code == 409 => Err(Refusal::Raced(status)),
            Err(error) => Err(error.into()),
        }
    }
}
