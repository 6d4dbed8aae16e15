//! A message about an object, and the core/v1 Event that it becomes.
//!
//! It must not know when a message is written, nor how often.

use serde_json::{Value, json};
use sexton_model::{names, text, time};

/// The component that reports.
pub(crate) const COMPONENT: &str = "sexton-collector";
/// Longer messages are cut.
const LONGEST: usize = 1_024;
/// The most characters of the object's name in the name of an Event; 16 hexadecimal digits follow.
const LONGEST_NAME: usize = 230;

/// The object that an event is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Involved {
    pub(crate) api_version: String,
    pub(crate) kind: String,
    /// Empty for cluster-scoped kinds.
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) uid: String,
}

impl Involved {
    /// The namespace of its Events.
    pub(crate) fn place(&self) -> &str {
        if self.namespace.is_empty() { "default" } else { &self.namespace }
    }
}

/// The `reason` of an Event. There are few, so that one can search for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Reason {
    /// A destruction began.
    Destroying,
    /// A destruction ended.
    Destroyed,
    /// Something blocks it.
    Blocked,
    /// It may not go on: protection, an approved plan, or the deletion limit.
    Held,
    /// A method of a class failed.
    HookFailed,
    /// A user forced a blocker.
    Forced,
    /// A subscriber vetoed, and the object is deferred.
    Spared,
}

impl Reason {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Reason::Destroying => "Destroying",
            Reason::Destroyed => "Destroyed",
            Reason::Blocked => "Blocked",
            Reason::Held => "Held",
            Reason::HookFailed => "HookFailed",
            Reason::Forced => "Forced",
            Reason::Spared => "Spared",
        }
    }

    /// The type of the event.
    fn kind(self) -> &'static str {
        match self {
            Reason::Destroying | Reason::Destroyed | Reason::Spared => "Normal",
            Reason::Blocked | Reason::Held | Reason::HookFailed | Reason::Forced => "Warning",
        }
    }
}

/// A message about an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) about: Involved,
    /// The version of the object that was seen; not part of what makes messages equal.
    pub(crate) version: String,
    pub(crate) reason: Reason,
    pub(crate) message: String,
}

impl Said {
    pub(crate) fn new(about: Involved, version: String, reason: Reason, message: &str) -> Said {
        Said { about, version, reason, message: text::tame(message, LONGEST) }
    }
}

/// A series of equal messages, which is one Event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Series {
    /// Makes the name of the Event unique for its object.
    pub(crate) id: u64,
    pub(crate) first: i64,
    pub(crate) last: i64,
    pub(crate) count: u32,
    /// The last message, or that several were combined.
    pub(crate) message: String,
}

impl Series {
    /// The name of the Event.
    pub(crate) fn name(&self, said: &Said) -> String {
        let name: String = said.about.name.chars().take(LONGEST_NAME).collect();
        let name = name.trim_end_matches(['.', '-']);
        match names::dns_subdomain(name) {
            Ok(()) => format!("{name}.{:016x}", self.id),
            // Names of some kinds are no valid names of Events.
            Err(_) => format!("{}.{:016x}", said.about.kind.to_lowercase(), self.id),
        }
    }

    /// The Event.
    pub(crate) fn document(&self, said: &Said) -> Value {
        let about = &said.about;
        let mut involved = json!({"apiVersion": about.api_version, "kind": about.kind, "name": about.name});
        for (field, value) in
            [("namespace", &about.namespace), ("uid", &about.uid), ("resourceVersion", &said.version)]
        {
            if !value.is_empty() {
                involved[field] = value.as_str().into();
            }
        }
        json!({
            "apiVersion": "v1", "kind": "Event",
            "metadata": {"name": self.name(said), "namespace": about.place()},
            "involvedObject": involved,
            "type": said.reason.kind(), "reason": said.reason.word(), "message": self.message,
            "firstTimestamp": time::format(self.first), "lastTimestamp": time::format(self.last),
            "count": self.count, "eventTime": null,
            "source": {"component": COMPONENT},
            "reportingComponent": COMPONENT, "reportingInstance": "",
        })
    }

    /// The changes of an Event that exists.
    pub(crate) fn patch(&self) -> Value {
        json!({"count": self.count, "lastTimestamp": time::format(self.last), "message": self.message})
    }
}
