//! Translates plans, snapshots, blockers and explanations of `lifecycle` and `collector` into the plain data that
//! [`output`](crate::output) prints.
//!
//! - [`plan`]: a plan with its judgement → `DeathPlan`, the tree of doomed objects with reasons.
//! - [`picture`]: a snapshot and a plan → `Picture`, a graph of nodes and edges.
//! - [`blockers`]: what objects wait for → lines with commands, or entries of a progress.
//! - [`why`]: an explanation → `Why`, with commands that name the target. [`namespaces`]: finalizers of a namespace.
//!
//! Nothing here does IO, decides what is deleted, or prints. Ids become labels here, so that `output` needs to know
//! neither snapshots nor plans.

pub(crate) mod blockers;
pub(crate) mod namespaces;
pub(crate) mod picture;
pub(crate) mod plan;
pub(crate) mod why;
