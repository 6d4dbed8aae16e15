//! What is there and every change from then on, without gaps: list, watch, and after an interruption the same again.

use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;
use std::time::Duration;

use futures::stream::{self, Stream, StreamExt};
use http::Method;
use serde_json::Value;
use sexton_model::Status;

use super::list::{ListAsk, ListError};
use super::table::{self, Column, Table};
use super::{Place, Resources, text};
use crate::call::{Call, CallError};

/// Why a watch ended.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The list that a watch begins with was not read.
    #[error(transparent)]
    List(#[from] ListError),
    /// The server refused to go on.
    #[error("{0}")]
    Refused(Box<Status>),
    /// Anything else.
    #[error(transparent)]
    Call(CallError),
}

/// What to watch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WatchAsk {
    /// A selector of labels; empty for all.
    pub labels: String,
    /// A selector of fields; empty for all.
    pub fields: String,
    /// Rows for people instead of objects.
    pub rows: bool,
}

/// What happened to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It is there, or came.
    Added,
    /// It is different.
    Modified,
    /// It went.
    Deleted,
}

impl Change {
    /// The word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Change::Added => "ADDED",
            Change::Modified => "MODIFIED",
            Change::Deleted => "DELETED",
        }
    }
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// To an object.
    Object {
        /// What.
        change: Change,
        /// The object, or at least its metadata if rows were asked for.
        object: Value,
        /// Its cells, if rows were asked for.
        cells: Vec<Value>,
    },
    /// The columns of the rows that follow.
    Columns(Vec<Column>),
    /// All that was there at the beginning has been told.
    Listed,
}

type Lines = Pin<Box<dyn Stream<Item = Result<Vec<u8>, CallError>> + Send>>;

/// A server that ends watches at once is not asked more often than this.
const PAUSE: Duration = Duration::from_millis(500);

/// How often in a row a server that does not answer is asked again before the watch ends: it may be starting anew.
const PATIENCE: u32 = 20;

struct Watching {
    resources: Resources,
    place: Place,
    ask: WatchAsk,
    /// From where to go on; empty means list first.
    version: String,
    lines: Option<Lines>,
    /// What the receiver believes is there: the version and metadata by namespace and name.
    known: BTreeMap<(String, String), Value>,
    ready: VecDeque<Event>,
    told_list: bool,
    columns_told: bool,
    /// How often in a row the server did not answer.
    unanswered: u32,
    ended: bool,
}

impl Resources {
    /// What is there and every change from then on. Ends only with an error.
    pub fn watch(
        &self,
        place: Place,
        ask: WatchAsk,
    ) -> impl Stream<Item = Result<Event, WatchError>> + use<> {
        let watching = Watching {
            resources: self.clone(),
            place,
            ask,
            version: String::new(),
            lines: None,
            known: BTreeMap::new(),
            ready: VecDeque::new(),
            told_list: false,
            columns_told: false,
            unanswered: 0,
            ended: false,
        };
        stream::unfold(watching, Watching::next).boxed()
    }
}

