//! TLS from flags: authorities, a client certificate, or no check at all, always ALPN http/1.1.
//! Must not know: addresses, requests or measurements.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_rustls::TlsConnector;

use crate::cli::Common;
use crate::error::{Error, Result};

/// Builds the connector that all connections share, so that sessions are resumed.
pub(crate) fn connector(flags: &Common) -> Result<TlsConnector> {
    let provider = Arc::new(ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions()?;
    let trusting = if flags.insecure_skip_tls_verify {
        builder.dangerous().with_custom_certificate_verifier(Arc::new(AcceptAny(provider)))
    } else {
        let Some(path) = &flags.certificate_authority else {
            // The system's authorities are of no use: API servers have their own.
            return Err(Error::BadFlag(
                "https needs --certificate-authority or --insecure-skip-tls-verify".to_owned(),
            ));
        };
        builder.with_root_certificates(authorities(path)?)
    };
    let mut config = match (&flags.client_certificate, &flags.client_key) {
        (Some(certificate), Some(key)) => {
            let key = PrivateKeyDer::from_pem_file(key).map_err(|error| bad_file(key, error))?;
            trusting.with_client_auth_cert(certificates(certificate)?, key)?
        }
        _ => trusting.with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}

fn authorities(path: &Path) -> Result<RootCertStore> {
    let mut store = RootCertStore::empty();
    for certificate in certificates(path)? {
        store.add(certificate)?;
    }
    Ok(store)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let all: std::result::Result<Vec<_>, _> =
        CertificateDer::pem_file_iter(path).map_err(|error| bad_file(path, error))?.collect();
    let all = all.map_err(|error| bad_file(path, error))?;
    if all.is_empty() {
        return Err(bad_file(path, "no certificate in it"));
    }
    Ok(all)
}

fn bad_file(path: &Path, reason: impl std::fmt::Display) -> Error {
    Error::File { path: path.to_owned(), reason: reason.to_string() }
}

/// Takes any certificate, yet still checks that the peer holds its key.
#[derive(Debug)]
struct AcceptAny(Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptAny {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
