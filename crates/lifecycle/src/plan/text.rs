//! The canonical text of a plan, and its digest: what a user approves.

use std::fmt::Write;

use serde_json::{Value, json};
use sexton_model::{Key, Policy};
use sha2::{Digest, Sha256};

use super::{Plan, Step};
use crate::detect::{Cause, Detector};
use crate::snapshot::Snapshot;

/// How many hexadecimal digits of the hash make up the digest.
const DIGEST_DIGITS: usize = 16;
/// A user has to type at least this many digits of a digest.
const MIN_TYPED_DIGITS: usize = 4;

/// Whether what a user typed is the beginning of this digest, and long enough.
pub fn digest_matches(typed: &str, digest: &str) -> bool {
    typed.len() >= MIN_TYPED_DIGITS && digest.starts_with(&typed.to_ascii_lowercase())
}

/// The name of a policy, as in requests.
pub fn policy_name(policy: Policy) -> &'static str {
    match policy {
        Policy::Cascade => "Cascade",
        Policy::Foreground => "Foreground",
        Policy::Background => "Background",
        Policy::Orphan => "Orphan",
    }
}

impl Plan {
    /// The waves with the policy of each object, and the references that survivors lose. The digest is the hash of this
    /// text. Revisions and reasons are not part of it, and neither is whether a deletion has begun: these may change
    /// without changing what was approved.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The plan as JSON, with the reason for each step.
    pub fn to_json(&self) -> Value {
        let group = |group: &super::Group| Value::Array(group.members.iter().map(step_json).collect());
        let wave = |wave: &super::Wave| Value::Array(wave.groups.iter().map(group).collect());
        json!({
            "digest": self.digest,
            "waves": self.waves.iter().map(wave).collect::<Vec<Value>>(),
            "strips": self.strips.len(),
            "dropped": self.dropped.len(),
            "holds": self.exclusions.len(),
        })
    }

    /// Stores the canonical text and its digest.
    pub(super) fn written(mut self, snapshot: &Snapshot) -> Plan {
        self.text = self.canonical(snapshot);
        self.digest = digest(&self.text);
        self
    }

    /// The canonical text, computed from the steps.
    pub(super) fn canonical(&self, snapshot: &Snapshot) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        for (number, wave) in (1..).zip(&self.waves) {
            let _ = writeln!(text, "wave {number}");
            for group in &wave.groups {
                let together = group.members.len() > 1;
                if together {
                    text.push_str("  together\n");
                }
                for step in &group.members {
                    let indent = if together { "    " } else { "  " };
                    text.push_str(indent);
                    write_key(&step.key, &mut text);
                    text.extend([" ", &step.uid.0, " ", policy_name(step.finding.policy), "\n"]);
                }
            }
        }
        for strip in self.strips.iter().filter(|strip| snapshot.contains(strip.node)) {
            let _ = write!(text, "strip {} {}", snapshot.key(strip.node), snapshot.uid(strip.node));
            strip.owners.iter().for_each(|owner| text.extend([" ", &owner.0]));
            text.push('\n');
        }
        text
    }
}

/// Writes a key as `Display` does, but without the formatting machinery: there may be a hundred thousand of them.
fn write_key(key: &Key, text: &mut String) {
    text.push_str(&key.kind.resource);
    if !key.kind.group.is_empty() {
        text.extend([".", &key.kind.group]);
    }
    if !key.namespace.is_empty() {
        text.extend(["/", &key.namespace]);
    }
    text.extend(["/", &key.name]);
}

fn digest(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    let mut digits = hash.iter().fold(String::new(), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    });
    digits.truncate(DIGEST_DIGITS);
    digits
}

/// Whether a digest is that of a text.
pub(super) fn is_digest_of(digest_given: &str, text: &str) -> bool {
    digest_given == digest(text)
}

fn step_json(step: &Step) -> Value {
    let detector = match step.finding.detector {
        Detector::Deleted => "deleted",
        Detector::Cascade => "cascade",
        Detector::Orphaned => "orphaned",
        Detector::Candidate => "accused",
        Detector::Unreachable => "unreachable",
        Detector::Removed => "removed",
    };
    let cause = match &step.finding.cause {
        Cause::Requested => "asked",
        Cause::OwnerDoomed { .. } => "ownerDoomed",
        Cause::OwnersGone { .. } => "ownersGone",
        Cause::Candidate { .. } => "accused",
        Cause::Unreachable => "unreachable",
        Cause::Removed => "removed",
        Cause::InNamespace { .. } => "inNamespace",
        Cause::OfDefinition { .. } => "ofDefinition",
    };
    json!({
        "group": step.key.kind.group,
        "resource": step.key.kind.resource,
        "kind": step.kind,
        "namespace": step.key.namespace,
        "name": step.key.name,
        "uid": step.uid.0,
        "policy": policy_name(step.finding.policy),
        "detector": detector,
        "cause": cause,
        "marked": step.finding.is_terminating,
    })
}
