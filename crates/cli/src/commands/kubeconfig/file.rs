//! Changing a file that others change, too: under the lock that they take, and either wholly or not at all.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::failure::Failure;

/// How long to wait for another process that changes the file.
const PATIENCE: Duration = Duration::from_secs(3);

/// The right to change a file: `FILE.lock`, as other tools make it. Dropping it gives it back.
#[derive(Debug)]
struct Lock(PathBuf);

impl Lock {
    fn take(file: &Path) -> Result<Lock, Failure> {
        let lock = with_ending(file, ".lock");
        let since = Instant::now();
        loop {
            match OpenOptions::new().write(true).create_new(true).open(&lock) {
                Ok(_) => return Ok(Lock(lock)),
                // There is no event for a lock file that is removed, so it is tried again.
                Err(error) if error.kind() == ErrorKind::AlreadyExists && since.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    return Err(Failure::new(format!(
                        "{} is being changed by somebody else",
                        file.display()
                    ))
                    .next("if nobody does", format!("rm {}", lock.display())));
                }
                Err(error) => return Err(Failure::new(format!("cannot make {}: {error}", lock.display()))),
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Replaces the text of a file by what becomes of it; `None` if it is not there. If that fails nothing changes.
pub(super) fn change<T>(
    file: &Path,
    to: impl FnOnce(Option<String>) -> Result<(String, T), Failure>,
) -> Result<T, Failure> {
    // A link stays one: what it leads to is replaced.
    let file = led_to(file);
    check_ordinary(&file)?;
    if let Some(dir) = file.parent().filter(|dir| !dir.as_os_str().is_empty() && !dir.exists()) {
        make_private_dir(dir)
            .map_err(|error| Failure::new(format!("cannot make {}: {error}", dir.display())))?;
    }
    let _lock = Lock::take(&file)?;
    let before = match std::fs::read_to_string(&file) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(Failure::new(format!("cannot read {}: {error}", file.display()))),
    };
    let (text, told) = to(before)?;
    replace(&file, &text)
        .map_err(|error| Failure::new(format!("cannot write {}: {error}", file.display())))?;
    Ok(told)
}

/// Where a link leads, also if nothing is there yet.
fn led_to(file: &Path) -> PathBuf {
    if let Ok(file) = std::fs::canonicalize(file) {
        return file;
    }
    match (std::fs::read_link(file), file.parent()) {
        (Ok(target), Some(dir)) => dir.join(target),
        _ => file.to_owned(),
    }
}

/// Fails unless the file is an ordinary one or does not exist: replacing a device would destroy it for all users, and a
/// pipe has no text to keep.
fn check_ordinary(file: &Path) -> Result<(), Failure> {
    match std::fs::metadata(file) {
        Ok(known) if !known.is_file() => {
            Err(Failure::new(format!("{} is not an ordinary file and is left as it is", file.display()))
                .next("name another", "KUBECONFIG=FILE sexton kubeconfig --merge"))
        }
        _ => Ok(()),
    }
}

/// Replaces the file in one step. It may contain credentials, so other users cannot read it at any moment.
fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let new = with_ending(file, &format!(".{}.new", std::process::id()));
    let written = write_new(&new, file, text).and_then(|()| std::fs::rename(&new, file));
    if written.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    written
}

fn write_new(new: &Path, old: &Path, text: &str) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut open: File = options.open(new)?;
    open.write_all(text.as_bytes())?;
    // The permissions stay as they were.
    if let Ok(known) = std::fs::metadata(old) {
        open.set_permissions(known.permissions())?;
    }
    open.sync_all()
}

fn make_private_dir(dir: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

fn with_ending(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[allow(clippy::unwrap_used, reason = "a test ends with the first thing that goes wrong")]
    fn mode(file: &Path) -> u32 {
        std::fs::metadata(file).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_file_is_replaced_wholly_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("deep").join("config");
        change(&file, |before| Ok((format!("{before:?}"), ()))).unwrap();
        assert_eq!((std::fs::read_to_string(&file).unwrap().as_str(), mode(&file)), ("None", 0o600));
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o640)).unwrap();
        change(&file, |before| Ok((before.unwrap() + "!", ()))).unwrap();
        assert_eq!((std::fs::read_to_string(&file).unwrap().as_str(), mode(&file)), ("None!", 0o640));
        change(&file, |_| Err::<(String, ()), _>(Failure::new("no"))).unwrap_err();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "None!");
        let left = std::fs::read_dir(file.parent().unwrap()).unwrap().count();
        assert_eq!(left, 1, "neither lock nor half a file is left");
    }

    #[test]
    fn a_link_stays_one() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("real"), dir.path().join("link"));
        std::fs::write(&file, "a").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        change(&link, |before| Ok((before.unwrap() + "b", ()))).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "ab");
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        // Also one that leads to nothing yet, from another directory.
        let link = dir.path().join("early");
        std::os::unix::fs::symlink("later", &link).unwrap();
        change(&link, |before| Ok((format!("{before:?}"), ()))).unwrap();
        assert_eq!(std::fs::read_to_string(dir.path().join("later")).unwrap(), "None");
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn what_is_no_ordinary_file_is_neither_read_nor_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let (socket, link) = (dir.path().join("socket"), dir.path().join("link"));
        let _listening = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        std::os::unix::fs::symlink(&socket, &link).unwrap();
        for path in [&socket, &link, &dir.path().to_owned()] {
            let failure = change(path, |_| Ok((String::new(), ()))).unwrap_err();
            assert!(failure.what.contains("is not an ordinary file"), "{}", failure.what);
        }
        assert!(!std::fs::metadata(&socket).unwrap().is_file());
    }
}
