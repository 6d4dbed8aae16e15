//! Engines to run scenarios on, and words to write them with.

use std::path::Path;
use std::sync::Arc;

use sexton_store::embedded::{self, Options};
use sexton_store::{
    CommitError, Committed, Engine, Guard, KeyRange, Op, Retention, Revision, Transaction, memory,
};

/// An engine and what must outlive it.
pub struct World {
    engine: Option<Arc<dyn Engine>>,
    dir: Option<tempfile::TempDir>,
}

impl World {
    pub fn memory() -> World {
        World { engine: Some(Arc::new(memory::open(Retention::default()))), dir: None }
    }

    pub fn embedded() -> World {
        let dir = tempfile::tempdir().unwrap();
        World { engine: Some(open(dir.path())), dir: Some(dir) }
    }

    pub fn engine(&self) -> Arc<dyn Engine> {
        self.engine.clone().unwrap()
    }

    /// Ends the engine without closing it and starts it again; nothing happens to an engine without a disk.
    pub fn restart(&mut self) {
        if let Some(dir) = &self.dir {
            self.engine = None;
            self.engine = Some(open(dir.path()));
        }
    }
}

fn open(dir: &Path) -> Arc<dyn Engine> {
    Arc::new(embedded::open(dir, Options::default()).unwrap())
}

pub fn put(key: &str, value: &str) -> Op {
    Op::Put { key: key.as_bytes().into(), value: value.as_bytes().into() }
}

pub fn delete(key: &str) -> Op {
    Op::Delete { key: key.as_bytes().into() }
}

pub fn at(key: &str, revision: Revision) -> Guard {
    Guard::At { key: key.as_bytes().into(), revision }
}

pub fn absent(key: &str) -> Guard {
    at(key, Revision::NONE)
}

pub fn empty(prefix: &str) -> Guard {
    Guard::Empty { range: KeyRange::prefix(prefix) }
}

pub async fn try_commit(
    engine: &Arc<dyn Engine>,
    guards: impl Into<Vec<Guard>>,
    ops: impl Into<Vec<Op>>,
) -> Result<Revision, CommitError> {
    let transaction = Transaction { guards: guards.into(), ops: ops.into() };
    engine.commit(transaction).await.map(|Committed { revision }| revision)
}

pub async fn commit(engine: &Arc<dyn Engine>, ops: impl Into<Vec<Op>>) -> Revision {
    try_commit(engine, [], ops).await.unwrap()
}

/// Everything, as text.
pub async fn content(engine: &Arc<dyn Engine>, at: sexton_store::At) -> Vec<(String, String)> {
    let page = engine.range(&KeyRange::all(), at, None).await.unwrap();
    page.entries.iter().map(|(key, entry)| (text(key), text(&entry.value))).collect()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

pub fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}
