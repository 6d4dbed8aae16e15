//! OpenAPI v2 in protobuf, as much of it as kubectl looks at: which kinds there are, and that their bodies are checked
//! here. With it kubectl before 1.29 can apply, and any kubectl says that a kind is unknown instead of that it could not
//! be validated. It has no schemas: those are in v3.
//!
//! It must not know requesters.

use bytes::Bytes;

use crate::kinds::Kind;

/// `/openapi/v2`
pub(in crate::http) fn document<'a>(kinds: impl Iterator<Item = &'a Kind>) -> Bytes {
    let mut paths = Message::default();
    for (at, kind) in kinds.enumerate() {
        paths.part(2, |named| {
            // The text is not used as a path: what is asked for is found by its kind.
            named.text(1, &format!("/{at}"));
            named.part(2, |path| path.part(8, |patch| operation(kind, patch)));
        });
    }
    let mut document = Message::default();
    document.text(1, "2.0");
    document.part(2, |info| {
        info.text(1, "Sexton");
        info.text(2, env!("CARGO_PKG_VERSION"));
    });
    document.bytes(8, &paths.0);
    Bytes::from(document.0)
}

/// A PATCH: of which kind, and that `fieldValidation` is understood.
fn operation(kind: &Kind, patch: &mut Message) {
    // An item that is a parameter, which has no body, and is in the query.
    patch.part(8, |item| {
        item.part(1, |parameter| {
            parameter.part(2, |plain| {
                plain.part(3, |query| {
                    query.text(2, "query");
                    query.text(4, "fieldValidation");
                    query.text(6, "string");
                });
            });
        });
    });
    patch.part(13, |extension| {
        extension.text(1, "x-kubernetes-group-version-kind");
        let (group, version, kind) = (&kind.resource.group, &kind.version, &kind.kind);
        // YAML, of which JSON is a part.
        let value = serde_json::json!({"group": group, "kind": kind, "version": version}).to_string();
        extension.part(2, |any| any.text(2, &value));
    });
}

/// A message in the making. All its fields have lengths.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn text(&mut self, field: u32, text: &str) {
        self.bytes(field, text.as_bytes());
    }

    fn part(&mut self, field: u32, fill: impl FnOnce(&mut Message)) {
        let mut part = Message::default();
        fill(&mut part);
        self.bytes(field, &part.0);
    }

    fn bytes(&mut self, field: u32, bytes: &[u8]) {
        self.number(u64::from(field) << 3 | 2);
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn number(&mut self, mut number: u64) {
        while number > 127 {
            self.0.push(number as u8 | 128);
            number >>= 7;
        }
        self.0.push(number as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::builtin_kinds;
    use prost::Message as _;

    #[derive(Clone, PartialEq, prost::Message)]
    struct Document {
        #[prost(string, tag = "1")]
        swagger: String,
        #[prost(message, optional, tag = "8")]
        paths: Option<Paths>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    struct Paths {
        #[prost(message, repeated, tag = "2")]
        path: Vec<NamedPath>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    struct NamedPath {
        #[prost(string, tag = "1")]
        name: String,
        #[prost(message, optional, tag = "2")]
        value: Option<Path>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    struct Path {
        #[prost(message, optional, tag = "8")]
        patch: Option<Operation>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    struct Operation {
        #[prost(bytes = "vec", repeated, tag = "8")]
        parameters: Vec<Vec<u8>>,
        #[prost(message, repeated, tag = "13")]
        extensions: Vec<NamedAny>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    struct NamedAny {
        #[prost(string, tag = "1")]
        name: String,
        #[prost(message, optional, tag = "2")]
        value: Option<Any>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    struct Any {
        #[prost(string, tag = "2")]
        yaml: String,
    }

    #[test]
    fn another_reader_finds_every_kind() {
        let kinds: Vec<Kind> = builtin_kinds().collect();
        let document = Document::decode(document(kinds.iter())).unwrap();
        assert_eq!(document.swagger, "2.0");
        let paths = document.paths.unwrap().path;
        assert_eq!(paths.len(), kinds.len());
        for (path, kind) in paths.into_iter().zip(&kinds) {
            let patch = path.value.unwrap().patch.unwrap();
            assert!(memchr::memmem::find(&patch.parameters[0], b"fieldValidation").is_some());
            assert_eq!(patch.extensions[0].name, "x-kubernetes-group-version-kind");
            let said = patch.extensions[0].value.clone().unwrap().yaml;
            let said: serde_json::Value = serde_json::from_str(&said).unwrap();
            assert_eq!(said["kind"], kind.kind);
            assert_eq!(said["group"], kind.resource.group);
        }
    }
}
