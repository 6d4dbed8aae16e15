//! Reading a long list page by page: the next one is on its way while the last is read, on another core if there is one.
//!
//! It must not know what it is read for.

use bytes::Bytes;
use http::Method;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, spawn_blocking};

use super::metadata::ACCEPT;
use super::slim::{OfMetadata, SlimPage, next_page};
use super::{ListAsk, ListError, Place, Resources};
use crate::call::{Call, CallError};

/// Objects in one page: few requests, and none that keeps the server busy for long.
const PAGE: usize = 2_000;
/// Pages that are on their way, besides the one that is looked at.
const AHEAD: usize = 2;

/// A page that was asked for: being read, or what went wrong.
type Coming<T> = Result<JoinHandle<Result<SlimPage<T>, CallError>>, ListError>;

/// The pages of a list of metadata, of one moment.
struct SlimPages<T> {
    coming: mpsc::Receiver<Coming<T>>,
}

impl<T: OfMetadata + Send + 'static> SlimPages<T> {
    /// The next page; `None` after the last one.
    ///
    /// # Errors
    /// See [`ListError`]: if the list expired, it begins anew, with pages as large as it is. Nothing follows an error.
    async fn next(&mut self) -> Result<Option<SlimPage<T>>, ListError> {
        let Some(reading) = self.coming.recv().await else { return Ok(None) };
        match reading?.await {
            Ok(page) => Ok(Some(page?)),
            Err(_) => Err(CallError::Strange("it cannot be read".into()).into()),
        }
    }
}

impl Resources {
    /// Reads the metadata of a whole list, of one moment. `None` means that it begins anew.
    ///
    /// # Errors
    /// See [`ListError`]. What was handed over before is then not all.
    pub async fn each_slim<T: OfMetadata + Send + 'static>(
        &self,
        place: &Place,
        ask: &ListAsk,
        mut each: impl FnMut(Option<T>),
    ) -> Result<(), ListError> {
        let mut limit = Some(PAGE);
        let mut pages = self.slim_pages(place, ask, limit);
        loop {
            match pages.next().await {
                Ok(Some(page)) => page.found.into_iter().for_each(|slim| each(Some(slim))),
                Ok(None) => return Ok(()),
                // So long a list that its beginning is forgotten while it is read: once more, in one piece.
                Err(ListError::Expired(_)) if limit.is_some() => {
                    each(None);
                    limit = None;
                    pages = self.slim_pages(place, ask, limit);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Begins to read a list, with so many objects in each page, or all in one. Dropping the result ends it.
    fn slim_pages<T: OfMetadata + Send + 'static>(
        &self,
        place: &Place,
        ask: &ListAsk,
        limit: Option<usize>,
    ) -> SlimPages<T> {
        let (send, coming) = mpsc::channel(AHEAD);
        let (resources, place, ask) = (self.clone(), place.clone(), ask.clone());
        tokio::spawn(async move { resources.fetch_all(&place, &ask, limit, send).await });
        SlimPages { coming }
    }

    /// Fetches page after page, until the receiver is dropped.
    async fn fetch_all<T: OfMetadata + Send + 'static>(
        &self,
        place: &Place,
        ask: &ListAsk,
        limit: Option<usize>,
        send: mpsc::Sender<Coming<T>>,
    ) {
        let mut from = String::new();
        loop {
            let answer = match self.fetch_page(place, ask, limit, &from).await {
                Ok(answer) => answer,
                Err(error) => {
                    let _ = send.send(Err(error)).await;
                    return;
                }
            };
            let (known, began) = (next_page(&answer), from.clone());
            let reading = spawn_blocking(move || SlimPage::<T>::read(&answer, &began));
            let next = match known {
                Some(next) => {
                    if send.send(Ok(reading)).await.is_err() {
                        return;
                    }
                    next
                }
                None => match after_reading(reading, &send).await {
                    Some(next) => next,
                    None => return,
                },
            };
            // That the list does not go on is for the reader of the page to say.
            if next.is_empty() || next == from {
                return;
            }
            from = next;
        }
    }

    async fn fetch_page(
        &self,
        place: &Place,
        ask: &ListAsk,
        limit: Option<usize>,
        from: &str,
    ) -> Result<Bytes, ListError> {
        let limit = limit.map(|limit| limit.to_string()).unwrap_or_default();
        let call = Call::new(Method::GET, place.path())
            .with("labelSelector", &ask.labels)
            .with("fieldSelector", &ask.fields)
            .with("limit", &limit)
            .with("continue", from)
            .accept(ACCEPT);
        let (_, _, answer) = call.send_for_bytes(self.client()).await?;
        Ok(answer)
    }
}

/// Hands a page on that says only at its end where the next one begins. `None`: nothing follows.
async fn after_reading<T: OfMetadata + Send + 'static>(
    reading: JoinHandle<Result<SlimPage<T>, CallError>>,
    send: &mpsc::Sender<Coming<T>>,
) -> Option<String> {
    let read = match reading.await {
        Ok(read) => read,
        Err(_) => Err(CallError::Strange("it cannot be read".into())),
    };
    let next = read.as_ref().ok().map(|page| page.next.clone());
    let done = tokio::spawn(async move { read });
    send.send(Ok(done)).await.ok()?;
    next
}
