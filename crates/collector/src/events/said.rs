//! What is said of an object, and the core/v1 Event that it becomes.
//!
//! It must not know when something is said, nor how often.

use serde_json::{Value, json};
use sexton_model::{names, text, time};

/// The component that tells.
pub(crate) const COMPONENT: &str = "sexton-collector";
/// Longer messages are cut, as everywhere.
const LONGEST: usize = 1_024;
/// The name of an event is that of its object and sixteen letters; so much of the former fits.
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
    /// Where its events are.
    pub(crate) fn place(&self) -> &str {
        if self.namespace.is_empty() { "default" } else { &self.namespace }
    }
}

/// Why an event is told. Few, so that they can be searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Reason {
    /// A destruction began.
    Destroying,
    /// It is over.
    Destroyed,
    /// Something is in its way.
    Blocked,
    /// It must not go on: protection, what was approved, or too much at once.
    Held,
    /// A method of a class failed.
    HookFailed,
    /// Somebody gave up what was in the way.
    Forced,
    /// Somebody who was warned said no, and it is left alone for a while.
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

/// Something that is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) about: Involved,
    /// The version of the object that was seen; the same is said of any of them.
    pub(crate) version: String,
    pub(crate) reason: Reason,
    pub(crate) message: String,
}

impl Said {
    pub(crate) fn new(about: Involved, version: String, reason: Reason, message: &str) -> Said {
        Said { about, version, reason, message: text::tame(message, LONGEST) }
    }
}

/// What a series of equal sayings has come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Series {
    /// What tells its event from others of the same object.
    pub(crate) id: u64,
    pub(crate) first: i64,
    pub(crate) last: i64,
    pub(crate) count: u32,
    /// What the last of them said, or that they are several.
    pub(crate) message: String,
}

impl Series {
    /// The name of its event.
    pub(crate) fn name(&self, said: &Said) -> String {
        let name: String = said.about.name.chars().take(LONGEST_NAME).collect();
        let name = name.trim_end_matches(['.', '-']);
        match names::dns_subdomain(name) {
            Ok(()) => format!("{name}.{:016x}", self.id),
            // Some kinds have names that nothing else may have.
            Err(_) => format!("{}.{:016x}", said.about.kind.to_lowercase(), self.id),
        }
    }

    /// The event.
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

    /// What changes of an event that is there already.
    pub(crate) fn patch(&self) -> Value {
        json!({"count": self.count, "lastTimestamp": time::format(self.last), "message": self.message})
    }
}
