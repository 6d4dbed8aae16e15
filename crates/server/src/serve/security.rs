//! Which clients may use the server: those with a key, or, if its operator says so, all of this machine. Nothing in between.
//!
//! Certificates and tokens are read again while the server runs: see [`Security::keep_current`].

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use sexton_store::embedded::is_open_to_others;
use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;

use super::self_signed::{self, SelfSigned};
use crate::http::{Authentication, TokenFileError, Tokens};

/// How often the files are compared with what was read of them. Nothing tells that a mounted secret has changed.
const COMPARED_EVERY: Duration = Duration::from_secs(10);

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
    /// Certificate, key and one token that the server makes for itself; `certificate` and `key` win over its own.
    pub self_signed: Option<SelfSigned>,
    /// On loopback, clients need no key.
    pub open: bool,
    /// On loopback, clients may leave out TLS: the token of this machine's user does not leave the machine.
    pub plain_on_loopback: bool,
}

/// Why the server refuses to start like this.
#[derive(Debug, thiserror::Error)]
pub enum SecurityError {
    /// Reachable from elsewhere without protection.
    #[error("{0} can be reached from other machines, so TLS and authentication are needed")]
    Unprotected(SocketAddr),
    /// Neither a key nor that none is needed.
    #[error("{0} would be open to every user and program of this machine")]
    Open(SocketAddr),
    /// One of the two is missing.
    #[error("--tls-cert and --tls-key go together")]
    HalfTls,
    /// Client certificates come with TLS.
    #[error("--client-ca needs --tls-cert and --tls-key, or --self-signed")]
    AuthorityWithoutTls,
    /// All users of the machine can read a key or tokens.
    #[error("{0} can be read by every user of this machine; chmod 600 {0}", path.display())]
    Exposed {
        /// Which file.
        path: PathBuf,
    },
    /// A file cannot be used.
    #[error("cannot use {path}: {why}")]
    BadFile {
        /// Which.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

/// How the server is protected. Clones share it.
#[derive(Debug, Clone)]
pub struct Security(Arc<Protection>);

struct Protection {
    files: SecurityFiles,
    /// For connections that begin from now on.
    tls: Option<ArcSwap<ServerConfig>>,
    /// Whether a connection may do without.
    plain: bool,
    authentication: Authentication,
    /// What the files held when they were used.
    contents: Mutex<Contents>,
}

impl fmt::Debug for Protection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Protection").field("files", &self.files).finish_non_exhaustive()
    }
}

impl Security {
    /// Decides from the address and the files.
    pub fn decide(listen: SocketAddr, files: &SecurityFiles) -> Result<Security, SecurityError> {
        let encrypted = match (&files.certificate, &files.key) {
            (Some(_), Some(_)) => true,
            (None, None) => files.self_signed.is_some(),
            _ => return Err(SecurityError::HalfTls),
        };
        if files.client_authority.is_some() && !encrypted {
            return Err(SecurityError::AuthorityWithoutTls);
        }
        let authenticated =
            files.tokens.is_some() || files.client_authority.is_some() || files.self_signed.is_some();
        let is_protected = encrypted && authenticated;
        if !is_protected && !listen.ip().is_loopback() {
            return Err(SecurityError::Unprotected(listen));
        }
        if !authenticated && !files.open {
            return Err(SecurityError::Open(listen));
        }
        let contents = Contents::read(files)?;
        let authentication = match authenticated {
            true => Authentication::Required(contents.tokens(files)?),
            false => Authentication::LoopbackOpen,
        };
        let tls = contents.server_config(files)?.map(ArcSwap::from_pointee);
        let plain = files.plain_on_loopback && listen.ip().is_loopback();
        let (files, contents) = (files.clone(), Mutex::new(contents));
        Ok(Security(Arc::new(Protection { files, tls, plain, authentication, contents })))
    }

    /// How callers prove their identity.
    pub fn authentication(&self) -> Authentication {
        self.0.authentication.clone()
    }

