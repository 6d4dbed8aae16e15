//! Services behind `https`: the certificate is checked before anything is sent.

use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{RootCertStore, ServerConfig};
use sexton_collector::hooks::{HookError, Hooks};
use sexton_model::hook::Verdict;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::call;
use crate::http::{reply, serve, to};

/// Serves one request at `127.0.0.1`, with a certificate for a name.
async fn server(name: &str) -> (String, CertificateDer<'static>) {
    let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
    let certificate = made.cert.der().clone();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (tcp, _) = listener.accept().await.unwrap();
        // A client that does not trust the certificate disconnects here.
        if let Ok(stream) = TlsAcceptor::from(Arc::new(config)).accept(tcp).await {
            serve(stream, reply("200 OK", r#"{"verdict":"gone"}"#)).await;
        }
    });
    (url, certificate)
}

fn trusting(certificate: CertificateDer<'static>) -> Hooks {
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    Hooks::new().trusting(roots)
}

#[tokio::test]
async fn a_trusted_service_is_called() {
    let (url, certificate) = server("127.0.0.1").await;
    assert_eq!(trusting(certificate).call(&to(url), &call()).await.unwrap(), Verdict::Gone);
}

#[tokio::test]
async fn a_service_of_another_name_is_not_called() {
    let (url, certificate) = server("other.example").await;
    let error = trusting(certificate).call(&to(url), &call()).await.unwrap_err();
    assert!(matches!(error, HookError::Unreachable { .. }), "{error}");
}

#[tokio::test]
async fn a_service_that_nobody_vouches_for_is_not_called() {
    let (url, _) = server("127.0.0.1").await;
    let (_, other) = server("127.0.0.1").await;
    let error = trusting(other).call(&to(url), &call()).await.unwrap_err();
    assert!(matches!(error, HookError::Unreachable { .. }), "{error}");
}
