//! The process that uses a data directory: the text of its lock file, and the announcement of a server.
//!
//! This module takes no part in locking the store: the store does that with its own file, `lock`, with a text for
//! people. A server writes its address to a second file (`server.json`), and has a lock on it while it serves. The
//! file gets its name only when it is complete and locked, so the file of a server that has ended is never believed.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

const SERVER: &str = "server.json";
/// More than any description of ours; a foreign file is not read to its end.
const MAX_BYTES: u64 = 64 << 10;

/// A server that uses a data directory, and how it is reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunningServer {
    /// The address for clients on this machine.
    pub(crate) url: String,
    /// Names by which other machines reach it, as its operator gave them.
    #[serde(default)]
    pub(crate) hosts: Vec<String>,
    /// The directory with the certificates and the token that the server made, for users with the right to read it.
    pub(crate) self_signed: Option<PathBuf>,
    /// Whether its certificate is not one of those, but of another authority.
    #[serde(default)]
    pub(crate) foreign_certificate: bool,
}

/// An announcement. It is valid until it is dropped or the process ends.
#[derive(Debug)]
pub(crate) struct Announcement {
    file: File,
    path: PathBuf,
}

impl Drop for Announcement {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
        // Said aloud: a process that is being started at this moment still shares the open file.
        let _ = self.file.unlock();
    }
}

/// Announces the server of this process in its data directory. The caller has the lock of the store.
pub(crate) fn announce(dir: &Path, server: &RunningServer) -> std::io::Result<Announcement> {
    let (path, new) = (dir.join(SERVER), dir.join(format!("{SERVER}.new")));
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&new)?;
    file.try_lock()?;
    file.write_all(serde_json::to_string_pretty(server)?.as_bytes())?;
    std::fs::rename(&new, &path)?;
    Ok(Announcement { file, path })
}

/// The server that serves a directory now.
pub(crate) fn server(dir: &Path) -> Option<RunningServer> {
    serde_json::from_str(&locked(&dir.join(SERVER))?).ok()
}

/// The process that uses a directory now, in its own words.
pub(crate) fn holder(dir: &Path) -> Option<String> {
    Some(locked(&dir.join("lock"))?.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The text of a file, if a process has a lock on it.
fn locked(path: &Path) -> Option<String> {
    let file = File::open(path).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => {}
        // The file is not locked: the process that wrote it has ended.
        Ok(()) | Err(TryLockError::Error(_)) => return None,
    }
    let mut text = String::new();
    (&file).take(MAX_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_held_lock_names_a_process() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(holder(dir.path()), None);
        std::fs::write(dir.path().join("lock"), "process 7\n").unwrap();
        assert_eq!(holder(dir.path()), None);
        let file = File::open(dir.path().join("lock")).unwrap();
        file.lock().unwrap();
        assert_eq!(holder(dir.path()).as_deref(), Some("process 7"));
    }

    /// A server that was killed leaves its file behind, and the file alone sends no command anywhere.
    #[test]
    fn a_server_is_found_while_it_lives() {
        let dir = tempfile::tempdir().unwrap();
        let running = RunningServer {
            url: "http://127.0.0.1:8180".into(),
            hosts: Vec::new(),
            self_signed: None,
            foreign_certificate: false,
        };
        assert_eq!(server(dir.path()), None);
        let announced = announce(dir.path(), &running).unwrap();
        assert_eq!(server(dir.path()), Some(running.clone()));
        let left = std::fs::read(dir.path().join(SERVER)).unwrap();
        drop(announced);
        assert_eq!(server(dir.path()), None);
        std::fs::write(dir.path().join(SERVER), left).unwrap();
        assert_eq!(server(dir.path()), None, "nothing holds it");
        // The next one replaces what is there.
        let running = RunningServer { url: "https://127.0.0.1:1".into(), ..running };
        let _announced = announce(dir.path(), &running).unwrap();
        assert_eq!(server(dir.path()), Some(running));
    }
}
