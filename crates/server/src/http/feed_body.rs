//! The answer of the feed over all kinds: lines of kinds and metadata, many of them in one piece.
//!
//! A piece is written when the client has taken the one before, so neither the beginning nor a long history is ever in
//! memory as text.

use std::collections::VecDeque;

use axum::body::Body;
use bytes::Bytes;
use futures::stream;
use http::Response;
use sexton_model::feed::Line;
use sexton_model::{Status, ids, partial};
use sexton_store::Object;

use super::respond;
use crate::api::{EventKind, FeedEvent, FeedStream, Result};

/// Events that are taken at once.
const AT_ONCE: usize = 1000;
/// Bytes that go out at once, or one event if that is larger.
const PIECE: usize = 256 << 10;

struct Feeding<Held> {
    stream: FeedStream,
    /// Taken from the stream and not yet written; they share their bytes with the store.
    known: VecDeque<FeedEvent>,
    broken: bool,
    /// Given back when the feed ends, however it ends.
    _held: Held,
}

/// Answers with the lines of a feed until it ends.
pub(super) fn respond<Held: Send + 'static>(stream: FeedStream, held: Held) -> Response<Body> {
    let feeding = Feeding { stream, known: VecDeque::new(), broken: false, _held: held };
    let pieces = stream::unfold(feeding, |mut feeding| async move {
        if feeding.broken {
            return None;
        }
        if feeding.known.is_empty() {
            feeding.known = feeding.stream.next(AT_ONCE).await?.into();
        }
        let mut out = Vec::with_capacity(PIECE.min(feeding.known.len() * 512) + 1024);
        while out.len() < PIECE
            && let Some(event) = feeding.known.pop_front()
        {
            let start = out.len();
            if let Err(failure) = write(event, &mut out) {
                // What cannot be told ends the feed: a line left out would be a gap.
                out.truncate(start);
                write_line(&Line::Error { object: failure.0 }, &mut out);
                feeding.broken = true;
                break;
            }
        }
        Some((Ok::<Bytes, std::convert::Infallible>(out.into()), feeding))
    });
    respond::json(200, Body::from_stream(pieces))
}

fn write(event: FeedEvent, out: &mut Vec<u8>) -> Result<()> {
    match event {
        FeedEvent::Object { kind, object, by } => return write_object(kind, &object, by.as_deref(), out),
        FeedEvent::Kinds(kinds) => write_line(&Line::Kinds { kinds }, out),
        FeedEvent::Synced(at) => write_line(&Line::Synced { resource_version: at.to_string() }, out),
        FeedEvent::Bookmark(at) => write_line(&Line::Bookmark { resource_version: at.to_string() }, out),
        FeedEvent::Failed(failure) => return Err(failure),
    }
    Ok(())
}

fn write_object(kind: EventKind, object: &Object, by: Option<&str>, out: &mut Vec<u8>) -> Result<()> {
    let word = match kind {
        EventKind::Added => "ADDED",
        EventKind::Modified => "MODIFIED",
        EventKind::Deleted => "DELETED",
    };
    out.extend_from_slice(br#"{"type":""#);
    out.extend_from_slice(word.as_bytes());
    out.extend_from_slice(br#"","resource":"#);
    write_json(ids::resource(&object.key).unwrap_or(""), out);
    out.extend_from_slice(br#","object":"#);
    partial::write(&object.stored, object.revision, out)?;
    if let Some(by) = by {
        out.extend_from_slice(br#","by":"#);
        write_json(by, out);
    }
    out.extend_from_slice(b"}\n");
    Ok(())
}

fn write_line(line: &Line, out: &mut Vec<u8>) {
    write_json(line, out);
    out.push(b'\n');
}

fn write_json(value: &(impl serde::Serialize + ?Sized), out: &mut Vec<u8>) {
    let start = out.len();
    if let Err(error) = serde_json::to_writer(&mut *out, value) {
        // Plain data to memory: there is no way for this to happen, and no better way to say it if it did.
        out.truncate(start);
        out.extend_from_slice(Status::internal(error).message.as_bytes());
    }
}
