//! The keeper itself: a process that starts one hook, outlives it, and ends all that it left.
//!
//! It adopts what is orphaned below it, so nothing that the hook starts gets out of its sight: neither a child in a
//! session of its own, nor the grandchild of a parent that has ended. When the collector dies, the system tells it. It
//! must not know what the hook says: the hook has the streams of the collector.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::io::{Errno, FdFlags, fcntl_dupfd_cloexec, fcntl_setfd};
use rustix::process::{Pid, Signal as Sent, WaitOptions, WaitStatus, getpid, getppid, wait};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::process::{Process, ProcessRef, descendants, signal_with_groups};
use super::record::{self, Ended, Place, Record};
use super::{END_NOW, END_SOFTLY, GRACE};

/// The exit code of a keeper that has done its work; the result of the hook is in the record.
const KEPT: u8 = 0;
/// The exit code if nothing was started, or nothing is known.
const BROKEN: u8 = 70;
/// How long the lock of the record is waited for: a predecessor of the same key may be at its very end.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);
/// How often processes that are to end are looked for again. Something that cannot be ended is asked less and less
/// often.
const FIRST_TICK: Duration = Duration::from_millis(10);
const LAST_TICK: Duration = Duration::from_secs(1);
/// The least number of the open record in the hook: not one that scripts use for files of their own.
const INHERITED_FD: i32 = 700;

/// The arguments of a keeper.
struct Order {
    record: PathBuf,
    key: String,
    /// The process that started it: if that is not its parent any more, the hook is not wanted.
    parent: i32,
    until: i64,
    program: OsString,
    /// The name by which the program is called.
    called: OsString,
    args: Vec<OsString>,
}

impl Order {
    fn read(mut words: impl Iterator<Item = OsString>) -> Option<Order> {
        let record = PathBuf::from(words.next()?);
        let mut text = || words.next()?.into_string().ok();
        let (key, parent, until) = (text()?, text()?.parse().ok()?, text()?.parse().ok()?);
        let (program, called) = (words.next()?, words.next()?);
        Some(Order { record, key, parent, until, program, called, args: words.collect() })
    }
}

/// Keeps one hook, with the arguments that [`super::Keeper`] passes, and returns the exit code of this process. Must
/// be called in a process of its own, before anything else starts there.
pub fn keep(words: impl Iterator<Item = OsString>) -> u8 {
    let Some(order) = Order::read(words) else { return BROKEN };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime.and_then(|runtime| runtime.block_on(order.carry_out())) {
        Ok(()) => KEPT,
        Err(_) => BROKEN,
    }
}

/// How all that is left is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// Each process may clean up until this moment.
    Softly(Instant),
    /// At once.
    Now,
}

/// The signals of a keeper. Signals that others send to all processes, such as those of a service manager that stops,
/// are for the hook: it gets them, too.
struct Orders {
    now: Signal,
    softly: Signal,
    orphaned: Signal,
    child: Signal,
    _ignored: [Signal; 2],
}

impl Orders {
    fn listen() -> io::Result<Orders> {
        let kind = |sent: Sent| SignalKind::from_raw(sent.as_raw());
        Ok(Orders {
            now: signal(kind(END_NOW))?,
            softly: signal(kind(END_SOFTLY))?,
            orphaned: signal(SignalKind::hangup())?,
            child: signal(SignalKind::child())?,
            _ignored: [signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?],
        })
    }
}

impl Order {
    async fn carry_out(self) -> io::Result<()> {
        let mut orders = Orders::listen()?;
        // Process groups of the Unix session that the keeper opens have no members but what the hook starts.
        // Fails only where it is so already.
        let _ = rustix::process::setsid();
        adopt_orphans()?;
        if getppid().is_none_or(|parent| parent.as_raw_nonzero().get() != self.parent) {
            return Err(io::Error::other("the collector is gone"));
        }
        let mut file = self.take_record().await?;
        let keeper = ProcessRef::own().ok_or_else(|| io::Error::other("/proc is not there"))?;
        let (key, place) = (self.key.clone(), Place::here());
        let mut record = Record { key, place, keeper, hook: None, until: self.until, ended: None };
        record::write(&mut file, &record)?;
        let started =
            Command::new(&self.program).arg0(&self.called).args(&self.args).process_group(0).spawn();
        let (ended, ordered) = match started {
            Err(error) => (Ended::NotStarted(error.raw_os_error().unwrap_or(0)), false),
            Ok(child) => {
                let leader = Pid::from_child(&child);
                record.hook = Process::find(leader.as_raw_nonzero().get()).map(|process| process.this);
                record::write(&mut file, &record)?;
                attend(leader, &mut orders).await
            }
        };
        record.ended = Some(ended);
        record::write(&mut file, &record)?;
        if ordered {
            // There is no process that reads how it ended.
            fs::remove_file(&self.record)?;
        }
        Ok(())
    }

