//! Engines to run scenarios on, and words to write them with.

use std::path::Path;
use std::sync::Arc;

use sexton_store::embedded::{self, Options};
use sexton_store::{
    CommitError, Committed, Engine, Guard, KeyRange, Op, Retention, Revision, Term, Terms, Transaction,
    memory,
};

/// An engine and what must outlive it.
pub struct World {
    engine: Option<Arc<dyn Engine>>,
    dir: Option<tempfile::TempDir>,
}

impl World {
    pub fn memory() -> World {
        let engine = memory::open_indexed(Retention::default(), tags);
        World { engine: Some(Arc::new(engine)), dir: None }
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
    let options = Options { indexer: Some(tags), ..Options::default() };
    Arc::new(embedded::open(dir, options).unwrap())
}

/// The terms of a value: its words that begin with `#`.
fn tags(value: &[u8]) -> Terms {
    let words = value.split(|byte| *byte == b' ').filter(|word| word.first() == Some(&b'#'));
    let mut terms: Terms = words.map(tag).collect();
    terms.sort_unstable();
    terms.dedup();
    terms
}

/// The term of a word.
pub fn tag(word: impl AsRef<[u8]>) -> Term {
    let mut bytes = [0; 16];
    for (place, byte) in bytes.iter_mut().zip(word.as_ref()) {
        *place = *byte;
    }
    Term::new(bytes)
}

pub fn unused(word: &str) -> Guard {
    Guard::Unused { term: tag(word) }
}

pub fn used(word: &str) -> Guard {
    Guard::Used { term: tag(word) }
}

pub fn only_with(word: &str, others: &[&str]) -> Guard {
    Guard::OnlyWith { term: tag(word), others: others.iter().map(tag).collect() }
}

/// The keys whose values carry a word, as text.
pub async fn tagged(engine: &Arc<dyn Engine>, word: &str) -> Vec<String> {
    let keys = engine.with_term(tag(word), usize::MAX).await.unwrap();
    keys.iter().map(|key| text(key)).collect()
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
