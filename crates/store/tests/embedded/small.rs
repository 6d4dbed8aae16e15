//! A small file system for tests of full disks. The tests of other crates use this file, too, so it must not know a store.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A small file system of its own; gone when dropped. It is a tmpfs, or with `SEXTON_SMALL_DISK=ext4` an ext4 in a file.
pub(crate) struct Small {
    mounted: PathBuf,
    _dir: TempDir,
}

impl Small {
    /// A file system of so many MiB. Says that the test is skipped where none can be mounted.
    pub(crate) fn mount(mebibytes: u64) -> Option<Small> {
        let dir = tempfile::tempdir().unwrap();
        let mounted = dir.path().join("mounted");
        std::fs::create_dir(&mounted).unwrap();
        let is_ext4 = std::env::var_os("SEXTON_SMALL_DISK").is_some_and(|kind| kind == "ext4");
        let mut mount = Command::new("mount");
        if is_ext4 {
            let image = dir.path().join("image");
            std::fs::File::create(&image).unwrap().set_len(mebibytes << 20).unwrap();
            let made = Command::new("mkfs.ext4").arg("-q").arg(&image).status();
            assert!(made.is_ok_and(|status| status.success()), "cannot make an ext4");
            mount.args(["-o", "loop"]).arg(image);
        } else {
            mount.args(["-t", "tmpfs", "-o", &format!("size={mebibytes}m"), "tmpfs"]);
        }
        if mount.arg(&mounted).output().is_ok_and(|output| output.status.success()) {
            return Some(Small { mounted, _dir: dir });
        }
        let required = is_ext4 || std::env::var_os("SEXTON_REQUIRE_EXTERNAL").is_some();
        assert!(!required, "cannot mount a small file system");
        let _ = writeln!(std::io::stdout(), "skipped: needs the right to mount a file system");
        None
    }

    pub(crate) fn path(&self) -> &Path {
        &self.mounted
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.mounted).status();
    }
}
