//! Many deletions and patches in one request, each with the evidence on which it rests.

use http::Method;
use sexton_model::Status;
use sexton_model::bulk::{Bulk, BulkResult, reason};

use super::Resources;
use crate::call::{Call, CallError};
use crate::kinds::DiscoverError;

/// Why a bulk has no result. Items that were refused are no such reason: they are in the result.
#[derive(Debug, thiserror::Error)]
pub enum BulkError {
    /// The lease is not as the epoch says, so its holder may be another now: nothing was done.
    #[error("{0}")]
    StaleEpoch(Box<Status>),
    /// The server has no such verb: it is of another make.
    #[error("the server has no bulk verb")]
    NotServed,
    /// The server does not say which kinds it has.
    #[error(transparent)]
    Discover(#[from] DiscoverError),
    /// The answer is not what the API promises: what was done is not known.
    #[error("the answer to a bulk is not what the API promises: {0}")]
    Strange(String),
    /// Anything else.
    #[error(transparent)]
    Call(CallError),
}

impl From<CallError> for BulkError {
    fn from(error: CallError) -> Self {
        match (error.code(), error) {
            (404, _) => BulkError::NotServed,
            (409, CallError::Refused(status)) if status.reason == reason::STALE_EPOCH => {
                BulkError::StaleEpoch(status)
            }
            (_, error) => BulkError::Call(error),
        }
    }
}

const PATH: &str = "/apis/sexton.dev/v1/bulk";

impl Resources {
    /// Does all items; the result has one for each of their objects, in the same order.
    ///
    /// # Errors
    /// See [`BulkError`].
    pub async fn bulk(&self, bulk: &Bulk) -> Result<BulkResult, BulkError> {
        let strange = |error: serde_json::Error| BulkError::Strange(error.to_string());
        let body = serde_json::to_vec(bulk).map_err(strange)?;
        let call = Call::new(Method::POST, PATH).json(body);
        let (_, _, result): (_, _, BulkResult) =
            call.send_for(&self.client).await.map_err(|error| match error {
                CallError::Strange(why) => BulkError::Strange(why),
                error => error.into(),
            })?;
        match (result.items.len(), bulk.count()) {
            (found, asked) if found == asked => Ok(result),
            (found, asked) => Err(BulkError::Strange(format!("{found} results for {asked} items"))),
        }
    }
}
