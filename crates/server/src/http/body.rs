//! Reading request bodies: bounded in size, time and depth; JSON, YAML or protobuf.

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use serde_json::Value;
use sexton_model::bulk::Bulk;
use sexton_model::{DeleteOptions, Document, Status};
use tokio::time::Instant;

use super::flight::{Charge, SMALL_BYTES};
use super::protobuf::{self, Expected};
use super::repeated::{self, MAX_READ_BYTES, Unread};
use crate::api::{Failure, PatchBody, Result};

/// What Kubernetes allows, too.
pub(super) const MOST_BYTES: usize = 3 << 20;
/// Thousands of items, some with a record of what they remove.
pub(super) const MOST_BULK_BYTES: usize = 16 << 20;
/// How deep a document may nest: a deeper one is no configuration.
const MOST_DEPTH: usize = 64;
/// A client that needs longer for its body is not going to finish.
const SLOWEST: Duration = Duration::from_secs(30);
/// Nor is one that sends nothing for this long.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// The whole body, or a refusal. It takes no seat while it arrives, only memory, and what is more than small of that is
/// charged.
pub(super) async fn read(body: Body, most: usize, charge: &mut Charge) -> Result<Bytes> {
    let mut body = std::pin::pin!(Limited::new(body, most));
    let deadline = Instant::now() + SLOWEST;
    let (mut first, mut gathered) = (Bytes::new(), Vec::new());
    loop {
        let until = deadline.min(Instant::now() + LONGEST_PAUSE);
        let piece = match tokio::time::timeout_at(until, body.frame()).await {
            Ok(None) => break,
            Ok(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
            Ok(Some(Err(error))) if error.is::<LengthLimitError>() => {
                return Err(Status::too_large(most).into());
            }
            Ok(Some(Err(_))) => return Err(Status::bad_request("the body ended early").into()),
            Err(_) => return Err(Status::timeout("the body did not arrive in time").into()),
        };
        let before = first.len().max(gathered.len());
        match before + piece.len() {
            small if small <= SMALL_BYTES => {}
            all if before <= SMALL_BYTES => charge.grow(all)?,
            _ => charge.grow(piece.len())?,
        }
        if before == 0 {
            first = piece;
            continue;
        }
        if gathered.is_empty() {
            gathered.extend_from_slice(&first);
        }
        gathered.extend_from_slice(&piece);
    }
    Ok(if gathered.is_empty() { first } else { gathered.into() })
}

/// Refuses a body that is packed: nothing here unpacks it, and to read it as it is would only say that it is not JSON.
pub(super) fn not_packed(headers: &HeaderMap) -> Result<()> {
    let packed =
        headers.get(CONTENT_ENCODING).filter(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity"));
    let Some(coding) = packed else { return Ok(()) };
    let message = format!("bodies are not unpacked here: {coding:?} was sent as Content-Encoding");
    Err(Status { message, ..Status::unsupported_media_type("", OFFERED) }.into())
}

/// The media type without its parameters, in lower case.
fn media(headers: &HeaderMap) -> String {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    value.split(';').next().unwrap_or("").trim().to_lowercase()
}

/// What documents may be sent as.
const OFFERED: &str = "application/json, application/yaml, application/vnd.kubernetes.protobuf";

/// Something read, and the fields that stood in it twice.
pub(super) type Told<T> = (T, Vec<String>);

/// The body of a create or an update.
pub(super) fn document(headers: &HeaderMap, bytes: &Bytes, expected: Expected<'_>) -> Result<Told<Document>> {
    let (value, repeated) = value(headers, bytes, expected)?;
    Ok((Document::from_value(value)?, repeated))
}

/// A document in any form that is understood.
pub(super) fn value(headers: &HeaderMap, bytes: &Bytes, expected: Expected<'_>) -> Result<Told<Value>> {
    match media(headers).as_str() {
        "application/json" | "" | "*/*" => told_json(bytes),
        "application/yaml" | "application/x-yaml" | "text/yaml" => told_yaml(bytes),
        protobuf::MEDIA => Ok((protobuf::document(bytes, expected)?, Vec::new())),
        other => Err(Status::unsupported_media_type(other, OFFERED).into()),
    }
}

/// The body of a patch: its type says what it means.
pub(super) fn patch(headers: &HeaderMap, bytes: &Bytes) -> Result<Told<PatchBody>> {
    let offered = "application/json-patch+json, application/merge-patch+json, \
         application/strategic-merge-patch+json, application/apply-patch+yaml";
    let patch = |(value, repeated): Told<Value>, meant: fn(Value) -> PatchBody| (meant(value), repeated);
    match media(headers).as_str() {
        "application/json-patch+json" => Ok(patch(told_json(bytes)?, PatchBody::Json)),
        "application/merge-patch+json" => Ok(patch(told_json(bytes)?, PatchBody::Merge)),
        "application/strategic-merge-patch+json" => Ok(patch(told_json(bytes)?, PatchBody::Strategic)),
        "application/apply-patch+yaml" => Ok(patch(told_yaml(bytes)?, PatchBody::Apply)),
        other => Err(Status::unsupported_media_type(other, offered).into()),
    }
}

fn told_json(bytes: &[u8]) -> Result<Told<Value>> {
    if bytes.is_empty() {
        return Err(empty());
    }
    repeated::read(bytes, MOST_DEPTH).map_err(unread)
}

fn unread(why: Unread) -> Failure {
    match why {
        Unread::TooDeep => too_deep(),
        Unread::TooHeavy => {
            let message =
                format!("the body takes more than {MAX_READ_BYTES} bytes of memory once it is read");
            Status::grown_too_large(message).into()
        }
        Unread::NotJson(error) => not_json(&error),
        Unread::NotYaml(error) => not_yaml(&in_short(&error.to_string())),
    }
}

/// YAML, of which JSON is a part. JSON is read as JSON: faster, and with the better error message.
fn told_yaml(bytes: &[u8]) -> Result<Told<Value>> {
    let start = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    if start == Some(&b'{')
        && let Ok(told) = told_json(bytes)
    {
        return Ok(told);
    }
    let text = std::str::from_utf8(bytes).map_err(|_| not_yaml("it is not UTF-8"))?;
    Ok((repeated::read_yaml(text, MOST_DEPTH).map_err(unread)?, Vec::new()))
}

fn not_yaml(why: &str) -> Failure {
    Status::bad_request(format!("the body is not YAML: {why}")).into()
}

/// The body of a DELETE, if there is one.
pub(super) fn delete_options(headers: &HeaderMap, bytes: &Bytes) -> Result<Option<DeleteOptions>> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let (value, _) = value(headers, bytes, Expected { group: "", version: "v1", kind: "DeleteOptions" })?;
    if !value.is_object() {
        return Err(Status::bad_request("error decoding DeleteOptions: the body is not an object").into());
    }
    let kind = value.get("kind").and_then(Value::as_str).unwrap_or("DeleteOptions");
    if kind != "DeleteOptions" {
        return Err(Status::bad_request(format!("the body is a {kind}, expected DeleteOptions")).into());
    }
    let options = serde_json::from_value(value);
    options
        .map(Some)
        .map_err(|error| Status::bad_request(format!("error decoding DeleteOptions: {error}")).into())
}

/// The body of a bulk request.
pub(super) fn bulk(headers: &HeaderMap, bytes: &Bytes) -> Result<Bulk> {
    match media(headers).as_str() {
        "application/json" | "" | "*/*" => {}
        other => return Err(Status::unsupported_media_type(other, "application/json").into()),
    }
    let bulk: Bulk = parsed(bytes)?;
    // Nothing else in it has a depth of its own.
    let mut records = bulk.items.iter().filter_map(|item| item.tombstone.as_ref());
    if records.any(|record| nests_deeper(record.text().as_bytes())) {
        return Err(too_deep());
    }
    Ok(bulk)
}

/// JSON, not too deep.
pub(super) fn json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    if nests_deeper(bytes) {
        return Err(too_deep());
    }
    parsed(bytes)
}

