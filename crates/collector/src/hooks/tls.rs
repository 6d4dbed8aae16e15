//! The certificate authorities to trust for `https` addresses.

use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};

use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// TLS with a set of trusted authorities. Loaded at the first use: most classes do not need it.
#[derive(Clone)]
pub struct Tls {
    given: Option<Arc<RootCertStore>>,
    connector: Arc<OnceLock<TlsConnector>>,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}

impl Tls {
    /// Trusts the certificate authorities of this machine.
    pub fn of_this_machine() -> Tls {
        Tls { given: None, connector: Arc::default() }
    }

    /// Trusts these alone.
    pub fn trusting(roots: RootCertStore) -> Tls {
        Tls { given: Some(Arc::new(roots)), connector: Arc::default() }
    }

    /// Wraps a connection to a host of this name or address.
    ///
    /// # Errors
    /// If the certificate is not one for this host, or the other side does not speak TLS.
    pub async fn wrap(&self, host: &str, tcp: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        self.connector()?.connect(name, tcp).await
    }

    fn connector(&self) -> io::Result<TlsConnector> {
        if let Some(connector) = self.connector.get() {
            return Ok(connector.clone());
        }
        let roots = self.given.clone().map_or_else(native, Ok)?;
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(self.connector.get_or_init(|| TlsConnector::from(Arc::new(config))).clone())
    }
}

fn native() -> io::Result<Arc<RootCertStore>> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        return Err(io::Error::other("this machine trusts no certificate authority"));
    }
    Ok(Arc::new(roots))
}
