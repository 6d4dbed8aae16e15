//! How a resource is kept: its JSON text once, and what the server needs to know of it without reading JSON.
//!
//! ```text
//! {"apiVersion":…,"kind":…,"metadata":{…},…} \n   facts     managed fields  version  length of facts
//! └──────────────── text ──────────────────┘    └postcard┘ └from, to: LE┘  └1 byte┘ └4 bytes, LE┘
//! ```
//!
//! Version 2 of the facts says behind those of version 1 to what the resource subscribes. Version 3 says where in the
//! text the managed fields stand: often more than all other metadata, and left out of most that is told. All are read.
//!
//! The text is compact JSON with sorted keys except that `apiVersion`, `kind` and `metadata` come first, and it holds
//! no `resourceVersion`: that is the revision of the commit, which is known only afterwards, and is spliced in when
//! the text goes out. JSON text never holds a raw line feed, so a person can find the end of it in the database file.

mod facts;
mod pieces;
mod sketch;
mod words;

use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::document::{Document, NotADocument};
use crate::ids::{self, GroupResource, Revision};
use crate::term::Terms;

pub use facts::{Facts, Subscribed};
pub use pieces::Pieces;
pub use sketch::Sketch;
pub use words::Words;

const VERSION: u8 = 3;
/// Without subscriptions.
const FIRST_VERSION: u8 = 1;
/// Without the place of the managed fields.
const SECOND_VERSION: u8 = 2;

pub(crate) const MANAGED: &str = "managedFields";
/// Bytes of annotations, and of a whole text, up to which no limit can be exceeded; larger ones go the way that checks.
const UNCHECKED: usize = 64 << 10;

/// Where things stand in a text.
struct Places {
    metadata: Range<usize>,
    /// Name and value; nothing if there are none.
    managed: Range<usize>,
}

/// Bytes that are not what this module writes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotStored {
    /// The layout is broken.
    #[error("a stored value is damaged: {0}")]
    Damaged(&'static str),
    /// Written by a newer version.
    #[error("a stored value has format {0}, this version reads formats up to {VERSION}")]
    UnknownVersion(u8),
}

/// A resource as it is kept. Cloning shares the bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored(Arc<[u8]>);

impl Stored {
    /// The stored form of a document. A `resourceVersion` in it is left out.
    pub fn encode(document: &Document) -> Stored {
        let mut bytes = Vec::with_capacity(2048);
        let places = write_text(document, &mut bytes);
        finish(document, places, bytes)
    }

    /// The stored form of a document that gets one more field, given as text: what is large is copied instead of read.
    /// The field must not be there, nor be one that comes first.
    pub fn encode_with(document: &Document, field: &str, text: &str) -> Stored {
        let mut bytes = Vec::with_capacity(1024 + text.len());
        let places = write_text_with(document, Some((field, text)), &mut bytes);
        finish(document, places, bytes)
    }

    /// Takes bytes that [`Stored::encode`] made.
    pub fn from_bytes(bytes: Arc<[u8]>) -> Stored {
        Stored(bytes)
    }

    /// The bytes, for the store.
    pub fn bytes(&self) -> &Arc<[u8]> {
        &self.0
    }