fn too_deep() -> Failure {
    Status::bad_request(format!("the body is nested deeper than {MOST_DEPTH} levels")).into()
}

/// Read as it is; the reader itself refuses what is nested without end.
fn parsed<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    if bytes.is_empty() {
        return Err(empty());
    }
    serde_json::from_slice(bytes).map_err(|error| not_json(&error))
}

fn empty() -> Failure {
    Status::bad_request("the body is empty").into()
}

fn not_json(error: &serde_json::Error) -> Failure {
    let what = if error.is_data() { "cannot be understood" } else { "is not JSON" };
    Status::bad_request(format!("the body {what}: {error}")).into()
}

/// Refuses what is nested too deep.
pub(super) fn not_too_deep(value: &Value) -> Result<()> {
    if nested_deeper(value, MOST_DEPTH) { Err(too_deep()) } else { Ok(()) }
}

/// What is wrong and where, without the reader's advice to programmers and its picture of the text.
fn in_short(error: &str) -> String {
    let line = error.lines().next().unwrap_or("").trim_start_matches("error: ");
    let end = ["; use ", ", set "].iter().filter_map(|advice| line.find(advice)).min();
    line[..end.unwrap_or(line.len())].to_owned()
}

/// Whether a document is nested too deep. With few brackets it cannot be, and counting them is much cheaper than
/// following them.
fn nests_deeper(bytes: &[u8]) -> bool {
    let brackets = bytes.iter().filter(|byte| matches!(**byte, b'{' | b'[')).count();
    brackets > MOST_DEPTH && depth(bytes) > MOST_DEPTH
}

