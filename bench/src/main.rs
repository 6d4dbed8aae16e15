//! Drives any Kubernetes-compatible server by URL and prints one JSON line per measurement.
//! Must not know: anything of Sexton's own crates; a real kube-apiserver is measured the same way.

mod bench;
mod cli;
mod conn;
mod drive;
mod error;
mod histogram;
mod lines;
mod measure;
mod output;
mod pages;
mod random;
mod report;
mod tally;
mod target;
mod template;
mod tls;
mod usage;

use std::process::ExitCode;

use clap::Parser;
use tokio::runtime::{Builder, Runtime};

use crate::bench::Bench;
use crate::cli::Cli;
use crate::error::{Error, Result};

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            output::talk(error);
            ExitCode::FAILURE
        }
    }
}

fn run(cli: &Cli) -> Result<bool> {
    let runtime = runtime(cli.common.threads)?;
    runtime.block_on(async {
        let bench = Bench::new(cli.common.clone())?;
        measure::run(&bench, &cli.measurement).await
    })
}

/// One thread needs no queues between threads, so it gets the runtime without them.
fn runtime(threads: u16) -> Result<Runtime> {
    let mut builder = match threads {
        1 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    if threads > 1 {
        builder.worker_threads(usize::from(threads));
    }
    builder
        .enable_all()
        .build()
        .map_err(|source| Error::Io { what: "starting the runtime".to_owned(), source })
}
