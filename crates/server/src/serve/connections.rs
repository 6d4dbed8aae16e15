//! Accepting connections and serving HTTP on them, within limits.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use rustls::pki_types::CertificateDer;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use x509_parser::prelude::{FromDer, X509Certificate};

use super::gate::Gate;
use super::patient::Patient;
use super::security::Security;
use crate::http::{Connection, Identity};

/// Open connections: each may be a watch.
const MOST_CONNECTIONS: usize = 12_000;
/// A client that needs longer to say what it wants is not going to.
const SLOWEST_HEAD: Duration = Duration::from_secs(10);
const SLOWEST_HANDSHAKE: Duration = Duration::from_secs(10);
/// After a failed accept (no file descriptors left, usually) others must get a chance to close.
const BREATHER: Duration = Duration::from_millis(50);
/// What a connection may have in memory on its way in or out: the largest head of a request fits, and clients that do not
/// read do not add up to much.
const MAX_BUFFER_BYTES: usize = 128 << 10;
/// The same for one stream of HTTP/2.
const MAX_STREAM_BUFFER_BYTES: usize = 64 << 10;
/// How often the other end of a quiet HTTP/2 connection is asked whether it is still there.
const ALIVE_EVERY: Duration = Duration::from_secs(30);

/// Serves connections on a gate.
pub(super) struct Connections {
    gate: Gate,
    security: Security,
    builder: auto::Builder<TokioExecutor>,
    graceful: GracefulShutdown,
    room: Arc<Semaphore>,
}

impl Connections {
    pub(super) fn new(gate: Gate, security: Security) -> Connections {
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(SLOWEST_HEAD)
            .max_buf_size(MAX_BUFFER_BYTES);
        builder
            .http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(ALIVE_EVERY)
            .max_concurrent_streams(250)
            .max_send_buf_size(MAX_STREAM_BUFFER_BYTES)
            .max_header_list_size(64 << 10);
        let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        Connections { gate, security, builder, graceful: GracefulShutdown::new(), room }
    }

    /// Accepts until `end` is done.
    pub(super) async fn accept_until(&self, listener: &TcpListener, end: impl Future<Output = ()>) {
        tokio::pin!(end);
        loop {
            let accepting = async {
                // The semaphore is never closed; without room no connection is accepted.
                let permit = self.room.clone().acquire_owned().await.ok();
                (permit, listener.accept().await)
            };
            let (permit, stream) = tokio::select! {
                (permit, accepted) = accepting => match accepted {
                    Ok((stream, _)) => (permit, stream),
                    Err(error) => {
                        tracing::warn!(%error, "cannot accept a connection");
                        tokio::time::sleep(BREATHER).await;
                        continue;
                    }
                },
                () = &mut end => return,
            };
            let (builder, gate, watcher) = (self.builder.clone(), self.gate.clone(), self.graceful.watcher());
            let (acceptor, takes_plain) = (self.security.acceptor(), self.security.takes_plain());
            tokio::spawn(async move {
                let _permit = permit;
                let _ = stream.set_nodelay(true);
                match acceptor {
                    None => serve(builder, gate, watcher, stream, None).await,
                    Some(_) if takes_plain && !begins_tls(&stream).await => {
                        serve(builder, gate, watcher, stream, None).await;
                    }
                    Some(acceptor) => serve_tls(builder, gate, watcher, stream, &acceptor).await,
                }
            });
        }
    }

    /// Waits until all connections have said what they had to say.
    pub(super) async fn finish(self) {
        self.graceful.shutdown().await;
    }
}

/// How a TLS handshake begins: the type of its record. No HTTP request does.
const TLS_HANDSHAKE: u8 = 0x16;

/// Whether a client begins with TLS. One that says nothing has until the end of a handshake, and is then not heard.
async fn begins_tls(stream: &TcpStream) -> bool {
    let mut first = [0];
    match tokio::time::timeout(SLOWEST_HANDSHAKE, stream.peek(&mut first)).await {
        Ok(Ok(1..)) => first[0] == TLS_HANDSHAKE,
        // Its handshake fails at once.
        _ => true,
    }
}

type Watcher = hyper_util::server::graceful::Watcher;

async fn serve_tls(
    builder: auto::Builder<TokioExecutor>,
    gate: Gate,
    watcher: Watcher,
    stream: TcpStream,
    acceptor: &TlsAcceptor,
) {
    match tokio::time::timeout(SLOWEST_HANDSHAKE, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => {
            let certificate = stream.get_ref().1.peer_certificates().and_then(|chain| chain.first());
            let identity = certificate.and_then(common_name);
            serve(builder, gate, watcher, stream, identity).await;
        }
        Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
        Err(_) => tracing::debug!("a TLS handshake took too long"),
    }
}

/// The user that a client's certificate names.
fn common_name(certificate: &CertificateDer<'_>) -> Option<Identity> {
    let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
    let name = parsed.subject().iter_common_name().next()?;
    name.as_str().ok().map(|user| Identity { user: user.to_owned() })
}

async fn serve(
    builder: auto::Builder<TokioExecutor>,
    gate: Gate,
    watcher: Watcher,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    identity: Option<Identity>,
) {
    let client = Connection::default();
    let line = client.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        let (gate, identity, line) = (gate.clone(), identity.clone(), line.clone());
        async move {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(line);
            if let Some(identity) = identity {
                request.extensions_mut().insert(identity);
            }
            gate.answer(request).await
        }
    });
    let connection = builder.serve_connection(TokioIo::new(Patient::new(stream)), service).into_owned();
    let ended = tokio::select! {
        ended = watcher.watch(connection) => ended,
        () = client.cut() => return tracing::debug!("a connection was cut, its client stopped reading"),
    };
    if let Err(error) = ended {
        tracing::debug!(error = %error, "a connection ended early");
    }
}
