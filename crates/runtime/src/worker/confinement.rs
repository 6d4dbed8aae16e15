//! The memory bound of a worker's process, enforced by the system: memory that the host allocates for a script counts,
//! too.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Bytes of private writable memory that a worker may map. With its own code and the libraries, some 40 MiB in a
/// development build, all of the process stays below [`super::MAX_PROCESS_MEMORY`].
const MAX_DATA: u64 = 208 << 20;

/// Bounds the memory of this process. Allocations beyond are refused: a script gets an error, and where the host cannot
/// go on, the process ends with a message on its standard error.
///
/// The process executes itself again for that, before anything is read from its standard input: the allocator reserves
/// address space in advance, which a later bound would not include. Systems other than Linux do not count mapped
/// memory, so there only the limit of the script holds.
///
/// # Errors
/// If the limit cannot be set, or the process cannot begin anew.
#[cfg(target_os = "linux")]
pub fn confine() -> io::Result<()> {
    use std::os::unix::process::CommandExt;

    let limit = getrlimit(Resource::Data);
    if limit.current.is_some_and(|most| most <= MAX_DATA) {
        return Ok(());
    }
    bound(Some(MAX_DATA))?;
    // Also after another version was installed, this very program.
    let mut words = std::env::args_os();
    let mut again = std::process::Command::new("/proc/self/exe");
    again.arg0(words.next().unwrap_or_default()).args(words);
    Err(again.exec())
}

/// Bounds the memory of this process, where the system can.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub fn confine() -> io::Result<()> {
    Ok(())
}

fn bound(current: Option<u64>) -> io::Result<()> {
    let maximum = getrlimit(Resource::Data).maximum;
    Ok(setrlimit(Resource::Data, Rlimit { current, maximum })?)
}

/// While it lives, the memory of this process is not bounded by [`confine`]. Programs that are started then do not
/// inherit the bound, which is the worker's own.
#[derive(Debug)]
pub(crate) struct Lifted(());

impl Lifted {
    /// Lifts the bound, if there is one.
    pub(crate) fn new() -> Option<Lifted> {
        let limit = getrlimit(Resource::Data);
        let confined = limit.current == Some(MAX_DATA) && limit.maximum != Some(MAX_DATA);
        // Only made where the bound was lifted: dropping it sets the bound.
        (confined && bound(limit.maximum).is_ok()).then(|| Lifted(()))
    }
}

impl Drop for Lifted {
    fn drop(&mut self) {
        // It was lifted from there, and lower is always allowed.
        let _ = bound(Some(MAX_DATA));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process that is no worker has no bound, and starting a program gives it none.
    #[test]
    fn a_process_without_the_bound_gets_none() {
        let before = getrlimit(Resource::Data);
        assert_ne!(before.current, Some(MAX_DATA), "the tests are no worker");
        assert!(Lifted::new().is_none());
        assert_eq!(getrlimit(Resource::Data), before);
    }
}