    /// The record, locked. What the hook starts inherits it: while any of that lives, the lock is not free.
    async fn take_record(&self) -> io::Result<File> {
        let begun = Instant::now();
        loop {
            let file = record::create(&self.record)?;
            if record::try_lock(&file)? {
                if record::is_at(&file, &self.record) {
                    let inherited = fcntl_dupfd_cloexec(&file, INHERITED_FD)?;
                    fcntl_setfd(&inherited, FdFlags::empty())?;
                    return Ok(File::from(inherited));
                }
            } else if begun.elapsed() > LOCK_PATIENCE {
                return Err(io::Error::other("a call of the same key is under way"));
            }
            tokio::time::sleep(FIRST_TICK).await;
        }
    }
}

/// Makes orphaned processes below this one its children, and has the system send this process a signal when the
/// collector ends.
#[cfg(target_os = "linux")]
fn adopt_orphans() -> io::Result<()> {
    rustix::process::set_child_subreaper(Some(getpid()))?;
    rustix::process::set_parent_process_death_signal(Some(Sent::HUP))?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn adopt_orphans() -> io::Result<()> {
    Err(io::Error::other("only Linux lets a process adopt orphans"))
}

/// Waits until the hook and everything below it has ended. Says how the hook ended, and whether that was ordered.
async fn attend(leader: Pid, orders: &mut Orders) -> (Ended, bool) {
    let (mut status, mut ending, mut ordered) = (None, None, false);
    let mut tick = FIRST_TICK;
    loop {
        let is_empty = reap(leader, &mut status);
        if is_empty {
            return (status.map_or(Ended::Signal(0), ended), ordered);
        }
        if status.is_some() {
            // What is left has no hook that it could work for.
            ending.get_or_insert(Ending::Now);
        }
        if let Some(how) = &mut ending {
            end(how);
            tick = (tick * 2).min(LAST_TICK);
        }
        tokio::select! {
            _ = orders.child.recv() => {}
            _ = orders.now.recv() => (ending, ordered) = (Some(Ending::Now), true),
            _ = orders.softly.recv() => (ending, ordered) = (softly(ending), true),
            _ = orders.orphaned.recv() => (ending, ordered) = (softly(ending), true),
            () = tokio::time::sleep(tick), if ending.is_some() => {}
        }
    }
}

/// Begins to end everything softly, unless it is ending already.
fn softly(ending: Option<Ending>) -> Option<Ending> {
    ending.or_else(|| {
        signal_below(Sent::TERM);
        Some(Ending::Softly(Instant::now() + GRACE))
    })
}

fn end(how: &mut Ending) {
    if matches!(how, Ending::Softly(until) if Instant::now() >= *until) {
        *how = Ending::Now;
    }
    if *how == Ending::Now {
        signal_below(Sent::KILL);
    }
}

/// Sends a signal to everything below this process. Its session has no other members, so groups can be meant, too.
fn signal_below(signal: Sent) {
    let own = getpid().as_raw_nonzero().get();
    let below = descendants(&BTreeSet::from([own]), &Process::all());
    signal_with_groups(&below, &BTreeSet::from([own]), signal);
}

/// Takes note of all children that have ended. Whether none is left.
fn reap(leader: Pid, status: &mut Option<WaitStatus>) -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, how))) if pid == leader => *status = Some(how),
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return false,
            Err(_) => return true,
        }
    }
}

fn ended(status: WaitStatus) -> Ended {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Ended::Code(code),
        (None, signal) => Ended::Signal(signal.unwrap_or(0)),
    }
}
