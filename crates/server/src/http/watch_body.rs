//! The answer to a watch: one line per event, as many lines at once as are known.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use futures::stream;
use http::Response;
use serde_json::json;
use sexton_model::{Document, Revision, Status, Stored};
use sexton_store::Object;

use super::negotiate::Form;
use super::respond;
use super::table::{Include, Table};
use crate::api::{Api, EventKind, Result, WatchEvent, WatchStream};
use crate::kinds::Kind;

/// Events that are taken at once: enough to make a write worth it.
const AT_ONCE: usize = 256;
/// Bytes that go out at once, or one event if that is larger.
const PIECE: usize = 256 << 10;

struct Watching<Held> {
    kind: Arc<Kind>,
    stream: WatchStream,
    /// Taken from the stream and not yet written; they share their bytes with the store.
    known: VecDeque<WatchEvent>,
    form: Form,
    api: Api,
    /// Whether the columns of a table have been told.
    columns_told: bool,
    /// Given back when the watch ends, however it ends.
    _held: Held,
}

/// Answers with the events of a watch until it ends.
pub(super) fn respond<Held: Send + 'static>(
    kind: &Arc<Kind>,
    stream: WatchStream,
    form: Form,
    api: Api,
    held: Held,
) -> Response<Body> {
    let watching = Watching {
        kind: kind.clone(),
        stream,
        known: VecDeque::new(),
        form,
        api,
        columns_told: false,
        _held: held,
    };
    let lines = stream::unfold(watching, |mut watching| async move {
        if watching.known.is_empty() {
            watching.known = watching.stream.next(AT_ONCE).await?.into();
        }
        let mut out = Vec::with_capacity(watching.known.len() * 1536);
        while out.len() < PIECE
            && let Some(event) = watching.known.pop_front()
        {
            watching.line(event, &mut out);
        }
        Some((Ok::<Bytes, std::convert::Infallible>(out.into()), watching))
    });
    respond::json(200, Body::from_stream(lines))
}

impl<Held> Watching<Held> {
    fn line(&mut self, event: WatchEvent, out: &mut Vec<u8>) {
        let start = out.len();
        if let Err(failure) = self.try_line(event, out) {
            out.truncate(start);
            error_line(&failure.0, out);
        }
    }

    fn try_line(&mut self, event: WatchEvent, out: &mut Vec<u8>) -> Result<()> {
        match event {
            WatchEvent::Object(kind, object) => self.object_line(kind, &object, out),
            WatchEvent::Bookmark(revision, end) => self.bookmark_line(revision, end, out),
            WatchEvent::Failed(failure) => Err(failure),
        }
    }

    fn object_line(&mut self, event: EventKind, object: &Object, out: &mut Vec<u8>) -> Result<()> {
        let word = match event {
            EventKind::Added => "ADDED",
            EventKind::Modified => "MODIFIED",
            EventKind::Deleted => "DELETED",
        };
        out.extend_from_slice(br#"{"type":""#);
        out.extend_from_slice(word.as_bytes());
        out.extend_from_slice(br#"","object":"#);
        // One by one: what a definition fills in may be large.
        let filled_in =
            self.kind.gives_defaults().then(|| self.kind.filled_in(object.clone())).transpose()?;
        let object = filled_in.as_ref().unwrap_or(object);
        match self.form {
            Form::Plain => object.stored.write_in(&self.kind.api_version(), object.revision, out)?,
            Form::Metadata => object.stored.write_metadata(object.revision, out)?,
            Form::Table => out.extend_from_slice(&self.table(object)?),
        }
        out.extend_from_slice(b"}\n");
        Ok(())
    }

    /// Each event is a table of one row; only the first one says what the columns are.
    fn table(&mut self, object: &Object) -> Result<Vec<u8>> {
        let first = !std::mem::replace(&mut self.columns_told, true);
        Ok(Table::new(&self.kind, self.api.now(), Include::Metadata).single(object, first)?)
    }

    /// An object that says nothing but how far the watch is; in a table, the row of one.
    fn bookmark_line(&mut self, revision: Revision, end: bool, out: &mut Vec<u8>) -> Result<()> {
        let mut metadata = json!({"resourceVersion": revision.to_string(), "creationTimestamp": null});
        if end {
            metadata["annotations"] = json!({"k8s.io/initial-events-end": "true"});
        }
        if self.form == Form::Table {
            // What is stored has a name, and its text is written as that of metadata which is not empty.
            metadata["name"] = "".into();
        }
        let (kind, api_version) = match self.form {
            Form::Metadata => ("PartialObjectMetadata", "meta.k8s.io/v1".to_owned()),
            _ => (self.kind.kind.as_str(), self.kind.api_version()),
        };
        let object = json!({"kind": kind, "apiVersion": api_version, "metadata": metadata});
        out.extend_from_slice(br#"{"type":"BOOKMARK","object":"#);
        match self.form {
            Form::Table => {
                let stored = Stored::encode(&Document::from_value(object)?);
                let stand_in = Object { key: Vec::new().into(), revision, stored };
                out.extend_from_slice(&self.table(&stand_in)?);
            }
            _ => out.extend_from_slice(object.to_string().as_bytes()),
        }
        out.extend_from_slice(b"}\n");
        Ok(())
    }
}

fn error_line(status: &Status, out: &mut Vec<u8>) {
    let line = json!({"type": "ERROR", "object": status});
    out.extend_from_slice(line.to_string().as_bytes());
    out.push(b'\n');
}
