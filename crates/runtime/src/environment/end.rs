//! The end of an environment: all its objects are destroyed by the program that is stored with it, then its record is
//! removed. Nothing is left then that would need the program.

use sexton_client::resources::{DeleteAsk, DeleteError};
use sexton_collector::modules::Tools;
use sexton_model::Policy;
use sexton_model::environment::EnvironmentPhase;

use super::finish::bury_unreferenced;
use super::keeper::Kept;
use super::open::{Ask, Opened};
use super::record::{Record, place};
use super::{FinishError, OpenError};
use crate::gc::Report;
use crate::model::Model;

/// How the end of an environment went.
#[derive(Debug, Clone, Default)]
pub struct Ended {
    /// What was destroyed, and what was not.
    pub report: Report,
    /// Whether its record is removed.
    pub is_gone: bool,
    /// Why its record stays, though all its objects are destroyed.
    pub kept: Option<String>,
}

impl Opened {
    /// Opens an environment so that all of it can be destroyed, with the program and the grants that are stored.
    /// Nothing if there is no such environment. What `ask` says of a program or a model does not count.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub async fn open_to_end(tools: &Tools, ask: Ask) -> Result<Option<Opened>, OpenError> {
        let record = Record::read(&tools.resources, &ask.environment).await?;
        if !record.exists() {
            return Ok(None);
        }
        let all =
            Ask { program: record.spec.program, model: Some(Model::default()), allow_empty: true, ..ask };
        Opened::open_for(tools, all, true).await.map(Some)
    }

    /// Destroys everything, then removes the record. If something cannot be destroyed, that and the record stay.
    ///
    /// # Errors
    /// See [`FinishError`].
    pub async fn end(mut self) -> Result<Ended, FinishError> {
        let report = match self.remove().await {
            Ok(report) => report,
            Err(error) => {
                self.finish(Some(&error)).await?;
                return Err(error.into());
            }
        };
        if !report.is_complete() {
            self.finish(None).await?;
            return Ok(Ended { report, ..Ended::default() });
        }
        let removed = self.remove_record().await;
        if !matches!(removed, Ok(None)) {
            // All its objects are gone. The note is for people; ending the environment again does not need it.
            let _ = self.note(EnvironmentPhase::Idle, "all objects are destroyed").await;
        }
        let others = self.foreign.join(", ");
        self.close().await;
        let kept = removed?.map(|why| match others.as_str() {
            "" => why,
            others => {
                format!("what others made is still in its namespace, and may need its program: {others}")
            }
        });
        Ok(Ended { report, is_gone: kept.is_none(), kept })
    }

    /// Removes the record, or says why the server keeps it.
    async fn remove_record(&self) -> Result<Option<String>, FinishError> {
        let keeping = &self.keeping;
        let epoch = keeping.epoch().map_err(FinishError::Keeper)?;
        let mut kept = keeping.kept.lock().await;
        let Kept { shelf, record } = &mut *kept;
        bury_unreferenced(&keeping.tools, epoch, shelf, &Model::default()).await?;
        let ask = DeleteAsk { uid: record.uid(), policy: Some(Policy::Background), ..DeleteAsk::default() };
        match keeping.tools.resources.delete(&place(), &record.name, &ask).await {
            Ok(_) | Err(DeleteError::NotFound(_)) => Ok(None),
            Err(DeleteError::Changed(status)) => {
                (record.status.objects, record.status.root) = (0, String::new());
                Ok(Some(status.message))
            }
            Err(error) => Err(error.into()),
        }
    }
}
