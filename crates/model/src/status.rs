//! The `Status` document: how every refusal, and the success of a removal, is said on the wire.
//!
//! The words, codes and reasons are those that Kubernetes' clients branch on.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::bulk::reason;
use crate::ids::GroupResource;
use crate::invalid::FieldError;

/// A machine-readable detail of a refusal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// What sort of problem, e.g. `FieldValueInvalid`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// For people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Where in the document.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub field: String,
}

/// What a status speaks of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    /// The object's name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The API group.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The plural resource, or the kind for invalid documents.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The uid.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// Why exactly.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// When to try again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retry_after_seconds: u32,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// An answer that is not an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Always `Status`.
    pub kind: Cow<'static, str>,
    /// Always `v1`.
    pub api_version: Cow<'static, str>,
    /// Empty, except for the fresh `continue` of an expired list.
    #[serde(default)]
    pub metadata: Map<String, Value>,
    /// `Success` or `Failure`.
    #[serde(default)]
    pub status: Cow<'static, str>,
    /// For people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// One word that clients branch on.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub reason: Cow<'static, str>,
    /// What it speaks of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Details>,
    /// The HTTP code.
    #[serde(default)]
    pub code: u16,
}

impl Status {
    fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Status {
        Status {
            kind: "Status".into(),
            api_version: "v1".into(),
            metadata: Map::new(),
            status: if code < 400 { "Success" } else { "Failure" }.into(),
            message: message.into(),
            reason: reason.into(),
            details: None,
            code,
        }
    }

    fn about(mut self, kind: &GroupResource, name: &str) -> Status {
        let details = self.details.get_or_insert_with(Details::default);
        details.name = name.to_owned();
        details.group.clone_from(&kind.group);
        details.kind.clone_from(&kind.resource);
        self
    }

    fn details(&mut self) -> &mut Details {
        self.details.get_or_insert_with(Details::default)
    }

    /// Adds a cause.
    #[must_use]
    pub fn because(mut self, reason: &str, message: impl Into<String>, field: impl Into<String>) -> Status {
        self.details().causes.push(Cause {
            reason: reason.to_owned(),
            message: message.into(),
            field: field.into(),
        });
        self
    }

    /// Says when to try again.
    #[must_use]
    pub fn retry_after(mut self, seconds: u32) -> Status {
        self.details().retry_after_seconds = seconds;
        self
    }

    /// 200: the object was removed at once.
    pub fn removed(kind: &GroupResource, name: &str, uid: &str) -> Status {
        let mut status = Status::new(200, "", "").about(kind, name);
        status.details().uid = uid.to_owned();
        status
    }

    /// 400: the request cannot be understood.
    pub fn bad_request(message: impl Into<String>) -> Status {
        Status::new(400, "BadRequest", message)
    }

    /// 401: the requester did not prove its identity.
    pub fn unauthorized() -> Status {
        Status::new(401, "Unauthorized", "Unauthorized")
    }

    /// 403: understood and refused.
    pub fn forbidden(kind: &GroupResource, name: &str, why: impl fmt::Display) -> Status {
        Status::new(403, "Forbidden", format!("{kind} \"{name}\" is forbidden: {why}")).about(kind, name)
    }

    /// 403 that speaks of no object.
    pub fn refused(message: impl Into<String>) -> Status {
        Status::new(403, "Forbidden", message)
    }

    /// 404: no such object.
    pub fn not_found(kind: &GroupResource, name: &str) -> Status {
        Status::new(404, "NotFound", format!("{kind} \"{name}\" not found")).about(kind, name)
    }

    /// 404: no such path.
    pub fn no_such_path() -> Status {
        Status::new(404, "NotFound", "the server could not find the requested resource")
    }

    /// 405: the verb is not offered here.
    pub fn method_not_allowed() -> Status {
        let message = "the server does not allow this method on the requested resource";
        Status::new(405, "MethodNotAllowed", message)
    }

    /// 406: no acceptable answer can be given.
    pub fn not_acceptable(offered: &str) -> Status {
        let message = format!("only the following media types are accepted: {offered}");
        Status::new(406, "NotAcceptable", message)
    }

    /// 409: the name is taken. If the object that has it is terminating, the message says so.
    pub fn already_exists(kind: &GroupResource, name: &str, terminating: bool) -> Status {
        let prefix = if terminating { "object is being deleted: " } else { "" };
        Status::new(409, "AlreadyExists", format!("{prefix}{kind} \"{name}\" already exists"))
            .about(kind, name)
    }

    /// 409: the world is not what the caller thinks.
    pub fn conflict(kind: &GroupResource, name: &str, why: impl fmt::Display) -> Status {
        let message = format!("Operation cannot be fulfilled on {kind} \"{name}\": {why}");
        Status::new(409, "Conflict", message).about(kind, name)
    }

    /// 409: something refers to the object. Which objects do follows with [`Status::because`].
    pub fn still_referenced(kind: &GroupResource, name: &str, by: &str) -> Status {
        let by =
            if by.is_empty() { "something refers to it".into() } else { format!("still referenced by {by}") };
        let message = format!("Operation cannot be fulfilled on {kind} \"{name}\": {by}");
        Status::new(409, reason::STILL_REFERENCED, message).about(kind, name)
    }

