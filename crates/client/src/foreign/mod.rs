//! A foreign Kubernetes offers neither one feed over all kinds nor a bulk verb. Here are both, with the same types,
//! made of what every Kubernetes has: discovery, lists, watches, and writes of single objects.
//!
//! - [`changes`]: one feed of metadata over all kinds, which survives whatever happens to single watches.
//! - [`bulk`]: many writes one after the other, each with the evidence on which it rests, as far as it can be shown.
//!
//! What is weaker than with a server of ours: there is no order between changes of different kinds, and the evidence
//! of a write is looked at right before it, not in its transaction.
//!
//! It must not know what garbage is: it tells what is there and carries out what it is told.

mod backoff;
mod bulk;
mod discovery;
mod feed;
mod follow;
mod followed;
mod known;
mod options;
mod read;
mod share;

pub use backoff::Pace;
pub use bulk::{BulkOptions, bulk};
pub use feed::changes;
pub use options::FeedOptions;
pub(crate) use share::SharedFeed;
