//! One deployment of a module at a time: a lease that is renewed while somebody works, and expires when nobody does.

use sexton_client::CallError;

use super::Tools;

/// Who holds the lease of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseView {
    /// Who.
    pub holder: String,
    /// Since when.
    pub since: String,
    /// When it was renewed last.
    pub renewed: String,
    /// For how many seconds it holds after that.
    pub seconds: i64,
    /// Whether that is over: then it may be taken.
    pub expired: bool,
}

/// Why the lease is not ours.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    /// Somebody else works on the module.
    #[error("{} is working on the module {module} since {}", .view.holder, .view.since)]
    Held {
        /// Which module.
        module: String,
        /// Who.
        view: Box<LeaseView>,
    },
    /// It was ours, and is not any more.
    #[error("the lease of the module {module} was lost to somebody else")]
    Lost {
        /// Which module.
        module: String,
    },
    /// The server cannot be asked.
    #[error("the lease of the module {module} cannot be taken")]
    Call {
        /// Which module.
        module: String,
        /// Why.
        #[source]
        source: CallError,
    },
}

#[derive(Debug)]
pub(super) struct ModuleLease {}

impl ModuleLease {
    pub(super) fn new(_tools: &Tools, _name: &str) -> ModuleLease {
        ModuleLease {}
    }

    pub(super) async fn holder(&self) -> Result<Option<LeaseView>, LeaseError> {
        todo!()
    }

    pub(super) async fn break_it(&self) -> Result<Option<LeaseView>, LeaseError> {
        todo!()
    }
}
