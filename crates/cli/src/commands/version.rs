//! `sexton version`.

use serde_json::json;

use crate::failure::{Exit, Failure};
use crate::output::Output;

/// Show the version of this program
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &Output) -> Result<Exit, Failure> {
    let version = env!("CARGO_PKG_VERSION");
    match args.json {
        true => output.line(&json!({"sexton": version}).to_string())?,
        false => output.line(&format!("sexton {version}"))?,
    }
    Ok(Exit::Done)
}
