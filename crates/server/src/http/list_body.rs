//! The answer to a list: written in pieces, so that a large one is never in memory as a whole.

use axum::body::Body;
use bytes::Bytes;
use futures::stream;
use http::Response;
use serde_json::json;
use sexton_model::stored::NotStored;
use sexton_store::Object;

use super::negotiate::Form;
use super::respond;
use super::table::{Include, Table};
use crate::api::{Listed, Result};
use crate::kinds::Kind;

/// Pieces about this large go out one by one.
const PIECE: usize = 256 << 10;

/// A list in the form asked for.
pub(super) fn respond(
    kind: &Kind,
    listed: Listed,
    form: Form,
    now: i64,
    include: &str,
) -> Result<Response<Body>> {
    if form == Form::Table {
        let mut table = Table::new(kind, now, Include::parse(include)?);
        for object in &listed.objects {
            table.add(object)?;
        }
        let table = table.finish(listed.revision, &listed.continue_token, listed.remaining);
        return Ok(respond::value(200, &table));
    }
    let head = Some(head(kind, &listed, form));
    let pieces = Pieces { form, api_version: kind.api_version(), objects: listed.objects.into_iter(), head };
    Ok(respond::json(200, Body::from_stream(stream::iter(pieces))))
}

fn head(kind: &Kind, listed: &Listed, form: Form) -> Vec<u8> {
    let mut metadata = json!({"resourceVersion": listed.revision.to_string()});
    if !listed.continue_token.is_empty() {
        metadata["continue"] = listed.continue_token.as_str().into();
    }
    if let Some(remaining) = listed.remaining {
        metadata["remainingItemCount"] = remaining.into();
    }
    let (list_kind, api_version) = match form {
        Form::Metadata => ("PartialObjectMetadataList", "meta.k8s.io/v1".to_owned()),
        _ => (kind.list_kind.as_str(), kind.api_version()),
    };
    format!(r#"{{"kind":"{list_kind}","apiVersion":"{api_version}","metadata":{metadata},"items":["#)
        .into_bytes()
}

/// The text of a list, piece by piece. An object that cannot be read ends the answer in the middle: the client sees a
/// broken answer, never a shorter list.
struct Pieces {
    form: Form,
    api_version: String,
    objects: std::vec::IntoIter<Object>,
    /// The beginning of the list, until it has gone out.
    head: Option<Vec<u8>>,
}

impl Iterator for Pieces {
    type Item = std::result::Result<Bytes, NotStored>;

    fn next(&mut self) -> Option<Self::Item> {
        let first = self.head.is_some();
        let mut out = match self.head.take() {
            Some(head) => head,
            None if self.objects.len() == 0 => return None,
            None => Vec::with_capacity(PIECE + (16 << 10)),
        };
        let mut comma = !first;
        while out.len() < PIECE {
            let Some(object) = self.objects.next() else { break };
            if comma {
                out.push(b',');
            }
            comma = true;
            let written = match self.form {
                Form::Metadata => object.stored.write_metadata(object.revision, &mut out),
                _ => object.stored.write_in(&self.api_version, object.revision, &mut out),
            };
            if let Err(error) = written {
                tracing::error!(%error, "a stored object cannot be read, the list is broken off");
                return Some(Err(error));
            }
        }
        if self.objects.len() == 0 {
            out.extend_from_slice(b"]}");
        }
        Some(Ok(out.into()))
    }
}
