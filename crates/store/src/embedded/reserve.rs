//! Space put aside in a file, so that deletions still work when the disk is full.
//!
//! The file only takes up space. It is always there and only changes its length: neither needs a new block. It must
//! not know what the space is used for; that is `space.rs`.

use std::fs::{File, OpenOptions};
use std::path::Path;

use super::lock::private;

const NAME: &str = "reserve";
/// Bytes put aside when nothing is going on.
pub(super) const BASE: u64 = 4 << 20;
/// What is put aside beyond [`BASE`] under load grows in steps of so many bytes, so that few calls are made for it.
const STEP: u64 = 1 << 20;

/// Less is not worth a call.
const LEAST: u64 = 64 << 10;

/// A file that only takes up space.
#[derive(Debug)]
pub(super) struct Reserve {
    /// `None` when it cannot even be created; then nothing is put aside.
    file: Option<File>,
    /// Bytes that are put aside.
    held: u64,
}

impl Reserve {
    /// Puts space aside in a directory, as far as there is any.
    pub(super) fn new(dir: &Path) -> Reserve {
        let file = options().open(dir.join(NAME)).ok();
        let held = file.as_ref().and_then(|file| file.metadata().ok()).map_or(0, |found| found.len());
        let mut reserve = Reserve { file, held };
        reserve.renew();
        reserve
    }

    /// Gives all of it back, for a process that cannot even open the store without.
    pub(super) fn give_up(dir: &Path) -> bool {
        let file = OpenOptions::new().write(true).open(dir.join(NAME));
        file.is_ok_and(|file| file.metadata().is_ok_and(|found| found.len() > 0) && file.set_len(0).is_ok())
    }

    /// Puts at least so much aside. False if the disk does not have it; then as much is put aside as before.
    pub(super) fn raise(&mut self, to: u64) -> bool {
        if to <= self.held {
            return true;
        }
        self.set(to.next_multiple_of(STEP)) || self.set(to)
    }

    /// Gives back what exceeds this.
    pub(super) fn lower(&mut self, to: u64) {
        if let Some(file) = self.file.as_ref().filter(|_| to < self.held)
            && file.set_len(to).is_ok()
        {
            self.held = to;
        }
    }

    /// Puts [`BASE`] aside, or as much of it as there is.
    pub(super) fn renew(&mut self) {
        self.lower(BASE);
        // In ever smaller pieces.
        let mut piece = BASE;
        while piece >= LEAST && self.held < BASE {
            if !self.set((self.held + piece).min(BASE)) {
                piece /= 2;
            }
        }
    }

    fn set(&mut self, to: u64) -> bool {
        let Some(file) = &self.file else { return false };
        if allocate(file, self.held, to - self.held).is_ok() {
            self.held = to;
            return true;
        }
        // What was allocated of it is of use elsewhere.
        let _ = file.set_len(self.held);
        false
    }
}

impl Drop for Reserve {
    /// The log is gone by now, and what it had is put aside for the next process.
    fn drop(&mut self) {
        self.renew();
    }
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    private(&mut options);
    options
}

/// Takes blocks from the disk, without writing them where the file system can do that.
fn allocate(file: &File, from: u64, length: u64) -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    match rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), from, length) {
        Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => {}
        done => return Ok(done?),
    }
    let mut file = file;
    std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(from))?;
    std::io::copy(&mut std::io::Read::take(std::io::repeat(0), length), &mut file).map(drop)
}

/// Takes blocks for the first bytes of a file whose length stays as it is, where the system can do that.
pub(super) fn allocate_behind(file: &File, length: u64) -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::fs::fallocate(file, rustix::fs::FallocateFlags::KEEP_SIZE, 0, length)?;
    #[cfg(not(target_os = "linux"))]
    let _ = (file, length);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_aside_follows_the_need() {
        let dir = tempfile::tempdir().unwrap();
        let length = || std::fs::metadata(dir.path().join(NAME)).unwrap().len();
        let mut reserve = Reserve::new(dir.path());
        assert_eq!(length(), BASE);
        assert!(reserve.raise(BASE + 1));
        assert_eq!(length(), BASE + STEP);
        reserve.lower(17);
        assert_eq!(length(), 17);
        reserve.renew();
        assert_eq!(length(), BASE);
        drop(reserve);
        assert!(Reserve::give_up(dir.path()));
        assert!(!Reserve::give_up(dir.path()));
        assert_eq!(length(), 0);
    }
}
