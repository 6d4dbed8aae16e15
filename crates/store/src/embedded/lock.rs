//! One process per data directory.
//!
//! The lock is the system's, so it ends with the process however that dies; the text in the file is only for people.
//! It must not know what is in the directory.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use super::error::OpenError;

const NAME: &str = "lock";
/// More than any description of ours; a foreign file is not read to its end.
const LONGEST: u64 = 4096;
/// A process that was killed while it started another one leaves the lock to that one, until it runs its own program.
const MAX_INHERITED: Duration = Duration::from_secs(5);
/// How often it is tried again meanwhile: the system tells of a free lock only if it may be waited for without end.
const TRY_EVERY: Duration = Duration::from_millis(10);

/// A held lock; dropping it releases it.
#[derive(Debug)]
pub(super) struct DirLock(File);

impl Drop for DirLock {
    fn drop(&mut self) {
        // Said aloud: a process that is being started at this moment still shares the open file.
        let _ = self.0.unlock();
    }
}

impl DirLock {
    /// Takes the lock, or returns the text of the process that has it.
    pub(super) fn acquire(dir: &Path) -> Result<DirLock, OpenError> {
        let path = dir.join(NAME);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        private(&mut options);
        let file = options.open(&path).map_err(OpenError::io("open", &path))?;
        let until = Instant::now() + MAX_INHERITED;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if is_inherited(&file) && Instant::now() < until => {
                    std::thread::sleep(TRY_EVERY);
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(OpenError::Locked { dir: dir.to_owned(), holder: holder(&file) });
                }
                Err(TryLockError::Error(source)) => return Err(OpenError::io("lock", &path)(source)),
            }
        }
        // The text may fail to be written (no space); the lock holds all the same.
        let _ = describe(&file, None);
        Ok(DirLock(file))
    }
}

/// Adds to the lock file of a directory, which this process has open, the address at which it can be reached.
///
/// The address is shown to a process that finds the directory locked.
///
/// # Errors
/// When the file cannot be written; the lock itself is not affected.
pub fn announce(dir: &Path, address: &str) -> std::io::Result<()> {
    let file = OpenOptions::new().write(true).open(dir.join(NAME))?;
    describe(&file, Some(address))
}

fn describe(mut file: &File, address: Option<&str>) -> std::io::Result<()> {
    let mut words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let program = words.next().unwrap_or_default();
    let program =
        Path::new(&program).file_name().map_or(program.clone(), |name| name.to_string_lossy().into());
    // The program and its verb; further arguments may hold secrets.
    let verb =
        words.next().filter(|word| !word.starts_with('-')).map_or(String::new(), |verb| format!(" {verb}"));
    let since = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ");
    let mut text = format!("process {} ({program}{verb}), since {since}", std::process::id());
    if let Some(address) = address {
        text.push_str(&format!(", listening on {address}"));
    }
    text.push('\n');
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(text.as_bytes())
}

/// Whether the process that took the lock is gone: what it was starting has the lock for a moment. Only Linux tells.
fn is_inherited(file: &File) -> bool {
    let text = holder(file);
    let process = text.strip_prefix("process ").and_then(|rest| rest.split(' ').next());
    let process = process.and_then(|number| number.parse::<u32>().ok());
    cfg!(target_os = "linux") && process.is_some_and(|number| !Path::new(&format!("/proc/{number}")).exists())
}

fn holder(mut file: &File) -> String {
    let mut text = String::new();
    let _ = file.rewind();
    let _ = file.take(LONGEST).read_to_string(&mut text);
    match text.trim() {
        "" => "another process".into(),
        text => text.into(),
    }
}

/// Readable for the owner only.
#[cfg(unix)]
pub(super) fn private(options: &mut OpenOptions) {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
}

#[cfg(not(unix))]
pub(super) fn private(_: &mut OpenOptions) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_one_is_told_who_has_it() {
        let dir = tempfile::tempdir().unwrap();
        let held = DirLock::acquire(dir.path()).unwrap();
        announce(dir.path(), "127.0.0.1:6443").unwrap();
        let error = DirLock::acquire(dir.path()).unwrap_err();
        let text = error.to_string();
        assert!(text.contains(&std::process::id().to_string()), "{text}");
        assert!(text.contains("listening on 127.0.0.1:6443"), "{text}");
        drop(held);
        DirLock::acquire(dir.path()).unwrap();
    }

    /// A process that is killed while it starts another one does not keep its successor from starting.
    #[test]
    #[cfg(target_os = "linux")]
    fn what_a_killed_process_was_starting_is_waited_for() {
        use std::process::{Command, Stdio};
        let dir = tempfile::tempdir().unwrap();
        let mut killed = Command::new("true").spawn().unwrap();
        killed.wait().unwrap();
        let path = dir.path().join(NAME);
        std::fs::write(&path, format!("process {} (sexton serve)\n", killed.id())).unwrap();
        let file = File::open(&path).unwrap();
        file.try_lock().unwrap();
        let mut started = Command::new("sleep").arg("0.3").stdin(Stdio::from(file)).spawn().unwrap();
        DirLock::acquire(dir.path()).unwrap();
        started.wait().unwrap();
    }
}
