//! `sexton version`.

use crate::failure::{Exit, Failure};
use crate::output::ndjson::Event;
use crate::output::{FormFlag, Output};

/// Show the version of this program
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    form: FormFlag,
    /// The same as -o json
    #[arg(long, hide = true)]
    json: bool,
}

pub(crate) fn run(output: &Output) -> Result<Exit, Failure> {
    let version = env!("CARGO_PKG_VERSION");
    match output.is_stream() {
        true => output.event(&Event::Version { sexton: version })?,
        false => output.line(&format!("sexton {version}"))?,
    }
    Ok(Exit::Done)
}
