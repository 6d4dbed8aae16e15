//! A server just large enough for the program: namespaces, ConfigMaps, pages, watches.
//! Must not know: which test runs against it.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::thread;

use bytes::Bytes;
use futures::stream;
use http::{Method, Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::state::{Fault, State};

type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;
type Shared = Arc<Mutex<State>>;

/// A stub that runs as long as the test does.
pub(crate) struct Stub {
    pub(crate) address: SocketAddr,
    pub(crate) state: Shared,
}

impl Stub {
    /// Starts on a free port, on a thread of its own; with TLS if asked.
    pub(crate) fn start(fault: Fault, tls: Option<TlsAcceptor>) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State::new(fault)));
        let shared = Arc::clone(&state);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        thread::spawn(move || {
            runtime.block_on(async move {
                let listener = TcpListener::from_std(listener).unwrap();
                loop {
                    let (tcp, _) = listener.accept().await.unwrap();
                    let (shared, tls) = (Arc::clone(&shared), tls.clone());
                    tokio::spawn(async move {
                        match tls {
                            None => serve(tcp, shared).await,
                            Some(tls) => {
                                // A client that does not trust us goes away; that is what it is tested for.
                                if let Ok(stream) = tls.accept(tcp).await {
                                    serve(stream, shared).await;
                                }
                            }
                        }
                    });
                }
            })
        });
        Self { address, state }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// How many objects there are.
    pub(crate) fn objects(&self) -> usize {
        self.state.lock().unwrap().objects.len()
    }
}

async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, shared: Shared) {
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(answer(request, &shared).await) }
    });
    // A client that goes away in the middle of a watch is no failure.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn answer(request: Request<Incoming>, shared: &Shared) -> Answer {
    let (head, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let path: Vec<&str> = head.uri.path().trim_matches('/').split('/').collect();
    let query = head.uri.query().unwrap_or_default();
    let mut state = shared.lock().unwrap();
    state.authorization = head.headers.get("authorization").map(|value| value.to_str().unwrap().to_owned());
    let (status, value) = match (&head.method, path.as_slice()) {
        (&Method::GET, ["api", "v1", "namespaces", name]) => {
            found(state.namespaces.get(*name).map(|_| json!({})))
        }
        (&Method::POST, ["api", "v1", "namespaces"]) => {
            let name = parse(&body)["metadata"]["name"].as_str().unwrap().to_owned();
            match state.namespaces.insert(name) {
                true => (201, json!({})),
                false => (409, json!({"kind": "Status", "code": 409})),
            }
        }
        (&Method::DELETE, ["api", "v1", "namespaces", name]) => state.drop_namespace(name),
        (&Method::GET, ["api", "v1", "namespaces", namespace, "configmaps"]) => {
            state.accepted.push(head.headers["accept"].to_str().unwrap().to_owned());
            match query.contains("watch=true") {
                true => return events(&mut state, namespace),
                false => list(&state, namespace, query),
            }
        }
        (&Method::DELETE, ["api", "v1", "namespaces", namespace, "configmaps"]) => {
            state.empty(namespace);
            (200, json!({}))
        }
        (&Method::POST, ["api", "v1", "namespaces", _, "configmaps"]) => state.create(parse(&body)),
        (&Method::GET, [.., "configmaps", name]) => found(state.objects.get(*name).cloned()),
        (&Method::PUT, [.., "configmaps", name]) => state.update(name, parse(&body)),
        (&Method::DELETE, [.., "configmaps", name]) => {
            let options = if body.is_empty() { Value::Null } else { parse(&body) };
            state.delete(name, options["propagationPolicy"].as_str())
        }
        _ => (405, json!({"kind": "Status", "code": 405})),
    };
    respond(status, Full::new(Bytes::from(value.to_string())).boxed_unsync())
}

fn parse(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap()
}

fn found(value: Option<Value>) -> (u16, Value) {
    value.map_or((404, json!({"kind": "Status", "code": 404})), |value| (200, value))
}

fn respond(status: u16, body: UnsyncBoxBody<Bytes, Infallible>) -> Answer {
    Response::builder().status(status).header("content-type", "application/json").body(body).unwrap()
}

/// Tokens hold characters that have no place in a query, to see them escaped.
fn list(state: &State, namespace: &str, query: &str) -> (u16, Value) {
    let value = |key: &str| query.split('&').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='));
    let limit = value("limit").and_then(|limit| limit.parse().ok()).unwrap_or(500);
    let token = value("continue").map(|text| {
        let text = percent_encoding::percent_decode_str(text).decode_utf8().unwrap();
        text.strip_prefix("&after=").expect("a token that was given out").to_owned()
    });
    let (items, last) = state.page(namespace, limit, token.as_deref());
    let moved = if state.fault == Fault::MovingVersion && token.is_some() { 1 } else { 0 };
    let mut metadata = json!({"resourceVersion": (state.version + moved).to_string()});
    if let Some(last) = last {
        metadata["continue"] = json!(format!("&after={last}"));
    }
    (200, json!({"kind": "ConfigMapList", "metadata": metadata, "items": items}))
}

fn events(state: &mut State, namespace: &str) -> Answer {
    let lines = stream::unfold(state.watch(namespace), |mut receiver| async move {
        let line = receiver.recv().await?;
        Some((Ok::<_, Infallible>(Frame::data(line)), receiver))
    });
    respond(200, StreamBody::new(lines).boxed_unsync())
}
