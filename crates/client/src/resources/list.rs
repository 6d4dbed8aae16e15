//! Reading many objects, in pages that neither side notices.

use http::Method;
use serde_json::Value;
use sexton_model::Status;

use super::table::{self, Table};
use super::{Place, Resources, text};
use crate::call::{Call, CallError};

/// Objects per request: what other clients ask for, too.
const PAGE: usize = 500;

/// Why a list was not read.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// The server forgot the moment of the first page, twice.
    #[error("{0}")]
    Expired(Box<Status>),
    /// Anything else.
    #[error(transparent)]
    Call(CallError),
}

impl From<CallError> for ListError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Refused(status) if status.code == 410 => ListError::Expired(status),
            error => ListError::Call(error),
        }
    }
}

/// Which objects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListAsk {
    /// A selector of labels; empty for all.
    pub labels: String,
    /// A selector of fields; empty for all.
    pub fields: String,
    /// At most so many.
    pub limit: Option<usize>,
}

/// What was found.
#[derive(Debug, Clone, Default)]
pub struct Listed<T> {
    /// The objects or rows.
    pub found: T,
    /// From where a watch can go on.
    pub version: String,
    /// Whether the limit left something out.
    pub more: bool,
}

/// Pages are put together the same way, whatever is on them.
pub(super) trait Pages: Default {
    fn add(&mut self, page: Value) -> Result<(), serde_json::Error>;
    fn count(&self) -> usize;
}

impl Pages for Vec<Value> {
    fn add(&mut self, mut page: Value) -> Result<(), serde_json::Error> {
        let kind = text(&page, "/kind").strip_suffix("List").unwrap_or_default().to_owned();
        let version = text(&page, "/apiVersion").to_owned();
        let Some(Value::Array(items)) = page.get_mut("items").map(Value::take) else { return Ok(()) };
        for mut item in items {
            // Items of typed lists come without the words that every object alone has.
            if let Some(map) = item.as_object_mut() {
                map.entry("kind").or_insert_with(|| kind.clone().into());
                map.entry("apiVersion").or_insert_with(|| version.clone().into());
            }
            self.push(item);
        }
        Ok(())
    }

    fn count(&self) -> usize {
        self.len()
    }
}

impl Pages for Table {
    fn add(&mut self, page: Value) -> Result<(), serde_json::Error> {
        let page = Table::read(page)?;
        if self.column_definitions.is_empty() {
            self.column_definitions = page.column_definitions;
        }
        self.rows.extend(page.rows);
        Ok(())
    }

    fn count(&self) -> usize {
        self.rows.len()
    }
}

impl Resources {
    /// The objects themselves.
    ///
    /// # Errors
    /// See [`ListError`].
    pub async fn list(&self, place: &Place, ask: &ListAsk) -> Result<Listed<Vec<Value>>, ListError> {
        self.pages(place, ask, "application/json").await
    }

    /// The objects as rows for people.
    ///
    /// # Errors
    /// See [`ListError`].
    pub async fn list_rows(&self, place: &Place, ask: &ListAsk) -> Result<Listed<Table>, ListError> {
        self.pages(place, ask, table::ACCEPT).await
    }

    pub(super) async fn pages<T: Pages>(
        &self,
        place: &Place,
        ask: &ListAsk,
        accept: &'static str,
    ) -> Result<Listed<T>, ListError> {
        match self.read_pages(place, ask, accept, PAGE).await.map_err(ListError::from) {
            // So long a list that its beginning is forgotten while it is read: once more, in one piece.
            Err(ListError::Expired(_)) => Ok(self.read_pages(place, ask, accept, usize::MAX).await?),
            result => result,
        }
    }

    async fn read_pages<T: Pages>(
        &self,
        place: &Place,
        ask: &ListAsk,
        accept: &'static str,
        page: usize,
    ) -> Result<Listed<T>, CallError> {
        let mut listed = Listed::<T>::default();
        let mut token = String::new();
        loop {
            let wanted = ask.limit.map_or(page, |most| page.min(most.saturating_sub(listed.found.count())));
            let limit = if wanted == usize::MAX { String::new() } else { wanted.to_string() };
            let call = Call::new(Method::GET, place.path())
                .with("labelSelector", &ask.labels)
                .with("fieldSelector", &ask.fields)
                .with("limit", &limit)
                .with("continue", &token)
                .accept(accept);
            let answer = call.send(&self.client).await?.value;
            listed.version = text(&answer, "/metadata/resourceVersion").to_owned();
            token = text(&answer, "/metadata/continue").to_owned();
            listed.found.add(answer).map_err(|error| CallError::Strange(error.to_string()))?;
            listed.more = !token.is_empty();
            if token.is_empty() || ask.limit.is_some_and(|most| listed.found.count() >= most) {
                return Ok(listed);
            }
        }
    }
}
