//! What a caller can ask for beside the object itself, already read and checked for form.

use std::time::Duration;

use sexton_model::{FieldSelector, LabelSelector};

/// Options of a read of one object.
#[derive(Debug, Clone, Default)]
pub struct GetOptions {
    /// `resourceVersion` as given; empty for "most recent".
    pub resource_version: String,
}

/// What is done about fields that a kind does not know, and about those that are written twice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FieldValidation {
    /// Nothing is said.
    Ignore,
    /// The writer is warned.
    #[default]
    Warn,
    /// The write is refused.
    Strict,
}

/// Options of a write.
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    /// Do everything but write.
    pub dry_run: bool,
    /// The field manager.
    pub field_manager: String,
    /// Whether the manager was named, or guessed from the client's name.
    pub manager_named: bool,
    /// Take fields away from other managers (apply only).
    pub force: bool,
    /// What is done about fields that are not in the schema.
    pub field_validation: FieldValidation,
    /// Fields that stand in the body twice.
    pub repeated: Vec<String>,
}

/// Options of a list.
#[derive(Debug, Clone, Default)]
pub struct ListOptions {
    /// Which labels.
    pub labels: LabelSelector,
    /// Which fields.
    pub fields: FieldSelector,
    /// Page size.
    pub limit: Option<usize>,
    /// Token of the next page.
    pub continue_token: String,
    /// `resourceVersion` as given.
    pub resource_version: String,
    /// `resourceVersionMatch` as given.
    pub version_match: String,
}

/// Options of a watch.
#[derive(Debug, Clone, Default)]
pub struct WatchOptions {
    /// Which labels.
    pub labels: LabelSelector,
    /// Which fields.
    pub fields: FieldSelector,
    /// `resourceVersion` as given.
    pub resource_version: String,
    /// `resourceVersionMatch` as given.
    pub version_match: String,
    /// Whether the client understands bookmarks.
    pub bookmarks: bool,
    /// Begin with the current state and say when it ends.
    pub send_initial_events: Option<bool>,
    /// How long the watch lasts.
    pub timeout: Option<Duration>,
}
