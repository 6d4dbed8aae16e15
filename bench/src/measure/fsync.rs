//! The disk's own time for making 4 KiB durable, in a growing and in a preallocated file.
//! Must not know: servers or requests.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::histogram::Histogram;
use crate::output;

const BLOCK: usize = 4096;

/// Times of one write with its sync.
pub(crate) struct FsyncTimes {
    /// Each write makes the file longer, so its length has to be synced too.
    pub(crate) append: Histogram,
    /// Each write overwrites zeros written before, so only data has to be synced.
    pub(crate) prealloc: Histogram,
}

impl FsyncTimes {
    /// Adds the times of another run.
    pub(crate) fn merge(&mut self, other: &FsyncTimes) {
        self.append.merge(&other.append);
        self.prealloc.merge(&other.prealloc);
    }
}

/// Makes `count` synced writes of each kind in `dir`, at most `time` for each. Blocks.
pub(crate) fn measure(dir: &Path, count: u64, time: Duration) -> Result<FsyncTimes> {
    let append = Scratch::create(dir, "append")?;
    let prealloc = Scratch::create(dir, "prealloc")?;
    let zeros = vec![0_u8; BLOCK];
    for index in 0..count {
        prealloc.write(&zeros, index)?;
    }
    prealloc.file.sync_all().map_err(|source| prealloc.failed(source))?;
    Ok(FsyncTimes { append: append.run(count, time)?, prealloc: prealloc.run(count, time)? })
}

/// A file that is gone when it is no longer needed.
struct Scratch {
    path: PathBuf,
    file: File,
}

impl Scratch {
    fn create(dir: &Path, kind: &str) -> Result<Self> {
        let path = dir.join(format!("sexton-bench-{kind}-{}", std::process::id()));
        let opened = OpenOptions::new().write(true).create_new(true).open(&path);
        let file = opened.map_err(|source| Error::Io { what: path.display().to_string(), source })?;
        Ok(Self { path, file })
    }

    fn run(&self, count: u64, time: Duration) -> Result<Histogram> {
        let block = [b'x'; BLOCK];
        let mut times = Histogram::new();
        let start = Instant::now();
        for index in 0..count {
            if start.elapsed() >= time {
                break;
            }
            let begun = Instant::now();
            self.write(&block, index)?;
            self.file.sync_data().map_err(|source| self.failed(source))?;
            times.record(begun.elapsed());
        }
        Ok(times)
    }

    fn write(&self, block: &[u8], index: u64) -> Result<()> {
        self.file.write_all_at(block, index * BLOCK as u64).map_err(|source| self.failed(source))
    }

    fn failed(&self, source: std::io::Error) -> Error {
        Error::Io { what: self.path.display().to_string(), source }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.path) {
            output::talk(format_args!("cannot remove {}: {error}", self.path.display()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_writes_and_cleans_up() {
        let dir = tempfile::tempdir().unwrap();
        let times = measure(dir.path(), 5, Duration::from_secs(60)).unwrap();
        assert_eq!(times.append.count(), 5);
        assert_eq!(times.prealloc.count(), 5);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
