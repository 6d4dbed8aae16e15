//! Modules: who is in scope, in which order documents are put, who is unmarked afterwards, and where those stand that
//! are left. Decided from lists of facts alone; it must not know how a deployment is carried out.

mod copies;
mod member;
mod order;
mod renumber;
mod scope;
mod sweep;
#[cfg(test)]
mod tests;

pub use copies::{copies, kind_of};
pub use member::Member;
pub use order::{Entry, OrderError, arrange};
pub use renumber::renumber;
pub use scope::{ScopeChange, in_scope, scope_change, scope_labels};
pub use sweep::{Sorted, sort};
