//! The records of modules: objects of their own kind where a server has it, ConfigMaps elsewhere.

use sexton_client::{CallError, Kinds, Resources};
use sexton_model::module::{ModuleSpec, ModuleStatus};

use super::lease::LeaseError;

/// Where records are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    /// Objects of the kind `Module`.
    Kind,
    /// ConfigMaps `sexton-module-NAME` in the namespace `default`.
    ConfigMap,
}

/// A record.
#[derive(Debug, Clone, PartialEq)]
pub struct ModuleRecord {
    /// What the module is.
    pub spec: ModuleSpec,
    /// How it stands with it.
    pub status: ModuleStatus,
    /// The version that was read; whoever writes must have read the current one.
    pub(super) version: Option<String>,
    pub(super) uid: Option<String>,
}

/// Why a record was not read or written.
#[derive(Debug, thiserror::Error)]
pub enum RecordsError {
    /// Somebody else wrote it meanwhile.
    #[error("the record of the module {0} was changed by somebody else meanwhile")]
    Changed(String),
    /// It is not one that this version writes.
    #[error("the record of the module {name} cannot be understood: {why}")]
    Strange {
        /// Which one.
        name: String,
        /// Why.
        why: String,
    },
    /// The server cannot be asked, or says no.
    #[error("the record of the module {name} cannot be read or written")]
    Call {
        /// Which one; empty for all.
        name: String,
        /// Why.
        #[source]
        source: CallError,
    },
    /// The lease cannot be read.
    #[error(transparent)]
    Lease(LeaseError),
}

impl Home {
    pub(super) fn of(kinds: &Kinds) -> Home {
        let ours = |kind: &sexton_client::ServedKind| {
            kind.resource.group == "sexton.dev" && kind.resource.resource == sexton_model::module::RESOURCE
        };
        if kinds.all.iter().any(ours) { Home::Kind } else { Home::ConfigMap }
    }
}

#[derive(Debug)]
pub(super) struct Records {}

impl Records {
    pub(super) fn new(_resources: Resources, _home: Home) -> Records {
        Records {}
    }

    pub(super) async fn list(&self) -> Result<Vec<ModuleRecord>, RecordsError> {
        todo!()
    }

    pub(super) async fn find(&self, _name: &str) -> Result<Option<ModuleRecord>, RecordsError> {
        todo!()
    }
}
