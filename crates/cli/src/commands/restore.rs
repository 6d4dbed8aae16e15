//! `sexton restore`: a copy becomes the store of an empty data directory.

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};

use sexton_store::embedded::{self, OpenError, RestoreError};

use super::backup::{data_directory, in_background, tell_copied};
use crate::failure::{Exit, Failure};
use crate::output::{FormFlag, Output};
use crate::settings::Settings;
use crate::world::cannot_open;

/// Make a copy of a store the store of an empty data directory
///
/// The copy is checked before it gets its place: all of it is restored, or nothing. A directory that holds anything, or
/// that a process uses, is left alone.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A file that `sexton backup` wrote, or - for stdin
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
    #[command(flatten)]
    form: FormFlag,
}

pub(crate) async fn run(args: Args, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    let dir = data_directory(settings, "a copy is restored into", "restore")?;
    let file = args.file.clone();
    let report = in_background(move || {
        let mut copy = open(&file)?;
        embedded::restore(&dir, &mut *copy).map_err(|error| refused(error, &file, &dir))
    });
    let report = report.await?;
    tell_copied(&settings.data, &report, output)?;
    output.talk("clients see older revisions again: restart whatever watches");
    Ok(Exit::Done)
}

fn open(file: &Path) -> Result<Box<dyn Read>, Failure> {
    if file == Path::new("-") {
        let stdin = std::io::stdin();
        if stdin.is_terminal() {
            return Err(Failure::new("a copy cannot be typed").next("from a file", "sexton restore FILE"));
        }
        return Ok(Box::new(stdin.lock()));
    }
    let cannot = |error: &std::io::Error| Failure::new(format!("cannot read {}: {error}", file.display()));
    if std::fs::metadata(file).map_err(|error| cannot(&error))?.is_dir() {
        return Err(Failure::new(format!("{} is a directory, not a copy", file.display())).next(
            "copy the store in it",
            format!("sexton backup FILE --data {}", crate::settings::quoted(&file.display().to_string())),
        ));
    }
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    if std::fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
        return Err(Failure::new(format!("{} is a store in use, not a copy", file.display()))
            .detail("what is in its write-ahead log would be lost")
            .next("make a copy", "sexton backup FILE --data DIR"));
    }
    Ok(Box::new(std::fs::File::open(file).map_err(|error| cannot(&error))?))
}

fn refused(error: RestoreError, file: &Path, dir: &Path) -> Failure {
    let nothing = "Nothing was restored.";
    match &error {
        RestoreError::Dir(error @ OpenError::Locked { .. }) => cannot_open(dir, error).detail(nothing),
        RestoreError::Bad { why } => {
            let name = if file == Path::new("-") { "stdin".to_owned() } else { file.display().to_string() };
            Failure::new(format!("{name} is not a good copy: {why}")).detail(nothing)
        }
        RestoreError::NotEmpty { .. } => Failure::new(error.to_string())
            .detail(nothing)
            .next("choose an empty one", "sexton restore FILE --data DIR"),
        _ => Failure::new(error.to_string()).because(&error).detail(nothing),
    }
}
