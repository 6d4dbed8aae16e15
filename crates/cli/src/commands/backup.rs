//! `sexton backup`: copies the store, also while a server uses it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use sexton_store::embedded::{self, BackupError, BackupReport};

use crate::failure::{Exit, Failure};
use crate::output::ndjson::Event;
use crate::output::screen::Stream;
use crate::output::{FormFlag, Output};
use crate::settings::Settings;
use crate::world::check_directory;

/// Copy the store of the data directory to a file
///
/// A server may use it meanwhile. `sexton restore` makes it the store of an empty directory.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The new file, or - for stdout; nothing is ever overwritten
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
    #[command(flatten)]
    form: FormFlag,
}

pub(crate) async fn run(args: Args, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    let dir = data_directory(settings, "a backup copies", "backup")?;
    let file = args.file.clone();
    if file == Path::new("-") {
        return to_stdout(dir, output).await;
    }
    let report = in_background(move || embedded::backup(dir, file).map_err(failure)).await?;
    tell_copied(&args.file, &report, output)?;
    Ok(Exit::Done)
}

/// The data directory that a copy is made of or restored into: a server or a cluster has none that could be meant.
pub(super) fn data_directory(settings: &Settings, does: &str, word: &str) -> Result<PathBuf, Failure> {
    if settings.server.is_some() || settings.context.is_some() {
        return Err(Failure::new(format!("{does} a data directory, and must run where that is"))
            .next("for example", format!("sexton {word} FILE --data DIR")));
    }
    check_directory(&settings.data)?;
    Ok(settings.data.clone())
}

/// What is in the copy, and where it is now.
pub(super) fn tell_copied(to: &Path, report: &BackupReport, output: &Output) -> Result<(), Failure> {
    let (file, BackupReport { objects, revision, bytes, .. }) = (to.display().to_string(), report);
    if output.is_stream() {
        let (objects, revision, bytes) = (*objects, revision.get(), *bytes);
        return output.event(&Event::Copied { file: &file, objects, revision, bytes });
    }
    output.line(&format!("{file}: {objects} objects at revision {revision}, {bytes} bytes"))
}

/// Does something that takes its time, away from the runtime.
pub(super) async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(Failure::new("the copying ended early")))
}

/// Copies to stdout, by way of a file: what is sent was checked before.
async fn to_stdout(dir: PathBuf, output: &Output) -> Result<Exit, Failure> {
    if output.is_stream() {
        return Err(Failure::new("stdout has the copy, so there is no room for -o json")
            .next("to a file", "sexton backup FILE -o json"));
    }
    if output.is_watched() {
        return Err(Failure::new("a copy is not for reading on a terminal")
            .next("to a file", "sexton backup FILE")
            .next("to another program", "sexton backup - | ssh HOST 'cat > copy.db'"));
    }
    let report = in_background(move || {
        let beside = Beside::new()?;
        let file = beside.0.join("copy.db");
        let report = embedded::backup(dir, &file).map_err(failure)?;
        let copy = std::fs::File::open(&file).map_err(|error| cannot_send(&error))?;
        Stream::Data.bytes(copy).map_err(|error| cannot_send(&error))?;
        Ok(report)
    });
    let report = report.await?;
    output
        .talk(&format!("{} objects at revision {}, {} bytes", report.objects, report.revision, report.bytes));
    Ok(Exit::Done)
}

fn cannot_send(error: &std::io::Error) -> Failure {
    match error.kind() {
        // Half a copy is of no use: this is an error here, not an end.
        ErrorKind::BrokenPipe => Failure::new("the output was closed before all of the copy was written"),
        _ => Failure::new(format!("cannot write the copy: {error}")),
    }
}

/// A directory for a copy on its way, which only its owner can look into; removed when dropped.
struct Beside(PathBuf);

impl Beside {
    fn new() -> Result<Beside, Failure> {
        let dir = std::env::temp_dir().join(format!("sexton-backup-{}", uuid::Uuid::new_v4()));
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let made = builder.create(&dir);
        made.map_err(|error| Failure::new(format!("cannot make {}: {error}", dir.display())))?;
        Ok(Beside(dir))
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
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
