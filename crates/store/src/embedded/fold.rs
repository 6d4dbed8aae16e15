//! Folding: the oldest changes of the journal become part of the state table.
//!
//! Only the net effect is written: what was created and removed within one slice costs nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use rusqlite::{Connection, params};
use sexton_model::Revision;

use super::meta::Meta;
use crate::engine::{RawKey, RawValue};
use crate::history::Change;

const INSERT: &str = "INSERT INTO state(revision, key, value) VALUES(?1, ?2, ?3)";
const DELETE: &str = "DELETE FROM state WHERE revision = ?1 AND key = ?2";
const FORGET: &str = "DELETE FROM journal WHERE first <= ?1 AND last <= ?1";

/// The rows that go and the rows that come, each by revision, so that the table is walked in one direction.
#[derive(Debug, Default)]
pub(super) struct Net {
    gone: BTreeMap<Revision, RawKey>,
    come: BTreeMap<Revision, (RawKey, RawValue)>,
}

/// The net effect of changes, also on the totals of the state table.
pub(super) fn net(changes: &[Arc<Change>], meta: &mut Meta) -> Net {
    let mut net = Net::default();
    for change in changes {
        if let Some(before) = &change.before {
            meta.remove(&change.key, before);
            if net.come.remove(&before.revision).is_none() {
                net.gone.insert(before.revision, change.key.clone());
            }
        }
        if let Some(entry) = change.entry() {
            meta.add(&change.key, &entry);
            net.come.insert(entry.revision, (change.key.clone(), entry.value));
        }
    }
    net
}

impl Net {
    /// What writing it amounts to.
    pub(super) fn bytes(&self) -> usize {
        // A removal touches a page somewhere in the table.
        const PAGE: usize = 4096;
        let come: usize = self.come.values().map(|(key, value)| key.len() + value.len()).sum();
        come + self.gone.len() * PAGE
    }

    /// Drops the journal rows that are folded completely, and writes the net effect: into the pages that became free, so
    /// that the file need not grow.
    pub(super) fn write(&self, connection: &Connection, upto: Revision) -> rusqlite::Result<()> {
        connection.prepare_cached(FORGET)?.execute([number(upto)])?;
        let mut delete = connection.prepare_cached(DELETE)?;
        for (revision, key) in &self.gone {
            let rows = delete.execute(params![number(*revision), &key[..]])?;
            // The table does not hold what memory believes: nothing may be built on that.
            if rows != 1 {
                return Err(rusqlite::Error::StatementChangedRows(rows));
            }
        }
        let mut insert = connection.prepare_cached(INSERT)?;
        for (revision, (key, value)) in &self.come {
            insert.execute(params![number(*revision), &key[..], &value[..]])?;
        }
        Ok(())
    }
}

fn number(revision: Revision) -> i64 {
    revision.get().cast_signed()
}