    /// Text and facts. Read from the end, so that finding them costs the same however long the text is.
    fn split(&self) -> Result<Parts<'_>, NotStored> {
        split(&self.0)
    }

    /// The JSON text, without a resource version.
    pub fn text(&self) -> Result<&[u8], NotStored> {
        Ok(self.split()?.text)
    }

    /// What is known without parsing the text.
    pub fn facts(&self) -> Result<Facts<'_>, NotStored> {
        facts(&self.split()?)
    }

    /// The text, and where the metadata stand in it, without reading what else is known.
    fn placed(&self) -> Result<(&[u8], Range<usize>), NotStored> {
        let parts = self.split()?;
        let (start, end) = facts::place(parts.facts).map_err(|_| UNREADABLE)?;
        check_place(parts.text, start..end)?;
        Ok((parts.text, start..end))
    }

    /// The text, and what stands where in it.
    pub(crate) fn layout(&self) -> Result<Layout<'_>, NotStored> {
        let (text, metadata) = self.placed()?;
        let managed = self.split()?.managed;
        let within = |place: &Range<usize>| {
            place.is_empty() || (metadata.start < place.start && place.end < metadata.end)
        };
        if managed.as_ref().is_some_and(|managed| !within(managed)) {
            return Err(NotStored::Damaged("the managed fields are not in the metadata"));
        }
        Ok(Layout { text, metadata, managed })
    }

    /// The document as it was, with its resource version.
    pub fn document(&self, revision: Revision) -> Result<Document, NotStored> {
        let value: Value =
            serde_json::from_slice(self.text()?).map_err(|_| NotStored::Damaged("the text is not JSON"))?;
        let mut document = Document::from_value(value)
            .map_err(|_: NotADocument| NotStored::Damaged("the text is not a resource"))?;
        document.set_resource_version(revision);
        Ok(document)
    }

    /// Appends the JSON text with its resource version.
    pub fn write(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), NotStored> {
        let (text, metadata) = self.placed()?;
        let start = metadata.start + 1;
        out.reserve(text.len() + 40);
        out.extend_from_slice(&text[..start]);
        splice(revision, out);
        out.extend_from_slice(&text[start..]);
        Ok(())
    }

    /// Appends the JSON text with its resource version, in this API version: versions of a kind differ in nothing else.
    pub fn write_in(
        &self,
        api_version: &str,
        revision: Revision,
        out: &mut Vec<u8>,
    ) -> Result<(), NotStored> {
        const HEAD: &[u8] = br#"{"apiVersion":""#;
        let Some(rest) = self.text()?.strip_prefix(HEAD) else { return self.write(revision, out) };
        let end = rest.iter().position(|byte| *byte == b'"').unwrap_or(rest.len());
        if &rest[..end] == api_version.as_bytes() {
            return self.write(revision, out);
        }
        let start = self.placed()?.1.start + 1;
        out.extend_from_slice(HEAD);
        out.extend_from_slice(api_version.as_bytes());
        out.extend_from_slice(&rest[end..start - HEAD.len()]);
        splice(revision, out);
        out.extend_from_slice(&rest[start - HEAD.len()..]);
        Ok(())
    }

    /// Appends only kind and metadata, as clients that ask for `PartialObjectMetadata` want it.
    pub fn write_metadata(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), NotStored> {
        let (text, range) = self.placed()?;
        out.extend_from_slice(
            br#"{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"#,
        );
        splice(revision, out);
        out.extend_from_slice(&text[range.start + 1..range.end]);
        out.push(b'}');
        Ok(())
    }
}

/// Puts the facts behind a text.
fn finish(document: &Document, Places { metadata, managed }: Places, bytes: Vec<u8>) -> Stored {
    close(bytes, &managed, |bytes| facts::write(document, metadata, bytes))
}

fn close(mut bytes: Vec<u8>, managed: &Range<usize>, facts: impl FnOnce(Vec<u8>) -> Vec<u8>) -> Stored {
    bytes.push(b'\n');
    let text = bytes.len();
    let mut bytes = facts(bytes);
    let length = number(bytes.len() - text);
    bytes.extend_from_slice(&number(managed.start).to_le_bytes());
    bytes.extend_from_slice(&number(managed.end).to_le_bytes());
    bytes.push(VERSION);
    bytes.extend_from_slice(&length.to_le_bytes());
    Stored(bytes.into())
}

/// Puts facts behind a text that are known already.
fn close_with(bytes: Vec<u8>, managed: &Range<usize>, facts: &Facts<'_>) -> Stored {
    close(bytes, managed, |bytes| facts::append(&facts.subscriptions, facts::append(facts, bytes)))
}

fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// A text, and what stands where in it.
pub(crate) struct Layout<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) metadata: Range<usize>,
    /// Name and value; empty if there are none, `None` if that is not known.
    pub(crate) managed: Option<Range<usize>>,
}

/// The parts of a stored value.
struct Parts<'a> {
    text: &'a [u8],
    facts: &'a [u8],
    /// Where the managed fields stand, if that is known.
    managed: Option<Range<usize>>,
    version: u8,
}

fn split(bytes: &[u8]) -> Result<Parts<'_>, NotStored> {
    const SHORT: NotStored = NotStored::Damaged("it is too short");
    let (rest, length) = bytes.split_last_chunk::<4>().ok_or(SHORT)?;
    let (version, mut rest) = rest.split_last().ok_or(SHORT)?;
    if !(FIRST_VERSION..=VERSION).contains(version) {
        return Err(NotStored::UnknownVersion(*version));
    }
    let mut managed = None;
    if *version > SECOND_VERSION {
        let (before, to) = rest.split_last_chunk::<4>().ok_or(SHORT)?;
        let (before, from) = before.split_last_chunk::<4>().ok_or(SHORT)?;
        managed = Some(u32::from_le_bytes(*from) as usize..u32::from_le_bytes(*to) as usize);
        rest = before;
    }
    let length = u32::from_le_bytes(*length) as usize;
    let (text, facts) = rest.split_at_checked(rest.len().wrapping_sub(length)).ok_or(SHORT)?;
    let text = text.strip_suffix(b"\n").ok_or(NotStored::Damaged("no line feed behind the text"))?;
    Ok(Parts { text, facts, managed, version: *version })
}

