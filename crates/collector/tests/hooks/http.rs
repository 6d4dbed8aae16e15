//! Services as methods: what they are sent, and all the ways in which they answer badly.

use std::time::Duration;

use sexton_collector::hooks::{HookError, Hooks};
use sexton_model::class::{Method, Run};
use sexton_model::hook::Verdict;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::{LONG, answer, big_call, call, done};

pub(crate) fn to(url: String) -> Method {
    Method { run: Run::Http { url }, deadline: LONG, max_output: 64 << 10 }
}

/// What a server does after it has read the request.
#[derive(Clone)]
pub(crate) enum Then {
    /// Writes this and closes.
    Says(Vec<u8>),
    /// Writes this for ever.
    Floods(&'static str),
}

pub(crate) fn says(text: &str) -> Then {
    Then::Says(text.as_bytes().to_vec())
}

/// A whole answer.
pub(crate) fn reply(head: &str, body: &str) -> Then {
    says(&format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()))
}

/// A server that reads one request, says something, and then nothing any more; it tells when it has.
async fn hanging(said: &'static str) -> (Method, oneshot::Receiver<()>, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let method = to(format!("http://{}/", listener.local_addr().unwrap()));
    let (tell, told) = oneshot::channel();
    let task = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        stream.write_all(said.as_bytes()).await.unwrap();
        tell.send(()).unwrap();
        // Until the other side has had enough.
        let _ = stream.read(&mut [0; 1]).await;
    });
    (method, told, task)
}

/// A server for one request; returns what it received.
async fn server(then: Then) -> (Method, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/gone?a=b", listener.local_addr().unwrap());
    let task = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        serve(stream, then).await
    });
    (to(url), task)
}

async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut request = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&request).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return text;
            }
        }
        let mut chunk = vec![0; 64 << 10];
        let read = stream.read(&mut chunk).await.unwrap();
        assert_ne!(read, 0, "the request ends early: {text}");
        request.extend_from_slice(&chunk[..read]);
    }
}

pub(crate) async fn serve(mut stream: impl AsyncRead + AsyncWrite + Unpin, then: Then) -> String {
    let request = read_request(&mut stream).await;
    match then {
        Then::Says(bytes) => {
            stream.write_all(&bytes).await.unwrap();
            stream.shutdown().await.unwrap();
        }
        Then::Floods(head) => {
            let mut left = stream.write_all(head.as_bytes()).await;
            while left.is_ok() {
                left = stream.write_all(&[b' '; 4096]).await;
            }
        }
    }
    request
}

async fn answered(then: Then) -> Result<Verdict, HookError> {
    let (method, server) = server(then).await;
    let verdict = answer(&method).await;
    tokio::time::timeout(LONG, server).await.expect("the connection is closed").unwrap();
    verdict
}