/// How deep brackets nest, without building anything. Wrong JSON gives some number; the parser refuses it later.
fn depth(bytes: &[u8]) -> usize {
    let (mut now, mut most, mut quoted, mut escaped) = (0_usize, 0, false, false);
    for byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' | b'[' => {
                now += 1;
                most = most.max(now);
            }
            b'}' | b']' => now = now.saturating_sub(1),
            _ => {}
        }
    }
    most
}

fn nested_deeper(value: &Value, levels: usize) -> bool {
    let children: Box<dyn Iterator<Item = &Value>> = match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(map) => Box::new(map.values()),
        _ => return false,
    };
    // Bounded: the recursion ends at the limit it looks for.
    levels == 0 || children.into_iter().any(|child| nested_deeper(child, levels - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn depth_counts_brackets_outside_strings() {
        assert_eq!(depth(br#"{"a":[{"b":"{[\"{"}]}"#), 3);
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(json::<Value>(deep(64).as_bytes()).is_ok());
        assert_eq!(json::<Value>(deep(65).as_bytes()).unwrap_err().0.code, 400);
        assert_eq!(json::<Value>(deep(1_000_000).as_bytes()).unwrap_err().0.code, 400);
    }

    #[test]
    fn yaml_is_read_and_bounded() {
        let yaml = |bytes: &[u8]| told_yaml(bytes).map(|told| told.0);
        let value = yaml(b"kind: ConfigMap\ndata:\n  a: 'yes'\n  n: 1\n").unwrap();
        assert_eq!(value, serde_json::json!({"kind": "ConfigMap", "data": {"a": "yes", "n": 1}}));
        let bomb = (0..12).fold(String::from("a0: &a0 [x]\n"), |text, n| {
            text + &format!("a{}: &a{} [{}]\n", n + 1, n + 1, vec![format!("*a{n}"); 9].join(","))
        });
        assert!(yaml(bomb.as_bytes()).is_err());
        assert_eq!(yaml(b"mode: 0644").unwrap(), serde_json::json!({"mode": 420}));
        let refused = |text: &[u8]| yaml(text).unwrap_err().0.message.clone();
        let twice = "the body is not YAML: line 2 column 1: duplicate mapping key: a";
        assert_eq!(refused(b"a: 1\na: 2\n"), twice);
        let two = "the body is not YAML: line 3 column 1: multiple YAML documents detected";
        assert_eq!(refused(b"a: 1\n---\na: 2\n"), two);
        let deep = format!("{}x{}", "[".repeat(65), "]".repeat(65));
        assert!(yaml(deep.as_bytes()).is_err());
    }

    /// A body that is packed might be anything once it is not.
    #[test]
    fn packed_bodies_are_refused() {
        let with = |coding: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_ENCODING, http::HeaderValue::from_static(coding));
            not_packed(&headers).map_err(|failure| failure.0.code)
        };
        assert_eq!((not_packed(&HeaderMap::new()).is_ok(), with("identity")), (true, Ok(())));
        assert_eq!((with("gzip"), with("br")), (Err(415), Err(415)));
    }

    proptest! {
        #[test]
        fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = (json::<Value>(&bytes), json::<Bulk>(&bytes), told_yaml(&bytes));
        }
    }
}
