//! Questions about identities and what they may do. Asked by POST, answered, and not stored.
//!
//! A requester that may ask at all may do everything, so there is one answer.

use axum::body::Body;
use bytes::Bytes;
use http::request::Parts;
use http::{Method, Response};
use serde_json::{Map, Value, json};
use sexton_model::document::type_of;
use sexton_model::{FieldError, Status};

use super::path::KindPlace;
use super::protobuf::Expected;
use super::{body, negotiate, respond};
use crate::api::Result;

const AUTHORIZATION: &str = "authorization.k8s.io";
const AUTHENTICATION: &str = "authentication.k8s.io";
/// The version of all of them.
pub(super) const VERSION: &str = "v1";
const EVERYBODY: &str = "whoever may ask this server may do everything";

/// A question that can be asked.
#[derive(Debug)]
pub(super) struct Review {
    pub(super) group: &'static str,
    pub(super) plural: &'static str,
    pub(super) kind: &'static str,
    pub(super) namespaced: bool,
    about: About,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    /// May I?
    MyAccess,
    /// May another user?
    Access,
    /// What may I?
    MyRules,
    /// What is my identity?
    Me,
}

const fn review(
    group: &'static str,
    plural: &'static str,
    kind: &'static str,
    namespaced: bool,
    about: About,
) -> Review {
    Review { group, plural, kind, namespaced, about }
}

/// All questions, by group and plural.
pub(super) const ALL: &[Review] = &[
    review(AUTHENTICATION, "selfsubjectreviews", "SelfSubjectReview", false, About::Me),
    review(AUTHORIZATION, "localsubjectaccessreviews", "LocalSubjectAccessReview", true, About::Access),
    review(AUTHORIZATION, "selfsubjectaccessreviews", "SelfSubjectAccessReview", false, About::MyAccess),
    review(AUTHORIZATION, "selfsubjectrulesreviews", "SelfSubjectRulesReview", false, About::MyRules),
    review(AUTHORIZATION, "subjectaccessreviews", "SubjectAccessReview", false, About::Access),
];

/// The requester of a review.
#[derive(Debug, Clone)]
pub(super) struct Asking<'a> {
    pub(super) user: &'a str,
    pub(super) group: &'static str,
}

/// The question at a path.
pub(super) fn find(place: &KindPlace) -> Option<&'static Review> {
    let here = |review: &&Review| {
        place.plural == review.plural
            && place.group == review.group
            && place.version == VERSION
            && place.subresource.is_none()
            && place.namespace.is_empty() != review.namespaced
    };
    ALL.iter().find(here)
}

impl Review {
    /// Whether a request can ask it. Nothing but a POST without a name does.
    pub(super) fn check(&self, parts: &Parts, place: &KindPlace) -> Result<()> {
        negotiate::form(&parts.headers)?;
        if parts.method == Method::POST && place.name.is_none() {
            Ok(())
        } else {
            Err(Status::method_not_allowed().into())
        }
    }

    /// Answers it: the question, with its status.
    pub(super) fn answer(
        &self,
        parts: &Parts,
        namespace: &str,
        bytes: &Bytes,
        asking: &Asking<'_>,
    ) -> Result<Response<Body>> {
        let expected = Expected { group: self.group, version: VERSION, kind: self.kind };
        let mut review = match body::value(&parts.headers, bytes, expected)?.0 {
            Value::Object(review) => review,
            other => {
                let message = format!("expected a {}, not {}", self.kind, type_of(&other));
                return Err(Status::bad_request(message).into());
            }
        };
        self.name(&mut review)?;
        let status = self.status(&review, namespace, asking)?;
        review.insert("status".into(), status);
        review.entry("metadata").or_insert_with(|| json!({"creationTimestamp": null}));
        Ok(respond::value(201, &review))
    }

    /// Compares what the question says of itself with where it was asked.
    fn name(&self, review: &mut Map<String, Value>) -> Result<()> {
        let api_version = format!("{}/{VERSION}", self.group);
        for (field, expected) in [("apiVersion", api_version.as_str()), ("kind", self.kind)] {
            let is = review.get(field).cloned().unwrap_or_default();
            if !is.is_null() && is != "" && is != expected {
                let message = format!(
                    "the {field} in the data ({is}) does not match the expected {field} ({expected})"
                );
                return Err(Status::bad_request(message).into());
            }
            review.insert(field.into(), expected.into());
        }
        Ok(())
    }

    fn status(&self, review: &Map<String, Value>, namespace: &str, asking: &Asking<'_>) -> Result<Value> {
        let empty = json!({});
        let spec = review.get("spec").filter(|spec| !spec.is_null()).unwrap_or(&empty);
        if !spec.is_object() {
            return Err(
                Status::bad_request(format!("spec: expected an object, not {}", type_of(spec))).into()
            );
        }
        let mut errors = Vec::new();
        match self.about {
            About::Me => {
                return Ok(json!({"userInfo": {"username": asking.user, "groups": [asking.group]}}));
            }
            About::MyRules if spec["namespace"].as_str().unwrap_or("").is_empty() => {
                return Err(Status::bad_request("no namespace on request").into());
            }
            About::MyRules => return Ok(all_rules()),
            About::MyAccess => check_attributes(spec, &mut errors),
            About::Access => {
                check_attributes(spec, &mut errors);
                check_subject(spec, &mut errors);
            }
        }
        if self.namespaced {
            check_namespace(spec, namespace, &mut errors);
        }
        if errors.is_empty() {
            return Ok(json!({"allowed": true, "reason": EVERYBODY}));
        }
        Err(Status::invalid(self.group, self.kind, "", &errors).into())
    }
}

fn all_rules() -> Value {
    json!({
        "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
        "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
        "incomplete": false,
    })
}

/// It is about a resource or about a path.
fn check_attributes(spec: &Value, errors: &mut Vec<FieldError>) {
    let (resource, path) = (&spec["resourceAttributes"], &spec["nonResourceAttributes"]);
    if !resource.is_null() && !path.is_null() {
        let detail = "cannot be specified in combination with resourceAttributes";
        errors.push(FieldError::invalid("spec.nonResourceAttributes", path.clone(), detail));
    }
    if resource.is_null() && path.is_null() {
        let detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
        errors.push(FieldError::invalid("spec.resourceAttributes", resource.clone(), detail));
    }
}

fn check_subject(spec: &Value, errors: &mut Vec<FieldError>) {
    let nobody = spec["user"].as_str().unwrap_or("").is_empty();
    if nobody && spec["groups"].as_array().is_none_or(Vec::is_empty) {
        let detail = "at least one of user or group must be specified";
        errors.push(FieldError::invalid("spec.user", spec["user"].clone(), detail));
    }
}

/// A question in a namespace is about that namespace.
fn check_namespace(spec: &Value, namespace: &str, errors: &mut Vec<FieldError>) {
    let asked = &spec["resourceAttributes"]["namespace"];
    if spec["resourceAttributes"].is_object() && asked.as_str() != Some(namespace) {
        let detail = "must match metadata.namespace";
        errors.push(FieldError::invalid("spec.resourceAttributes.namespace", asked.clone(), detail));
    }
    if !spec["nonResourceAttributes"].is_null() {
        let path = spec["nonResourceAttributes"].clone();
        errors.push(FieldError::invalid(
            "spec.nonResourceAttributes",
            path,
            "disallowed on this kind of request",
        ));
    }
}
