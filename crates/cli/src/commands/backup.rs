//! `sexton backup`: copies the store, also while a server uses it.

use std::path::PathBuf;

use sexton_store::embedded::{self, BackupError};

use crate::failure::{Exit, Failure};
use crate::output::ndjson::Event;
use crate::output::{FormFlag, Output};
use crate::settings::Settings;

/// Copy the store of the data directory to a file
///
/// A server may use it meanwhile. To restore, put the file into an empty directory under the name store.db.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The new file; nothing is ever overwritten
    file: PathBuf,
    #[command(flatten)]
    form: FormFlag,
}

pub(crate) async fn run(args: Args, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    if settings.server.is_some() || settings.context.is_some() {
        return Err(Failure::new("a backup copies a data directory, and must run where that is")
            .next("for example", "sexton backup FILE --data DIR"));
    }
    let (dir, file) = (settings.data.clone(), args.file.clone());
    let copied = tokio::task::spawn_blocking(move || embedded::backup(dir, file)).await;
    let report = match copied {
        Ok(result) => result.map_err(failure)?,
        Err(_) => return Err(Failure::new("the copying ended early")),
    };
    let file = args.file.display().to_string();
    if output.is_stream() {
        let (objects, revision, bytes) = (report.objects, report.revision.get(), report.bytes);
        output.event(&Event::Copied { file: &file, objects, revision, bytes })?;
        return Ok(Exit::Done);
    }
    output.line(&format!(
        "{file}: {} objects at revision {}, {} bytes",
        report.objects, report.revision, report.bytes
    ))?;
    Ok(Exit::Done)
}

fn failure(error: BackupError) -> Failure {
    let failure = Failure::new(error.to_string()).because(&error);
    match error {
        BackupError::NoStore { .. } => {
            failure.next("name another directory", "sexton backup FILE --data DIR")
        }
        _ => failure,
    }
}
