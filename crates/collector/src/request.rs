//! What a user requests about an object that is blocked: to try again, or to give something up.
//!
//! `sexton retry` and `sexton force` write it as an annotation of the object; the collector reads it here.

use serde::{Deserialize, Serialize};
use sexton_lifecycle::destruction::{Callee, Event, UNREADABLE};

/// The prefix of the deletion limit as a blocker; the number of objects follows.
pub const FUSE: &str = "fuse:";

/// A request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Request {
    /// The id of the request: equal ids are handled once.
    pub id: String,
    /// What is wanted.
    pub want: Want,
    /// The blocker: `destroy`, the uid of a subscriber, `finalizer:NAME`, or `journal`; `fuse:COUNT` on the record of
    /// a deletion limit. Without it, all blockers of the object.
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
    /// Parses the annotation. `None`, and so no request, if it is not valid.
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

    /// The event of the step table that the request stands for.
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

    /// The finalizer of another controller that is to be given up.
    pub(crate) fn finalizer(&self) -> Option<&str> {
        self.given_up()?.strip_prefix("finalizer:")
    }

    /// Whether a journal that cannot be parsed is to be given up.
    pub(crate) fn begins_anew(&self) -> bool {
        self.given_up() == Some(UNREADABLE)
    }

    /// Up to how many objects the deletion limit is to allow.
    pub(crate) fn lets_through(&self) -> Option<usize> {
        self.given_up()?.strip_prefix(FUSE)?.parse().ok()
    }

    fn given_up(&self) -> Option<&str> {
        let reason = self.reason.as_deref().unwrap_or_default();
        let forced = self.want == Want::Force && !reason.is_empty();
        self.blocker.as_deref().filter(|_| forced)
    }
}
