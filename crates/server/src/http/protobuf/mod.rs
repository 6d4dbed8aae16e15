//! Bodies in protobuf, as Kubernetes' own clients send them for the kinds that they know: an envelope that names the
//! kind, and a message in it. Read into the JSON that the same client would have sent as JSON.
//!
//! Answers are never protobuf: every client that sends it reads JSON, too.

mod decode;
mod messages;
mod single;
mod wire;

#[cfg(test)]
mod tests;

use serde_json::Value;
use sexton_model::Status;

use super::body;
use crate::api::{Failure, Result};
use wire::{Garbled, Raw, Reader};

/// The media type.
pub(super) const MEDIA: &str = "application/vnd.kubernetes.protobuf";
/// What every envelope begins with.
const MAGIC: &[u8] = b"k8s\0";

/// What is expected where a body does not say what it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected<'a> {
    pub(super) group: &'a str,
    pub(super) version: &'a str,
    pub(super) kind: &'a str,
}

impl Expected<'_> {
    fn api_version(&self) -> String {
        match self.group {
            "" => self.version.to_owned(),
            group => format!("{group}/{}", self.version),
        }
    }
}

/// The envelope around a message.
#[derive(Debug, Default)]
struct Envelope<'a> {
    api_version: String,
    kind: String,
    raw: &'a [u8],
    encoding: String,
    media: String,
}

/// Reads a body. What it is called in JSON is in it afterwards, as in JSON.
pub(super) fn document(bytes: &[u8], expected: Expected<'_>) -> Result<Value> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        return Err(
            Status::bad_request(format!("the body is not {MEDIA}: it does not begin with k8s\\0")).into()
        );
    };
    let envelope = open(rest).map_err(refuse)?;
    let api_version =
        if envelope.api_version.is_empty() { expected.api_version() } else { envelope.api_version };
    let kind = if envelope.kind.is_empty() { expected.kind.to_owned() } else { envelope.kind };
    if !envelope.encoding.is_empty() {
        let message = format!("the message is encoded as {:?}, which is not understood", envelope.encoding);
        return Err(Status::bad_request(message).into());
    }
    let mut value = match envelope.media.as_str() {
        // An envelope may hold a document that its sender had as JSON.
        "application/json" => body::json(envelope.raw)?,
        _ => {
            let message = messages::of(&api_version, &kind).ok_or_else(|| unknown(&api_version, &kind))?;
            let read = decode::decode(message, envelope.raw);
            Value::Object(read.map_err(|garbled| beyond(&api_version, &kind, garbled))?)
        }
    };
    body::not_too_deep(&value)?;
    if let Value::Object(object) = &mut value {
        object.insert("apiVersion".into(), api_version.into());
        object.insert("kind".into(), kind.into());
    }
    Ok(value)
}

fn open(bytes: &[u8]) -> std::result::Result<Envelope<'_>, Garbled> {
    let mut envelope = Envelope::default();
    let mut reader = Reader(bytes);
    while let Some((number, raw)) = reader.next()? {
        match (number, raw) {
            (1, Raw::Bytes(bytes)) => named(bytes, &mut envelope)?,
            (2, Raw::Bytes(bytes)) => envelope.raw = bytes,
            (3, Raw::Bytes(bytes)) => envelope.encoding = text(bytes, "contentEncoding")?,
            (4, Raw::Bytes(bytes)) => envelope.media = text(bytes, "contentType")?,
            (1..=4, _) => return Err(Garbled::OtherType("the envelope")),
            _ => {}
        }
    }
    Ok(envelope)
}

/// What the message is said to be.
fn named(bytes: &[u8], envelope: &mut Envelope<'_>) -> std::result::Result<(), Garbled> {
    let mut reader = Reader(bytes);
    while let Some((number, raw)) = reader.next()? {
        match (number, raw) {
            (1, Raw::Bytes(bytes)) => envelope.api_version = text(bytes, "apiVersion")?,
            (2, Raw::Bytes(bytes)) => envelope.kind = text(bytes, "kind")?,
            (1 | 2, _) => return Err(Garbled::OtherType("typeMeta")),
            _ => {}
        }
    }
    Ok(())
}

fn text(bytes: &[u8], name: &'static str) -> std::result::Result<String, Garbled> {
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| Garbled::NotText(name))
}

fn refuse(garbled: Garbled) -> Failure {
    Status::bad_request(format!("the body cannot be read as {MEDIA}: {garbled}")).into()
}

/// A kind whose messages are not known: JSON is.
fn unknown(api_version: &str, kind: &str) -> Failure {
    speak_json(&format!("{} of {} is not read as protobuf here", cut(kind), cut(api_version)))
}

/// A message that cannot be read, or not as a whole: a field of a later version would be lost without a word.
fn beyond(api_version: &str, kind: &str, garbled: Garbled) -> Failure {
    let Garbled::Unknown { number, within } = garbled else { return refuse(garbled) };
    let place =
        if within.is_empty() { String::new() } else { format!(" of {}", within.trim_end_matches('.')) };
    speak_json(&format!(
        "{} of {} has a field that is not known in protobuf here (field {number}{place})",
        cut(kind),
        cut(api_version)
    ))
}

fn cut(text: &str) -> String {
    text.chars().take(128).collect()
}

fn speak_json(why: &str) -> Failure {
    let mut status = Status::unsupported_media_type(MEDIA, "");
    status.message = format!(
        "{why}, send application/json or application/yaml (with kubectl: add --dry-run=client -o yaml, and pipe it \
         into kubectl create -f -)"
    );
    status.into()
}
