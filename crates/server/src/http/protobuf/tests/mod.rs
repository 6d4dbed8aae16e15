//! Bodies of real clients, messages of another encoder, and bytes of chance.

#![allow(clippy::unwrap_used, reason = "a test ends with the first thing that goes wrong")]

mod by_table;
mod chance;
mod encoder;
mod golden;
mod kinds;
mod refused;
mod round_trip;

use serde_json::Value;

use super::{Expected, document};

const CORE: Expected<'static> = Expected { group: "", version: "v1", kind: "ConfigMap" };

/// What a body is read as, or the code and the words of the refusal.
fn read(bytes: &[u8]) -> Result<Value, (u16, String)> {
    document(bytes, CORE).map_err(|failure| (failure.0.code, failure.0.message.clone()))
}
