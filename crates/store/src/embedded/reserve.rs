//! Space put aside, so that removing things is still possible when the disk is full.
//!
//! It must not know what is removed.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::lock::private;

const NAME: &str = "reserve";
/// Enough for many thousand removals.
const SIZE: usize = 1 << 20;

/// A file that only takes up space.
#[derive(Debug)]
pub(super) struct Reserve {
    path: PathBuf,
    held: bool,
}

impl Reserve {
    /// Puts space aside in a directory, if there is any.
    pub(super) fn new(dir: &Path) -> Reserve {
        let mut reserve = Reserve { path: dir.join(NAME), held: false };
        reserve.renew();
        reserve
    }

    /// Gives the space back to whoever needs it. Whether there was any.
    pub(super) fn release(&mut self) -> bool {
        std::mem::take(&mut self.held) && std::fs::remove_file(&self.path).is_ok()
    }

    /// Puts space aside again after it was given away.
    pub(super) fn renew(&mut self) {
        if self.held {
            return;
        }
        self.held = std::fs::metadata(&self.path).is_ok_and(|found| found.len() == SIZE as u64);
        if !self.held {
            self.held = self.write().is_ok();
            if !self.held {
                // Half a reserve would only be in the way of whoever frees space.
                let _ = std::fs::remove_file(&self.path);
            }
        }
    }

    fn write(&self) -> std::io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        private(&mut options);
        options.open(&self.path)?.write_all(&vec![0; SIZE])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn released_once_and_renewed() {
        let dir = tempfile::tempdir().unwrap();
        let mut reserve = Reserve::new(dir.path());
        assert!(dir.path().join(NAME).exists());
        assert!(reserve.release());
        assert!(!reserve.release());
        assert!(!dir.path().join(NAME).exists());
        reserve.renew();
        assert!(reserve.release());
    }
}
