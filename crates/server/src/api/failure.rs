//! Why a verb failed: always a `Status`, because that is what the caller will be told.

use sexton_model::Status;
use sexton_model::document::NotADocument;
use sexton_model::stored::NotStored;
use sexton_store::{CommitError, ReadError, StoreError};

/// A refusal or a failure. Boxed, because success is the common case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct Failure(pub Box<Status>);

/// The result of a verb.
pub type Result<T> = std::result::Result<T, Failure>;

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        Failure(Box::new(status))
    }
}

impl From<NotADocument> for Failure {
    fn from(error: NotADocument) -> Self {
        Status::bad_request(error.to_string()).into()
    }
}

impl From<NotStored> for Failure {
    fn from(error: NotStored) -> Self {
        tracing::error!(%error, "a stored object cannot be read");
        Status::internal(error).into()
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Compacted { asked, oldest } => {
                Status::expired(format!("too old resource version: {asked} ({oldest})")).into()
            }
            ReadError::Future { asked, head } => {
                let message = format!("Too large resource version: {asked}, current: {head}");
                Status::timeout(message)
                    .because("ResourceVersionTooLarge", "Too large resource version", "")
                    .retry_after(1)
                    .into()
            }
            ReadError::Unavailable(why) => Status::unavailable(why).into(),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Read(error) => error.into(),
            StoreError::Damaged(error) => error.into(),
        }
    }
}

impl From<CommitError> for Failure {
    /// Conflicts are handled where they can be decided again; here they only mean "too many in a row".
    fn from(error: CommitError) -> Self {
        match &error {
            CommitError::Conflict { .. } => {
                Status::too_many_requests("too many writers at the same object, try again", 1).into()
            }
            CommitError::Full(_) => Status::storage_full(error.to_string()).into(),
            CommitError::ReadOnly(_) => Status::internal(&error).into(),
            CommitError::Closed => Status::unavailable("the server is shutting down").into(),
        }
    }
}
