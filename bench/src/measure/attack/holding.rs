//! Clients that take what they can and give nothing back: lists that are not read, bodies that never come, and streams of
//! HTTP/2 whose windows are closed. A bounded number of each, for as long as the result lives.
//! Must not know: what is measured meanwhile.

use std::any::Any;
use std::time::Duration;

use bytes::Bytes;
use futures::future::join_all;
use http::{Method, StatusCode};
use http_body_util::Full;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::bench::Bench;
use crate::cli::AttackArgs;
use crate::conn::Conn;
use crate::error::{Error, Result};
use crate::target::Target;

/// How long the head of an answer may take; a server that does not answer holds just as much.
const LONGEST_HEAD: Duration = Duration::from_secs(10);
/// So much of a body is announced, and so much of it is sent.
const ANNOUNCED_BYTES: usize = 1 << 20;
const SENT_BYTES: usize = 1 << 10;

/// What is held on to.
#[derive(Default)]
pub(crate) struct Held {
    all: Vec<Box<dyn Any + Send>>,
    /// Answers that were refusals.
    pub(crate) refused: u64,
}

impl Held {
    /// How many connections and streams are held.
    pub(crate) fn count(&self) -> u64 {
        self.all.len() as u64
    }

    /// Lets go of everything, after the next round has taken hold; the refusals of both count.
    pub(crate) fn followed_by(&self, next: Held) -> Held {
        Held { refused: self.refused + next.refused, ..next }
    }

    fn add(&mut self, held: impl Any + Send, status: Option<StatusCode>) {
        self.all.push(Box::new(held));
        self.refused += u64::from(status.is_some_and(|status| !status.is_success()));
    }
}

/// Takes hold of everything.
pub(crate) async fn hold(bench: &Bench, flags: &AttackArgs) -> Result<Held> {
    let mut held = Held::default();
    for opened in join_all((0..flags.bodies).map(|_| body(bench))).await {
        held.add(opened?, None);
    }
    for opened in join_all((0..flags.connections).map(|_| streams(bench, flags.streams))).await {
        for (stream, status) in opened? {
            held.add(stream, status);
        }
    }
    for opened in join_all((0..flags.lists).map(|_| list(bench))).await {
        let (list, status) = opened?;
        held.add(list, status);
    }
    Ok(held)
}

type Opened = (Box<dyn Any + Send>, Option<StatusCode>);

/// A list that is asked for and not read.
async fn list(bench: &Bench) -> Result<Opened> {
    let mut conn = Conn::open(&bench.target).await?;
    let request = bench.target.get(&bench.collection())?;
    let answer = tokio::time::timeout(LONGEST_HEAD, conn.stream(request)).await;
    Ok(match answer {
        Ok(Ok((status, body))) => (Box::new((conn, body)), Some(status)),
        // Cut off or not answered: the connection is held all the same.
        Ok(Err(_)) | Err(_) => (Box::new(conn), None),
    })
}

/// A body of which only the beginning comes.
async fn body(bench: &Bench) -> Result<TcpStream> {
    let (target, path) = (&bench.target, bench.collection());
    let request = target.request(Method::POST, target.uri(&path)?, Bytes::new());
    let mut head = format!("POST {} HTTP/1.1\r\ncontent-length: {ANNOUNCED_BYTES}\r\n", request.uri());
    for (name, value) in request.headers() {
        head.push_str(&format!("{name}: {}\r\n", value.to_str().unwrap_or_default()));
    }
    head.push_str("\r\n");
    head.extend(std::iter::repeat_n(' ', SENT_BYTES));
    let mut stream = dial(target).await?;
    // A server may have had enough already; that is what is to be found out.
    let _ = stream.write_all(head.as_bytes()).await;
    Ok(stream)
}

/// Lists on one connection of HTTP/2, none of which may send a byte of its body.
async fn streams(bench: &Bench, count: u32) -> Result<Vec<Opened>> {
    let io = TokioIo::new(dial(&bench.target).await?);
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder.initial_stream_window_size(0);
    let (sender, connection) = builder.handshake::<_, Full<Bytes>>(io).await?;
    // The task ends with the connection.
    tokio::spawn(connection);
    let uri = format!("{}{}", bench.target.url.trim_end_matches('/'), bench.collection());
    let uri: http::Uri = uri.parse().map_err(|error: http::uri::InvalidUri| Error::Request(error.into()))?;
    let one = || {
        let (mut sender, uri) = (sender.clone(), uri.clone());
        async move {
            let mut request = bench.target.request(Method::GET, uri, Bytes::new());
            request.headers_mut().remove(http::header::HOST);
            let answer = tokio::time::timeout(LONGEST_HEAD, sender.send_request(request)).await;
            let held: Opened = match answer {
                Ok(Ok(answer)) => {
                    let status = answer.status();
                    (Box::new((sender, answer)), Some(status))
                }
                Ok(Err(_)) | Err(_) => (Box::new(sender), None),
            };
            held
        }
    };
    Ok(join_all((0..count).map(|_| one())).await)
}

async fn dial(target: &Target) -> Result<TcpStream> {
    let address = format!("{}:{}", target.host, target.port);
    let stream = TcpStream::connect((target.host.as_str(), target.port)).await;
    stream.map_err(|source| Error::Connect { address, source })
}
