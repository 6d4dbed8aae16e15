//! One request through the routes, and its answer.

use axum::Router;
use axum::body::Body;
use http::{HeaderMap, Request, Response};
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;

/// A request in the making.
#[derive(Debug, Clone)]
pub struct Call {
    router: Router,
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// Methods of tests that are a PATCH with a type.
const PATCHES: [(&str, &str); 4] = [
    ("MERGE", "application/merge-patch+json"),
    ("JSON-PATCH", "application/json-patch+json"),
    ("STRATEGIC", "application/strategic-merge-patch+json"),
    ("APPLY", "application/apply-patch+yaml"),
];

impl Call {
    /// A request. A path without a leading slash is a core kind in the namespace `default`. `MERGE`, `JSON-PATCH`,
    /// `STRATEGIC` and `APPLY` are PATCH with the type that says so.
    pub fn new(router: Router, method: &str, path: &str) -> Call {
        let path = match path.starts_with('/') {
            true => path.to_owned(),
            false => format!("/api/v1/namespaces/default/{path}"),
        };
        let mut call =
            Call { router, method: method.to_owned(), path, headers: Vec::new(), body: Vec::new() };
        if let Some((_, media)) = PATCHES.iter().find(|(name, _)| *name == method) {
            call.method = "PATCH".to_owned();
            call = call.header("content-type", media);
        }
        call
    }

    /// Sets a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Call {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A document as the body.
    #[must_use]
    pub fn json(self, document: &Value) -> Call {
        self.bytes(document.to_string())
    }

    /// Any bytes as the body.
    #[must_use]
    pub fn bytes(mut self, bytes: impl Into<Vec<u8>>) -> Call {
        self.body = bytes.into();
        self
    }

    /// Sends it and takes the answer as it comes.
    pub async fn raw(self) -> Response<Body> {
        let mut request = Request::builder().method(self.method.as_str()).uri(&self.path);
        if !self.body.is_empty()
            && !self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"))
        {
            request = request.header("content-type", "application/json");
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let request = request.body(Body::from(self.body)).unwrap();
        // The routes never fail: every refusal is an answer.
        self.router.oneshot(request).await.unwrap()
    }

    /// Sends it and reads the whole answer.
    pub async fn send(self) -> Answer {
        let shown = format!("{} {}", self.method, self.path);
        let (parts, body) = self.raw().await.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let json = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        Answer { shown, code: parts.status.as_u16(), headers: parts.headers, text: bytes.to_vec(), json }
    }
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Answer {
    shown: String,
    /// The HTTP code.
    pub code: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The bytes.
    pub text: Vec<u8>,
    /// The bytes as JSON, null if they are not.
    pub json: Value,
}

impl Answer {
    /// The answer, if it has this code.
    #[track_caller]
    pub fn expect(self, code: u16) -> Answer {
        assert_eq!(self.code, code, "{}: {}", self.shown, String::from_utf8_lossy(&self.text));
        self
    }

    /// The document, if it has this code.
    #[track_caller]
    pub fn document(self, code: u16) -> Value {
        self.expect(code).json
    }

    /// A value by dotted path or JSON pointer; null if there is none.
    pub fn at(&self, path: &str) -> &Value {
        at(&self.json, path)
    }

    /// A text by dotted path; empty if there is none.
    pub fn text_at(&self, path: &str) -> &str {
        self.at(path).as_str().unwrap_or("")
    }

    /// `metadata.resourceVersion`.
    pub fn version(&self) -> u64 {
        self.text_at("metadata.resourceVersion").parse().unwrap_or(0)
    }

    /// The warnings, without their frame.
    pub fn warnings(&self) -> Vec<String> {
        let values = self.headers.get_all("warning").iter().map(|value| value.to_str().unwrap());
        let inner = |text: &str| {
            text.strip_prefix("299 - \"").and_then(|text| text.strip_suffix('"')).map(str::to_owned)
        };
        values.filter_map(inner).map(|text| text.replace("\\\"", "\"")).collect()
    }
}

/// A value by dotted path (`metadata.finalizers.0`) or JSON pointer (`/metadata/labels/a.b~1c`).
pub fn at<'a>(value: &'a Value, path: &str) -> &'a Value {
    let pointer =
        if path.starts_with('/') { path.to_owned() } else { format!("/{}", path.replace('.', "/")) };
    value.pointer(&pointer).unwrap_or(&Value::Null)
}
