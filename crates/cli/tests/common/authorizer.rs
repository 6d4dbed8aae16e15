//! A way to a server on which a user has few rights: what is not allowed is answered as RBAC answers it.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use serde_json::{Value, json};

/// Whether a request is allowed: method and path without its query.
type Allows = dyn Fn(&str, &str) -> bool + Send + Sync;

/// Listens on loopback for as long as the test process lives, and passes what is allowed on to a server.
pub(crate) struct Authorizer {
    pub(crate) url: String,
}

impl Authorizer {
    /// A user with all rights in one namespace and none elsewhere. Discovery and questions about rights are allowed.
    pub(crate) fn of_namespace(server: &str, namespace: &str) -> Authorizer {
        let own = format!("/namespaces/{namespace}");
        Authorizer::new(server, move |_, path| {
            let parts = path.trim_matches('/').split('/').count();
            let discovers = match path.starts_with("/apis") {
                true => parts <= 3,
                false => parts <= 2,
            };
            discovers || path.contains(&own) || path.ends_with("/selfsubjectaccessreviews")
        })
    }

    /// A user with the rights that `allows` tells, of method and path without its query.
    pub(crate) fn new(
        server: &str,
        allows: impl Fn(&str, &str) -> bool + Send + Sync + 'static,
    ) -> Authorizer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (server, allows): (String, Arc<Allows>) = (server.to_owned(), Arc::new(allows));
        std::thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let (server, allows) = (server.clone(), allows.clone());
                // A command that ends cuts its connections.
                std::thread::spawn(move || _ = pass(socket, &server, &*allows));
            }
        });
        Authorizer { url }
    }
}

/// One request, and its answer until the server ends it: each request has a connection of its own.
fn pass(mut socket: TcpStream, server: &str, allows: &Allows) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    let body_at = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        if read_more(&mut socket, &mut bytes)? == 0 {
            return Ok(());
        }
    };
    let head = String::from_utf8_lossy(&bytes[..body_at]).into_owned();
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    while bytes.len() < body_at + length.unwrap_or(0) && read_more(&mut socket, &mut bytes)? > 0 {}
    let mut words = head.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = path.split('?').next().unwrap_or_default();
    if let Some((code, answer)) = own_answer(method, path, &bytes[body_at..], allows) {
        let answer = answer.to_string();
        return write!(
            socket,
            "HTTP/1.1 {code} Answered\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{answer}",
            answer.len()
        );
    }
    let kept = |line: &&str| !line.to_ascii_lowercase().starts_with("connection:") && !line.is_empty();
    let head: Vec<&str> = head.split("\r\n").filter(kept).chain(["connection: close", "", ""]).collect();
    let mut upstream = TcpStream::connect(server)?;
    upstream.write_all(head.join("\r\n").as_bytes())?;
    upstream.write_all(&bytes[body_at..])?;
    std::io::copy(&mut upstream, &mut socket)?;
    Ok(())
}

fn read_more(socket: &mut TcpStream, bytes: &mut Vec<u8>) -> std::io::Result<usize> {
    let mut piece = [0; 16_384];
    let count = socket.read(&mut piece)?;
    bytes.extend_from_slice(&piece[..count]);
    Ok(count)
}

/// What the server is not asked: what is forbidden, and whether something is.
fn own_answer(method: &str, path: &str, body: &[u8], allows: &Allows) -> Option<(u16, Value)> {
    if !allows(method, path) {
        let message = format!("{path} is forbidden: User \"ada\" cannot {method} it");
        let status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": message, "reason": "Forbidden", "details": {}, "code": 403,
        });
        return Some((403, status));
    }
    if !path.ends_with("/selfsubjectaccessreviews") {
        return None;
    }
    let mut review: Value = serde_json::from_slice(body).ok()?;
    let asked = &review["spec"]["resourceAttributes"];
    let word = |name: &str| asked[name].as_str().unwrap_or_default();
    let method = match word("verb") {
        "get" | "list" | "watch" => "GET",
        "create" => "POST",
        "update" => "PUT",
        "patch" => "PATCH",
        _ => "DELETE",
    };
    let root = match word("group") {
        "" => "/api/v1".to_owned(),
        group => format!("/apis/{group}/v1"),
    };
    let namespace = match word("namespace") {
        "" => String::new(),
        namespace => format!("/namespaces/{namespace}"),
    };
    let allowed = allows(method, &format!("{root}{namespace}/{}", word("resource")));
    review["status"] = json!({"allowed": allowed});
    Some((201, review))
}
