//! The two operations that a collector needs beside ordinary requests: one feed of everything that happens, and many
//! writes with their evidence in one go. Our own server has them; elsewhere they are made of what there is.

use std::fmt::Debug;

use async_trait::async_trait;
use futures::stream::BoxStream;
use sexton_model::Revision;
use sexton_model::bulk::{Bulk, BulkResult};
use sexton_model::feed::Line;

use crate::CallError;

/// The feed, line by line.
pub type Lines = BoxStream<'static, Result<Line, CallError>>;

/// A server, as a collector sees it.
#[async_trait]
pub trait Gateway: Debug + Send + Sync {
    /// Whether a feed can go on where it stopped. If not, it always begins with everything there is.
    fn resumes(&self) -> bool;

    /// Everything that happens after a revision, or everything there is and then what happens.
    ///
    /// # Errors
    /// The server cannot be asked, or (code 410) has forgotten what happened since then.
    async fn changes(&self, from: Option<Revision>) -> Result<Lines, CallError>;

    /// Many writes in order, each with what must be true for it.
    ///
    /// # Errors
    /// The request as a whole was refused, or it is not known what became of it.
    async fn bulk(&self, bulk: &Bulk) -> Result<BulkResult, CallError>;
}
