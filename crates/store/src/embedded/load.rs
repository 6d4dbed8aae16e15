//! Reads a whole store back and checks every byte that is handed out.
//!
//! The state table is the state at revision `compacted`; replaying the journal's rows on it gives every later change
//! what was there before it, hence the history. Whatever does not fit together is an error, nothing is guessed.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::Connection;
use rusqlite::types::ValueRef;
use sexton_model::Revision;

use super::codec::{self, Decoded, Head};
use super::error::OpenError;
use super::meta::Meta;
use super::schema;
use crate::engine::{RawKey, RawValue};
use crate::history::Change;
use crate::journal::Recovered;
use crate::state::{Entry, State};

/// What a file holds.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) recovered: Recovered,
    pub(super) meta: Meta,
}

/// Loads everything, as of one moment even while another process writes.
pub(super) fn load(connection: &Connection, file: &Path) -> Result<Loaded, OpenError> {
    let failed = |error| OpenError::database(file, error);
    connection.execute_batch("BEGIN").map_err(failed)?;
    let loaded = Loader { connection, file }.run();
    connection.execute_batch("COMMIT").map_err(failed)?;
    loaded
}

struct Loader<'a> {
    connection: &'a Connection,
    file: &'a Path,
}

impl Loader<'_> {
    fn run(&self) -> Result<Loaded, OpenError> {
        schema::identify(self.connection, self.file)?;
        let meta = Meta::read(self.connection)
            .map_err(|error| self.failed(error))?
            .ok_or_else(|| self.corrupt("the row of table meta is missing or its checksum does not match"))?;
        let state = self.state(&meta)?;
        let mut recovered = Recovered { state, compacted: meta.compacted, history: Vec::new() };
        self.replay(&mut recovered)?;
        if recovered.state.revision != meta.head {
            return Err(self.corrupt(format!(
                "the journal ends at revision {} instead of {}",
                recovered.state.revision, meta.head
            )));
        }
        Ok(Loaded { recovered, meta })
    }

    fn state(&self, meta: &Meta) -> Result<State, OpenError> {
        let failed = |error| self.failed(error);
        let mut entries = Vec::new();
        let mut counted = Meta { compacted: meta.compacted, head: meta.head, ..Meta::default() };
        let mut select = self
            .connection
            .prepare("SELECT revision, key, value FROM state ORDER BY revision")
            .map_err(failed)?;
        let mut rows = select.query([]).map_err(failed)?;
        let mut last = 0;
        while let Some(row) = rows.next().map_err(failed)? {
            let number: i64 = row.get(0).map_err(failed)?;
            // A misplaced row would be there for a scan and not for a lookup.
            if number <= last {
                return Err(self.corrupt(format!("the table state is out of order at revision {number}")));
            }
            last = number;
            let key = RawKey::from(self.blob(row, 1)?);
            let revision = Revision::new(number.cast_unsigned());
            let entry = Entry { revision, value: RawValue::from(self.blob(row, 2)?) };
            counted.add(&key, &entry);
            entries.push((key, entry));
        }
        // Sorted once: several times faster than finding the place of each.
        entries.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        if let Some(twins) = entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(self.corrupt(format!(
                "the table state holds the key {} at revisions {} and {}",
                twins[0].0.escape_ascii(),
                twins[0].1.revision,
                twins[1].1.revision
            )));
        }
        if counted != *meta {
            return Err(self.corrupt(format!(
                "the table state holds {} rows with digest {:016x} instead of {} with {:016x}",
                counted.objects, counted.digest, meta.objects, meta.digest
            )));
        }
        Ok(State { revision: meta.compacted, map: entries.into_iter().collect() })
    }

    fn replay(&self, recovered: &mut Recovered) -> Result<(), OpenError> {
        let failed = |error| self.failed(error);
        let mut select = self
            .connection
            .prepare("SELECT first, last, at_ms, batch FROM journal ORDER BY first")
            .map_err(failed)?;
        let mut rows = select.query([]).map_err(failed)?;
        let mut previous = None;
        while let Some(row) = rows.next().map_err(failed)? {
            let numbers = (row.get(0), row.get(1), row.get(2));
            let head = Head {
                first: numbers.0.map_err(failed)?,
                last: numbers.1.map_err(failed)?,
                at_ms: numbers.2.map_err(failed)?,
            };
            let compacted = recovered.compacted.get().cast_signed();
            let expected = match previous {
                Some(last) => last + 1,
                // The oldest row may be folded in part.
                None => head.first.clamp(1, compacted + 1),
            };
            if head.first != expected || head.last <= compacted || head.last < head.first {
                return Err(self.corrupt(format!(
                    "the journal row of revision {} does not follow on revision {}",
                    head.first,
                    expected - 1
                )));
            }
            previous = Some(head.last);
            let changes = codec::decode(head, self.blob(row, 3)?)
                .map_err(|why| self.corrupt(format!("the journal row of revision {}: {why}", head.first)))?;
            apply(recovered, head, changes);
        }
        Ok(())
    }

    fn blob<'r>(&self, row: &'r rusqlite::Row<'_>, column: usize) -> Result<&'r [u8], OpenError> {
        match row.get_ref(column) {
            Ok(ValueRef::Blob(bytes)) => Ok(bytes),
            Ok(_) => Err(self.corrupt("a column that holds bytes holds something else")),
            Err(error) => Err(self.failed(error)),
        }
    }

    fn failed(&self, error: rusqlite::Error) -> OpenError {
        OpenError::database(self.file, error)
    }

    fn corrupt(&self, what: impl Into<String>) -> OpenError {
        OpenError::corrupt(self.file, what)
    }
}

/// Adds one batch to state and history, as far as it is not folded yet.
fn apply(recovered: &mut Recovered, head: Head, changes: Vec<Decoded>) {
    let at = time(head.at_ms);
    for ((key, after), revision) in changes.into_iter().zip(head.first..) {
        let revision = Revision::new(revision.cast_unsigned());
        if revision <= recovered.compacted {
            continue;
        }
        let entry = after.as_ref().map(|value| Entry { revision, value: value.clone() });
        let before = recovered.state.set(&key, entry);
        recovered.state.revision = revision;
        recovered.history.push((Arc::new(Change { revision, key, before, after }), at));
    }
}

fn time(at_ms: i64) -> SystemTime {
    let offset = Duration::from_millis(at_ms.unsigned_abs());
    let moment = if at_ms < 0 { UNIX_EPOCH.checked_sub(offset) } else { UNIX_EPOCH.checked_add(offset) };
    moment.unwrap_or(UNIX_EPOCH)
}
