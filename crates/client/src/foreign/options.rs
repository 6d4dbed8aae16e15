//! How patiently and how much at a time a foreign server is asked.

use std::time::Duration;

use super::backoff::Pace;

/// How to follow the changes.
#[derive(Debug, Clone)]
pub struct FeedOptions {
    /// Objects per page of a list.
    pub page: usize,
    /// Lists that are read at a time.
    pub lists: usize,
    /// Messages of followers that wait for the reader. Each holds at most some hundred lines.
    pub buffer: usize,
    /// How often to ask for the kinds, if nothing else gives reason to.
    pub rediscovery: Duration,
    /// How long a watch is to last before it is opened anew.
    pub watch: Duration,
    /// How long to wait for an answer. A server that is alive sends a page of metadata within a fraction of this.
    pub patience: Duration,
    /// After this long without a line there is a bookmark, to show that the feed still works.
    pub heartbeat: Duration,
    /// Pauses after failures.
    pub pace: Pace,
    /// How often the server is asked for its kinds at first, before the feed ends with an error.
    pub attempts: u32,
    /// Where to look at kinds that may not be listed in all namespaces. They are told as broken then: nothing is known
    /// of the other namespaces.
    pub namespace: Option<String>,
}

impl Default for FeedOptions {
    fn default() -> Self {
        FeedOptions {
            page: 500,
            lists: 8,
            buffer: 64,
            rediscovery: Duration::from_secs(30),
            // Shorter than the five minutes after which servers and proxies like to end things by themselves.
            watch: Duration::from_secs(290),
            patience: Duration::from_secs(20),
            heartbeat: Duration::from_secs(5),
            pace: Pace::default(),
            attempts: 5,
            namespace: None,
        }
    }
}
