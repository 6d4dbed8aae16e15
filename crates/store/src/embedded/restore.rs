//! A copy becomes the store of an empty data directory, or nothing happens.
//!
//! The copy is written beside its place, checked there, and gets its name last; the lock of the directory is held meanwhile.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::backup::{BackupError, BackupReport, Draft, check, name};
use super::error::OpenError;
use super::lock::DirLock;
use super::{hint, in_use, make_dir, schema};

/// What a data directory may hold besides a store: these say nothing about what is in one.
const HARMLESS: [&str; 3] = ["lock", "reserve", hint::NAME];

/// Why nothing was restored. The data directory is as it was.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// Nothing is ever overwritten.
    #[error("{} is not empty: it holds {found}", dir.display())]
    NotEmpty {
        /// The data directory.
        dir: PathBuf,
        /// Something that is in it.
        found: String,
    },
    /// Another process uses the directory, or it cannot be used.
    #[error("the data directory cannot be used")]
    Dir(#[source] OpenError),
    /// What was to be restored is no copy of a store, or not all of it.
    #[error("the copy is not good: {why}")]
    Bad {
        /// What is wrong with it.
        why: String,
    },
    /// The copy cannot be read.
    #[error("the copy cannot be read")]
    Read(#[source] io::Error),
    /// The system refused something.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// Makes a copy, as [`backup`](super::backup()) writes it, the store of a directory that is empty or does not exist.
///
/// # Errors
/// See [`RestoreError`]. A directory that was made for it is removed again.
pub fn restore(dir: impl AsRef<Path>, copy: &mut dyn Read) -> Result<BackupReport, RestoreError> {
    let dir = dir.as_ref();
    let dir = &std::path::absolute(dir).map_err(io_error("find", dir))?;
    let was_there = dir.is_dir();
    make_dir(dir).map_err(io_error("create", dir))?;
    let restored = into(dir, copy);
    if restored.is_err() && !was_there {
        // Only what was made here; anything else keeps the directory.
        let _ = std::fs::remove_file(dir.join(HARMLESS[0])).and_then(|()| std::fs::remove_dir(dir));
    }
    restored
}

fn into(dir: &Path, copy: &mut dyn Read) -> Result<BackupReport, RestoreError> {
    refuse_full(dir)?;
    let _lock = DirLock::acquire(dir).map_err(RestoreError::Dir)?;
    // Another process may have been faster.
    refuse_full(dir)?;
    remove_drafts(dir);
    let target = &dir.join(schema::FILE);
    let draft = Draft::new(target).map_err(of_backup)?;
    let mut file = OpenOptions::new().write(true).open(&draft.0).map_err(io_error("write", &draft.0))?;
    let bytes = write(copy, &mut file, &draft.0)?;
    file.sync_all().map_err(io_error("sync", &draft.0))?;
    drop(file);
    if bytes == 0 {
        return Err(RestoreError::Bad { why: "it is empty".into() });
    }
    inspect(&draft.0)?;
    let report = check(&draft.0).map_err(of_backup)?;
    // It says how far another store had come.
    forget_hint(dir)?;
    name(&draft.0, target).map_err(of_backup)?;
    drop(draft);
    schema::sync_dir(dir).map_err(io_error("sync", dir))?;
    Ok(report)
}

fn forget_hint(dir: &Path) -> Result<(), RestoreError> {
    let path = dir.join(hint::NAME);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io_error("remove", &path)(error)),
        _ => schema::sync_dir(dir).map_err(io_error("sync", dir)),
    }
}

fn write(copy: &mut dyn Read, file: &mut File, path: &Path) -> Result<u64, RestoreError> {
    let mut buffer = vec![0; 1 << 16];
    let mut bytes = 0;
    loop {
        let read = match copy.read(&mut buffer) {
            Ok(0) => return Ok(bytes),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(RestoreError::Read(error)),
        };
        io::Write::write_all(file, &buffer[..read]).map_err(io_error("write", path))?;
        bytes += read as u64;
    }
}

/// Asks SQLite for damage in pages that loading does not visit, such as those of an index.
fn inspect(draft: &Path) -> Result<(), RestoreError> {
    let failed = |error| bad(OpenError::database(draft, error));
    let connection = schema::connect_to_read(draft).map_err(failed)?;
    schema::identify(&connection, draft).map_err(bad)?;
    let number =
        |pragma: &str| connection.pragma_query_value(None, pragma, |row| row.get::<_, u32>(0).map(u64::from));
    let whole = number("page_count").and_then(|pages| Ok(pages * number("page_size")?)).map_err(failed)?;
    let bytes = std::fs::metadata(draft).map_err(io_error("look at", draft))?.len();
    if bytes != whole {
        // SQLite fills up a page that is cut off.
        return Err(RestoreError::Bad { why: format!("it has {bytes} bytes instead of {whole}") });
    }
    let verdict: String = connection
        .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
        .map_err(|error| bad(OpenError::database(draft, error)))?;
    match verdict.as_str() {
        "ok" if in_use::is_set(&connection).map_err(failed)? => Err(RestoreError::Bad {
            why: "it was copied while it was in use, without its log; make copies with `sexton backup`"
                .into(),
        }),
        "ok" => Ok(()),
        damage => Err(RestoreError::Bad { why: format!("it is damaged: {damage}") }),
    }
}

/// What a directory holds must not be lost, whatever it is.
fn refuse_full(dir: &Path) -> Result<(), RestoreError> {
    for entry in std::fs::read_dir(dir).map_err(io_error("look into", dir))? {
        let found = entry.map_err(io_error("look into", dir))?.file_name().to_string_lossy().into_owned();
        if !HARMLESS.contains(&found.as_str()) && !is_draft(&found) {
            return Err(RestoreError::NotEmpty { dir: dir.to_owned(), found });
        }
    }
    Ok(())
}

/// What a restore left that was killed.
fn is_draft(name: &str) -> bool {
    name.strip_prefix(schema::FILE).is_some_and(|rest| rest.contains(".part"))
}

fn remove_drafts(dir: &Path) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        if is_draft(&entry.file_name().to_string_lossy()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// In words about the copy: the file that was looked at is one that the reader has never heard of.
fn bad(error: OpenError) -> RestoreError {
    let why = match error {
        OpenError::NotAStore { .. } => {
            "it is not a SQLite file, or its beginning is damaged; was it compressed?".to_owned()
        }
        OpenError::Foreign { .. } => "it is a SQLite file of another program".to_owned(),
        OpenError::Format { found, supported, .. } => {
            format!("it has format {found}, this version reads format {supported}")
        }
        OpenError::Corrupt { what, .. } => format!("it is damaged or not complete: {what}"),
        OpenError::Io { doing, path, source } => return RestoreError::Io { doing, path, source },
        other => return RestoreError::Dir(other),
    };
    RestoreError::Bad { why }
}

fn of_backup(error: BackupError) -> RestoreError {
    match error {
        BackupError::Store(error) | BackupError::Copy(error) => bad(error),
        BackupError::Io { doing, path, source } => RestoreError::Io { doing, path, source },
        BackupError::Exists { file } | BackupError::NoStore { dir: file } => {
            let found = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            RestoreError::NotEmpty { dir: file.parent().unwrap_or(&file).to_owned(), found }
        }
    }
}

fn io_error(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> RestoreError {
    move |source| RestoreError::Io { doing, path: path.to_owned(), source }
}
