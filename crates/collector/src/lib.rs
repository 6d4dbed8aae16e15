//! The collector: carries out what `lifecycle` decides, through the public API. It cannot reach the store or the
//! server.
//!
//! ```text
//! feed ─► ear ─► view ─► decide ─► perform ─► writes with their evidence
//!                           │          └────► hooked ─► journal, calls of methods, release
//!                           └───────────────► ledger ─► records of collections
//! ```
//!
//! [`Collector::run`] is the loop. Events only wake it: every round considers the whole snapshot, so that starting,
//! continuing after a crash and the steady state are the same code.
//!
//! Reading order: `controller` (the loop), `round` (one attempt), `decide` (judgement and plan), `perform` (writes in
//! the plan's order), `hooked` (objects that are destroyed in steps). Beside them `rules` finds garbage by standing
//! rules, and `modules` deploys documents together; both only write accusations, which `decide` reads.

pub mod approve;
mod blockers;
mod clock;
mod controller;
mod decide;
mod ear;
mod events;
pub mod handover;
mod hooked;
pub mod hooks;
mod lease;
mod ledger;
pub mod modules;
mod perform;
pub mod preview;
pub mod records;
mod request;
pub mod rights;
mod round;
pub mod rules;
mod settings;
mod standing;
mod summary;
mod terminating_namespace;
mod view;

pub use clock::{Clock, SystemClock};
pub use controller::{Collector, Stop};
pub use events::EventSettings;
pub use hooked::Runner;
pub use lease::{LeaseSettings, Observed};
pub use request::{FUSE, Request, Want};
pub use settings::{Means, Settings};
pub use standing::{Standing, waits_for_us};
pub use summary::{BLOCKED_REASONS, Summary};
pub use terminating_namespace::{NamespaceHold, namespace_holds};
