//! Carries out what `lifecycle` decides, through the public API. It cannot reach the store or the server.

pub mod hooks;
pub mod records;
