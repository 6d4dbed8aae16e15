//! The answer to a list: written in pieces while it is read, so that a large one is never in memory as a whole.

use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use futures::stream::{self, Stream, StreamExt};
use http::Response;
use serde_json::{Value, json};
use sexton_store::Object;

use super::negotiate::Form;
use super::table::{Include, Table};
use super::{compress, respond};
use crate::api::{Failure, Listing, Result};
use crate::kinds::Kind;

/// Pieces about this large go out one by one: each list that is not read holds one or two.
const PIECE_BYTES: usize = 64 << 10;

/// A list in the form asked for; if it may be packed and is large, it is.
pub(super) async fn respond(
    kind: &Arc<Kind>,
    listing: Listing,
    form: Form,
    now: i64,
    include: &str,
    packed: bool,
) -> Result<Response<Body>> {
    let metadata = metadata(&listing);
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
    let kind = kind.gives_defaults().then(|| kind.clone());
    let slice = Vec::new().into_iter();
    let pieces = Pieces { items, kind, listing, slice, head: Some(head), comma: false, ended: false };
    let pieces = stream::unfold(pieces, Pieces::next);
    if packed {
        return Ok(packed_if_large(Box::pin(pieces)).await);
    }
    Ok(respond::json(200, Body::from_stream(pieces)))
}

/// A list whose first piece is small has no other.
async fn packed_if_large(
    pieces: impl Stream<Item = std::result::Result<Bytes, Failure>> + Unpin + Send + 'static,
) -> Response<Body> {
    let mut pieces = pieces.peekable();
    let first = std::pin::Pin::new(&mut pieces).peek().await;
    match matches!(first, Some(Ok(first)) if first.len() >= compress::LEAST) {
        true => compress::marked(respond::json(200, Body::from_stream(compress::pieces(pieces)))),
        false => respond::json(200, Body::from_stream(pieces)),
    }
}

fn metadata(listed: &Listing) -> Value {
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
    fn write(&self, object: &Object, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Items::Whole(api_version) => object.stored.write_in(api_version, object.revision, out)?,
            Items::Metadata => object.stored.write_metadata(object.revision, out)?,
            Items::Rows(table) => table.row(object, out)?,
        }
        Ok(())
    }
}

/// The text of a list, piece by piece. An object that cannot be read ends the answer in the middle: the client sees a
/// broken answer, never a shorter list.
struct Pieces {
    items: Items,
    /// If its definition fills something in.
    kind: Option<Arc<Kind>>,
    listing: Listing,
    slice: std::vec::IntoIter<Object>,
    /// The beginning of the list, until it has gone out.
    head: Option<Vec<u8>>,
    /// Whether there is an item already.
    comma: bool,
    ended: bool,
}

impl Pieces {
    async fn next(mut self) -> Option<(std::result::Result<Bytes, Failure>, Pieces)> {
        if self.ended {
            return None;
        }
        // The first one shows whether the list is worth packing.
        let (mut out, enough) = match self.head.take() {
            Some(head) => (head, compress::LEAST),
            None => (Vec::with_capacity(PIECE_BYTES + (16 << 10)), PIECE_BYTES),
        };
        let piece = match self.write(&mut out, enough).await {
            Ok(()) => Ok(out.into()),
            Err(failure) => {
                tracing::error!(message = failure.0.message, "a list is broken off");
                self.ended = true;
                Err(failure)
            }
        };
        Some((piece, self))
    }

    /// Writes objects until there is enough of them, or the end.
    async fn write(&mut self, out: &mut Vec<u8>, enough: usize) -> Result<()> {
        while out.len() < enough {
            let Some(mut object) = self.slice.next() else {
                match self.listing.next().await {
                    Some(slice) => self.slice = slice?.into_iter(),
                    None => {
                        out.extend_from_slice(b"]}");
                        self.ended = true;
                        return Ok(());
                    }
                }
                continue;
            };
            if std::mem::replace(&mut self.comma, true) {
                out.push(b',');
            }
            if let Some(kind) = &self.kind {
                object = kind.filled_in(object)?;
            }
            self.items.write(&object, out)?;
        }
        Ok(())
    }
}