#[tokio::test]
async fn a_service_is_sent_the_call() {
    let (method, server) = server(reply("200 OK", r#"{"verdict":"gone"}"#)).await;
    assert_eq!(answer(&method).await.unwrap(), Verdict::Gone);
    let request = server.await.unwrap();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /gone?a=b HTTP/1.1\r\n"), "{head}");
    for line in ["content-type: application/json", "idempotency-key: 0123abcd", "sexton-epoch: 7"] {
        assert!(head.lines().any(|found| found == line), "{line} in {head}");
    }
    assert_eq!(body.as_bytes(), call().document().unwrap());
}

#[tokio::test]
async fn success_without_words_is_done_if_it_was_meant() {
    assert_eq!(answered(reply("200 OK", "")).await.unwrap(), done());
    assert_eq!(answered(says("HTTP/1.1 204 No Content\r\n\r\n")).await.unwrap(), done());
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    assert_eq!(answered(says(chunked)).await.unwrap(), done());
    let cut = answered(says("HTTP/1.1 200 OK\r\n\r\n")).await.unwrap_err();
    assert!(matches!(cut, HookError::Unannounced), "{cut}");
}

#[tokio::test]
async fn half_an_answer_is_none() {
    for half in [
        "",
        "HTTP/1.1 200",
        "HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n{\"verdict\":\"done\"}",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n12\r\n{\"verdict\":\"done\"}\r\n",
        "not http at all\r\n\r\n",
    ] {
        let error = answered(says(half)).await.unwrap_err();
        assert!(matches!(error, HookError::Broken(_)), "{half:?}: {error}");
        assert!(!error.is_before_anything());
    }
    let words = answered(reply("200 OK", "<html>fine</html>")).await.unwrap_err();
    assert!(matches!(words, HookError::NoVerdict(_)), "{words}");
}

#[tokio::test]
async fn a_refusal_is_a_failure_with_its_beginning() {
    let failed = |reason: &str| Verdict::Failed { reason: reason.into() };
    let refused = answered(reply("500 Oops", "no\nspace")).await.unwrap();
    assert_eq!(refused, failed("HTTP 500: no space"));
    assert_eq!(
        answered(reply("404 X", r#"{"verdict":"done"}"#)).await.unwrap(),
        failed("HTTP 404: {\"verdict\":\"done\"}")
    );
    let busy = Verdict::Retry { after: Some(Duration::from_secs(9)), reason: "HTTP 503".into() };
    assert_eq!(answered(reply("503 Busy\r\nRetry-After: 9", "")).await.unwrap(), busy);
    let Verdict::Failed { reason } = answered(Then::Floods("HTTP/1.1 500 X\r\n\r\nbad")).await.unwrap()
    else {
        panic!("a failure")
    };
    assert!(reason.starts_with("HTTP 500: bad") && reason.len() < 1_100, "{reason}");
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = elsewhere.local_addr().unwrap();
    for code in [301, 302, 303, 307, 308] {
        let head = format!("{code} There\r\nLocation: http://{address}/");
        let Verdict::Failed { reason } = answered(reply(&head, "")).await.unwrap() else {
            panic!("a failure")
        };
        assert_eq!(reason, format!("HTTP {code} to http://{address}/: redirects are not followed"));
    }
    assert!(futures::poll!(Box::pin(elsewhere.accept())).is_pending(), "nobody came");
}

#[tokio::test]
async fn who_says_too_much_is_not_heard_out() {
    let error = answered(Then::Floods("HTTP/1.1 200 OK\r\n\r\n")).await.unwrap_err();
    assert!(matches!(error, HookError::TooMuch { limit: 65_536 }), "{error}");
    let error = answered(Then::Floods("HTTP/1.1 200 OK\r\nX: ")).await.unwrap_err();
    assert!(matches!(error, HookError::Broken(_)), "{error}");
}

#[tokio::test]
async fn who_is_too_slow_is_not_waited_for() {
    for begun in ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{"] {
        let (method, heard, server) = hanging(begun).await;
        let call = tokio::spawn(async move { answer(&method).await });
        // It has all the time that it needs until it is heard; the rest of its time passes in a moment.
        heard.await.unwrap();
        tokio::time::pause();
        tokio::time::advance(LONG).await;
        tokio::time::resume();
        let error = call.await.unwrap().unwrap_err();
        assert!(matches!(error, HookError::Deadline { after } if after == LONG), "{begun:?}: {error}");
        // The server sees the end of the connection: nothing stays behind.
        tokio::time::timeout(LONG, server).await.expect("the connection is closed").unwrap();
    }
}

#[tokio::test]
async fn an_early_answer_to_a_big_call_counts() {
    let (method, server) = server(reply("200 OK", r#"{"verdict":"gone"}"#)).await;
    assert_eq!(Hooks::new().call(&method, &big_call()).await.unwrap(), Verdict::Gone);
    server.await.unwrap();
}

#[tokio::test]
async fn who_is_not_there_cannot_be_called() {
    // A port below the range from which the system gives out free ones, so no other test listens there.
    let error = answer(&to("http://127.0.0.1:1/".into())).await.unwrap_err();
    assert!(matches!(error, HookError::Unreachable { .. }) && error.is_before_anything(), "{error}");
    for url in ["nonsense", "ftp://127.0.0.1/", "http://"] {
        let error = answer(&to(url.into())).await.unwrap_err();
        assert!(matches!(error, HookError::BadUrl { .. }), "{url}: {error}");
    }
}
