//! Storing a new model. It is recorded as a whole first, so that any later run can finish it if only a part was stored.
//!
//! ```text
//! parts ─► record: pending ─► resources, by the thousand ─► record: done ─► parts are removed
//! ```

mod order;
mod parts;
mod put;
mod rewrite;
pub(super) mod written;

use serde_json::Value;
use sexton_client::CallError;
use sexton_client::resources::{BulkError, DeleteError, ListAsk, ListError, PutError, text};
use sexton_collector::modules::Tools;
use sexton_model::bulk::Epoch;
use sexton_model::environment::PendingModel;

use self::parts::{LABEL, part_prefix, parts_place, remove_parts, unpacked, write_parts};
use self::put::store;
use self::rewrite::{renamed, without};
use self::written::Written;
use super::kinds::{ClassCode, KindsError, ensure};
use super::record::{Record, RecordError};
use crate::stored::{Change, Unwritable};

/// Resources in one request.
const AT_ONCE: usize = 1_000;
/// Requests at the same time.
const REQUESTS: usize = 3;

/// Why a model is not stored. It is written down, or nothing of it is.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// An object cannot be stored.
    #[error(transparent)]
    Unwritable(#[from] Unwritable),
    /// The record could not be written.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A part could not be written.
    #[error("the model was not written down")]
    Part(#[from] PutError),
    /// The server could not be asked.
    #[error("the server cannot be asked")]
    Call(#[from] CallError),
    /// The parts could not be read again.
    #[error("the model that was written down cannot be read")]
    List(#[from] ListError),
    /// The parts could not be removed.
    #[error("the parts of a model that is stored could not be removed")]
    Delete(#[from] DeleteError),
    /// Many resources at once could not be written.
    #[error("the objects were not stored")]
    Bulk(#[from] BulkError),
    /// One resource could not be written.
    #[error("{object} was not stored: {why}")]
    Refused {
        /// Which.
        object: String,
        /// What the server says.
        why: String,
    },
    /// The kinds of its objects could not be made.
    #[error(transparent)]
    Kinds(#[from] KindsError),
    /// What was written down is not there.
    #[error("the model that was being stored is incomplete: {found} of {wanted} parts")]
    Incomplete {
        /// How many are there.
        found: usize,
        /// How many there should be.
        wanted: usize,
    },
}

impl SaveError {
    /// Whether another attempt fails the same way, as long as nothing is done about the reason.
    pub fn is_lasting(&self) -> bool {
        matches!(self, SaveError::Refused { .. } | SaveError::Kinds(_) | SaveError::Incomplete { .. })
    }
}

/// Stores what changed, and says so in the record. Gives back how much that was.
pub(super) async fn save(
    tools: &Tools,
    epoch: &Epoch,
    record: &mut Record,
    changes: impl Iterator<Item = Result<Change, Unwritable>>,
) -> Result<usize, SaveError> {
    let generation = record.status.generation + 1;
    let (written, parts) = match write_parts(tools, &record.name, generation, changes).await {
        Ok(done) => done,
        Err(SaveError::Unwritable(error)) => {
            remove_parts(tools, &record.name).await?;
            return Err(error.into());
        }
        Err(error) => return Err(error),
    };
    let count = written.len();
    if parts > 0 {
        record.status.pending = Some(PendingModel { generation, parts, refused: String::new() });
        record.write(&tools.resources).await?;
        store_pending(tools, epoch, record, written).await?;
    }
    record.status.generation = generation;
    finish(tools, record).await?;
    Ok(count)
}

/// Finishes what another run began to store. Whether there was anything.
pub(super) async fn recover(tools: &Tools, epoch: &Epoch, record: &mut Record) -> Result<bool, SaveError> {
    recover_without(tools, epoch, record, &[]).await
}

/// The same, but leaves out some objects, by `kind/name`.
pub(super) async fn recover_without(
    tools: &Tools,
    epoch: &Epoch,
    record: &mut Record,
    left_out: &[String],
) -> Result<bool, SaveError> {
    let Some(pending) = record.status.pending.clone() else {
        // A run may have died before the record said so, or after it said that all is done.
        remove_parts(tools, &record.name).await?;
        return Ok(false);
    };
    let written = without(read_pending(tools, record).await?, left_out)?;
    let kinds = written.iter().map(|one| (one.kind.clone(), ClassCode::default())).collect();
    ensure(&tools.resources, &record.name, &kinds).await?;
    store_pending(tools, epoch, record, written).await?;
    record.status.generation = pending.generation;
    finish(tools, record).await?;
    Ok(true)
}

/// What is written down of a model that is not completely stored.
pub(super) async fn read_pending(tools: &Tools, record: &Record) -> Result<Vec<Written>, SaveError> {
    let Some(pending) = &record.status.pending else { return Ok(Vec::new()) };
    let ask = ListAsk { labels: format!("{LABEL}={}", record.name), ..ListAsk::default() };
    let listed = tools.resources.list(&parts_place(), &ask).await?;
    let named = format!("{}-", part_prefix(&record.name, pending.generation));
    let parts: Vec<&Value> =
        listed.found.iter().filter(|part| text(part, "/metadata/name").starts_with(&named)).collect();
    if parts.len() != pending.parts {
        return Err(SaveError::Incomplete { found: parts.len(), wanted: pending.parts });
    }
    let mut written: Vec<Written> = Vec::new();
    for part in parts {
        let strange = |why| SaveError::Refused { object: text(part, "/metadata/name").to_owned(), why };
        written.extend(unpacked(part).map_err(strange)?);
    }
    Ok(written)
}

/// Puts a recorded model. A new object gets another name if its name is taken by now. If the server refuses an object,
/// the record says why.
async fn store_pending(
    tools: &Tools,
    epoch: &Epoch,
    record: &mut Record,
    written: Vec<Written>,
) -> Result<(), SaveError> {
    let stored = match store(tools, epoch, written).await {
        Ok(taken) if taken.is_empty() => Ok(()),
        Ok(taken) => {
            let renamed = renamed(read_pending(tools, record).await?, &taken)?;
            store(tools, epoch, renamed).await.and_then(|taken| match taken.first() {
                Some(one) => Err(one.refused("its name is taken, and so is the one made of its uid")),
                None => Ok(()),
            })
        }
        Err(error) => Err(error),
    };
    if let (Err(error @ SaveError::Refused { .. }), Some(pending)) = (&stored, &mut record.status.pending) {
        pending.refused = error.to_string();
        record.write(&tools.resources).await?;
    }
    stored
}

/// Forgets a model that is not completely stored. What is stored of it stays.
pub(super) async fn give_up(tools: &Tools, record: &mut Record) -> Result<(), SaveError> {
    if let Some(pending) = &record.status.pending {
        // A part of the same name must not be taken for one of a later model.
        record.status.generation = pending.generation;
    }
    finish(tools, record).await
}

/// The record says that all is stored; then nothing needs the parts any more.
async fn finish(tools: &Tools, record: &mut Record) -> Result<(), SaveError> {
    let had_parts = record.status.pending.take().is_some();
    record.write(&tools.resources).await?;
    if had_parts { remove_parts(tools, &record.name).await } else { Ok(()) }
}
