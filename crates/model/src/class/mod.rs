//! Classes: the code that a kind brings for the end of its objects.
//!
//! It must not know when that code is called, or how a call is made.

mod method;
pub(crate) mod read;

pub use method::{DEFAULT_DEADLINE, DEFAULT_OUTPUT, MAX_SOURCE, Method, Run};

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::invalid::FieldError;
use crate::names;
use read::{Errors, number, object, text};

/// `apiVersion` of classes, and of all that is ours.
pub const API_VERSION: &str = "sexton.dev/v1";
/// The name of the method that ends an object.
pub const DESTROY: &str = "destroy";
/// More handlers are refused.
pub const MAX_HANDLERS: usize = 100;

/// What a kind brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class {
    /// The group of the kind; empty for the core group.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// What ends an object.
    pub destroy: Option<Method>,
    /// What its objects hear with when something that they subscribed to ends.
    pub handlers: BTreeMap<String, Method>,
    /// How often, and how patiently.
    pub retry: Retry,
}

/// How failed calls are repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// Calls after the first one; then a person has to look.
    pub limit: u32,
    /// The pause after the first failure; it doubles with each one.
    pub backoff: Duration,
    /// The longest pause.
    pub max_backoff: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Retry { limit: 10, backoff: Duration::from_secs(1), max_backoff: Duration::from_secs(300) }
    }
}

impl Retry {
    /// The pause after the call of this number, counted from 1, has failed.
    pub fn pause_after(&self, attempt: u32) -> Duration {
        let doubled = 2_u32.checked_pow(attempt.saturating_sub(1)).unwrap_or(u32::MAX);
        self.backoff.saturating_mul(doubled).min(self.max_backoff)
    }

    /// Whether another call may follow the one of this number, counted from 1.
    pub fn allows_after(&self, attempt: u32) -> bool {
        attempt <= self.limit
    }
}

impl Class {
    /// Reads a whole document of kind `Class`.
    ///
    /// # Errors
    /// All that is wrong with it, each with its place.
    pub fn parse(document: &Value) -> Result<Class, Vec<FieldError>> {
        let mut errors = Errors::new();
        let class = class(document, &mut errors);
        match (class, errors.is_empty()) {
            (Some(class), true) => Ok(class),
            (None, true) => Err(vec![FieldError::required("spec", "a class says what it is for")]),
            (_, false) => Err(errors),
        }
    }

    /// The method of a name: `destroy`, or a handler.
    pub fn method(&self, name: &str) -> Option<&Method> {
        if name == DESTROY { self.destroy.as_ref() } else { self.handlers.get(name) }
    }
}

fn class(document: &Value, errors: &mut Errors) -> Option<Class> {
    let known = ["apiVersion", "kind", "metadata", "spec", "status"];
    let document = object(document, "", &known, errors)?;
    for (field, right) in [("apiVersion", API_VERSION), ("kind", "Class")] {
        if let Some(said) = document.get(field).filter(|said| *said != right) {
            errors.push(FieldError::not_supported(field, said.clone(), &[right]));
        }
    }
    let Some(spec) = document.get("spec") else {
        errors.push(FieldError::required("spec", "a class says what it is for, as spec.for"));
        return None;
    };
    let spec = object(spec, "spec", &["for", DESTROY, "handlers", "retry"], errors)?;
    let subject = subject(spec, errors);
    let destroy = spec.get(DESTROY).and_then(|value| method::read(value, "spec.destroy", errors));
    let handlers = handlers(spec, errors);
    let retry = spec.get("retry").map_or(Some(Retry::default()), |value| retry(value, errors));
    let (group, kind) = subject?;
    Some(Class { group, kind, destroy, handlers, retry: retry? })
}

/// Group and kind of the objects that the class is for.
fn subject(spec: &Map<String, Value>, errors: &mut Errors) -> Option<(String, String)> {
    let Some(value) = spec.get("for") else {
        let example = "the kind that the class is for, e.g. {group: example.com, kind: Vm}";
        errors.push(FieldError::required("spec.for", example));
        return None;
    };
    let subject = object(value, "spec.for", &["group", "kind"], errors)?;
    let group = if subject.contains_key("group") { text(subject, "spec.for", "group", errors)? } else { "" };
    let kind = text(subject, "spec.for", "kind", errors)?;
    if !group.is_empty()
        && let Err(complaint) = names::dns_subdomain(group)
    {
        errors.push(FieldError::invalid("spec.for.group", group, complaint));
    }
    if names::dns1035_label(&kind.to_ascii_lowercase()).is_err() {
        let detail = "must be the name of a kind: letters, digits and '-', a letter first, e.g. 'Vm'";
        errors.push(FieldError::invalid("spec.for.kind", kind, detail));
    }
    Some((group.to_owned(), kind.to_owned()))
}

fn handlers(spec: &Map<String, Value>, errors: &mut Errors) -> BTreeMap<String, Method> {
    let mut handlers = BTreeMap::new();
    let Some(value) = spec.get("handlers") else { return handlers };
    let Some(map) = value.as_object() else {
        let detail = "must be a map of names to methods, e.g. vmGone: {http: {url: …}}";
        errors.push(FieldError::invalid("spec.handlers", value.clone(), detail));
        return handlers;
    };
    if map.len() > MAX_HANDLERS {
        errors.push(FieldError::too_many("spec.handlers", map.len(), MAX_HANDLERS));
        return handlers;
    }
    for (name, value) in map {
        if let Err(complaint) = handler_name(name) {
            errors.push(FieldError::invalid("spec.handlers", name.as_str(), complaint));
        } else if let Some(method) = method::read(value, &format!("spec.handlers[{name}]"), errors) {
            handlers.insert(name.clone(), method);
        }
    }
    handlers
}

/// Whether a handler can be called so.
///
/// # Errors
/// Why not, in words.
pub fn handler_name(name: &str) -> Result<(), names::Complaint> {
    let mut bytes = name.bytes();
    let begins = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    if !begins || !bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') || name.len() > 63 {
        return Err("the name of a handler is made of at most 63 letters, digits and '_', \
                    and does not begin with a digit, e.g. 'vmGone'"
            .into());
    }
    if name == DESTROY {
        return Err("a handler cannot be called 'destroy': that is the method that ends an object".into());
    }
    Ok(())
}

fn retry(value: &Value, errors: &mut Errors) -> Option<Retry> {
    const DAY: u64 = 86_400;
    let path = "spec.retry";
    let map = object(value, path, &["limit", "backoffSeconds", "maxBackoffSeconds"], errors)?;
    let usual = Retry::default();
    let limit = number(map, path, "limit", 0..=1_000, usual.limit.into(), errors)?;
    let backoff = number(map, path, "backoffSeconds", 0..=DAY, usual.backoff.as_secs(), errors)?;
    let most = usual.max_backoff.as_secs().max(backoff);
    let max_backoff = number(map, path, "maxBackoffSeconds", 0..=DAY, most, errors)?;
    if max_backoff < backoff {
        let detail = format!("must not be less than backoffSeconds, which is {backoff}");
        errors.push(FieldError::invalid("spec.retry.maxBackoffSeconds", max_backoff, detail));
    }
    Some(Retry {
        limit: u32::try_from(limit).unwrap_or(u32::MAX),
        backoff: Duration::from_secs(backoff),
        max_backoff: Duration::from_secs(max_backoff),
    })
}

#[cfg(test)]
mod tests;
