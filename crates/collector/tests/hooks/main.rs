//! Methods of classes against real programs and a real service, most of them badly behaved.
#![allow(clippy::unwrap_used, reason = "a test may end so")]

mod fifo;
mod http;
mod kept;
mod nature;
mod programs;
mod survivors;
mod tls;

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;
use sexton_collector::hooks::{HookError, Hooks};
use sexton_model::class::{Method, Run};
use sexton_model::hook::{Call, Phase, Verdict};

/// Nothing in these tests takes longer unless it hangs.
const LONG: Duration = Duration::from_secs(120);

fn call() -> Call {
    Call {
        method: "destroy".into(),
        phase: Phase::Destroying,
        session: "s-1".into(),
        epoch: 7,
        idempotency_key: "0123abcd".into(),
        attempt: 1,
        deadline: "2999-01-01T00:00:00Z".into(),
        object: json!({"kind": "Vm", "metadata": {"name": "web-1"}}),
        subscriber: None,
        doomed: Vec::new(),
        doomed_count: 0,
        is_doomed: BTreeMap::new(),
        is_destroyed: BTreeMap::new(),
    }
}

/// A call with a document that fits into no pipe.
fn big_call() -> Call {
    Call { object: json!({"data": "x".repeat(1 << 20)}), ..call() }
}

fn exec(argv: &[&str]) -> Method {
    let argv = argv.iter().map(|word| (*word).to_owned()).collect();
    let run = Run::Exec { argv, dir: None, env: BTreeMap::new() };
    Method { run, deadline: LONG, max_output: 64 << 10 }
}

/// A program that a shell runs.
fn sh(script: &str) -> Method {
    exec(&["sh", "-c", script])
}

fn within(mut method: Method, deadline: Duration) -> Method {
    method.deadline = deadline;
    method
}

async fn answer(method: &Method) -> Result<Verdict, HookError> {
    Hooks::new().call(method, &call()).await
}

fn done() -> Verdict {
    Verdict::Done { output: None }
}
