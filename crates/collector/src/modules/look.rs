//! One look at all that a module manages, and whether it was complete.

/// A kind that could not be listed: nothing may be concluded from what was not seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unlistable {
    /// `resource.group`, or a whole group.
    pub kind: String,
    /// Why, in words.
    pub why: String,
}
