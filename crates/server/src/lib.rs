//! The API server: what the verbs mean, and how bytes become verbs.
//!
//! - [`kinds`]: which kinds are served.
//! - [`admission`]: what a document must be like to be stored.
//! - [`api`]: one file per verb, HTTP-free.
//! - [`http`]: bytes to verbs and back.
//! - [`serve`]: sockets, TLS, limits, shutdown.
//!
//! It does not know what garbage is: it makes objects terminating, keeps and removes them as requests ask for.

pub mod admission;
pub mod api;
pub mod http;
pub mod kinds;
pub mod serve;