impl Watching {
    async fn next(mut self) -> Option<(Result<Event, WatchError>, Watching)> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some((Ok(event), self));
            }
            if self.ended {
                return None;
            }
            if let Err(error) = self.step().await {
                self.ended = true;
                return Some((Err(error), self));
            }
        }
    }

    async fn step(&mut self) -> Result<(), WatchError> {
        if self.version.is_empty() {
            return self.list().await;
        }
        let Some(lines) = &mut self.lines else { return self.open().await };
        match lines.next().await {
            Some(Ok(line)) => self.line(&line),
            // Connections end and servers restart; what was missed follows from the last version.
            Some(Err(_)) | None => {
                self.lines = None;
                tokio::time::sleep(PAUSE).await;
                Ok(())
            }
        }
    }

    async fn list(&mut self) -> Result<(), WatchError> {
        let ask = ListAsk { labels: self.ask.labels.clone(), fields: self.ask.fields.clone(), limit: None };
        let mut rows = Vec::new();
        if self.ask.rows {
            let listed = self.resources.list_rows(&self.place, &ask).await?;
            self.version = listed.version;
            self.columns(listed.found.column_definitions);
            rows.extend(listed.found.rows.into_iter().map(|row| (row.object, row.cells)));
        } else {
            let listed = self.resources.list(&self.place, &ask).await?;
            self.version = listed.version;
            rows.extend(listed.found.into_iter().map(|object| (object, Vec::new())));
        }
        self.compare(rows);
        if !std::mem::replace(&mut self.told_list, true) {
            self.ready.push_back(Event::Listed);
        }
        Ok(())
    }

    /// After a gap the list says what was missed: what is new, what is different, and what is gone.
    fn compare(&mut self, rows: Vec<(Value, Vec<Value>)>) {
        let mut gone = std::mem::take(&mut self.known);
        for (object, cells) in rows {
            let place = place_of(&object);
            let change = match gone.remove(&place) {
                Some(before) if version_of(&before) == version_of(&object) => {
                    self.known.insert(place, before);
                    continue;
                }
                Some(before) if text(&before, "/metadata/uid") == text(&object, "/metadata/uid") => {
                    Change::Modified
                }
                Some(before) => {
                    let cells = cells_of_gone(&before);
                    self.ready.push_back(Event::Object { change: Change::Deleted, object: before, cells });
                    Change::Added
                }
                None => Change::Added,
            };
            self.know(change, object, cells);
        }
        for object in gone.into_values() {
            let cells = cells_of_gone(&object);
            self.ready.push_back(Event::Object { change: Change::Deleted, object, cells });
        }
    }

    fn know(&mut self, change: Change, object: Value, cells: Vec<Value>) {
        let place = place_of(&object);
        match change {
            Change::Deleted => drop(self.known.remove(&place)),
            _ => drop(self.known.insert(place, metadata_only(&object))),
        }
        self.ready.push_back(Event::Object { change, object, cells });
    }

    fn columns(&mut self, columns: Vec<Column>) {
        if !columns.is_empty() && !std::mem::replace(&mut self.columns_told, true) {
            self.ready.push_back(Event::Columns(columns));
        }
    }

    async fn open(&mut self) -> Result<(), WatchError> {
        let call = Call::new(Method::GET, self.place.path())
            .with("watch", "true")
            .with("resourceVersion", &self.version)
            .with("allowWatchBookmarks", "true")
            .with("timeoutSeconds", "290")
            .with("labelSelector", &self.ask.labels)
            .with("fieldSelector", &self.ask.fields)
            .accept(if self.ask.rows { table::ACCEPT } else { "application/json" });
        match call.lines(self.resources.client()).await {
            Ok(lines) => self.lines = Some(Box::pin(lines)),
            Err(CallError::Refused(status)) if !matches!(status.code, 429 | 500..) => self.refused(status)?,
            Err(error) if self.unanswered >= PATIENCE => return Err(WatchError::Call(error)),
            Err(_) => {
                self.unanswered += 1;
                tokio::time::sleep(PAUSE).await;
                return Ok(());
            }
        }
        self.unanswered = 0;
        Ok(())
    }

    /// A forgotten moment means to begin again; everything else is the end.
    fn refused(&mut self, status: Box<Status>) -> Result<(), WatchError> {
        if status.code != 410 {
            return Err(WatchError::Refused(status));
        }
        self.version.clear();
        self.lines = None;
        Ok(())
    }

    fn line(&mut self, line: &[u8]) -> Result<(), WatchError> {
        let strange = |why: String| WatchError::Call(CallError::Strange(why));
        let mut event: Value = serde_json::from_slice(line).map_err(|error| strange(error.to_string()))?;
        let object = event.get_mut("object").map(Value::take).unwrap_or_default();
        let change = match text(&event, "/type") {
            "ADDED" => Change::Added,
            "MODIFIED" => Change::Modified,
            "DELETED" => Change::Deleted,
            "BOOKMARK" => {
                self.advance(&object);
                return Ok(());
            }
            "ERROR" => {
                let status = serde_json::from_value(object).map_err(|error| strange(error.to_string()))?;
                return self.refused(Box::new(status));
            }
            other => return Err(strange(format!("an event of type {other:?}"))),
        };
        self.advance(&object);
        if !self.ask.rows {
            self.know(change, object, Vec::new());
            return Ok(());
        }
        let table = Table::read(object).map_err(|error| strange(error.to_string()))?;
        self.columns(table.column_definitions);
        for row in table.rows {
            self.advance(&row.object);
            self.know(change, row.object, row.cells);
        }
        Ok(())
    }

    fn advance(&mut self, object: &Value) {
        let version = version_of(object);
        if !version.is_empty() {
            self.version = version.to_owned();
        }
    }
}

fn version_of(object: &Value) -> &str {
    text(object, "/metadata/resourceVersion")
}

fn place_of(object: &Value) -> (String, String) {
    (text(object, "/metadata/namespace").to_owned(), text(object, "/metadata/name").to_owned())
}

/// What is remembered of an object: enough to say later that it is gone.
fn metadata_only(object: &Value) -> Value {
    let mut kept = serde_json::Map::new();
    for field in ["kind", "apiVersion"] {
        if let Some(value) = object.get(field) {
            kept.insert(field.into(), value.clone());
        }
    }
    let mut metadata = object.get("metadata").cloned().unwrap_or_default();
    if let Some(metadata) = metadata.as_object_mut() {
        metadata.remove("managedFields");
    }
    kept.insert("metadata".into(), metadata);
    Value::Object(kept)
}

/// Of what went unseen only the name is known.
fn cells_of_gone(object: &Value) -> Vec<Value> {
    vec![text(object, "/metadata/name").into()]
}
