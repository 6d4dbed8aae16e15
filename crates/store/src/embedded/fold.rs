//! Folding: the oldest changes of the journal become part of the state table.
//!
//! Only the net effect is written, in order of keys: what was created and removed within one slice costs nothing.
//! Every statement checks that the table holds what memory believes it holds.

use std::collections::BTreeMap;
use std::sync::Arc;

use rusqlite::{Connection, params};

use super::meta::Meta;
use crate::engine::RawKey;
use crate::history::Change;
use crate::state::Entry;

const INSERT: &str = "INSERT INTO state(key, revision, value) VALUES(?1, ?2, ?3)";
const UPDATE: &str = "UPDATE state SET revision = ?2, value = ?3 WHERE key = ?1 AND revision = ?4";
const DELETE: &str = "DELETE FROM state WHERE key = ?1 AND revision = ?2";
const FORGET: &str = "DELETE FROM journal WHERE first <= ?1 AND last <= ?1";

/// What was there before a stretch of changes, and what is there behind it.
pub(super) type Net = BTreeMap<RawKey, (Option<Entry>, Option<Entry>)>;

/// The net effect of changes, also on the totals of the state table.
pub(super) fn net(changes: &[Arc<Change>], meta: &mut Meta) -> Net {
    let mut net = Net::new();
    for change in changes {
        net.entry(change.key.clone()).or_insert_with(|| (change.before.clone(), None)).1 = change.entry();
    }
    for (key, (before, after)) in &net {
        if let Some(before) = before {
            meta.remove(key, before);
        }
        if let Some(after) = after {
            meta.add(key, after);
        }
    }
    net
}

/// What writing it amounts to.
pub(super) fn bytes(net: &Net) -> usize {
    net.iter().map(|(key, (_, after))| key.len() + after.as_ref().map_or(0, |entry| entry.value.len())).sum()
}

/// Writes the net effect and drops the journal rows that are folded completely.
pub(super) fn write(connection: &Connection, net: &Net, upto: i64) -> rusqlite::Result<()> {
    let mut insert = connection.prepare_cached(INSERT)?;
    let mut update = connection.prepare_cached(UPDATE)?;
    let mut delete = connection.prepare_cached(DELETE)?;
    for (key, (before, after)) in net {
        let key: &[u8] = key;
        let rows = match (before, after) {
            (None, None) => continue,
            (None, Some(after)) => insert.execute(params![key, number(after), &after.value[..]])?,
            (Some(before), Some(after)) => {
                update.execute(params![key, number(after), &after.value[..], number(before)])?
            }
            (Some(before), None) => delete.execute(params![key, number(before)])?,
        };
        if rows != 1 {
            return Err(rusqlite::Error::StatementChangedRows(rows));
        }
    }
    connection.prepare_cached(FORGET)?.execute([upto]).map(|_| ())
}

fn number(entry: &Entry) -> i64 {
    entry.revision.get().cast_signed()
}
