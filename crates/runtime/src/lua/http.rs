//! `http`: calls of services on hosts that are granted by name.
//!
//! One connection per call, straight to the host: no proxies, no redirects, no credentials but those that the script
//! gives.

use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{
    CONNECTION, CONTENT_LENGTH, HOST, HeaderName, HeaderValue, TRANSFER_ENCODING, USER_AGENT,
};
use http::{HeaderMap, Method, Request, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use mlua::{Lua, Table, Value as Script};
use sexton_collector::hooks::Tls;
use sexton_collector::hooks::allowance::{self, ConnectError};
use tokio::io::{AsyncRead, AsyncWrite};

use super::engine::Engine;
use super::exec::{only, text, timeout};
use super::fault::raise;
use super::values;

/// How long a call may take by default, and at most.
const DEFAULT_TIMEOUT_SECONDS: f64 = 30.0;
const MAX_TIMEOUT_SECONDS: f64 = 600.0;
/// The maximum size of an answer's headers in bytes.
const MAX_HEAD_BYTES: usize = 64 << 10;

/// Defines `http`.
pub(super) fn install(lua: &Lua, engine: &Rc<Engine>) -> mlua::Result<()> {
    let (engine, tls) = (engine.clone(), Tls::of_this_machine());
    let http = move |lua: Lua, options: Script| {
        let (engine, tls) = (engine.clone(), tls.clone());
        async move {
            engine.check_stage(&lua, "http")?;
            let wanted = read(&engine, &options).map_err(|error| raise(&lua, error))?;
            drop(options);
            let answer = answer(&engine, &wanted, &tls).await;
            let answer = answer.map_err(|error| raise(&lua, format!("{}: {error}", wanted.address)))?;
            let result = lua.create_table()?;
            result.raw_set("status", answer.status)?;
            result.raw_set("body", lua.create_string(&answer.body)?)?;
            let headers = lua.create_table()?;
            for (name, value) in &answer.headers {
                headers.raw_set(name.as_str(), lua.create_string(value.as_bytes())?)?;
            }
            headers.set_readonly(true);
            result.raw_set("headers", headers)?;
            result.set_readonly(true);
            Ok(result)
        }
    };
    lua.globals().raw_set("http", lua.create_async_function(http)?)
}

/// A checked call of `http`.
struct HttpCall {
    request: Request<Full<Bytes>>,
    host: String,
    port: u16,
    secure: bool,
    address: String,
    timeout: Duration,
}

/// The answer of a service.
struct HttpAnswer {
    status: u16,
    headers: HeaderMap,
    body: Bytes,
}

fn read(engine: &Engine, options: &Script) -> Result<HttpCall, String> {
    let Script::Table(options) = options else {
        return Err(format!(
            "http wants a table, as in http{{ url = \"…\" }}, not a {}",
            values::kind(options)
        ));
    };
    only(options, &["url", "method", "headers", "body", "timeout"], "http")?;
    let url = text(options, "url")?.ok_or("http: url is missing")?;
    let uri = Uri::try_from(url).map_err(|error| format!("http: the url is wrong: {error}"))?;
    let secure = match uri.scheme_str() {
        Some("https") => true,
        Some("http") => false,
        _ => return Err("http: the url begins neither with http:// nor with https://".to_owned()),
    };
    let (Some(host), Some(authority)) = (uri.host(), uri.authority()) else {
        return Err("http: the url names no host".to_owned());
    };
    if authority.as_str().contains('@') {
        return Err("http: credentials do not belong into a url".to_owned());
    }
    let usual = if secure { 443 } else { 80 };
    let port = uri.port_u16().unwrap_or(usual);
    let address = format!("{host}:{port}");
    let granted = |grant: &String| *grant == address || (port == usual && grant == host);
    if !engine.grants.http.iter().any(granted) {
        return Err(format!(
            "this program may not call {address:?} unless it is granted: --allow-http {address}"
        ));
    }
    let method = text(options, "method")?.unwrap_or_else(|| b"GET".to_vec());
    let method = Method::from_bytes(&method).map_err(|_| "http: that is no method".to_owned())?;
    let body = Bytes::from(text(options, "body")?.unwrap_or_default());
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let mut request = Request::builder().method(method).uri(path).body(Full::new(body)).map_err(show)?;
    headers(options, request.headers_mut())?;
    let own = request.headers_mut();
    own.insert(HOST, HeaderValue::from_str(authority.as_str()).map_err(show)?);
    own.insert(CONNECTION, HeaderValue::from_static("close"));
    own.entry(USER_AGENT).or_insert(HeaderValue::from_static(concat!("sexton/", env!("CARGO_PKG_VERSION"))));
    let timeout = timeout(options, DEFAULT_TIMEOUT_SECONDS, MAX_TIMEOUT_SECONDS)?;
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    Ok(HttpCall { request, host, port, secure, address, timeout })
}

fn show(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn headers(options: &Table, into: &mut HeaderMap) -> Result<(), String> {
    let given: Option<Table> =
        options.raw_get("headers").map_err(|_| "http: headers are a table".to_owned())?;
    let Some(given) = given else { return Ok(()) };
    for pair in given.pairs::<String, String>() {
        let (name, value) = pair.map_err(|_| "http: headers are texts by name".to_owned())?;
        let name = HeaderName::try_from(&name).map_err(|_| format!("http: {name:?} is no header"))?;
        if [HOST, CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING].contains(&name) {
            return Err(format!("http: the header {name} is not for programs to set"));
        }
        let value = HeaderValue::try_from(value).map_err(|_| format!("http: the header {name} is wrong"))?;
        into.insert(name, value);
    }
    Ok(())
}

async fn answer(engine: &Engine, wanted: &HttpCall, tls: &Tls) -> Result<HttpAnswer, String> {
    let late = |_| Err(format!("no answer within {} seconds", wanted.timeout.as_secs_f64()));
    tokio::time::timeout(wanted.timeout, call(engine, wanted, tls)).await.unwrap_or_else(late)
}

async fn call(engine: &Engine, wanted: &HttpCall, tls: &Tls) -> Result<HttpAnswer, String> {
    let unreachable = |error: std::io::Error| format!("cannot be reached: {error}");
    let usual = if wanted.secure { 443 } else { 80 };
    let limit = engine.limits.answer;
    let tcp = match allowance::connect(engine.allowance.as_ref(), &wanted.host, wanted.port, usual).await {
        Ok(tcp) => tcp,
        Err(ConnectError::NotAllowed(refused)) => return Err(engine.refuse(refused)),
        Err(ConnectError::Io(error)) => return Err(unreachable(error)),
    };
    if wanted.secure {
        let stream = tls.wrap(&wanted.host, tcp).await.map_err(unreachable)?;
        converse(stream, wanted.request.clone(), limit).await
    } else {
        converse(tcp, wanted.request.clone(), limit).await
    }
}

async fn converse<S>(stream: S, request: Request<Full<Bytes>>, limit: usize) -> Result<HttpAnswer, String>
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    let broken = |error: hyper::Error| format!("the connection broke: {error}");
    let mut builder = http1::Builder::new();
    builder.max_buf_size(MAX_HEAD_BYTES);
    let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await.map_err(broken)?;
    let talk = async {
        let answer = sender.send_request(request).await.map_err(broken)?;
        let (head, body) = answer.into_parts();
        let body = Limited::new(body, limit).collect().await;
        let body = body.map_err(|error| format!("the answer cannot be taken: {error}"))?.to_bytes();
        Ok(HttpAnswer { status: head.status.as_u16(), headers: head.headers, body })
    };
    let mut connection = std::pin::pin!(connection);
    let mut talk = std::pin::pin!(talk);
    tokio::select! {
        biased;
        answer = &mut talk => answer,
        // The connection may be done before its last bytes are read.
        _ = &mut connection => talk.await,
    }
}
