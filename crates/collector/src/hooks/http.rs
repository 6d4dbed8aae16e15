//! Calls a service: the call is the body of a POST, the verdict the body of the response.
//!
//! One connection per call, straight to the address: no proxies, no redirects. It must not know the deadline.

use std::time::Duration;

use bytes::Bytes;
use http::header::{
    ACCEPT, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, LOCATION, RETRY_AFTER, TRANSFER_ENCODING,
    USER_AGENT,
};
use http::{HeaderMap, HeaderName, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use sexton_model::hook::{Allowance, Verdict};
use sexton_model::text::tame;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;

use super::HookError;
use super::allowance::{self, ConnectError};
use super::tls::Tls;

/// Headers of an answer may not be longer than this.
const MAX_HEAD: usize = 64 << 10;
/// How many bytes of a response are in an error message: enough for a reason, and too few to read a service's data
/// with it.
const MAX_REPEATED: usize = 200;

/// A request.
pub(super) struct Post<'a> {
    pub(super) url: &'a str,
    pub(super) key: &'a str,
    pub(super) epoch: i64,
    pub(super) tls: &'a Tls,
    pub(super) allowance: Option<&'a Allowance>,
}

/// Sends it and reads the answer.
pub(super) async fn post(
    post: &Post<'_>,
    document: Vec<u8>,
    max_output: usize,
) -> Result<Verdict, HookError> {
    let bad = |source: Box<dyn std::error::Error + Send + Sync>| HookError::BadUrl {
        url: post.url.to_owned(),
        source,
    };
    let uri: Uri = post.url.parse().map_err(|error: http::uri::InvalidUri| bad(error.into()))?;
    let (Some(host), Some(authority)) = (uri.host(), uri.authority()) else {
        return Err(bad("it names no host".into()));
    };
    let secure = match uri.scheme_str() {
        Some("https") => true,
        Some("http") => false,
        _ => return Err(bad("it begins neither with http:// nor with https://".into())),
    };
    let request = Request::post(uri.path_and_query().map_or("/", |path| path.as_str()))
        .header(HOST, authority.as_str())
        .header(USER_AGENT, concat!("sexton/", env!("CARGO_PKG_VERSION")))
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "application/json")
        .header(CONNECTION, "close")
        .header(HeaderName::from_static("idempotency-key"), post.key)
        .header(HeaderName::from_static("sexton-epoch"), post.epoch)
        .body(Full::new(Bytes::from(document)))
        .map_err(|error| bad(error.into()))?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let usual_port = if secure { 443 } else { 80 };
    let port = uri.port_u16().unwrap_or(usual_port);
    let unreachable = |source| HookError::Unreachable { address: format!("{authority}"), source };
    let tcp = match allowance::connect(post.allowance, host, port, usual_port).await {
        Ok(tcp) => tcp,
        Err(ConnectError::NotAllowed(refused)) => return Err(HookError::NotAllowed(refused)),
        Err(ConnectError::Io(error)) => return Err(unreachable(error)),
    };
    tcp.set_nodelay(true).map_err(unreachable)?;
    if secure {
        let stream = post.tls.wrap(host, tcp).await.map_err(unreachable)?;
        converse(stream, request, max_output).await
    } else {
        converse(tcp, request, max_output).await
    }
}

async fn converse<S>(
    stream: S,
    request: Request<Full<Bytes>>,
    max_output: usize,
) -> Result<Verdict, HookError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let broken = |error: hyper::Error| HookError::Broken(error.into());
    let mut builder = http1::Builder::new();
    builder.max_buf_size(MAX_HEAD);
    let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await.map_err(broken)?;
    // Dropping this future drops the tasks, and so closes the connection.
    let mut tasks = JoinSet::new();
    tasks.spawn(connection);
    let answer = sender.send_request(request).await.map_err(broken)?;
    let (head, body) = answer.into_parts();
    let mut said = Vec::new();
    let read = read(body, max_output, &mut said).await;
    if !head.status.is_success() {
        // The body only explains the failure; without it the failure stands.
        return Ok(refusal(&Response::from_parts(head, ()), &String::from_utf8_lossy(&said)));
    }
    read?;
    if said.is_empty() && !is_announced(head.status, &head.headers) {
        return Err(HookError::Unannounced);
    }
    Ok(Verdict::parse(&String::from_utf8_lossy(&said))?)
}

async fn read(mut body: Incoming, limit: usize, said: &mut Vec<u8>) -> Result<(), HookError> {
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| HookError::Broken(error.into()))?;
        let Some(data) = frame.data_ref() else { continue };
        let room = limit - said.len();
        said.extend_from_slice(&data[..data.len().min(room)]);
        if data.len() > room {
            return Err(HookError::TooMuch { limit });
        }
    }
    Ok(())
}

/// Whether the length of the response is declared. If not, it ends with the connection, and half of it looks like
/// all.
fn is_announced(status: StatusCode, headers: &HeaderMap) -> bool {
    status == StatusCode::NO_CONTENT
        || headers.contains_key(CONTENT_LENGTH)
        || headers.contains_key(TRANSFER_ENCODING)
}

/// The verdict of a response that is not a success.
fn refusal(answer: &Response<()>, said: &str) -> Verdict {
    let status = answer.status();
    let header = |name: HeaderName| answer.headers().get(name).and_then(|value| value.to_str().ok());
    if status.is_redirection() {
        let to = header(LOCATION).map(|to| format!(" to {}", tame(to, MAX_REPEATED))).unwrap_or_default();
        return Verdict::failed(&format!("HTTP {}{to}: redirects are not followed", status.as_u16()));
    }
    let words = tame(said, MAX_REPEATED);
    let separator = if words.is_empty() { "" } else { ": " };
    let failed = Verdict::failed(&format!("HTTP {}{separator}{words}", status.as_u16()));
    let busy = matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
    match (failed, header(RETRY_AFTER).and_then(|text| text.trim().parse::<u32>().ok())) {
        (Verdict::Failed { reason }, Some(seconds)) if busy => {
            let after = Some(Duration::from_secs(u64::from(seconds.min(86_400))));
            Verdict::Retry { after, reason }
        }
        (failed, _) => failed,
    }
}
