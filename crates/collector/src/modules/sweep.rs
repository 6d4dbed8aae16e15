//! Accuses exactly those that were shown and are still unmarked, or gives them new places.

use sexton_client::BulkError;

use super::look::Unlistable;
use super::victims::Kept;
use sexton_lifecycle::module::Member;

/// What became of the unmarked.
#[derive(Debug, Clone, Default)]
pub struct Swept {
    /// The collection in which they end, if somebody was accused.
    pub collection: Option<String>,
    /// Who was accused.
    pub accused: Vec<Member>,
    /// Who was shown and not accused after all, and why: put again, gone, protected.
    pub spared: Vec<Kept>,
    /// How many got new places instead.
    pub renumbered: usize,
    /// Why nothing was swept, if nothing was.
    pub why_not: Option<String>,
}

/// Why a sweep was broken off. Those who were accused before that stay accused.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// Not all that the module manages could be seen.
    #[error("{} kinds cannot be listed, so nothing was swept", .0.len())]
    Unlistable(Vec<Unlistable>),
    /// Somebody else has the lease now.
    #[error("the lease was lost to somebody else, so nothing more was swept")]
    Lost,
    /// The server did not do it, or it is not known whether it did.
    #[error("the accusations were not written")]
    Bulk(#[source] BulkError),
}
