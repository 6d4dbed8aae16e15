//! Conflicts of an apply with other managers, and the texts that clients show of them.
//!
//! It must not know how conflicts are found.

use std::fmt::{self, Write};

use super::managed::{ManagedEntry, Operation};

/// One field that another manager owns with another value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The field in display form, such as `.spec.ports[port=80,protocol="TCP"].name`.
    pub field: String,
    /// The manager that owns it.
    pub manager: String,
    /// How that manager came to own it.
    pub operation: Operation,
    /// The version that manager used.
    pub api_version: String,
    /// The subresource that manager wrote through, or empty.
    pub subresource: String,
    /// When that manager last changed something.
    pub time: Option<String>,
}

/// All conflicts of one apply, sorted by manager; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflicts(pub Vec<Conflict>);

/// One cause for the details of an error status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Always `FieldManagerConflict`.
    pub reason: &'static str,
    /// The manager that it is with.
    pub message: String,
    /// About what.
    pub field: String,
}

impl Conflict {
    /// The conflicts over all fields of `fields` with the manager of `entry`.
    pub(super) fn with(entry: &ManagedEntry, fields: &super::FieldSet) -> Vec<Self> {
        let conflict = |field| Self {
            field,
            manager: entry.manager.clone(),
            operation: entry.operation,
            api_version: entry.api_version.clone(),
            subresource: entry.subresource.clone(),
            time: entry.time.clone(),
        };
        fields.paths().into_iter().map(conflict).collect()
    }

    /// The other manager as shown in messages. The version is shown for updaters only, as theirs is
    /// part of their identity.
    fn who(&self) -> String {
        let mut out = format!("{:?}", self.manager);
        if !self.subresource.is_empty() {
            let _ = write!(out, " with subresource {:?}", self.subresource);
        }
        if self.operation == Operation::Update {
            let _ = write!(out, " using {}", self.api_version);
        }
        out
    }

    fn identity(&self) -> (&str, Operation, &str, &str) {
        (&self.manager, self.operation, &self.api_version, &self.subresource)
    }
}

impl Conflicts {
    /// Sorts by manager; the fields of one manager keep their order.
    pub(super) fn new(mut conflicts: Vec<Conflict>) -> Self {
        conflicts.sort_by(|a, b| a.identity().cmp(&b.identity()));
        Self(conflicts)
    }

    /// One cause for each field, for the details of the error status.
    pub fn causes(&self) -> Vec<Cause> {
        let cause = |conflict: &Conflict| Cause {
            reason: "FieldManagerConflict",
            message: format!("conflict with {}", conflict.who()),
            field: conflict.field.clone(),
        };
        self.0.iter().map(cause).collect()
    }
}

impl fmt::Display for Conflicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = self.0.as_slice() {
            return write!(f, "Apply failed with 1 conflict: conflict with {}: {}", only.who(), only.field);
        }
        write!(f, "Apply failed with {} conflicts: ", self.0.len())?;
        let groups = self.0.chunk_by(|a, b| a.identity() == b.identity());
        for (index, group) in groups.enumerate() {
            let newline = if index > 0 { "\n" } else { "" };
            write!(f, "{newline}conflicts with {}:", group[0].who())?;
            for conflict in group {
                write!(f, "\n- {}", conflict.field)?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Conflicts {}
