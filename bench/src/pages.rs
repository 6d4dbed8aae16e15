//! A full list of the collection, page by page, and what the pages say about themselves.
//! Must not know: what is checked about the names or how the figures are reported.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use bytes::Bytes;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;

use crate::bench::Bench;
use crate::conn::Conn;
use crate::drive::GRACE;
use crate::error::{Error, Result};
use crate::histogram::Histogram;

/// Everything that a list brought.
pub(crate) struct Listing {
    /// Pages that arrived.
    pub(crate) pages: u64,
    /// Bytes of all pages.
    pub(crate) bytes: u64,
    /// Names in the order of arrival, duplicates included.
    pub(crate) names: Vec<String>,
    /// The different resource versions that pages carried, in the order of their first appearance.
    pub(crate) versions: Vec<String>,
    /// Times of the pages.
    pub(crate) times: Histogram,
    /// Time spent waiting for pages; reading them is the client's own affair and not in it.
    pub(crate) elapsed: Duration,
    /// Why the list ended early, if it did.
    pub(crate) failure: Option<Error>,
}

#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow)]
    metadata: PageMeta<'a>,
    #[serde(borrow, default)]
    items: Option<Vec<Item<'a>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageMeta<'a> {
    #[serde(borrow, default)]
    resource_version: Cow<'a, str>,
    #[serde(borrow, default, rename = "continue")]
    next: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow)]
    metadata: ItemMeta<'a>,
}

#[derive(Deserialize)]
struct ItemMeta<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
}

/// Lists the whole collection with `limit` objects per page, bounded by the time of a measurement.
pub(crate) async fn list_all(conn: &mut Conn, bench: &Bench, limit: u64) -> Result<Listing> {
    let mut listing = Listing {
        pages: 0,
        bytes: 0,
        names: Vec::new(),
        versions: Vec::new(),
        times: Histogram::new(),
        elapsed: Duration::ZERO,
        failure: None,
    };
    let start = Instant::now();
    let mut next = String::new();
    loop {
        if start.elapsed() >= bench.max_time() {
            listing.failure = Some(Error::TooSlow("the list".to_owned()));
            return Ok(listing);
        }
        let request = bench.target.get(&path_of(&bench.collection(), limit, &next))?;
        let sent = Instant::now();
        let answer = tokio::time::timeout(bench.max_time() + GRACE, conn.fetch_ok("list", request)).await;
        let took = sent.elapsed();
        listing.elapsed += took;
        let read = match answer {
            Ok(Ok(body)) => {
                listing.times.record(took);
                listing.add(&body)
            }
            Ok(Err(error)) => Err(error),
            Err(_) => Err(Error::TooSlow("a page".to_owned())),
        };
        match read {
            Ok(token) if token.is_empty() => return Ok(listing),
            Ok(token) => next = token,
            Err(error) => {
                listing.failure = Some(error);
                return Ok(listing);
            }
        }
    }
}

/// The path of the page that a token stands for; the empty token stands for the first one.
pub(crate) fn path_of(collection: &str, limit: u64, token: &str) -> String {
    match token.is_empty() {
        true => format!("{collection}?limit={limit}"),
        false => {
            let token = utf8_percent_encode(token, NON_ALPHANUMERIC);
            format!("{collection}?limit={limit}&continue={token}")
        }
    }
}

impl Listing {
    /// Takes in a page and returns the token of the next one.
    fn add(&mut self, body: &Bytes) -> Result<String> {
        let page: Page<'_> = serde_json::from_slice(body)
            .map_err(|source| Error::Unreadable { what: "list".to_owned(), source })?;
        self.pages += 1;
        self.bytes += body.len() as u64;
        if !self.versions.iter().any(|version| *version == page.metadata.resource_version) {
            self.versions.push(page.metadata.resource_version.into_owned());
        }
        let items = page.items.unwrap_or_default();
        self.names.extend(items.into_iter().map(|item| item.metadata.name.into_owned()));
        Ok(page.metadata.next.into_owned())
    }
}

/// The names that earlier measurements made, for those that need existing objects.
pub(crate) async fn existing(bench: &Bench) -> Result<Vec<String>> {
    const LIMIT: u64 = 1000;
    let mut conn = Conn::open(&bench.target).await?;
    let listing = list_all(&mut conn, bench, LIMIT).await?;
    match listing.failure {
        Some(error) => Err(error),
        None => Ok(listing.names.into_iter().filter(|name| bench.is_ours(name)).collect()),
    }
}

/// The collection's resource version now, from which a watch sees every later change.
pub(crate) async fn version_now(bench: &Bench) -> Result<String> {
    let mut conn = Conn::open(&bench.target).await?;
    let request = bench.target.get(&format!("{}?limit=1", bench.collection()))?;
    let body = bench.within("list", conn.fetch_ok("list", request)).await?;
    let page: Page<'_> = serde_json::from_slice(&body)
        .map_err(|source| Error::Unreadable { what: "list".to_owned(), source })?;
    Ok(page.metadata.resource_version.into_owned())
}
