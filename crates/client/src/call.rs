//! One request and its answer. What the server says is kept: its `Status`, and its warnings.
//!
//! It must not know kinds or verbs.

use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{self, Stream};
use http::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER, USER_AGENT, WARNING};
use http::{HeaderMap, HeaderValue, Method, Request, Response};
use http_body_util::BodyExt;
use kube::client::Body;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use sexton_model::Status;
use sexton_model::lease::{PROOF_HEADER, Proof};
use tokio::time::Instant;

use crate::lines::Lines;

/// A busy server that says when to come again is asked again for so long in all.
const BUSY_LIMIT: Duration = Duration::from_secs(15);

/// Why a request has no useful answer.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The server answered, and said no.
    #[error("{0}")]
    Refused(Box<Status>),
    /// The server cannot be reached, or the connection broke.
    #[error("the server cannot be reached")]
    Unreachable(#[source] Box<kube::Error>),
    /// The connection broke within the answer.
    #[error("the connection ended within the answer")]
    Broken(#[source] Box<kube::Error>),
    /// The server accepted the request and did not answer it in time.
    #[error("no answer within {} s", .0.as_secs_f32())]
    Silent(Duration),
    /// The request cannot be written down.
    #[error("the request cannot be made")]
    Unsayable(#[source] http::Error),
    /// The answer is not what the API promises.
    #[error("the answer of the server is not what the API promises: {0}")]
    Strange(String),
}

impl CallError {
    /// What the server said, if it said no.
    pub fn status(&self) -> Option<&Status> {
        match self {
            CallError::Refused(status) => Some(status),
            _ => None,
        }
    }

    pub(crate) fn code(&self) -> u16 {
        self.status().map_or(0, |status| status.code)
    }

    /// The error with all that caused it, in one line.
    pub(crate) fn with_sources(&self) -> String {
        let mut text = self.to_string();
        let mut source = std::error::Error::source(self);
        while let Some(inner) = source {
            text = format!("{text}: {inner}");
            source = inner.source();
        }
        text
    }
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The HTTP code.
    pub code: u16,
    /// What the server wants people to know.
    pub warnings: Vec<String>,
    /// The body.
    pub value: Value,
}

/// What unreserved characters of a URL leave to be escaped.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// One word of a path or a query, escaped.
pub(crate) fn escape(word: &str) -> String {
    utf8_percent_encode(word, ESCAPED).to_string()
}

/// A request in the making.
#[derive(Debug)]
pub struct Call {
    method: Method,
    path: String,
    query: String,
    accept: &'static str,
    body: Option<(&'static str, Bytes)>,
    deadline: Option<Duration>,
    proof: Option<Proof>,
}

impl Call {
    /// A request for a path, which must be escaped already.
    pub fn new(method: Method, path: impl Into<String>) -> Call {
        let (path, query) = (path.into(), String::new());
        Call { method, path, query, accept: "application/json", body: None, deadline: None, proof: None }
    }

    /// Adds a parameter; an empty one is left out.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Call {
        if !value.is_empty() {
            self.query.push(if self.query.is_empty() { '?' } else { '&' });
            self.query.push_str(name);
            self.query.push('=');
            self.query.push_str(&escape(value));
        }
        self
    }

    /// Says in which form the answer is wanted.
    #[must_use]
    pub fn accept(mut self, media: &'static str) -> Call {
        self.accept = media;
        self
    }

    /// Adds a body.
    #[must_use]
    pub fn body(mut self, media: &'static str, value: &Value) -> Call {
        self.body = Some((media, value.to_string().into()));
        self
    }

    /// Adds a body that is JSON already.
    #[must_use]
    pub fn json(mut self, bytes: Vec<u8>) -> Call {
        self.body = Some(("application/json", bytes.into()));
        self
    }

    /// Gives the answer so much time.
    #[must_use]
    pub fn within(mut self, deadline: Duration) -> Call {
        self.deadline = Some(deadline);
        self
    }

    /// Presents the secret of a lease's holder.
    #[must_use]
    pub(crate) fn proving(mut self, proof: Option<&Proof>) -> Call {
        self.proof = proof.cloned();
        self
    }

    fn request(&self) -> Result<Request<Body>, CallError> {
        let mut request = Request::builder()
            .method(&self.method)
            .uri(format!("{}{}", self.path, self.query))
            .header(USER_AGENT, concat!("sexton/", env!("CARGO_PKG_VERSION")))
            .header(ACCEPT, self.accept);
        if let Some(proof) = &self.proof {
            let mut value =
                HeaderValue::try_from(proof.secret()).map_err(|error| CallError::Unsayable(error.into()))?;
            value.set_sensitive(true);
            request = request.header(PROOF_HEADER, value);
        }
        let mut bytes = Bytes::new();
        if let Some((media, body)) = &self.body {
            request = request.header(CONTENT_TYPE, *media);
            bytes = body.clone();
        }
        request.body(Body::from(bytes)).map_err(CallError::Unsayable)
    }

    /// Sends it. A busy server that says when to come again has not done it, so it is asked again then; a refusal that
    /// does not say so is final. So a group whose server is down is known at once.
    async fn answer(&self, client: &kube::Client) -> Result<Response<Body>, CallError> {
        let limit = Instant::now() + BUSY_LIMIT;
        loop {
            let request = self.request()?;
            tracing::debug!(method = %request.method(), uri = %request.uri(), "request");
            let answer = client.send(request).await.map_err(unreachable)?;
            match busy_for(&answer).map(|pause| Instant::now() + pause).filter(|next| *next <= limit) {
                Some(next) => tokio::time::sleep_until(next).await,
                None => return Ok(answer),
            }
        }
    }

    /// Sends it and reads the whole answer.
    ///
    /// # Errors
    /// See [`CallError`]; every code from 400 on is a refusal.
    pub async fn send(self, client: &kube::Client) -> Result<Answer, CallError> {
        let (code, warnings, value) = self.send_for(client).await?;
        Ok(Answer { code, warnings, value })
    }

    /// Sends it and reads the whole answer as something else than just any JSON.
    ///
    /// # Errors
    /// See [`CallError`]; every code from 400 on is a refusal.
    pub async fn send_for<T: DeserializeOwned>(
        self,
        client: &kube::Client,
    ) -> Result<(u16, Vec<String>, T), CallError> {
        let (code, warnings, bytes) = self.send_for_bytes(client).await?;
        let value = serde_json::from_slice(&bytes).map_err(|error| CallError::Strange(error.to_string()))?;
        Ok((code, warnings, value))
    }

    /// Sends it and gives the whole answer as it is written.
    ///
    /// # Errors
    /// See [`CallError`]; every code from 400 on is a refusal.
    pub async fn send_for_bytes(self, client: &kube::Client) -> Result<(u16, Vec<String>, Bytes), CallError> {
        match self.deadline {
            None => self.whole(client).await,
            Some(deadline) => {
                let answer = tokio::time::timeout(deadline, self.whole(client)).await;
                answer.unwrap_or(Err(CallError::Silent(deadline)))
            }
        }
    }

    async fn whole(&self, client: &kube::Client) -> Result<(u16, Vec<String>, Bytes), CallError> {
        let answer = self.answer(client).await?;
        let (code, warnings) = (answer.status().as_u16(), warnings(answer.headers()));
        let bytes =
            answer.into_body().collect_bytes().await.map_err(|error| CallError::Broken(Box::new(error)))?;
        if code >= 400 {
            return Err(CallError::Refused(Box::new(status(code, &bytes))));
        }
        Ok((code, warnings, bytes))
    }

    /// Sends it and reads the answer line by line as it comes.
    ///
    /// # Errors
    /// As for [`Call::send`].
    pub async fn lines(
        self,
        client: &kube::Client,
    ) -> Result<impl Stream<Item = Result<Vec<u8>, CallError>> + use<>, CallError> {
        let answer = self.answer(client).await?;
        let code = answer.status().as_u16();
        if code >= 400 {
            let read = answer.into_body().collect_bytes().await;
            let bytes = read.map_err(|error| CallError::Broken(Box::new(error)))?;
            return Err(CallError::Refused(Box::new(status(code, &bytes))));
        }
        let reading = Reading { body: answer.into_body(), lines: Lines::default(), ended: false };
        Ok(stream::unfold(reading, Reading::next).boxed())
    }
}

/// A body that is read in lines.
struct Reading {
    body: Body,
    lines: Lines,
    ended: bool,
}

impl Reading {
    async fn next(mut self) -> Option<(Result<Vec<u8>, CallError>, Reading)> {
        loop {
            if let Some(line) = self.lines.next() {
                return Some((Ok(line.to_vec()), self));
            }
            if self.ended {
                // Half a line at the end is what a broken connection leaves; it cannot be used.
                return None;
            }
            match self.body.frame().await {
                Some(Ok(frame)) => {
                    if let Some(data) = frame.data_ref() {
                        self.lines.push(data);
                    }
                }
                Some(Err(error)) => {
                    self.ended = true;
                    self.lines.clear();
                    return Some((Err(CallError::Broken(Box::new(error))), self));
                }
                None => self.ended = true,
            }
        }
    }
}

fn unreachable(error: kube::Error) -> CallError {
    CallError::Unreachable(Box::new(error))
}

/// How long a server that is too busy wants to be left alone, if it says so.
fn busy_for(answer: &Response<Body>) -> Option<Duration> {
    let busy = matches!(answer.status().as_u16(), 429 | 503);
    let seconds = answer.headers().get(RETRY_AFTER).filter(|_| busy)?.to_str().ok()?;
    Some(Duration::from_secs(seconds.trim().parse().ok()?))
}

/// A refusal is a `Status`, except when something in between answered.
fn status(code: u16, bytes: &[u8]) -> Status {
    serde_json::from_slice(bytes).unwrap_or_else(|_| {
        let said: String = String::from_utf8_lossy(bytes).trim().chars().take(200).collect();
        let said = if said.is_empty() { "no reason given".to_owned() } else { said };
        Status {
            kind: "Status".into(),
            api_version: "v1".into(),
            metadata: Map::new(),
            status: "Failure".into(),
            message: format!("HTTP {code}: {said}"),
            reason: "".into(),
            details: None,
            code,
        }
    })
}

/// The texts of `Warning: 299 - "text"` headers.
fn warnings(headers: &HeaderMap) -> Vec<String> {
    let text = |value: &http::HeaderValue| {
        let (_, quoted) = value.to_str().ok()?.split_once('"')?;
        Some(quoted.strip_suffix('"')?.replace("\\\"", "\"").replace("\\\\", "\\"))
    };
    headers.get_all(WARNING).iter().filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_escaped_and_empty_ones_left_out() {
        let call = Call::new(Method::GET, "/api").with("labelSelector", "a in (b, c)").with("limit", "");
        assert_eq!(call.with("x", "ä").query, "?labelSelector=a%20in%20%28b%2C%20c%29&x=%C3%A4");
    }

    #[test]
    fn a_refusal_of_something_in_between_is_still_told() {
        assert_eq!(status(502, b"bad gateway\n").message, "HTTP 502: bad gateway");
        let own = br#"{"kind":"Status","apiVersion":"v1","message":"no","reason":"NotFound","code":404}"#;
        assert_eq!((status(404, own).message.as_str(), &*status(404, own).reason), ("no", "NotFound"));
    }

    #[test]
    fn warnings_are_unquoted() {
        let mut headers = HeaderMap::new();
        headers.append(WARNING, http::HeaderValue::from_static("299 - \"beware of \\\"x\\\"\""));
        assert_eq!(warnings(&headers), ["beware of \"x\""]);
    }
}
