//! The answer to a list: written in pieces, so that a large one is never in memory as a whole.

use axum::body::Body;
use bytes::Bytes;
use futures::stream;
use http::Response;
use serde_json::{Value, json};
use sexton_model::stored::NotStored;
use sexton_store::Object;

use super::negotiate::Form;
use super::table::{Include, Table};
use super::{compress, respond};
use crate::api::{Listed, Result};
use crate::kinds::Kind;

/// Pieces about this large go out one by one.
const PIECE: usize = 256 << 10;

/// A list in the form asked for; if it may be packed and is large, it is. What is held is given back when the last piece is gone.
pub(super) fn respond<Held: Send + 'static>(
    kind: &Kind,
    listed: Listed,
    form: Form,
    now: i64,
    include: &str,
    packed: bool,
    held: Held,
) -> Result<Response<Body>> {
    let metadata = metadata(&listed);
    let api_version = kind.api_version();
    let (items, head) = match form {
        Form::Table => {
            let table = Table::new(kind, now, Include::parse(include)?);
            let head = table.head(&metadata, true);
            (Items::Rows(table), head)
        }
        Form::Metadata => (Items::Metadata, head("PartialObjectMetadataList", "meta.k8s.io/v1", &metadata)),
        Form::Plain => {
            let head = head(&kind.list_kind, &api_version, &metadata);
            (Items::Whole(api_version), head)
        }
    };
    let pieces = Pieces { items, objects: listed.objects.into_iter(), head: Some(head), _held: held };
    if packed {
        return Ok(packed_if_large(pieces));
    }
    Ok(respond::json(200, Body::from_stream(stream::iter(pieces))))
}

/// A list whose first piece is small has no other.
fn packed_if_large<Held: Send + 'static>(pieces: Pieces<Held>) -> Response<Body> {
    let mut pieces = pieces.peekable();
    let large = matches!(pieces.peek(), Some(Ok(first)) if first.len() >= compress::LEAST);
    let pieces = stream::iter(pieces);
    match large {
        true => compress::marked(respond::json(200, Body::from_stream(compress::pieces(pieces)))),
        false => respond::json(200, Body::from_stream(pieces)),
    }
}

fn metadata(listed: &Listed) -> Value {
    let mut metadata = json!({"resourceVersion": listed.revision.to_string()});
    if !listed.continue_token.is_empty() {
        metadata["continue"] = listed.continue_token.as_str().into();
    }
    if let Some(remaining) = listed.remaining {
        metadata["remainingItemCount"] = remaining.into();
    }
    metadata
}

fn head(kind: &str, api_version: &str, metadata: &Value) -> Vec<u8> {
    let (kind, api_version) = (json!(kind), json!(api_version));
    format!(r#"{{"kind":{kind},"apiVersion":{api_version},"metadata":{metadata},"items":["#).into_bytes()
}

/// What is written of each object.
enum Items {
    /// Everything, in this version.
    Whole(String),
    Metadata,
    Rows(Table),
}

impl Items {
    fn write(&self, object: &Object, out: &mut Vec<u8>) -> std::result::Result<(), NotStored> {
        match self {
            Items::Whole(api_version) => object.stored.write_in(api_version, object.revision, out),
            Items::Metadata => object.stored.write_metadata(object.revision, out),
            Items::Rows(table) => table.row(object, out),
        }
    }
}

/// The text of a list, piece by piece. An object that cannot be read ends the answer in the middle: the client sees a
/// broken answer, never a shorter list.
struct Pieces<Held> {
    items: Items,
    objects: std::vec::IntoIter<Object>,
    /// The beginning of the list, until it has gone out.
    head: Option<Vec<u8>>,
    _held: Held,
}

impl<Held> Iterator for Pieces<Held> {
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
            if let Err(error) = self.items.write(&object, &mut out) {
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
