//! Ends the processes that are left of an earlier call with the same key, before the call is made again.
//!
//! Usually there are none: the keeper of a call ends everything when its collector dies, and this only waits for
//! that. If the keeper was killed, too, processes are found by the open record, by the variable in their environment,
//! and by the group of the hook.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use rustix::process::Signal;

use super::process::{Process, descendants};
use super::record::{self, Place, Record};
use super::{END_SOFTLY, Earlier, GRACE, RECORD_VARIABLE};

/// How often it is looked whether everything has ended.
const TICK: Duration = Duration::from_millis(20);
/// A keeper ends everything within its grace; it is given this much more before that is done over its head.
const KEEPER_PATIENCE: Duration = Duration::from_secs(3);
/// What was killed is gone at once, unless the system itself is stuck. Then the call fails, and is repeated later.
const KILL_PATIENCE: Duration = Duration::from_secs(10);

/// Makes sure that nothing is left of an earlier call.
///
/// # Errors
/// Something is left that cannot be ended, or the records cannot be read.
pub(super) async fn end(path: &Path, key: &str) -> io::Result<Earlier> {
    let Some(mut file) = record::open(path)? else { return Ok(Earlier::Over) };
    let here = Place::here();
    let known = record::read(&mut file);
    if let Some(record) = known.as_ref().filter(|record| !record.place.shares_kernel(&here)) {
        return Ok(elsewhere(path, record)?.map_or(Earlier::Over, Earlier::Elsewhere));
    }
    if known.as_ref().is_none_or(|record| record.ended.is_none()) {
        tracing::info!(key, "a call that an earlier collector began is ended before it is made again");
    }
    let numbered_here = known.as_ref().is_none_or(|record| record.place == here);
    if let Some(record) = known.as_ref().filter(|_| numbered_here) {
        record.keeper.signal(END_SOFTLY);
    }
    let is_free = wait(GRACE + KEEPER_PATIENCE, || is_free(&file, path)).await?;
    if !is_free && !numbered_here {
        return Err(still_running());
    }
    // A keeper that came to its end has left nothing, and has said so or removed the record.
    let is_over = is_free && (!record::is_at(&file, path) || has_ended(&mut file));
    if numbered_here && !is_over {
        let (file, record) = (&file, known.as_ref());
        kill_survivors(path, key, record, || self::is_free(file, path)).await?;
    }
    remove(&file, path)?;
    Ok(Earlier::Over)
}

/// How long to wait for a call on another machine: it cannot be asked there, so its deadline has to pass.
fn elsewhere(path: &Path, record: &Record) -> io::Result<Option<Duration>> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let until = Duration::from_secs(u64::try_from(record.until).unwrap_or(0)) + GRACE + KEEPER_PATIENCE;
    match until.checked_sub(now).filter(|left| record.ended.is_none() && !left.is_zero()) {
        Some(left) => Ok(Some(left)),
        None => fs::remove_file(path).or_else(if_gone).map(|()| None),
    }
}

/// Whether no process holds the record any more; then its lock is ours, or it is gone.
fn is_free(file: &File, path: &Path) -> io::Result<bool> {
    Ok(!record::is_at(file, path) || record::try_lock(file)?)
}

fn has_ended(file: &mut File) -> bool {
    record::read(file).is_some_and(|record| record.ended.is_some())
}

fn remove(file: &File, path: &Path) -> io::Result<()> {
    if record::is_at(file, path) { fs::remove_file(path).or_else(if_gone) } else { Ok(()) }
}

fn if_gone(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

fn still_running() -> io::Error {
    io::Error::other("processes of an earlier call of the same key are still running and cannot be ended")
}

async fn wait(most: Duration, is_so: impl Fn() -> io::Result<bool>) -> io::Result<bool> {
    let begun = Instant::now();
    while !is_so()? {
        if begun.elapsed() >= most {
            return Ok(false);
        }
        tokio::time::sleep(TICK).await;
    }
    Ok(true)
}

/// Ends processes without a keeper: first softly, then by force.
async fn kill_survivors(
    path: &Path,
    key: &str,
    record: Option<&Record>,
    is_free: impl Fn() -> io::Result<bool>,
) -> io::Result<()> {
    let begun = Instant::now();
    let mut told: BTreeSet<i32> = BTreeSet::new();
    loop {
        let left = survivors(path, record);
        if left.is_empty() && is_free()? {
            return Ok(());
        }
        let waited = begun.elapsed();
        if waited > GRACE + KILL_PATIENCE {
            return Err(still_running());
        }
        for process in &left {
            if waited >= GRACE {
                process.this.signal(Signal::KILL);
            } else if told.insert(process.this.pid) {
                tracing::warn!(key, pid = process.this.pid, "ending what an earlier call left");
                process.this.signal(Signal::TERM);
            }
        }
        tokio::time::sleep(TICK).await;
    }
}

/// The processes of an earlier call that can be recognized, and all that they started.
fn survivors(path: &Path, record: Option<&Record>) -> Vec<Process> {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let all: Vec<Process> = Process::all().into_iter().filter(|process| !process.is_zombie).collect();
    // The group is that of the hook only as long as the hook lives: its number may be another's after that.
    let group = record.and_then(|record| record.hook).filter(|hook| hook.is_alive()).map(|hook| hook.pid);
    let began = record.map_or(0, |record| record.keeper.start);
    let known = |process: &&Process| {
        let is_later = process.this.start >= began && process.this.pid != own;
        // A child of this process that is being born has all that this process has open.
        let holds_lock = || process.parent != own && process.has_locked(path);
        is_later
            && (record.is_some_and(|record| record.keeper == process.this)
                || group == Some(process.group)
                || process.is_marked(RECORD_VARIABLE, path)
                || holds_lock())
    };
    let mut found: Vec<Process> = all.iter().filter(known).copied().collect();
    let roots: BTreeSet<i32> = found.iter().map(|process| process.this.pid).collect();
    found.extend(descendants(&roots, &all).into_iter().filter(|process| process.this.pid != own));
    found
}
