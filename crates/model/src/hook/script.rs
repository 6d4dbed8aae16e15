//! What the worker that runs scripts is told, and what it answers.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Allowance, Call};
use crate::environment::ProgramSpec;

/// Objects that are handed to a worker at most; a script that looks further is told so.
pub const MAX_AROUND: usize = 500;

/// What the worker is told: everything it needs, because it can make no requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScriptCall {
    /// The program that has the class.
    pub program: ProgramSpec,
    /// The call itself, with the doomed object and the subscriber.
    pub call: Call,
    /// Other objects to which those two refer, and to which these refer in turn, whole.
    pub around: Vec<Value>,
    /// How many seconds the script may run.
    pub seconds: u64,
    /// What the operator of the collector allows, whatever the program was granted; without it, all of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowance: Option<Allowance>,
}

/// What the worker answers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ScriptAnswer {
    /// A verdict as any method gives it.
    pub verdict: Value,
    /// Objects that the method changed, whole, as they are to be.
    pub changed: Vec<Value>,
}
