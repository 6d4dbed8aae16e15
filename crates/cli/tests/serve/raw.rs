//! HTTP by hand over a plain socket: what a test wants to see is bytes, not a client's idea of them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// A keep-alive connection that sends requests one after the other.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) body: Value,
}

impl Connection {
    pub(crate) fn open(address: &str) -> std::io::Result<Connection> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        // A bound, so that a broken server fails a test instead of hanging it.
        stream.set_read_timeout(Some(Duration::from_secs(120)))?;
        Ok(Connection { stream: BufReader::new(stream) })
    }

    /// Sends bytes as they are.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.stream.get_mut().write_all(bytes)
    }

    /// One request with a JSON body (empty: none), and its answer.
    pub(crate) fn ask(
        &mut self,
        method: &str,
        path: &str,
        kind: &str,
        body: &str,
    ) -> std::io::Result<Answer> {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: raw/1\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        self.send(head.as_bytes())?;
        self.send(body.as_bytes())?;
        self.answer()
    }

    /// Reads an answer.
    pub(crate) fn answer(&mut self) -> std::io::Result<Answer> {
        let (code, length) = self.head()?;
        let mut body = Vec::new();
        match length {
            Some(length) => {
                body.resize(length, 0);
                self.stream.read_exact(&mut body)?;
            }
            None => {
                while let Some(chunk) = self.chunk()? {
                    body.extend_from_slice(&chunk);
                }
            }
        }
        let text = String::from_utf8_lossy(&body).into_owned();
        Ok(Answer { code, body: serde_json::from_slice(&body).unwrap_or(Value::String(text)) })
    }

    /// The code and, unless chunked, the length of the body.
    pub(crate) fn head(&mut self) -> std::io::Result<(u16, Option<usize>)> {
        let status = self.line()?;
        let code = status
            .split(' ')
            .nth(1)
            .and_then(|code| code.parse().ok())
            .ok_or(std::io::ErrorKind::InvalidData)?;
        let mut length = None;
        loop {
            let line = self.line()?.to_lowercase();
            match line.split_once(':') {
                Some(("content-length", value)) => length = value.trim().parse().ok(),
                Some(_) => {}
                None => return Ok((code, length)),
            }
        }
    }

    /// One chunk of a chunked body; `None` at its end.
    pub(crate) fn chunk(&mut self) -> std::io::Result<Option<Vec<u8>>> {
        let size =
            usize::from_str_radix(self.line()?.trim(), 16).map_err(|_| std::io::ErrorKind::InvalidData)?;
        let mut bytes = vec![0; size + 2];
        self.stream.read_exact(&mut bytes)?;
        bytes.truncate(size);
        Ok((size > 0).then_some(bytes))
    }

    fn line(&mut self) -> std::io::Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }
}

/// Begins a watch of all ConfigMaps after a revision; gives back the connection to read events from.
pub(crate) fn watch(address: &str, after: u64) -> std::io::Result<Connection> {
    let mut connection = Connection::open(address)?;
    let path = format!("/api/v1/configmaps?watch=true&resourceVersion={after}");
    connection.send(format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").as_bytes())?;
    let (code, _) = connection.head()?;
    assert_eq!(code, 200, "a watch from {after} must be possible: history survives restarts");
    Ok(connection)
}

/// One request with a document (null: none) on a connection of its own, which has to succeed. Gives what is answered.
pub(crate) fn ask(address: &str, method: &str, path: &str, body: &Value) -> Value {
    let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let answer = Connection::open(address).unwrap().ask(method, path, kind, &body).unwrap();
    assert!(answer.code < 300, "{method} {path}: {answer:?}");
    answer.body
}