    /// Whether connections are encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.0.tls.is_some()
    }

    /// Whether a client may do without TLS where the server has it.
    pub(super) fn takes_plain(&self) -> bool {
        self.0.plain
    }

    /// The acceptor of a connection that begins now.
    pub(super) fn acceptor(&self) -> Option<TlsAcceptor> {
        self.0.tls.as_ref().map(|tls| TlsAcceptor::from(tls.load_full()))
    }

    /// Reads the files again, and uses what they hold for new connections and requests. Returns whether anything is new.
    ///
    /// # Errors
    /// A file cannot be used; then nothing changes.
    pub fn reload(&self) -> Result<bool, SecurityError> {
        let files = &self.0.files;
        let contents = Contents::read(files)?;
        let mut used = self.0.contents.lock().unwrap_or_else(PoisonError::into_inner);
        if *used == contents {
            return Ok(false);
        }
        let tokens = contents.tokens(files)?;
        let config = contents.server_config(files)?;
        if let Authentication::Required(used) = &self.0.authentication {
            used.replace(&tokens);
        }
        if let (Some(used), Some(config)) = (&self.0.tls, config) {
            used.store(Arc::new(config));
        }
        *used = contents;
        Ok(true)
    }

    /// Reloads when asked to, and when a file has changed or expires. Runs until it is dropped.
    pub async fn keep_current(self, asked: Arc<Notify>) {
        let mut compare = tokio::time::interval(COMPARED_EVERY);
        let mut trouble = String::new();
        loop {
            let was_asked = tokio::select! {
                () = asked.notified() => true,
                _ = compare.tick() => false,
            };
            let security = self.clone();
            let Ok(reloaded) = tokio::task::spawn_blocking(move || security.reload()).await else { return };
            let now = reloaded.as_ref().err().map(ToString::to_string).unwrap_or_default();
            match reloaded {
                Ok(true) => tracing::info!("reloaded certificates and tokens"),
                Ok(false) if was_asked => tracing::info!("certificates and tokens have not changed"),
                // The same trouble is told once, not every few seconds.
                Err(error) if was_asked || now != trouble => {
                    tracing::warn!(%error, "cannot reload certificates and tokens; the old ones stay");
                }
                _ => {}
            }
            trouble = now;
        }
    }
}

pub(super) fn bad_file(path: &Path, why: impl fmt::Display) -> SecurityError {
    SecurityError::BadFile { path: path.to_owned(), why: why.to_string() }
}

/// What the files hold.
#[derive(Default, PartialEq, Eq)]
struct Contents {
    certificate: Option<Vec<u8>>,
    key: Option<Vec<u8>>,
    tokens: Option<Vec<u8>>,
    own_token: Option<Vec<u8>>,
    client_authority: Option<Vec<u8>>,
}

impl Contents {
    fn read(files: &SecurityFiles) -> Result<Contents, SecurityError> {
        let read = |path: &Option<PathBuf>| {
            path.as_ref().map(|path| std::fs::read(path).map_err(|error| bad_file(path, error))).transpose()
        };
        let own = files.self_signed.as_ref();
        own.map(|own| own.ensure(SystemTime::now())).transpose()?;
        let secrets = [key_file(files), files.tokens.clone(), own.map(SelfSigned::token)];
        if let Some(path) = secrets.into_iter().flatten().find(|path| is_open_to_others(path)) {
            return Err(SecurityError::Exposed { path });
        }
        Ok(Contents {
            certificate: read(&certificate_file(files))?,
            key: read(&key_file(files))?,
            tokens: read(&files.tokens)?,
            own_token: read(&own.map(SelfSigned::token))?,
            client_authority: read(&files.client_authority)?,
        })
    }

    /// All tokens that open.
    fn tokens(&self, files: &SecurityFiles) -> Result<Tokens, SecurityError> {
        let mut tokens = Tokens::default();
        if let (Some(path), Some(bytes)) = (&files.tokens, &self.tokens) {
            let read = Tokens::parse(&String::from_utf8_lossy(bytes));
            tokens = tokens.and(&read.map_err(|error: TokenFileError| bad_file(path, error))?);
        }
        if let (Some(own), Some(bytes)) = (&files.self_signed, &self.own_token) {
            let read = Tokens::single(&String::from_utf8_lossy(bytes), self_signed::USER);
            tokens = tokens.and(&read.map_err(|error| bad_file(&own.token(), error))?);
        }
        Ok(tokens)
    }

    fn server_config(&self, files: &SecurityFiles) -> Result<Option<ServerConfig>, SecurityError> {
        let (Some(chain_file), Some(chain)) = (certificate_file(files), &self.certificate) else {
            return Ok(None);
        };
        let (Some(key_file), Some(key)) = (key_file(files), &self.key) else { return Ok(None) };
        let chain = certificates(&chain_file, chain)?;
        let private = PrivateKeyDer::from_pem_slice(key).map_err(|error| bad_file(&key_file, error))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|error| bad_file(&chain_file, error))?;
        let builder = match (&files.client_authority, &self.client_authority) {
            (Some(path), Some(bytes)) => {
                let mut roots = RootCertStore::empty();
                for root in certificates(path, bytes)? {
                    roots.add(root).map_err(|error| bad_file(path, error))?;
                }
                // A client without a certificate may still have a token.
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                    .allow_unauthenticated()
                    .build()
                    .map_err(|error| bad_file(path, error))?;
                builder.with_client_cert_verifier(verifier)
            }
            _ => builder.with_no_client_auth(),
        };
        let config = builder.with_single_cert(chain, private);
        let mut config = config.map_err(|error| bad_file(&chain_file, error))?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Some(config))
    }
}

