//! Reading one object.

use http::Method;
use serde_json::Value;
use sexton_model::Status;

use super::table::{self, Table};
use super::{Place, Resources};
use crate::call::{Call, CallError};

/// Why an object was not read.
#[derive(Debug, thiserror::Error)]
pub enum GetError {
    /// There is none of that name.
    #[error("{0}")]
    NotFound(Box<Status>),
    /// Anything else.
    #[error(transparent)]
    Call(CallError),
}

impl From<CallError> for GetError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Refused(status) if status.code == 404 => GetError::NotFound(status),
            error => GetError::Call(error),
        }
    }
}

impl Resources {
    /// The object itself.
    ///
    /// # Errors
    /// See [`GetError`].
    pub async fn get(&self, place: &Place, name: &str) -> Result<Value, GetError> {
        Ok(Call::new(Method::GET, place.path_of(name)).send(&self.client).await?.value)
    }

    /// The object, or nothing if there is none.
    ///
    /// # Errors
    /// Everything but "not found".
    pub async fn find(&self, place: &Place, name: &str) -> Result<Option<Value>, CallError> {
        match self.get(place, name).await {
            Ok(object) => Ok(Some(object)),
            Err(GetError::NotFound(_)) => Ok(None),
            Err(GetError::Call(error)) => Err(error),
        }
    }

    /// The object as a row for people.
    ///
    /// # Errors
    /// See [`GetError`].
    pub async fn get_row(&self, place: &Place, name: &str) -> Result<Table, GetError> {
        let answer =
            Call::new(Method::GET, place.path_of(name)).accept(table::ACCEPT).send(&self.client).await?;
        Ok(Table::read(answer.value).map_err(|error| CallError::Strange(error.to_string()))?)
    }
}
