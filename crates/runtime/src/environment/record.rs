//! The record of an environment: a resource with its program and the status of its objects.

use serde_json::{Value, json};
use sexton_client::resources::{PutError, text};
use sexton_client::{CallError, Place, Resources, ServedKind};
use sexton_model::class::API_VERSION;
use sexton_model::environment::{EnvironmentPhase, EnvironmentSpec, EnvironmentStatus, KIND, RESOURCE};

/// Why a record is of no use.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The server cannot be asked.
    #[error("the environment cannot be read")]
    Call(#[from] CallError),
    /// It was not written.
    #[error("the record of the environment was not written")]
    Put(#[from] PutError),
    /// It says something else than a record says.
    #[error("the record of the environment {name} cannot be understood: {why}")]
    Strange {
        /// Which.
        name: String,
        /// What is wrong.
        why: String,
    },
}

/// The record of one environment.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// Its name.
    pub name: String,
    /// Its program.
    pub spec: EnvironmentSpec,
    /// How it stands with it.
    pub status: EnvironmentStatus,
    /// The document as it was last read. Writes are based on its version, so that concurrent changes are not
    /// overwritten.
    document: Option<Value>,
}

impl Record {
    /// Reads it; a new one if there is none.
    ///
    /// # Errors
    /// See [`RecordError`].
    pub async fn read(resources: &Resources, name: &str) -> Result<Record, RecordError> {
        let found = resources.find(&place(), name).await?;
        Record::understand(name, found)
    }

    fn understand(name: &str, document: Option<Value>) -> Result<Record, RecordError> {
        let mut record = Record { name: name.to_owned(), ..Record::default() };
        if let Some(document) = document {
            let strange = |error: serde_json::Error| RecordError::Strange {
                name: name.to_owned(),
                why: error.to_string(),
            };
            let part = |field: &str| document.get(field).cloned().unwrap_or_else(|| json!({}));
            record.spec = serde_json::from_value(part("spec")).map_err(strange)?;
            record.status = serde_json::from_value(part("status")).map_err(strange)?;
            record.document = Some(document);
        }
        Ok(record)
    }

    /// The uid of the document, if there is one.
    pub(super) fn uid(&self) -> Option<String> {
        self.document.as_ref().map(|document| text(document, "/metadata/uid").to_owned())
    }

    /// Whether it was ever written.
    pub fn exists(&self) -> bool {
        self.document.is_some()
    }

    /// Writes the record, unless it was changed by another process since it was read.
    ///
    /// # Errors
    /// See [`RecordError`].
    pub async fn write(&mut self, resources: &Resources) -> Result<(), RecordError> {
        let mut document = self.document.clone().unwrap_or_else(
            || json!({"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": self.name}}),
        );
        document["spec"] = json!(self.spec);
        document["status"] = json!(self.status);
        let written = match &self.document {
            None => resources.create(&place(), &document).await?,
            Some(before) if *before == document => return Ok(()),
            Some(before) => {
                debug_assert_eq!(text(before, "/metadata/name"), self.name);
                resources.replace(&place(), &self.name, &document).await?
            }
        };
        self.document = Some(written);
        Ok(())
    }
}

/// Notes that the run of an environment was broken off; to be called before its lease is given back.
///
/// # Errors
/// See [`RecordError`]. Nothing depends on the note.
pub async fn note_interrupted(resources: &Resources, environment: &str) -> Result<(), RecordError> {
    let mut record = Record::read(resources, environment).await?;
    if record.status.phase == EnvironmentPhase::Running {
        record.status.phase = EnvironmentPhase::Failed;
        INTERRUPTED.clone_into(&mut record.status.run.get_or_insert_default().outcome);
        record.write(resources).await?;
    }
    Ok(())
}

/// What became of a run that was broken off.
const INTERRUPTED: &str = "interrupted; the next run finishes what it had begun";

/// Where records are.
pub(super) fn place() -> Place {
    Place::new(&ServedKind::of_ours(RESOURCE, KIND), None)
}
