//! Deleting one object, and whether it is gone then.

use http::Method;
use serde_json::{Map, Value, json};
use sexton_model::{Policy, Status};

use super::{Place, Resources, text};
use crate::call::{Call, CallError};

/// Why an object was not deleted.
#[derive(Debug, thiserror::Error)]
pub enum DeleteError {
    /// There is none of that name.
    #[error("{0}")]
    NotFound(Box<Status>),
    /// The name has another uid now, or the object another version, than the one that was meant.
    #[error("{0}")]
    Changed(Box<Status>),
    /// Anything else.
    #[error(transparent)]
    Call(CallError),
}

impl From<CallError> for DeleteError {
    fn from(error: CallError) -> Self {
        match (error.code(), error) {
            (404, CallError::Refused(status)) => DeleteError::NotFound(status),
            (409, CallError::Refused(status)) => DeleteError::Changed(status),
            (_, error) => DeleteError::Call(error),
        }
    }
}

/// How to delete.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeleteAsk {
    /// What becomes of dependents; cascade is what the server does when no policy is sent.
    pub policy: Option<Policy>,
    /// The uid that is meant.
    pub uid: Option<String>,
    /// The version of it that is meant.
    pub resource_version: Option<String>,
    /// Do everything but delete.
    pub dry_run: bool,
}

impl DeleteAsk {
    fn body(&self) -> Value {
        let mut body = Map::new();
        body.insert("kind".into(), "DeleteOptions".into());
        body.insert("apiVersion".into(), "v1".into());
        let policy = match self.policy {
            Some(Policy::Background) => Some("Background"),
            Some(Policy::Foreground) => Some("Foreground"),
            Some(Policy::Orphan) => Some("Orphan"),
            Some(Policy::Cascade) | None => None,
        };
        if let Some(policy) = policy {
            body.insert("propagationPolicy".into(), policy.into());
        }
        let mut conditions = Map::new();
        for (name, value) in [("uid", &self.uid), ("resourceVersion", &self.resource_version)] {
            if let Some(value) = value {
                conditions.insert(name.into(), value.as_str().into());
            }
        }
        if !conditions.is_empty() {
            body.insert("preconditions".into(), Value::Object(conditions));
        }
        if self.dry_run {
            body.insert("dryRun".into(), json!(["All"]));
        }
        Value::Object(body)
    }
}

/// Whether it is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The object is gone.
    Gone,
    /// It is terminating, and goes when these let go of it.
    Held {
        /// The finalizers, its own and those of its spec.
        finalizers: Vec<String>,
    },
}

/// A deletion that was taken.
#[derive(Debug, Clone)]
pub struct Deleted {
    /// Whether it is over.
    pub ending: Ending,
    /// What the server wants people to know.
    pub warnings: Vec<String>,
}

impl Resources {
    /// Asks for the end of one object.
    ///
    /// # Errors
    /// See [`DeleteError`].
    pub async fn delete(&self, place: &Place, name: &str, ask: &DeleteAsk) -> Result<Deleted, DeleteError> {
        let call = Call::new(Method::DELETE, place.path_of(name)).body("application/json", &ask.body());
        let answer = call.proving(self.proof.as_ref()).send(&self.client).await?;
        self.known.wrote(&place.kind).await;
        let ending = self.ending(place, name, &answer.value, ask.dry_run).await?;
        Ok(Deleted { ending, warnings: answer.warnings })
    }

    /// Some kinds answer a deletion with the last document although the object is gone, so a terminating object is read
    /// again.
    async fn ending(
        &self,
        place: &Place,
        name: &str,
        answer: &Value,
        dry_run: bool,
    ) -> Result<Ending, CallError> {
        if answer["kind"] == "Status" || text(answer, "/metadata/deletionTimestamp").is_empty() {
            return Ok(Ending::Gone);
        }
        if dry_run {
            return Ok(held_by(answer));
        }
        match self.find(place, name).await? {
            Some(now) if text(&now, "/metadata/uid") == text(answer, "/metadata/uid") => Ok(held_by(&now)),
            _ => Ok(Ending::Gone),
        }
    }
}

fn held_by(object: &Value) -> Ending {
    let list = |pointer: &str| object.pointer(pointer).and_then(Value::as_array).into_iter().flatten();
    let names = list("/metadata/finalizers").chain(list("/spec/finalizers"));
    Ending::Held { finalizers: names.filter_map(Value::as_str).map(str::to_owned).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cascade_names_no_policy() {
        let ask = DeleteAsk { policy: Some(Policy::Cascade), uid: Some("u".into()), ..DeleteAsk::default() };
        let body = ask.body();
        assert_eq!(body["propagationPolicy"], Value::Null);
        assert_eq!(body["preconditions"], json!({"uid": "u"}));
        let ask = DeleteAsk { policy: Some(Policy::Orphan), dry_run: true, ..DeleteAsk::default() };
        assert_eq!(
            (&ask.body()["propagationPolicy"], &ask.body()["dryRun"]),
            (&json!("Orphan"), &json!(["All"]))
        );
    }

    #[test]
    fn both_lists_of_finalizers_hold() {
        let object = json!({"metadata": {"finalizers": ["a"]}, "spec": {"finalizers": ["kubernetes"]}});
        assert_eq!(held_by(&object), Ending::Held { finalizers: vec!["a".into(), "kubernetes".into()] });
    }
}
