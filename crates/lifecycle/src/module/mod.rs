//! Modules: which resources are in scope, in which order documents are put, which resources are unmarked afterwards,
//! and which places unmarked ones get. Decided from lists of [`Member`]s; how a deployment is executed is not known
//! here.

mod member;
mod order;
mod scope;
#[cfg(test)]
mod tests;

pub use member::{Member, kind_of, possible_copies};
pub use order::{Entry, OrderError, arrange, renumber};
pub use scope::{MarkSplit, ScopeChange, in_scope, scope_change, scope_labels, split_by_mark};
