//! How a deletion is asked for: `DeleteOptions`, and the policy that decides about dependents.

use serde::Deserialize;

use crate::invalid::FieldError;

/// The finalizer of the delete that names no policy: every dependent becomes terminating, the owner goes last.
pub const CASCADE_FINALIZER: &str = "cascade_deletion";
/// The same on servers of another make: most of their kinds accept names without a domain only from Kubernetes itself.
pub const QUALIFIED_CASCADE_FINALIZER: &str = "sexton.dev/cascade-deletion";
/// The finalizer of a foreground deletion.
pub const FOREGROUND_FINALIZER: &str = "foregroundDeletion";
/// The finalizer of an orphaning deletion.
pub const ORPHAN_FINALIZER: &str = "orphan";

/// Which dependents follow a deleted owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// Every direct dependent becomes terminating, whatever other owners it has; the owner goes last.
    Cascade,
    /// Dependents without another solid owner go first, blocking ones hold the owner.
    Foreground,
    /// The owner goes at once, dependents without a solid owner follow.
    Background,
    /// Dependents live on, their references are removed.
    Orphan,
}

impl Policy {
    /// All that leave a finalizer.
    pub const RECORDED: [Policy; 3] = [Policy::Cascade, Policy::Foreground, Policy::Orphan];

    /// The finalizer that records the policy on the object.
    pub fn finalizer(self) -> Option<&'static str> {
        match self {
            Policy::Cascade => Some(CASCADE_FINALIZER),
            Policy::Foreground => Some(FOREGROUND_FINALIZER),
            Policy::Orphan => Some(ORPHAN_FINALIZER),
            Policy::Background => None,
        }
    }

    /// The policy of a name, the default one included, which has no name in Kubernetes.
    pub fn named(name: &str) -> Option<Policy> {
        match name {
            "Cascade" => Some(Policy::Cascade),
            _ => policy_named(name),
        }
    }

    /// The policy that a finalizer records.
    pub fn recorded_by(finalizer: &str) -> Option<Policy> {
        if finalizer == QUALIFIED_CASCADE_FINALIZER {
            return Some(Policy::Cascade);
        }
        Policy::RECORDED.into_iter().find(|policy| policy.finalizer() == Some(finalizer))
    }
}

/// What must be true of the object.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Preconditions {
    /// The uid that the object must have.
    pub uid: Option<String>,
    /// The version that may be deleted.
    pub resource_version: Option<String>,
}

/// The body of a DELETE.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeleteOptions {
    /// Usually `DeleteOptions`; kubectl leaves it out.
    pub kind: Option<String>,
    /// Seconds; only pods are graceful, and nothing here runs pods.
    pub grace_period_seconds: Option<i64>,
    /// What must be true.
    pub preconditions: Option<Preconditions>,
    /// Old form of the policy: true is Orphan, false is Background.
    pub orphan_dependents: Option<bool>,
    /// The policy's name.
    pub propagation_policy: Option<String>,
    /// `["All"]`: do everything but write.
    pub dry_run: Option<Vec<String>>,
}

impl DeleteOptions {
    /// What is wrong with the options themselves.
    pub fn errors(&self) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if self.orphan_dependents.is_some() && self.propagation_policy.is_some() {
            let detail = "orphanDependents and deletionPropagation cannot be both set";
            errors.push(FieldError::invalid("propagationPolicy", self.propagation_policy.clone(), detail));
        }
        if let Some(name) = &self.propagation_policy
            && policy_named(name).is_none()
        {
            errors.push(FieldError::not_supported(
                "propagationPolicy",
                name.as_str(),
                &["Background", "Foreground", "Orphan", "nil"],
            ));
        }
        errors.extend(self.dry_run.as_deref().and_then(dry_run_error));
        errors
    }

    /// The policy that the caller asked for, if any.
    pub fn policy(&self) -> Option<Policy> {
        match (self.orphan_dependents, &self.propagation_policy) {
            (_, Some(name)) => policy_named(name),
            (Some(true), None) => Some(Policy::Orphan),
            (Some(false), None) => Some(Policy::Background),
            (None, None) => None,
        }
    }

    /// Whether nothing may be written.
    pub fn is_dry_run(&self) -> bool {
        self.dry_run.as_ref().is_some_and(|stages| !stages.is_empty())
    }
}

fn policy_named(name: &str) -> Option<Policy> {
    match name {
        "Background" => Some(Policy::Background),
        "Foreground" => Some(Policy::Foreground),
        "Orphan" => Some(Policy::Orphan),
        _ => None,
    }
}

/// `dryRun` knows one stage.
pub fn dry_run_error(stages: &[String]) -> Option<FieldError> {
    let unknown = stages.iter().find(|stage| stage.as_str() != "All")?;
    Some(FieldError::not_supported("dryRun", unknown.as_str(), &["All"]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{marks, names};

    /// REQ-KRK-8: what records a policy is known again, here and on a server of another make.
    #[test]
    fn a_policy_is_known_by_its_finalizer() {
        for policy in Policy::RECORDED {
            assert_eq!(policy.finalizer().and_then(Policy::recorded_by), Some(policy));
        }
        assert_eq!(Policy::recorded_by(QUALIFIED_CASCADE_FINALIZER), Some(Policy::Cascade));
        assert_eq!(Policy::recorded_by("example.com/mine"), None);
        assert!(marks::is_ours(QUALIFIED_CASCADE_FINALIZER));
        assert!(QUALIFIED_CASCADE_FINALIZER.contains('/'));
        names::qualified_name(QUALIFIED_CASCADE_FINALIZER).unwrap();
    }
}
