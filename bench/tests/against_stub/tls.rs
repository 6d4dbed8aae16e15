//! https: trusted authority, no check, a refusal, and a client certificate.
//! Must not know: measurements beyond one create.

use std::path::Path;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;

use crate::program::{Run, run};
use crate::state::Fault;
use crate::stub::Stub;

/// Makes an authority and one certificate signed by it for both ends. No keys are kept in the repository.
fn make_certificates(dir: &Path) {
    let write = |name: &str, text: String| std::fs::write(dir.join(name), text).unwrap();
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let end = KeyPair::generate().unwrap();
    let certificate =
        CertificateParams::new(vec!["127.0.0.1".into()]).unwrap().signed_by(&end, &authority).unwrap();
    write("ca.pem", authority.pem());
    write("end.pem", certificate.pem());
    write("end.key", end.serialize_pem());
}

/// A stub that talks only TLS, only http/1.1, and only with clients that `ca.pem` signed.
fn start(dir: &Path) -> Stub {
    let certificates = vec![CertificateDer::from_pem_file(dir.join("end.pem")).unwrap()];
    let key = PrivateKeyDer::from_pem_file(dir.join("end.key")).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(dir.join("ca.pem")).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let clients =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider)).build().unwrap();
    let builder =
        ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config = builder.with_client_cert_verifier(clients).with_single_cert(certificates, key).unwrap();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Stub::start(Fault::None, Some(TlsAcceptor::from(Arc::new(config))))
}

fn create(dir: &Path, stub: &Stub, flags: &[&str]) -> Run {
    let at = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let (certificate, key) = (at("end.pem"), at("end.key"));
    let own = ["create", "--count", "5", "--client-certificate", &certificate, "--client-key", &key];
    run(&format!("https://{}", stub.address), &[own.as_slice(), flags].concat())
}

#[test]
fn trust_is_given_by_flags_only() {
    let dir = tempfile::tempdir().unwrap();
    make_certificates(dir.path());
    let stub = start(dir.path());
    let authority = dir.path().join("ca.pem");
    let trusted = create(dir.path(), &stub, &["--certificate-authority", authority.to_str().unwrap()]);
    assert_eq!(trusted.clean_line()["count"], 5);
    let unchecked = create(dir.path(), &stub, &["--insecure-skip-tls-verify"]);
    assert_eq!(unchecked.clean_line()["count"], 5);
    assert_eq!(create(dir.path(), &stub, &[]).code, 1);
    let stranger = dir.path().join("end.pem");
    let refused = create(dir.path(), &stub, &["--certificate-authority", stranger.to_str().unwrap()]);
    assert_eq!((refused.code, refused.lines.len()), (1, 0));
    assert_eq!(stub.objects(), 10);
}
