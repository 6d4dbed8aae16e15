//! A program and the processes that it starts, as one process group that is killed as one.
//!
//! The number of a process may be reused as soon as its exit status is read, so a group is only killed while that of
//! its first process is not. It must not know what runs, or for how long it may. What leaves the group on purpose
//! (`setsid`) is only followed by a [keeper](super::keeper).

use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};
use tokio::sync::oneshot;

use super::keeper::END_NOW;

/// The ends of its standard streams.
pub struct Pipes {
    /// Standard output.
    pub stdout: ChildStdout,
    /// Standard error.
    pub stderr: ChildStderr,
}

/// How the processes are ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Means {
    /// The group of the first process is killed.
    Group,
    /// The first process is a keeper, which gets a signal.
    Keeper,
}

enum State {
    /// Not started yet.
    Beginning,
    /// Its number still belongs to it.
    Running(Pid),
    /// Its exit status is read, or it is not wanted any more.
    Over,
}

#[derive(Clone)]
struct Shared(Arc<Mutex<State>>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // No code under this lock can leave a half-changed state.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A started group. Dropping it kills it.
pub struct Group {
    shared: Shared,
    means: Means,
    started: Option<oneshot::Receiver<io::Result<Pipes>>>,
    ended: oneshot::Receiver<io::Result<ExitStatus>>,
    status: Option<ExitStatus>,
}

impl Group {
    /// Starts a program in a group of its own. A thread waits for its end, since starting and waiting both can block.
    ///
    /// # Errors
    /// If there can be no such thread. A program that cannot be started is an error of [`Group::pipes`].
    pub fn start(mut command: Command, stdin: File) -> io::Result<Group> {
        command.process_group(0);
        Group::start_by(Means::Group, command, stdin)
    }

    /// The same for a keeper, which makes a group and a session of its own and ends what it starts.
    ///
    /// # Errors
    /// As [`Group::start`].
    pub(super) fn start_kept(command: Command, stdin: File) -> io::Result<Group> {
        Group::start_by(Means::Keeper, command, stdin)
    }

    fn start_by(means: Means, mut command: Command, stdin: File) -> io::Result<Group> {
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let shared = Shared(Arc::new(Mutex::new(State::Beginning)));
        let (start, started) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let of_thread = shared.clone();
        thread::Builder::new().name("hook".into()).spawn(move || match begin(command) {
            Err(error) => drop(start.send(Err(error))),
            Ok((child, pipes)) => {
                let leader = Pid::from_child(&child);
                let mut state = of_thread.lock();
                let unwanted = matches!(*state, State::Over);
                *state = State::Running(leader);
                drop(state);
                if unwanted {
                    kill(means, leader);
                }
                // If the receiver is gone, the pipes close, and dropping the group has killed it.
                let _ = start.send(Ok(pipes));
                let _ = end.send(bury(means, child, leader, &of_thread));
            }
        })?;
        Ok(Group { shared, means, started: Some(started), ended, status: None })
    }

    /// Waits until it runs; once.
    ///
    /// # Errors
    /// If it could not be started.
    pub async fn pipes(&mut self) -> io::Result<Pipes> {
        let Some(started) = self.started.as_mut() else { return Err(lost()) };
        let pipes = started.await.unwrap_or_else(|_| Err(lost()));
        self.started = None;
        pipes
    }

    /// Waits for the end of the first process. The rest of the group is dead then.
    ///
    /// # Errors
    /// If the exit status cannot be read.
    pub async fn ended(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.status {
            return Ok(status);
        }
        let status = (&mut self.ended).await.unwrap_or_else(|_| Err(lost()))?;
        Ok(*self.status.insert(status))
    }

    /// Kills all processes at once. They cannot prevent it.
    pub fn kill(&self) {
        let mut state = self.shared.lock();
        match *state {
            State::Beginning => *state = State::Over,
            State::Running(leader) => kill(self.means, leader),
            State::Over => {}
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

fn lost() -> io::Error {
    io::Error::other("nobody waits for it")
}

fn begin(mut command: Command) -> io::Result<(Child, Pipes)> {
    let mut child = command.spawn()?;
    match (child.stdout.take(), child.stderr.take()) {
        (Some(stdout), Some(stderr)) => Ok((child, Pipes { stdout, stderr })),
        _ => Err(io::Error::other("its streams are not there")),
    }
}

fn kill(means: Means, leader: Pid) {
    // An error means that nothing is left to kill.
    let _ = match means {
        Means::Group => kill_process_group(leader, Signal::KILL),
        Means::Keeper => kill_process(leader, END_NOW),
    };
}

/// Waits for the end of the first process, kills what it left behind, and only then reads its exit status.
fn bury(means: Means, mut child: Child, leader: Pid, shared: &Shared) -> io::Result<ExitStatus> {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while let Err(Errno::INTR) = waitid(WaitId::Pid(leader), look) {}
    let mut state = shared.lock();
    kill(means, leader);
    let status = child.wait();
    *state = State::Over;
    status
}