    /// 409: objects exist that must be gone. Which ones follows with [`Status::because`].
    pub fn still_present(kind: &GroupResource, name: &str, uids: &str) -> Status {
        let message = format!("Operation cannot be fulfilled on {kind} \"{name}\": still there: {uids}");
        Status::new(409, reason::STILL_PRESENT, message).about(kind, name)
    }

    /// 409: the owners are not those for which the caller decided.
    pub fn owners_changed(kind: &GroupResource, name: &str, owners: &str) -> Status {
        let message =
            format!("Operation cannot be fulfilled on {kind} \"{name}\": its owners are now: {owners}");
        Status::new(409, reason::OWNERS_CHANGED, message).about(kind, name)
    }

    /// 409: objects are not terminating although the write follows from that.
    pub fn not_marked(kind: &GroupResource, name: &str, uids: &str) -> Status {
        let message = format!("Operation cannot be fulfilled on {kind} \"{name}\": not marked: {uids}");
        Status::new(409, reason::NOT_MARKED, message).about(kind, name)
    }

    /// 409: an annotation is not as it was when the caller decided.
    pub fn annotations_changed(kind: &GroupResource, name: &str, annotation: &str) -> Status {
        let message = format!(
            "Operation cannot be fulfilled on {kind} \"{name}\": its annotation {annotation} is another now"
        );
        Status::new(409, reason::ANNOTATIONS_CHANGED, message).about(kind, name)
    }

    /// 409: a label is not as it was when the caller decided.
    pub fn labels_changed(kind: &GroupResource, name: &str, label: &str) -> Status {
        let message =
            format!("Operation cannot be fulfilled on {kind} \"{name}\": its label {label} is another now");
        Status::new(409, reason::LABELS_CHANGED, message).about(kind, name)
    }

    /// 409: it is protected.
    pub fn protected(kind: &GroupResource, name: &str) -> Status {
        let message = format!("Operation cannot be fulfilled on {kind} \"{name}\": it is protected");
        Status::new(409, reason::PROTECTED, message).about(kind, name)
    }

    /// 409: the caller's turn is over.
    pub fn stale_epoch(message: impl Into<String>) -> Status {
        Status::new(409, reason::STALE_EPOCH, message)
    }

    /// 409: another manager owns fields that were applied. The causes follow with [`Status::because`].
    pub fn apply_conflict(message: impl Into<String>) -> Status {
        Status::new(409, "Conflict", message)
    }

    /// 410: that moment is no longer remembered.
    pub fn expired(message: impl Into<String>) -> Status {
        Status::new(410, "Expired", message)
    }

    /// 413: too many bytes.
    pub fn too_large(limit: usize) -> Status {
        let message = format!("Request entity too large: limit is {limit}");
        Status::new(413, "RequestEntityTooLarge", message)
    }

    /// 413: what a short body would become is too large.
    pub fn grown_too_large(why: impl Into<String>) -> Status {
        Status::new(413, "RequestEntityTooLarge", why)
    }

    /// 415: the body's type is not understood here.
    pub fn unsupported_media_type(got: &str, offered: &str) -> Status {
        let got =
            if got.is_empty() { "no Content-Type was sent".into() } else { format!("{got:?} was sent") };
        let message = format!(
            "the body of the request was in an unknown format ({got}) - accepted media types include: {offered}"
        );
        Status::new(415, "UnsupportedMediaType", message)
    }

    /// 422: understood, and wrong in these places.
    pub fn invalid(group: &str, kind: &str, name: &str, errors: &[FieldError]) -> Status {
        let qualified = if group.is_empty() { kind.to_owned() } else { format!("{kind}.{group}") };
        let list = match errors {
            [one] => one.to_string(),
            many => format!("[{}]", many.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
        };
        let mut status = Status::new(422, "Invalid", format!("{qualified} \"{name}\" is invalid: {list}"));
        status.details = Some(Details {
            name: name.to_owned(),
            group: group.to_owned(),
            kind: kind.to_owned(),
            causes: errors.iter().map(FieldError::cause).collect(),
            ..Details::default()
        });
        status
    }

    /// 422 for a patch that cannot be applied to what is there.
    pub fn unprocessable(message: impl Into<String>) -> Status {
        Status::new(422, "Invalid", message)
    }

    /// 429: come back later.
    pub fn too_many_requests(message: impl Into<String>, seconds: u32) -> Status {
        Status::new(429, "TooManyRequests", message).retry_after(seconds)
    }

    /// 500: our fault.
    pub fn internal(message: impl fmt::Display) -> Status {
        Status::new(500, "InternalError", format!("Internal error occurred: {message}"))
    }

    /// 503: not now.
    pub fn unavailable(message: impl Into<String>) -> Status {
        Status::new(503, "ServiceUnavailable", message).retry_after(1)
    }

    /// 504: waited long enough.
    pub fn timeout(message: impl Into<String>) -> Status {
        Status::new(504, "Timeout", message)
    }

    /// The code of a refusal because the disk is full.
    pub const STORAGE_FULL: u16 = 507;

    /// 507: no space on the disk.
    pub fn storage_full(message: impl Into<String>) -> Status {
        Status::new(Status::STORAGE_FULL, "InternalError", message)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Status {}
