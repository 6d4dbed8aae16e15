//! What somebody wants of the collector about a life that does not get on: to try again, or to give something up.
//!
//! Written into an annotation of the life by the command line, read here.

use serde::{Deserialize, Serialize};
use sexton_lifecycle::destruction::{Callee, Event, UNREADABLE};

/// What the fuse is called as something in the way; behind it stands how many lives it holds.
pub const FUSE: &str = "fuse:";

/// A request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Request {
    /// Which request: the same is heard once.
    pub id: String,
    /// What is wanted.
    pub want: Want,
    /// What it is about: `destroy`, the uid of a subscriber, `finalizer:NAME`, or `journal`; `fuse:COUNT` on the record
    /// of what is held. Without it, all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocker: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Want {
    /// To try again now.
    Retry,
    /// To give it up.
    Force,
}

impl Request {
    /// Reads the annotation; what cannot be read asks for nothing.
    pub fn read(text: &str) -> Option<Request> {
        serde_json::from_str(text).ok()
    }

    /// The annotation.
    ///
    /// # Errors
    /// None in practice.
    pub fn text(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// What it means for the steps of a life.
    pub(crate) fn event(&self) -> Option<Event> {
        let is_call = |blocker: &&str| {
            !blocker.starts_with("finalizer:") && !blocker.starts_with(FUSE) && *blocker != UNREADABLE
        };
        let callee = self.blocker.as_deref().filter(is_call);
        let callee = callee.map(|blocker| Callee::from(blocker.to_owned()));
        match self.want {
            Want::Retry => Some(Event::RetryNow { callee }),
            Want::Force => Some(Event::Forced { callee: callee?, reason: self.reason.clone()? }),
        }
    }

    /// The finalizer of somebody else that is to be given up.
    pub(crate) fn finalizer(&self) -> Option<&str> {
        self.given_up()?.strip_prefix("finalizer:")
    }

    /// Whether a journal that cannot be read is to be given up.
    pub(crate) fn begins_anew(&self) -> bool {
        self.given_up() == Some(UNREADABLE)
    }

    /// How many lives the fuse is to let through.
    pub(crate) fn lets_through(&self) -> Option<usize> {
        self.given_up()?.strip_prefix(FUSE)?.parse().ok()
    }

    fn given_up(&self) -> Option<&str> {
        let reason = self.reason.as_deref().unwrap_or_default();
        let forced = self.want == Want::Force && !reason.is_empty();
        self.blocker.as_deref().filter(|_| forced)
    }
}
