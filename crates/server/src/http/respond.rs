//! Answers: objects, statuses, headers.

use axum::body::Body;
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER, WARNING};
use http::{Response, StatusCode};
use serde::Serialize;
use sexton_model::{DeleteOptions, Document, Revision, Status, Stored};
use sexton_store::Object;

use super::negotiate::Form;
use super::table::{Include, Table};
use crate::api::{Outcome, Result, Written};
use crate::kinds::Kind;

/// JSON bytes as an answer.
pub(super) fn json(code: u16, bytes: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(bytes.into());
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Any value as an answer.
pub(super) fn value(code: u16, value: &impl Serialize) -> Response<Body> {
    match serde_json::to_vec(value) {
        Ok(bytes) => json(code, bytes),
        Err(error) => status(&Status::internal(error)),
    }
}

/// A status as an answer.
pub(super) fn status(status: &Status) -> Response<Body> {
    let mut response = value(status.code, status);
    let retry = status.details.as_ref().map_or(0, |details| details.retry_after_seconds);
    if retry > 0 {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(retry));
    }
    response
}

/// One stored object in the form asked for.
pub(super) fn object(
    kind: &Kind,
    object: &Object,
    form: Form,
    now: i64,
    include: &str,
) -> Result<Response<Body>> {
    let mut bytes = Vec::with_capacity(object.stored.bytes().len() + 64);
    match form {
        Form::Plain => object.stored.write_in(&kind.api_version(), object.revision, &mut bytes)?,
        Form::Metadata => object.stored.write_metadata(object.revision, &mut bytes)?,
        Form::Table => {
            bytes = Table::new(kind, now, Include::parse(include)?).single(object, true)?;
        }
    }
    Ok(json(200, bytes))
}

/// The outcome of a write.
pub(super) fn written(kind: &Kind, written: Written, form: Form, now: i64) -> Result<Response<Body>> {
    let Written { outcome, created, warnings } = written;
    let mut response = match outcome {
        Outcome::Stored(stored) => object(kind, &stored, form, now, "")?,
        Outcome::Document(document) => transient(kind, &document, form, now)?,
        Outcome::Removed { name, uid } => status(&Status::removed(&kind.resource, &name, &uid)),
    };
    if created {
        *response.status_mut() = StatusCode::CREATED;
    }
    warn(&mut response, &warnings);
    Ok(response)
}

/// Something that is not stored, or no longer: answered in the same forms as what is.
fn transient(kind: &Kind, document: &Document, form: Form, now: i64) -> Result<Response<Body>> {
    let version = document.resource_version();
    if version.is_empty() && form == Form::Plain {
        return Ok(value(200, document.value()));
    }
    let revision = version.parse().unwrap_or(Revision::NONE);
    let stand_in = Object { key: Vec::new().into(), revision, stored: Stored::encode(document) };
    object(kind, &stand_in, form, now, "")
}

/// The outcome of a delete. Only an explicit `orphanDependents: false` that did not remove at once is a 202.
pub(super) fn deleted(
    kind: &Kind,
    outcome: Written,
    form: Form,
    now: i64,
    options: &DeleteOptions,
) -> Result<Response<Body>> {
    let pending = matches!(&outcome.outcome, Outcome::Stored(_));
    let mut response = written(kind, outcome, form, now)?;
    if pending && options.orphan_dependents == Some(false) {
        *response.status_mut() = StatusCode::ACCEPTED;
    }
    Ok(response)
}

/// Warnings become headers that kubectl prints. Only printable ASCII fits into them.
pub(super) fn warn(response: &mut Response<Body>, warnings: &[String]) {
    const MOST: usize = 16;
    for warning in warnings.iter().take(MOST) {
        let plain = warning.chars().take(512).map(|c| if (' '..='~').contains(&c) { c } else { '?' });
        let plain: String = plain.collect::<String>().replace('\\', "\\\\").replace('"', "\\\"");
        if let Ok(header) = HeaderValue::from_str(&format!("299 - \"{plain}\"")) {
            response.headers_mut().append(WARNING, header);
        }
    }
}
