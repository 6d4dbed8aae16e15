//! `sexton script-worker`: runs one method of a stored object; the call is read from stdin. Servers start it, and may
//! kill it at any time.

use std::io::Read;
use std::rc::Rc;

use sexton_model::hook::ScriptCall;
use sexton_runtime::lua::Output as Lines;
use sexton_runtime::worker;

use crate::failure::{Exit, Failure};
use crate::output::Output;

/// Run one method of a stored object, for a server
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

/// Words of the script are not part of the answer.
struct Aside(Output);

impl Lines for Aside {
    fn log(&self, line: &str) {
        self.0.talk(line);
    }
}

pub(crate) async fn run(_: Args, output: &Output) -> Result<Exit, Failure> {
    worker::confine()
        .map_err(|error| Failure::new(format!("cannot bound the memory of this process: {error}")))?;
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text);
    read.map_err(|error| Failure::new(format!("cannot read the call: {error}")))?;
    let told: ScriptCall = serde_json::from_str(&text)
        .map_err(|error| Failure::new(format!("the call cannot be understood: {error}")))?;
    drop(text);
    let answer = worker::answer(&told, Rc::new(Aside(Output::new(true)))).await;
    let said = serde_json::to_string(&answer)
        .map_err(|error| Failure::new(format!("the answer cannot be written: {error}")))?;
    output.exact(&said)?;
    Ok(Exit::Done)
}
