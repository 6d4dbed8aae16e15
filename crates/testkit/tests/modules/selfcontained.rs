//! selfcontained
