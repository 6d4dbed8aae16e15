//! A disk of the test's own, mounted through FUSE: what is done to it can be read, and it can be told to fail.

use std::ffi::OsStr;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fuser::{Config, MountOption};

use crate::record::{self, Op};
use crate::recorder::Recorder;

const DIR: &str = "SEXTON_TEST_POWER_DIR";
/// A process that has not mounted by then never will.
const PATIENCE: Duration = Duration::from_secs(60);

/// The disk as a test sees it; unmounted when dropped.
///
/// The file system runs in a process of its own: one that maps a file into memory must not be the one that serves it, for
/// then both wait for the same lock of the kernel. They speak through files that are in no list: see [`Special`].
#[derive(Debug)]
pub struct Disk {
    dir: tempfile::TempDir,
    server: Child,
}

/// Files that are not there for the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Special {
    /// Read: everything that happened.
    Ops = 2,
    /// Written: a number that was acknowledged.
    Acknowledged = 3,
    /// Written: how many syncs fail from now on.
    FailingSyncs = 4,
    /// Written: whether writes find no space.
    Full = 5,
}

impl Special {
    const ALL: [Special; 4] = [Special::Ops, Special::Acknowledged, Special::FailingSyncs, Special::Full];

    fn name(self) -> &'static str {
        match self {
            Special::Ops => ".ops",
            Special::Acknowledged => ".acknowledged",
            Special::FailingSyncs => ".failing-syncs",
            Special::Full => ".full",
        }
    }

    pub fn named(name: &OsStr) -> Option<Special> {
        Special::ALL.into_iter().find(|special| name == special.name())
    }

    pub fn of(file: u64) -> Option<Special> {
        Special::ALL.into_iter().find(|special| *special as u64 == file)
    }
}

/// Not a test by itself: the process that serves the file system.
#[test]
fn serve() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let mut config = Config::default();
    config.mount_options = vec![MountOption::FSName("sexton-test".into())];
    if let Err(error) = fuser::mount(Recorder::default(), dir, &config) {
        eprintln!("cannot mount through /dev/fuse: {error}");
        std::process::exit(1);
    }
}

impl Disk {
    /// Says that the test is skipped where it cannot be mounted.
    pub fn mount() -> Option<Disk> {
        let dir = tempfile::tempdir().unwrap();
        let server = Command::new(std::env::current_exe().unwrap())
            .args(["disk::serve", "--exact", "--nocapture", "--test-threads=1"])
            .env(DIR, dir.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut disk = Disk { dir, server };
        let begin = Instant::now();
        while !disk.special(Special::Ops).exists() {
            if disk.server.try_wait().unwrap().is_some() || begin.elapsed() > PATIENCE {
                let required = std::env::var_os("SEXTON_REQUIRE_EXTERNAL").is_some();
                assert!(!required, "cannot mount through /dev/fuse");
                println!("skipped: needs /dev/fuse and the right to mount");
                return None;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Some(disk)
    }

    pub fn path(&self) -> PathBuf {
        self.dir.path().to_owned()
    }

    fn special(&self, special: Special) -> PathBuf {
        self.dir.path().join(special.name())
    }

    fn tell(&self, special: Special, number: u64) {
        let mut file = std::fs::OpenOptions::new().write(true).open(self.special(special)).unwrap();
        file.write_all(&number.to_le_bytes()).unwrap();
    }

    pub fn acknowledge(&self, number: u64) {
        self.tell(Special::Acknowledged, number);
    }

    /// Everything that happened.
    pub fn ops(&self) -> Vec<Op> {
        record::decode(&std::fs::read(self.special(Special::Ops)).unwrap())
    }

    pub fn fail_syncs(&self, count: u64) {
        self.tell(Special::FailingSyncs, count);
    }

    pub fn fill(&self, full: bool) {
        self.tell(Special::Full, full.into());
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.dir.path()).status();
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
