//! Classes and subscriptions: code for the end of objects is checked when it is written down, not when it is needed.
//!
//! It must not know when that code is called.

use serde_json::Value;
use sexton_model::class::Class;
use sexton_model::marks::{DEPENDENCIES, SUBSCRIPTIONS};
use sexton_model::subscription::{self, Subscription};
use sexton_model::{Document, FieldError};
use sexton_store::At;

use super::Change;
use crate::api::{Api, Result, Target};
use crate::kinds::{Special, classes};

/// Kinds of this group have their meaning from us.
const OWN_GROUP: &str = "sexton.dev";
/// As much of a text is repeated in a complaint.
const SHOWN: usize = 200;

/// The group and the kind that a class is for.
pub(crate) fn class_for(document: &Document) -> (&str, &str) {
    let text = |path: &str| document.value().pointer(path).and_then(Value::as_str).unwrap_or("");
    (text("/spec/for/group"), text("/spec/for/kind"))
}

pub(super) fn class(target: &Target, change: &Change<'_>, errors: &mut Vec<FieldError>) {
    let spec = |document: &Document| document.object().get("spec").cloned();
    if target.kind.special != Special::Class || change.old.is_some_and(|old| spec(old) == spec(change.new)) {
        return;
    }
    if let Err(complaints) = Class::parse(change.new.value()) {
        errors.extend(complaints);
        return;
    }
    let (group, _) = class_for(change.new);
    if group == OWN_GROUP {
        let detail = "objects of this group are records and rules of their own, they have no class";
        errors.push(FieldError::invalid("spec.for.group", group, detail));
    }
    // What holds a class in use, and what it was checked against, would be another kind.
    if change.old.is_some_and(|old| class_for(old) != class_for(change.new)) {
        let value = change.new.value().pointer("/spec/for").cloned().unwrap_or_default();
        errors.push(FieldError::invalid("spec.for", value, "field is immutable"));
    }
}

impl Api {
    /// Refuses a second class for a kind: there would be no way to tell which of them is meant.
    pub(super) async fn check_only_class(
        &self,
        target: &Target,
        change: &Change<'_>,
        errors: &mut Vec<FieldError>,
    ) -> Result<()> {
        if target.kind.special != Special::Class || change.old.is_some() {
            return Ok(());
        }
        let (group, kind) = class_for(change.new);
        for object in self.store().list(&classes(), At::Latest, None, None).await?.objects {
            let other = object.document()?;
            if other.name() != change.new.name() && class_for(&other) == (group, kind) {
                let value = change.new.value().pointer("/spec/for").cloned().unwrap_or_default();
                let detail = format!("the class {:?} is for this kind already", other.name());
                errors.push(FieldError::invalid("spec.for", value, detail));
            }
        }
        Ok(())
    }

    /// Refuses subscriptions that cannot be read, which would be missed when they matter, and so would handlers that do
    /// not exist.
    pub(super) fn check_subscriptions(
        &self,
        target: &Target,
        change: &Change<'_>,
        errors: &mut Vec<FieldError>,
    ) {
        for name in [DEPENDENCIES, SUBSCRIPTIONS] {
            let Some(text) = annotation(change.new, name) else { continue };
            if change.old.and_then(|old| annotation(old, name)) == Some(text) {
                continue;
            }
            let mut refuse = |detail: String| {
                let shown: String = text.chars().take(SHOWN).collect();
                errors.push(FieldError::invalid(format!("metadata.annotations[{name}]"), shown, detail));
            };
            match subscription::parse(text) {
                Ok(subscriptions) => self.check_handlers(target, subscriptions, &mut refuse),
                Err(bad) => refuse(bad.to_string()),
            }
        }
    }

    fn check_handlers(
        &self,
        target: &Target,
        subscriptions: Vec<Subscription>,
        refuse: &mut dyn FnMut(String),
    ) {
        let (group, kind) = (&target.kind.resource.group, &target.kind.kind);
        let Some(class) = self.kinds().current().class_of(group, kind) else { return };
        for subscription in subscriptions {
            if let Some(handler) =
                subscription.handler.filter(|handler| !class.handlers.contains_key(handler))
            {
                let known: Vec<&str> = class.handlers.keys().map(String::as_str).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                let target = subscription.target;
                refuse(format!("{target}: the class of {kind} has no handler {handler:?}; it has: {known}"));
            }
        }
    }
}

fn annotation<'a>(document: &'a Document, name: &str) -> Option<&'a str> {
    document.metadata().get("annotations")?.get(name)?.as_str()
}
