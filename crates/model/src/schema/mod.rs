//! Structural schemas: what a CustomResourceDefinition says of the objects of its kind, and what follows from it.
//!
//! A schema is [checked](check) when its definition is written, [compiled](Structural::compile) when that is read, and
//! then objects are pruned, given their defaults, and validated, in this order. Texts and paths are those of
//! Kubernetes. It must not know requesters, nor how objects are stored or served.

mod check;
mod compile;
mod complaints;
mod defaults;
mod expressions;
mod formats;
mod lists;
mod node;
mod numbers;
mod pattern;
mod prune;
mod validate;
mod values;

#[cfg(test)]
mod tests;

pub use check::check;
pub use defaults::{DefaultsTooLarge, MAX_DEFAULTS_BYTES};
pub use node::Structural;
pub use prune::METADATA_FIELDS;
