//! Clients that hold on to what they get, on real sockets: others are served all the same.

use std::time::Duration;

use bytes::Bytes;
use futures::future::join_all;
use http_body_util::Full;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::json;
use sexton_server::api::OwnerChecks;
use sexton_server::http::{App, Authentication, Metrics, RequestLimits};
use sexton_server::serve::{Gate, Listening, Security, SecurityFiles};
use sexton_testkit::World;
use sexton_testkit::things::config_map;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// More than sockets take by themselves, so that a list that is not read does not end.
const OBJECTS: usize = 1_000;
const OBJECT_BYTES: usize = 16 << 10;
const LIST: &str = "/api/v1/namespaces/default/configmaps";
/// Far more than any answer needs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server with few seats on a real socket; dropping what is held beside the address stops it.
async fn served(world: &World) -> (std::net::SocketAddr, tokio::task::JoinHandle<()>) {
    let limits = RequestLimits { requests: 16, watches: 4 };
    let gate = Gate::default();
    let authentication = Authentication::InProcess;
    gate.open(App::new(world.api().clone(), authentication, limits, Metrics::default()));
    let listening = Listening::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = listening.address();
    let files = SecurityFiles { open: true, ..SecurityFiles::default() };
    let security = Security::decide(address, &files).unwrap();
    let server = tokio::spawn(async move {
        listening.serve(gate, &security, std::future::pending()).await;
    });
    (address, server)
}

async fn world() -> World {
    let world = World::with(OwnerChecks::Warn, RequestLimits::default()).await;
    let text = "x".repeat(OBJECT_BYTES);
    let large = |n: usize| {
        let mut document = config_map(&format!("large-{n:05}"));
        document["metadata"]["uid"] = json!(format!("large-{n}"));
        document["data"] = json!({"text": text});
        document
    };
    world.fill_documents("configmaps", (0..OBJECTS).map(large)).await;
    world
}

/// Sends a head and waits for the first bytes of what is said about it.
async fn ask(address: std::net::SocketAddr, head: &str) -> (TcpStream, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut first = [0; 12];
    // A list that was not read in time may have been cut off before its first bytes were looked at.
    match tokio::time::timeout(PATIENCE, stream.read_exact(&mut first)).await.unwrap() {
        Ok(_) => (stream, String::from_utf8_lossy(&first[9..]).into_owned()),
        Err(_) => (stream, String::new()),
    }
}

async fn creates(address: std::net::SocketAddr, name: &str) {
    let body = config_map(name).to_string();
    let head = format!(
        "POST {LIST} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    assert_eq!(ask(address, &head).await.1, "201", "{name}");
    let get = format!("GET {LIST}/{name} HTTP/1.1\r\nhost: a\r\n\r\n");
    assert_eq!(ask(address, &get).await.1, "200", "{name}");
    assert_eq!(ask(address, "GET /readyz HTTP/1.1\r\nhost: a\r\n\r\n").await.1, "200");
}

/// Lists that are not read take the seats of lists, and of nothing else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unread_lists_keep_nothing_from_being_written() {
    let world = world().await;
    let (address, server) = served(&world).await;
    let list = format!("GET {LIST} HTTP/1.1\r\nhost: a\r\n\r\n");
    let held = join_all((0..40).map(|_| ask(address, &list))).await;
    assert!(held.iter().any(|(_, code)| code == "200"), "none was a list");
    creates(address, "beside-lists").await;
    drop(held);
    server.abort();
}

/// Bodies that never come take no seat at all.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_that_never_come_keep_nothing_from_being_written() {
    let world = world().await;
    let (address, server) = served(&world).await;
    let head =
        format!("POST {LIST} HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 1000000\r\n\r\n");
    // That it may go on is said when the body is waited for.
    let held = join_all((0..40).map(|_| ask(address, &head))).await;
    assert!(held.iter().all(|(_, code)| code == "100"));
    creates(address, "beside-bodies").await;
    let bulk = head.replace(LIST, "/apis/sexton.dev/v1/bulk");
    let bulks = join_all((0..40).map(|_| ask(address, &bulk))).await;
    assert!(bulks.iter().all(|(_, code)| code == "100"), "nor those of bulk requests");
    creates(address, "beside-bulks").await;
    drop((held, bulks));
    server.abort();
}

/// Streams whose windows are closed take a connection's share of lists.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closed_windows_keep_nothing_from_being_written() {
    let world = world().await;
    let (address, server) = served(&world).await;
    let mut held = Vec::new();
    for _ in 0..5 {
        let io = TokioIo::new(TcpStream::connect(address).await.unwrap());
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder.initial_stream_window_size(0);
        let (sender, connection) = builder.handshake::<_, Full<Bytes>>(io).await.unwrap();
        tokio::spawn(connection);
        let one = || {
            let request =
                http::Request::get(format!("http://{address}{LIST}")).body(Full::default()).unwrap();
            sender.clone().send_request(request)
        };
        let answers = join_all((0..20).map(|_| one())).await;
        let mut codes = answers.iter().map(|answer| answer.as_ref().unwrap().status().as_u16());
        assert!(codes.all(|code| matches!(code, 200 | 429)), "a list or a refusal");
        held.push((sender, answers));
    }
    creates(address, "beside-streams").await;
    drop(held);
    server.abort();
}
