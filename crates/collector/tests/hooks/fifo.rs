//! A named pipe that tells when the last process that holds it is gone: an event instead of polling the process
//! table.

use std::path::PathBuf;

use tempfile::TempDir;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::{OpenOptions, Receiver, Sender};
use tokio::time::timeout;

use crate::LONG;

pub(crate) struct Fifo {
    path: PathBuf,
    reading: Receiver,
    /// Keeps the pipe open: without it, a pipe that was not opened yet looks like one that all processes have closed.
    own: Option<Sender>,
    _dir: TempDir,
}

impl Fifo {
    pub(crate) fn new() -> Fifo {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("fifo");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let reading = OpenOptions::new().open_receiver(&path).unwrap();
        let own = Some(OpenOptions::new().open_sender(&path).unwrap());
        Fifo { path, reading, own, _dir: dir }
    }

    /// The beginning of a script that holds the pipe and says so.
    pub(crate) fn held(&self) -> String {
        format!("exec 3>{}; echo here >&3; ", self.path.display())
    }

    /// Waits until a script holds it.
    pub(crate) async fn wait_until_held(&mut self) {
        let mut word = [0; 5];
        timeout(LONG, self.reading.read_exact(&mut word)).await.expect("somebody comes").unwrap();
        assert_eq!(&word, b"here\n");
    }

    /// Whether a script has come to hold it.
    pub(crate) fn was_held(&mut self) -> bool {
        matches!(self.reading.try_read(&mut [0; 5]), Ok(5))
    }

    /// Waits until no process holds it any more.
    pub(crate) async fn wait_until_free(mut self) {
        self.own = None;
        let mut rest = Vec::new();
        timeout(LONG, self.reading.read_to_end(&mut rest)).await.expect("everybody goes").unwrap();
    }
}