fn facts<'a>(parts: &Parts<'a>) -> Result<Facts<'a>, NotStored> {
    let facts = facts::read(parts.facts, parts.version > FIRST_VERSION).map_err(|_| UNREADABLE)?;
    check_place(parts.text, facts.metadata())?;
    Ok(facts)
}

const UNREADABLE: NotStored = NotStored::Damaged("the facts cannot be read");

fn check_place(text: &[u8], metadata: Range<usize>) -> Result<(), NotStored> {
    match text.get(metadata) {
        Some([b'{', .., b'}']) => Ok(()),
        _ => Err(NotStored::Damaged("the facts point beside the metadata")),
    }
}

/// The terms of a stored value, for the index of the store; a value that cannot be read has none.
pub fn terms(value: &[u8]) -> Terms {
    split(value).and_then(|parts| facts(&parts)).map_or_else(|_| Terms::new(), |facts| facts.terms())
}

/// Whether a value is a step of a deletion, or the lease under which such steps are taken: a store takes these even when
/// its disk is full, because they are on the way to the removals that free it.
pub fn is_deletion_step(key: &[u8], value: &[u8]) -> bool {
    let terminating =
        || split(value).and_then(|parts| facts(&parts)).is_ok_and(|facts| facts.deleted.is_some());
    let leases = GroupResource::new("coordination.k8s.io", "leases");
    terminating() || key.starts_with(&ids::prefix(&leases, None))
}

/// Metadata is never empty (it has at least a name), so the comma is always right.
pub(crate) fn splice(revision: Revision, out: &mut Vec<u8>) {
    out.extend_from_slice(br#""resourceVersion":""#);
    out.extend_from_slice(revision.to_string().as_bytes());
    out.extend_from_slice(br#"","#);
}

fn write_text(document: &Document, out: &mut Vec<u8>) -> Places {
    write_text_with(document, None, out)
}

fn write_text_with(document: &Document, mut more: Option<(&str, &str)>, out: &mut Vec<u8>) -> Places {
    let object = document.object();
    out.push(b'{');
    for field in ["apiVersion", "kind"] {
        if let Some(value) = object.get(field) {
            write_field(field, value, out);
            out.push(b',');
        }
    }
    out.extend_from_slice(br#""metadata":"#);
    let start = out.len();
    let managed = write_metadata_object(document.metadata(), out);
    let end = out.len();
    for (field, value) in object {
        if !matches!(field.as_str(), "apiVersion" | "kind" | "metadata") {
            if let Some((more, text)) = more.take_if(|(more, _)| *more < field.as_str()) {
                write_given(more, text, out);
            }
            out.push(b',');
            write_field(field, value, out);
        }
    }
    if let Some((more, text)) = more {
        write_given(more, text, out);
    }
    out.push(b'}');
    Places { metadata: start..end, managed }
}

fn write_given(field: &str, text: &str, out: &mut Vec<u8>) {
    out.push(b',');
    write_json(field, out);
    out.push(b':');
    out.extend_from_slice(text.as_bytes());
}

/// Says where the managed fields stand.
fn write_metadata_object(metadata: &Map<String, Value>, out: &mut Vec<u8>) -> Range<usize> {
    out.push(b'{');
    let mut managed = 0..0;
    for (field, value) in metadata.iter().filter(|(field, _)| *field != "resourceVersion") {
        separate(out);
        let start = out.len();
        write_field(field, value, out);
        if field == MANAGED {
            managed = start..out.len();
        }
    }
    out.push(b'}');
    managed
}

/// A comma, except before the first.
fn separate(out: &mut Vec<u8>) {
    if out.last() != Some(&b'{') {
        out.push(b',');
    }
}

fn write_field(field: &str, value: &(impl Serialize + ?Sized), out: &mut Vec<u8>) {
    write_json(field, out);
    out.push(b':');
    write_json(value, out);
}

fn json(value: &(impl Serialize + ?Sized)) -> String {
    // Plain data to memory: there is no way for it to fail.
    serde_json::to_string(value).unwrap_or_default()
}

fn write_json(value: &(impl Serialize + ?Sized), out: &mut Vec<u8>) {
    if let Err(error) = serde_json::to_writer(out, value) {
        unreachable!("cannot write JSON to memory: {error}");
    }
}

#[cfg(test)]
mod tests;
