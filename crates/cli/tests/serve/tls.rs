//! TLS and authentication: who gets in, who does not, over real sockets.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

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
        std::fs::set_permissions(self.at(name), PermissionsExt::from_mode(0o600)).unwrap();
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
    let server = keys.serve(&["--tokens", tokens.to_str().unwrap()]);
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
    let said = String::from_utf8_lossy(&untrusted.stderr).into_owned();
    assert!(said.contains("the same command with --certificate-authority FILE"), "{said}");
    let nonsense = get(&server, Some(&keys.at("token")), Some(&keys.at("token")));
    let said = String::from_utf8_lossy(&nonsense.stderr).into_owned();
    assert!(said.contains("token holds no certificate in PEM form"), "{said}");
    let plain = Command::new(env!("CARGO_BIN_EXE_sexton"))
        .args(["get", "ns", "--server", &server.url.replace("https", "http")])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&plain.stderr).into_owned();
    assert!(plain.status.code() == Some(1) && said.contains("https:// in the address"), "{said}");
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

/// A server whose log is read; killed when dropped.
struct Logged(Child, BufReader<std::process::ChildStderr>);

impl Logged {
    fn start(data: &Path, arguments: &[&str]) -> Logged {
        let mut child = Command::new(env!("CARGO_BIN_EXE_sexton"))
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(data)
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = BufReader::new(child.stderr.take().unwrap());
        let mut server = Logged(child, log);
        server.wait_for("for kubectl");
        server
    }

    fn wait_for(&mut self, words: &str) {
        let mut line = String::new();
        while !line.contains(words) {
            line.clear();
            assert_ne!(self.1.read_line(&mut line).unwrap(), 0, "the server ended before it said {words:?}");
        }
    }

    fn hang_up(&self) {
        assert!(Command::new("kill").args(["-HUP", &self.0.id().to_string()]).status().unwrap().success());
    }
}

impl Drop for Logged {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// One flag makes a server that kubectl and this program can use, by the kubeconfig of its data directory.
#[test]
fn self_signed_is_one_flag() {
    let home = tempfile::tempdir().unwrap();
    let (data, config) = (home.path().join("data"), home.path().join("config"));
    let mut server = Logged::start(&data, &["--self-signed", "--host", "127.0.0.2"]);
    let sexton = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sexton"));
        command.args(arguments).env_clear().env("HOME", home.path()).output().unwrap()
    };
    let namespaces = |output: &Output| String::from_utf8_lossy(&output.stdout).contains("namespace/default");
    let (data, config) = (data.to_str().unwrap(), config.to_str().unwrap());
    // On the directory itself, without any flag about certificates.
    let own = sexton(&["get", "ns", "-o", "name", "--data", data]);
    assert!(namespaces(&own), "{own:?}");
    let wrong = sexton(&["kubeconfig", "--data", data, "--host", "192.0.2.1"]);
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("not valid for 192.0.2.1"), "{wrong:?}");
    let by_host = sexton(&["kubeconfig", "--data", data]);
    assert!(String::from_utf8_lossy(&by_host.stdout).contains("server: https://127.0.0.2:"), "{by_host:?}");
    // The server listens on 127.0.0.1 only, so that is the name to be used here.
    let merged =
        sexton(&["kubeconfig", "--merge", "--data", data, "--host", "127.0.0.1", "--kubeconfig", config]);
    assert!(merged.status.success(), "{merged:?}");
    let by_context = || sexton(&["get", "ns", "-o", "name", "--context", "sexton", "--kubeconfig", config]);
    assert!(namespaces(&by_context()), "{:?}", by_context());
    for kubectl in crate::kubectl::kubectls_or_skip().into_iter().take(1) {
        let mut command = Command::new(kubectl);
        command.args(["get", "ns", "-o", "name"]).env("HOME", home.path()).env("KUBECONFIG", config);
        let shown = command.output().unwrap();
        assert!(namespaces(&shown), "{shown:?}");
    }
    // Another token: the server takes it when told to, and the old one opens nothing any more.
    std::fs::write(Path::new(data).join("tls/token"), "fedcba9876543210fedcba9876543210\n").unwrap();
    server.hang_up();
    server.wait_for("reloaded certificates and tokens");
    let refused = by_context();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("does not know who you are"), "{refused:?}");
    assert!(namespaces(&sexton(&["get", "ns", "-o", "name", "--data", data])));
    // Nonsense changes nothing.
    std::fs::write(Path::new(data).join("tls/token"), "short\n").unwrap();
    server.hang_up();
    server.wait_for("cannot reload certificates and tokens");
    std::fs::write(Path::new(data).join("tls/token"), "fedcba9876543210fedcba9876543210\n").unwrap();
    assert!(namespaces(&sexton(&["get", "ns", "-o", "name", "--data", data])));
}

/// What cannot be used is named, and nothing is served.
#[test]
fn nonsense_is_refused_at_the_start() {
    let keys = Keys::make();
    keys.write("nonsense", "nonsense");
    let at = |name: &str| keys.at(name).to_str().unwrap().to_owned();
    let refused = |arguments: &[&str], words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sexton"));
        let output = command.args(["serve", "--data", &at("data")]).args(arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        words.iter().for_each(|word| assert!(said.contains(word), "no {word:?} in {said}"));
    };
    let (nonsense, server, key, ada) = (at("nonsense"), at("server.pem"), at("server.key"), at("ada.key"));
    refused(&["--tls-cert", &nonsense, "--tls-key", &key], &[&nonsense, "no certificate"]);
    refused(&["--tls-cert", &server, "--tls-key", &nonsense], &[&nonsense]);
    refused(&["--tls-cert", &server, "--tls-key", &ada], &[&server, "KeyMismatch"]);
    refused(&["--tls-cert", &server], &["--tls-key"]);
    refused(&["--tokens", &at("token")], &["not of the form token,user"]);
    refused(&["--self-signed", "--tls-cert", &server, "--tls-key", &key], &["cannot be used with"]);
    refused(&["--host", "a.example.com"], &["--self-signed"]);
    refused(&["--self-signed", "--host", "https://a:1"], &["not a host name"]);
}
