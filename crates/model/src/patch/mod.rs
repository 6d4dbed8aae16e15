//! Patches: JSON patch, merge patch and strategic merge patch over plain JSON values.
//!
//! Input documents and patches are at most 64 levels deep, which the caller checks; the recursion over
//! them here relies on that. It must not know requests or ownership.

mod json;
mod lists;
mod merge;
mod order;
mod strategic;

pub use json::{JsonPatchError, MAX_COPIED, MAX_DEPTH, MAX_OPERATIONS, json_patch, json_patch_bytes};
pub use merge::merge_patch;
pub use strategic::{StrategicError, strategic_merge};
