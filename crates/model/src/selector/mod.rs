//! Selectors: which objects a list, a watch or a collection speaks of.

pub mod field;
pub mod label;

pub use field::FieldSelector;
pub use label::LabelSelector;

/// The text cannot be read as a selector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unable to parse selector {text:?}: {why}")]
pub struct BadSelector {
    /// What was given, shortened.
    pub text: String,
    /// What is wrong with it.
    pub why: String,
}

impl BadSelector {
    fn new(text: &str, why: impl Into<String>) -> BadSelector {
        BadSelector { text: text.chars().take(128).collect(), why: why.into() }
    }
}

/// Longer selectors are refused before they are read.
const MOST_BYTES: usize = 64 << 10;
/// More terms are refused: each is tried on each object.
const MOST_TERMS: usize = 256;
