//! Sockets: listening, TLS, limits on connections, starting up and shutting down.
//!
//! The address is bound before the store is opened, and requests are answered with 503 meanwhile: a 404 from a server
//! that does not know its kinds yet would be taken for absence.

mod connections;
mod gate;
mod patient;
mod security;
mod self_signed;

pub use gate::Gate;
pub use security::{Security, SecurityError, SecurityFiles};
pub use self_signed::{SelfSigned, host_name};

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpListener;

/// How long requests under way may take to finish after a shutdown was asked for.
const FAREWELL: Duration = Duration::from_secs(10);

/// Why the server could not serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address cannot be had.
    #[error("cannot listen on {address}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
}

/// A bound address on which no request is answered yet.
#[derive(Debug)]
pub struct Listening {
    listener: TcpListener,
    address: SocketAddr,
}

impl Listening {
    /// Binds an address; port 0 means any free one.
    pub async fn bind(address: SocketAddr) -> Result<Listening, ServeError> {
        let failed = |source| ServeError::Bind { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Listening { listener, address })
    }

    /// The address that clients can use.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `shutdown` is done, then lets requests under way finish.
    pub async fn serve(self, gate: Gate, security: &Security, shutdown: impl Future<Output = ()>) {
        let connections = connections::Connections::new(gate.clone(), security.clone());
        connections.accept_until(&self.listener, shutdown).await;
        gate.close();
        drop(self.listener);
        if tokio::time::timeout(FAREWELL, connections.finish()).await.is_err() {
            tracing::warn!(
                seconds = FAREWELL.as_secs(),
                "some requests did not finish in time and were cut off"
            );
        }
    }
}
