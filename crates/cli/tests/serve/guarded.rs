//! The token that a server on loopback makes for itself: without it nothing is answered, and commands have it by themselves.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::process::Server;
use crate::raw::Connection;

fn sexton(arguments: &[&str], token: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sexton"));
    command.args(arguments).env_clear().env("HOME", "/nonexistent");
    command.envs(token.map(|token| ("SEXTON_TOKEN", token)));
    command.output().unwrap()
}

/// The status of a request without TLS, with or without a token.
fn code(server: &Server, path: &str, token: Option<&str>) -> u16 {
    let authorization = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    let request = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{authorization}\r\n");
    let mut connection = Connection::open(&server.address).unwrap();
    connection.send(request.as_bytes()).unwrap();
    connection.answer().unwrap().code
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Another user of the machine gets 401, on the API and on the metrics; whether the server is there can be asked.
#[test]
fn without_the_token_nothing_is_answered() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let server = Server::start_guarded(&data, &[]);
    let token = std::fs::read_to_string(data.join("tls/token")).unwrap();
    let token = token.trim();
    for path in ["/api", "/apis", "/api/v1/namespaces", "/openapi/v3", "/metrics", "/nonsense"] {
        assert_eq!(code(&server, path, None), 401, "{path}");
        assert_eq!(code(&server, path, Some("0123456789abcdef0123456789abcdef")), 401, "{path}");
    }
    for path in ["/healthz", "/livez", "/readyz", "/version"] {
        assert_eq!(code(&server, path, None), 200, "{path}");
    }
    assert_eq!(code(&server, "/api/v1/namespaces", Some(token)), 200);
    assert_eq!(code(&server, "/metrics", Some(token)), 200);
    assert_eq!((mode(&data.join("tls/token")), mode(&data.join("tls"))), (0o600, 0o700));
    assert_eq!(mode(&data.join("server.json")), 0o600);
    assert!(server.stop());
    // The next server knows the same clients.
    let server = Server::start_guarded(&data, &[]);
    assert_eq!(code(&server, "/api", Some(token)), 200);
}

/// Commands on the data directory and the kubeconfig have the token; an address alone does not, and says so.
#[test]
fn commands_have_the_token_by_themselves() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let server = Server::start_guarded(&data, &[]);
    assert!(server.url.starts_with("https://127.0.0.1:"), "{}", server.url);
    let at = data.to_str().unwrap();
    let listed = sexton(&["get", "ns", "-o", "name", "--data", at], None);
    assert!(listed.status.success() && text(&listed).contains("namespace/default"), "{listed:?}");
    assert!(text(&listed).contains(&format!("using the server {}", server.url)), "{listed:?}");
    let token = std::fs::read_to_string(data.join("tls/token")).unwrap();
    let config = text(&sexton(&["kubeconfig", "--data", at], None));
    let all = [token.trim(), "certificate-authority-data", &format!("server: {}", server.url)];
    assert!(all.iter().all(|part| config.contains(part)), "{config}");
    let plain = format!("http://{}", server.address);
    let refused = sexton(&["get", "ns", "--server", &plain], None);
    assert_eq!(refused.status.code(), Some(1));
    for words in ["does not know who you are", "SEXTON_TOKEN", "--data DIR"] {
        assert!(text(&refused).contains(words), "{refused:?}");
    }
    let named = sexton(&["get", "ns", "-o", "name", "--server", &plain], Some(token.trim()));
    assert!(named.status.success(), "{named:?}");
}

/// Without a token only if it is said, and then it is said what that means.
#[test]
fn open_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let (data, logs) = (dir.path().join("data"), dir.path().join("logs"));
    let file = std::fs::File::create(&logs).unwrap();
    let server = Server::start_with(&data, &["--open"], Stdio::from(file));
    assert_eq!((server.url.starts_with("http://"), code(&server, "/api", None)), (true, 200));
    assert!(server.stop());
    let mut said = String::new();
    std::fs::File::open(&logs).unwrap().read_to_string(&mut said).unwrap();
    assert!(said.contains("every user and program of this machine may do everything"), "{said}");
    for arguments in [["--open", "--listen", "0.0.0.0:0"], ["--open", "--self-signed", "--log=text"]] {
        let refused = sexton(&[&["serve", "--data", data.to_str().unwrap()][..], &arguments].concat(), None);
        assert!(!refused.status.success(), "{arguments:?}");
    }
}
