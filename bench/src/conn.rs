//! One HTTP/1.1 connection kept alive, with one request under way at a time.
//! Must not know: what is asked, how long it took, or the meaning of an answer beyond its status.

use bytes::Bytes;
use http::StatusCode;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use crate::error::{Error, Result, excerpt};
use crate::target::{Call, SharedTarget, Target};

/// An answer whose body was read and thrown away, except for what explains a failure.
pub(crate) struct Drained {
    /// The answer's status.
    pub(crate) status: StatusCode,
    /// Length of the body.
    pub(crate) bytes: u64,
    /// The start of the body of a failure; empty on success.
    pub(crate) failure: String,
}

/// One connection.
pub(crate) struct Conn {
    target: SharedTarget,
    sender: SendRequest<Full<Bytes>>,
}

impl Conn {
    /// Connects.
    pub(crate) async fn open(target: &SharedTarget) -> Result<Self> {
        Ok(Self { target: SharedTarget::clone(target), sender: dial(target).await? })
    }

    /// Sends a request and drains the answer without looking into it.
    pub(crate) async fn call(&mut self, request: Call) -> Result<Drained> {
        let (status, mut body) = self.stream(request).await?;
        let mut drained = Drained { status, bytes: 0, failure: String::new() };
        while let Some(frame) = body.frame().await {
            let frame = frame?;
            let Some(data) = frame.data_ref() else { continue };
            if !status.is_success() && drained.bytes == 0 {
                drained.failure = excerpt(data);
            }
            drained.bytes += data.len() as u64;
        }
        Ok(drained)
    }

    /// Sends a request and keeps the whole body.
    pub(crate) async fn fetch(&mut self, request: Call) -> Result<(StatusCode, Bytes)> {
        let (status, body) = self.stream(request).await?;
        Ok((status, body.collect().await?.to_bytes()))
    }

    /// Like `fetch`, but anything but success is an error.
    pub(crate) async fn fetch_ok(&mut self, what: &str, request: Call) -> Result<Bytes> {
        let (status, body) = self.fetch(request).await?;
        if !status.is_success() {
            return Err(Error::Refused { what: what.to_owned(), status, body: excerpt(&body) });
        }
        Ok(body)
    }

    /// Sends a request and hands out the body as it arrives.
    pub(crate) async fn stream(&mut self, request: Call) -> Result<(StatusCode, Incoming)> {
        // A server may close an idle connection at any time; that is no failure of a request.
        if self.sender.ready().await.is_err() {
            self.sender = dial(&self.target).await?;
        }
        let (head, body) = self.sender.send_request(request).await?.into_parts();
        Ok((head.status, body))
    }

    /// Like `stream`, but anything but success is an error.
    pub(crate) async fn stream_ok(&mut self, what: &str, request: Call) -> Result<Incoming> {
        let (status, body) = self.stream(request).await?;
        if !status.is_success() {
            let body = excerpt(&body.collect().await?.to_bytes());
            return Err(Error::Refused { what: what.to_owned(), status, body });
        }
        Ok(body)
    }
}

async fn dial(target: &Target) -> Result<SendRequest<Full<Bytes>>> {
    let address = || format!("{}:{}", target.host, target.port);
    let failed = |source| Error::Connect { address: address(), source };
    let tcp = TcpStream::connect((target.host.as_str(), target.port)).await.map_err(failed)?;
    // Requests are small and wait for their answers: delaying them would measure the kernel's timer.
    tcp.set_nodelay(true).map_err(failed)?;
    match &target.tls {
        None => handshake(tcp).await,
        Some((connector, name)) => {
            handshake(connector.connect(name.clone(), tcp).await.map_err(failed)?).await
        }
    }
}

async fn handshake<S>(stream: S) -> Result<SendRequest<Full<Bytes>>>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // The task ends with the connection; what went wrong reaches the sender's side.
    tokio::spawn(connection);
    Ok(sender)
}
