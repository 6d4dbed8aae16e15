//! Who may reach the server: anybody on this machine, or whoever has a key. Nothing in between.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use tokio_rustls::TlsAcceptor;

use crate::http::{Authentication, TokenFileError, Tokens};

/// Where the keys are.
#[derive(Debug, Clone, Default)]
pub struct SecurityFiles {
    /// The server's certificate chain, PEM.
    pub certificate: Option<PathBuf>,
    /// Its key, PEM.
    pub key: Option<PathBuf>,
    /// Lines of `token,user`.
    pub tokens: Option<PathBuf>,
    /// The authority that signs clients' certificates, PEM.
    pub client_authority: Option<PathBuf>,
}

/// Why the server refuses to start like this.
#[derive(Debug, thiserror::Error)]
pub enum SecurityError {
    /// Reachable from elsewhere without protection.
    #[error(
        "{0} can be reached from other machines, so TLS and authentication are needed. To make them:\n\
         \n  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 365 -subj /CN=sexton \\\n    \
         -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout tls.key -out tls.crt\n  \
         (umask 077; echo \"$(openssl rand -hex 32),admin\" > tokens.csv)\n  \
         sexton serve --listen {0} --tls-cert tls.crt --tls-key tls.key --token-file tokens.csv\n\
         \nPut the names and addresses that clients use into subjectAltName."
    )]
    Unprotected(SocketAddr),
    /// One of the two is missing.
    #[error("--tls-cert and --tls-key go together")]
    HalfTls,
    /// Client certificates come with TLS.
    #[error("--client-ca needs --tls-cert and --tls-key")]
    AuthorityWithoutTls,
    /// A file cannot be used.
    #[error("cannot use {path}: {why}")]
    BadFile {
        /// Which.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

/// How the server is protected.
#[derive(Debug, Clone)]
pub struct Security {
    tls: Option<Arc<rustls::ServerConfig>>,
    authentication: Authentication,
}

impl Security {
    /// Decides from the address and the files.
    pub fn decide(listen: SocketAddr, files: &SecurityFiles) -> Result<Security, SecurityError> {
        let tls = match (&files.certificate, &files.key) {
            (Some(certificate), Some(key)) => Some((certificate.as_path(), key.as_path())),
            (None, None) => None,
            _ => return Err(SecurityError::HalfTls),
        };
        if files.client_authority.is_some() && tls.is_none() {
            return Err(SecurityError::AuthorityWithoutTls);
        }
        let authenticated = files.tokens.is_some() || files.client_authority.is_some();
        if !listen.ip().is_loopback() && (tls.is_none() || !authenticated) {
            return Err(SecurityError::Unprotected(listen));
        }
        let tokens = files.tokens.as_deref().map(read_tokens).transpose()?;
        let authentication = match authenticated {
            true => Authentication::Required(tokens.unwrap_or_default()),
            false => Authentication::LoopbackOpen,
        };
        let authority = files.client_authority.as_deref();
        let tls = tls.map(|(certificate, key)| server_config(certificate, key, authority)).transpose()?;
        Ok(Security { tls: tls.map(Arc::new), authentication })
    }

    /// How callers prove who they are.
    pub fn authentication(&self) -> Authentication {
        self.authentication.clone()
    }

    /// Whether connections are encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.tls.is_some()
    }

    pub(super) fn acceptor(&self) -> Option<TlsAcceptor> {
        self.tls.clone().map(TlsAcceptor::from)
    }
}

fn bad_file(path: &Path, why: impl std::fmt::Display) -> SecurityError {
    SecurityError::BadFile { path: path.to_owned(), why: why.to_string() }
}

fn read_tokens(path: &Path) -> Result<Tokens, SecurityError> {
    let text = std::fs::read_to_string(path).map_err(|error| bad_file(path, error))?;
    Tokens::parse(&text).map_err(|error: TokenFileError| bad_file(path, error))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, SecurityError> {
    let chain = CertificateDer::pem_file_iter(path).map_err(|error| bad_file(path, error))?;
    let chain: Result<Vec<_>, _> = chain.collect();
    let chain = chain.map_err(|error| bad_file(path, error))?;
    if chain.is_empty() { Err(bad_file(path, "it holds no certificate")) } else { Ok(chain) }
}

fn server_config(
    certificate: &Path,
    key: &Path,
    authority: Option<&Path>,
) -> Result<rustls::ServerConfig, SecurityError> {
    let chain = certificates(certificate)?;
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| bad_file(key, error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| bad_file(certificate, error))?;
    let builder = match authority {
        None => builder.with_no_client_auth(),
        Some(path) => {
            let mut roots = RootCertStore::empty();
            for root in certificates(path)? {
                roots.add(root).map_err(|error| bad_file(path, error))?;
            }
            // A client without a certificate may still have a token.
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                .allow_unauthenticated()
                .build()
                .map_err(|error| bad_file(path, error))?;
            builder.with_client_cert_verifier(verifier)
        }
    };
    let mut config =
        builder.with_single_cert(chain, private).map_err(|error| bad_file(certificate, error))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_may_be_open() {
        let decide = |listen: &str, files: &SecurityFiles| Security::decide(listen.parse().unwrap(), files);
        let nothing = SecurityFiles::default();
        assert!(matches!(
            decide("127.0.0.1:0", &nothing).unwrap().authentication(),
            Authentication::LoopbackOpen
        ));
        assert!(decide("[::1]:0", &nothing).is_ok());
        for address in ["0.0.0.0:8180", "[::]:8180"] {
            let error = decide(address, &nothing).unwrap_err();
            assert!(matches!(error, SecurityError::Unprotected(_)));
            assert!(error.to_string().contains("openssl req"), "it says how");
        }
        let half = SecurityFiles { certificate: Some("tls.crt".into()), ..SecurityFiles::default() };
        assert!(matches!(decide("127.0.0.1:0", &half), Err(SecurityError::HalfTls)));
        let no_tls = SecurityFiles { client_authority: Some("ca.crt".into()), ..SecurityFiles::default() };
        assert!(matches!(decide("127.0.0.1:0", &no_tls), Err(SecurityError::AuthorityWithoutTls)));
    }
}
