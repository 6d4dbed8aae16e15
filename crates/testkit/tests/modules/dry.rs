//! dry