fn certificate_file(files: &SecurityFiles) -> Option<PathBuf> {
    files.certificate.clone().or_else(|| files.self_signed.as_ref().map(SelfSigned::server))
}

fn key_file(files: &SecurityFiles) -> Option<PathBuf> {
    files.key.clone().or_else(|| files.self_signed.as_ref().map(SelfSigned::server))
}

fn certificates(path: &Path, bytes: &[u8]) -> Result<Vec<CertificateDer<'static>>, SecurityError> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(bytes).collect();
    let chain = chain.map_err(|error| bad_file(path, error))?;
    if chain.is_empty() { Err(bad_file(path, "it holds no certificate")) } else { Ok(chain) }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn only_loopback_may_be_open() {
        let decide = |listen: &str, files: &SecurityFiles| Security::decide(listen.parse().unwrap(), files);
        let open = SecurityFiles { open: true, ..SecurityFiles::default() };
        assert!(matches!(
            decide("127.0.0.1:0", &open).unwrap().authentication(),
            Authentication::LoopbackOpen
        ));
        assert!(decide("[::1]:0", &open).is_ok());
        for address in ["0.0.0.0:8180", "[::]:8180"] {
            assert!(matches!(decide(address, &open), Err(SecurityError::Unprotected(_))));
        }
        let nothing = SecurityFiles::default();
        assert!(
            matches!(decide("127.0.0.1:0", &nothing), Err(SecurityError::Open(_))),
            "that has to be said"
        );
        let half = SecurityFiles { certificate: Some("tls.crt".into()), ..SecurityFiles::default() };
        assert!(matches!(decide("127.0.0.1:0", &half), Err(SecurityError::HalfTls)));
        let no_tls = SecurityFiles { client_authority: Some("ca.crt".into()), ..SecurityFiles::default() };
        assert!(matches!(decide("127.0.0.1:0", &no_tls), Err(SecurityError::AuthorityWithoutTls)));
    }

    fn user(security: &Security, token: &str) -> Option<String> {
        let request = http::Request::get("/api").header("authorization", format!("Bearer {token}"));
        let (parts, ()) = request.body(()).unwrap().into_parts();
        security.authentication().check(&parts).ok().map(|identity| identity.user)
    }

    /// What holds the authentication, as the HTTP side does, sees other tokens; what cannot be read changes nothing.
    #[test]
    fn tokens_and_certificates_are_reloaded() {
        let dir = tempfile::tempdir().unwrap();
        let tokens = dir.path().join("tokens");
        std::fs::write(&tokens, "0123456789abcdef,ada\n").unwrap();
        let mode = |mode: u32| std::fs::set_permissions(&tokens, PermissionsExt::from_mode(mode)).unwrap();
        mode(0o600);
        let own = SelfSigned::new(dir.path().join("tls"), "127.0.0.1".parse().unwrap(), &[]);
        let files = SecurityFiles {
            tokens: Some(tokens.clone()),
            self_signed: Some(own.clone()),
            ..SecurityFiles::default()
        };
        let security = Security::decide("0.0.0.0:0".parse().unwrap(), &files).unwrap();
        let config = || security.0.tls.as_ref().unwrap().load_full();
        let (before, held) = (config(), security.clone());
        assert_eq!(user(&held, "0123456789abcdef").as_deref(), Some("ada"));
        let token = std::fs::read_to_string(own.token()).unwrap();
        assert_eq!(user(&held, token.trim()).as_deref(), Some("admin"));
        assert!(!security.reload().unwrap(), "nothing is new");
        mode(0o644);
        assert!(matches!(security.reload(), Err(SecurityError::Exposed { path }) if path == tokens));
        mode(0o640);
        assert!(Arc::ptr_eq(&before, &config()));

        std::fs::write(&tokens, "fedcba9876543210,bob\n").unwrap();
        std::fs::remove_file(own.server()).unwrap();
        assert!(security.reload().unwrap());
        assert_eq!(user(&held, "0123456789abcdef"), None);
        assert_eq!(user(&held, "fedcba9876543210").as_deref(), Some("bob"));
        let after = config();
        assert!(!Arc::ptr_eq(&before, &after), "new connections get another certificate");

        std::fs::write(&tokens, "nonsense").unwrap();
        assert!(security.reload().is_err());
        assert_eq!(user(&held, "fedcba9876543210").as_deref(), Some("bob"));
        assert!(Arc::ptr_eq(&after, &config()));
    }
}
