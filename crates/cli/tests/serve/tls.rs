//! TLS and authentication: who gets in, who does not, over real sockets.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

use crate::process::Server;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// A directory with an authority, a server's and a client's key, and tokens. No keys are kept in the repository.
struct Keys(tempfile::TempDir);

impl Keys {
    fn make() -> Keys {
        let keys = Keys(tempfile::tempdir().unwrap());
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
        keys.write("ca.pem", &authority.pem());
        for (name, address) in [("server", "127.0.0.1"), ("ada", "ada.example.com")] {
            let key = KeyPair::generate().unwrap();
            let mut parameters = CertificateParams::new(vec![address.into()]).unwrap();
            parameters.distinguished_name.push(DnType::CommonName, name);
            let certificate = parameters.signed_by(&key, &authority).unwrap();
            keys.write(&format!("{name}.pem"), &certificate.pem());
            keys.write(&format!("{name}.key"), &key.serialize_pem());
        }
        keys.write("tokens", &format!("{TOKEN},bob\n"));
        keys.write("token", TOKEN);
        keys.write("wrong", "ffffffffffffffffffffffffffffffff");
        keys
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.at(name), text).unwrap();
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn serve(&self, more: &[&str]) -> Server {
        let at = |name: &str| self.at(name).to_str().unwrap().to_owned();
        let (certificate, key) = (at("server.pem"), at("server.key"));
        let flags = [&["--tls-cert", &certificate, "--tls-key", &key], more].concat();
        Server::start(&self.at("data"), &flags)
    }
}

/// `sexton get namespaces` against a server.
fn get(server: &Server, authority: Option<&Path>, token: Option<&Path>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sexton"));
    command.args(["get", "namespaces", "-o", "name", "--server", &server.url]);
    if let Some(file) = authority {
        command.arg("--certificate-authority").arg(file);
    }
    if let Some(file) = token {
        command.arg("--token-file").arg(file);
    }
    command.env_remove("SEXTON_TOKEN").output().unwrap()
}

#[test]
fn a_token_opens_and_nothing_else_does() {
    let keys = Keys::make();
    let tokens = keys.at("tokens");
    let server = keys.serve(&["--token-file", tokens.to_str().unwrap()]);
    assert!(server.url.starts_with("https://"), "{}", server.url);
    let authority = keys.at("ca.pem");
    let good = get(&server, Some(&authority), Some(&keys.at("token")));
    assert_eq!(String::from_utf8_lossy(&good.stdout).lines().next(), Some("namespace/default"), "{good:?}");
    for token in [None, Some(keys.at("wrong"))] {
        let refused = get(&server, Some(&authority), token.as_deref());
        assert_eq!(refused.status.code(), Some(1));
        assert!(
            String::from_utf8_lossy(&refused.stderr).contains("does not know who you are"),
            "{refused:?}"
        );
    }
    let untrusted = get(&server, None, Some(&keys.at("token")));
    assert_eq!(untrusted.status.code(), Some(1), "a server that nobody vouches for is not talked to");
    assert!(server.stop());
}

/// kubectl with a client certificate: the name in it is the user.
#[test]
fn a_client_certificate_opens_too() {
    let Some(kubectl) = crate::kubectl::kubectls_or_skip().into_iter().next() else { return };
    let keys = Keys::make();
    let authority = keys.at("ca.pem");
    let server = keys.serve(&["--client-ca", authority.to_str().unwrap()]);
    let ask = |more: &[&str]| {
        Command::new(&kubectl)
            .args(["get", "namespaces", "-o", "name", "--server", &server.url, "--certificate-authority"])
            .arg(&authority)
            .args(more)
            .env("HOME", keys.0.path())
            .env("KUBECONFIG", keys.at("none"))
            .output()
            .unwrap()
    };
    let (certificate, key) = (keys.at("ada.pem"), keys.at("ada.key"));
    let with = ["--client-certificate", certificate.to_str().unwrap(), "--client-key", key.to_str().unwrap()];
    let good = ask(&with);
    assert!(String::from_utf8_lossy(&good.stdout).contains("namespace/default"), "{good:?}");
    let without = ask(&["--username", "x", "--password", "y"]);
    assert!(
        !without.status.success() && String::from_utf8_lossy(&without.stderr).contains("nauthorized"),
        "{without:?}"
    );
    assert!(server.stop());
}
