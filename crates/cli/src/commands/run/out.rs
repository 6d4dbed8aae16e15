//! The file that the model is written to: a place that cannot be written is noticed before anything runs.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// A file that will be the old one or the new one, never half of one.
#[derive(Debug)]
pub(super) struct OutFile {
    path: PathBuf,
    /// The new one until it is complete; removed if it never is.
    beside: PathBuf,
    file: File,
}

impl OutFile {
    /// Makes the file beside the one that is meant.
    pub(super) fn prepare(path: &Path) -> Result<OutFile, Failure> {
        let nothing = |failure: Failure| failure.detail("Nothing was run.");
        let name = path.file_name().filter(|_| !path.is_dir());
        let Some(name) = name else {
            return Err(nothing(Failure::new(format!("cannot write {}: it is a directory", path.display()))));
        };
        let beside = path.with_file_name(format!(".{}.{}.tmp", name.to_string_lossy(), std::process::id()));
        let file = File::create(&beside).map_err(|error| nothing(cannot(path, &error)))?;
        Ok(OutFile { path: path.to_owned(), beside, file })
    }

    /// Writes a model, and puts it in its place.
    pub(super) fn write(mut self, model: &str) -> Result<(), Failure> {
        let value: serde_json::Value = serde_json::from_str(model).unwrap_or_default();
        let text = serde_json::to_string_pretty(&value).unwrap_or_else(|_| model.to_owned()) + "\n";
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_all());
        let moved = written.and_then(|()| std::fs::rename(&self.beside, &self.path));
        moved.map_err(|error| cannot(&self.path, &error).detail("The model is stored in the environment."))
    }
}

impl Drop for OutFile {
    fn drop(&mut self) {
        // After it was moved there is none.
        let _ = std::fs::remove_file(&self.beside);
    }
}

fn cannot(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("cannot write {}: {error}", path.display()))
}
