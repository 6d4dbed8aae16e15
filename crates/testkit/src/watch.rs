//! A watch, read line by line. Waiting is for events and bounded: a test that waits for nothing fails, it never hangs.

use std::collections::VecDeque;
use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use futures::{FutureExt, StreamExt};
use http_body_util::BodyExt;
use serde_json::Value;

use crate::call::{Call, at};

/// Longer than anything here takes, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A watch under way.
#[derive(Debug)]
pub struct Watch {
    stream: BodyDataStream,
    unread: Vec<u8>,
    ready: VecDeque<Value>,
}

impl Watch {
    /// Begins a watch that must be accepted.
    pub async fn begin(call: Call) -> Watch {
        let response = call.raw().await;
        let code = response.status().as_u16();
        if code != 200 {
            let text = response.into_body().collect().await.unwrap().to_bytes();
            panic!("the watch was refused with {code}: {}", String::from_utf8_lossy(&text));
        }
        let body: Body = response.into_body();
        Watch { stream: body.into_data_stream(), unread: Vec::new(), ready: VecDeque::new() }
    }

    /// The next event, or `None` at the end of the watch.
    pub async fn next(&mut self) -> Option<Value> {
        while self.ready.is_empty() {
            let piece =
                tokio::time::timeout(PATIENCE, self.stream.next()).await.expect("no event came in time");
            self.take(&piece?.unwrap());
        }
        self.ready.pop_front()
    }

    /// The next event, if it is there without waiting: for tests that move a paused clock themselves.
    pub fn ready(&mut self) -> Option<Value> {
        if self.ready.is_empty()
            && let Some(Some(piece)) = self.stream.next().now_or_never()
        {
            self.take(&piece.unwrap());
        }
        self.ready.pop_front()
    }

    fn take(&mut self, piece: &[u8]) {
        self.unread.extend_from_slice(piece);
        while let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.unread.drain(..=end).collect();
            self.ready.push_back(serde_json::from_slice(&line).unwrap());
        }
    }

    /// The next `count` events in short form, see [`short`].
    pub async fn shorts(&mut self, count: usize) -> Vec<String> {
        let mut shorts = Vec::with_capacity(count);
        for _ in 0..count {
            shorts.push(short(&self.next().await.expect("the watch ended early")));
        }
        shorts
    }

    /// Everything until the watch ends, in short form.
    pub async fn rest(&mut self) -> Vec<String> {
        let mut shorts = Vec::new();
        while let Some(event) = self.next().await {
            shorts.push(short(&event));
        }
        shorts
    }
}

/// An event as `TYPE name@version`.
pub fn short(event: &Value) -> String {
    let text = |path: &str| at(event, path).as_str().unwrap_or("").to_owned();
    let (kind, name) = (text("type"), text("object.metadata.name"));
    format!("{kind} {name}@{}", text("object.metadata.resourceVersion"))
}
