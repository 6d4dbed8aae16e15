//! A process for the tests: the keeper of a hook, or a collector that makes one call until it is killed.
//!
//! `keep …` is what [`Keeper`] starts. `call DIR SCRIPT` runs a shell script for a fixed key, with records in a
//! directory.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use sexton_collector::hooks::keeper::keep;
use sexton_collector::hooks::{Hooks, Keeper};
use sexton_model::class::{Method, Run};
use sexton_model::hook::Call;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    match words.next().as_ref().and_then(|word| word.to_str()) {
        Some("keep") => ExitCode::from(keep(words)),
        Some("call") => match (words.next(), words.next().and_then(|word| word.into_string().ok())) {
            (Some(dir), Some(script)) => call(Path::new(&dir), script),
            _ => ExitCode::FAILURE,
        },
        _ => ExitCode::FAILURE,
    }
}

/// Makes the call that is written on the standard input, and says nothing of how it ended.
fn call(dir: &Path, script: String) -> ExitCode {
    let Ok(call) = serde_json::from_reader::<_, Call>(std::io::stdin()) else { return ExitCode::FAILURE };
    let program = vec!["/proc/self/exe".to_owned(), "keep".to_owned()];
    let argv = ["sh", "-c", &script].map(str::to_owned).to_vec();
    let run = Run::Exec { argv, dir: None, env: BTreeMap::new() };
    let method = Method { run, deadline: Duration::from_secs(600), max_output: 1 << 10 };
    let (Ok(keeper), Ok(runtime)) = (Keeper::new(program, dir), tokio::runtime::Runtime::new()) else {
        return ExitCode::FAILURE;
    };
    match runtime.block_on(Hooks::new().kept_by(keeper).call(&method, &call)) {
        Ok(_) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
