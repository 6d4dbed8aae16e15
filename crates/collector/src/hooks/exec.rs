//! Runs a program: the call on its standard input, the verdict on its standard output.
//!
//! The call is written completely before the program starts: if the collector dies at that moment, the program does
//! not take half a call, or an empty one, for a whole one. The program gets a clean environment and no shell. It must
//! not know what the verdict is used for.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::time::{Duration, Instant};

use sexton_model::hook::{Allowance, Verdict};
use tokio::process::{ChildStderr, ChildStdout};
use tokio::time::timeout;

use super::allowance::{self, PATH, ProgramError};
use super::group::Group;
use super::keeper::{Earlier, Keeper, Kept, KeptError};
use super::{HookError, output};

/// The same for every program, wherever the collector was started.
const LANG: &str = "C.UTF-8";
/// How many bytes of the standard error are kept: with the exit status before them, they fit into a reason.
const COMPLAINT: usize = 960;
/// How long output is read after the exit. Only needed if a process outside of the group holds the streams open.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// How long a killed process may take to end. It is gone at once unless the system is stuck, and then waiting is of
/// no use.
const BURIAL: Duration = Duration::from_secs(5);

/// The program to run.
pub(super) struct Program<'a> {
    pub(super) argv: &'a [String],
    pub(super) dir: Option<&'a str>,
    pub(super) env: &'a BTreeMap<String, String>,
    pub(super) key: &'a str,
    /// The real path, where an operator decided on it; otherwise the program is found by its name.
    pub(super) real: Option<PathBuf>,
    /// The keeper under which it is started, if there is one.
    pub(super) keeper: Option<&'a Keeper>,
}

impl Program<'_> {
    /// The program itself, or the keeper that starts it: both get the same directory and environment.
    fn command(&self, kept: Option<&Kept<'_>>, deadline: Duration) -> Command {
        let dir = Path::new(self.dir.unwrap_or("/"));
        let name = self.name();
        // A relative path is meant from its directory, a bare name is looked for in the fixed path.
        let program = match &self.real {
            Some(real) => real.clone(),
            None if name.contains('/') => dir.join(name),
            None => PathBuf::from(name),
        };
        // Some programs behave differently by the name with which they are called.
        let called = if self.real.is_some() { Path::new(name) } else { &program };
        let args = self.argv.get(1..).unwrap_or_default();
        let mut command = match kept {
            Some(kept) => kept.command(&program, called, args, deadline),
            None => {
                let mut command = Command::new(&program);
                command.arg0(called).args(args);
                command
            }
        };
        command
            .current_dir(dir)
            .env_clear()
            .env("PATH", PATH)
            .env("LANG", LANG)
            .envs(self.env)
            .env("SEXTON_IDEMPOTENCY_KEY", self.key)
            .envs(kept.map(Kept::variable));
        command
    }

    fn name(&self) -> &str {
        self.argv.first().map_or("", String::as_str)
    }
}

/// The real path of the program, if an operator allows it.
pub(super) async fn allowed(
    allowance: Option<&Arc<Allowance>>,
    argv: &[String],
    dir: Option<&str>,
    env: &BTreeMap<String, String>,
) -> Result<Option<PathBuf>, HookError> {
    let Some(allowance) = allowance.cloned() else { return Ok(None) };
    let name = argv.first().cloned().unwrap_or_default();
    let (program, dir, env) = (name.clone(), dir.unwrap_or("/").to_owned(), env.clone());
    // Reading the file system may block.
    let asked = move || allowance::program(&allowance, &program, Path::new(&dir), &env);
    let found = tokio::task::spawn_blocking(asked).await;
    match found.map_err(|error| HookError::Lost(io::Error::other(error)))? {
        Ok(real) => Ok(Some(real)),
        Err(ProgramError::NotAllowed(refused)) => Err(HookError::NotAllowed(refused)),
        Err(ProgramError::NotThere(source)) => Err(HookError::NotStarted { program: name, source }),
    }
}

/// What a program wrote, and how it ended.
pub(super) enum Said {
    /// It exited with 0, and wrote this to its standard output.
    Well(Vec<u8>),
    /// It failed; the exit status and the end of its standard error.
    Badly(String),
    /// It was not started: an earlier call may run on another machine for this long.
    NotYet(Duration),
}

/// Runs it until it ends or the deadline passes, and parses its verdict.
pub(super) async fn run(
    program: &Program<'_>,
    document: Vec<u8>,
    deadline: Duration,
    max_output: usize,
) -> Result<Verdict, HookError> {
    match say(program, document, deadline, max_output).await? {
        Said::Well(said) => Ok(Verdict::parse(&String::from_utf8_lossy(&said))?),
        Said::Badly(reason) => Ok(Verdict::failed(&reason)),
        Said::NotYet(left) => Ok(Verdict::InProgress { after: Some(left) }),
    }
}

/// Runs it until it ends or the deadline passes.
pub(super) async fn say(
    program: &Program<'_>,
    document: Vec<u8>,
    deadline: Duration,
    max_output: usize,
) -> Result<Said, HookError> {
    let failed = |source| HookError::NotStarted { program: program.name().to_owned(), source };
    let kept = program.keeper.and_then(|keeper| keeper.of(program.key));
    let begun = Instant::now();
    if let Some(kept) = &kept
        && let Earlier::Elsewhere(left) = kept.end_earlier().await.map_err(HookError::Survivor)?
    {
        return Ok(Said::NotYet(left));
    }
    let left = deadline.saturating_sub(begun.elapsed());
    if left.is_zero() {
        return Err(HookError::Late);
    }
    let call = complete(&document).map_err(failed)?;
    let command = program.command(kept.as_ref(), left);
    let started = if kept.is_some() { Group::start_kept(command, call) } else { Group::start(command, call) };
    let mut group = started.map_err(failed)?;
    let attended = timeout(left, attend(&mut group, program, kept.as_ref(), max_output)).await;
    let result = attended.unwrap_or(Err(HookError::Deadline { after: deadline }));
    if result.is_err() {
        group.kill();
        // A repeated call must not meet the processes of this one.
        let _ = timeout(BURIAL, group.ended()).await;
    }
    result
}

async fn attend(
    group: &mut Group,
    program: &Program<'_>,
    kept: Option<&Kept<'_>>,
    max_output: usize,
) -> Result<Said, HookError> {
    let failed = |source| HookError::NotStarted { program: program.name().to_owned(), source };
    let pipes = group.pipes().await.map_err(failed)?;
    let stdout = ChildStdout::from_std(pipes.stdout).map_err(HookError::Lost)?;
    let stderr = ChildStderr::from_std(pipes.stderr).map_err(HookError::Lost)?;

    let (mut said, mut complaint) = (Vec::new(), VecDeque::new());
    let status = {
        let complaining = async {
            output::tail(stderr, &mut complaint, COMPLAINT).await;
            Ok(())
        };
        let talk = async { tokio::try_join!(output::all(stdout, &mut said, max_output), complaining) };
        let mut talk = pin!(talk);
        let first = tokio::select! {
            ended = group.ended() => Some(ended.map_err(HookError::Lost)?),
            talked = &mut talk => talked.map(|_| None)?,
        };
        match first {
            None => group.ended().await.map_err(HookError::Lost)?,
            Some(status) => {
                if let Ok(talked) = timeout(LAST_WORDS, talk).await {
                    talked?;
                }
                status
            }
        }
    };
    let status = match kept.map(|kept| kept.ended(status)) {
        None => status,
        Some(Ok(status)) => status,
        Some(Err(KeptError::NotStarted(source))) => return Err(failed(source)),
        Some(Err(KeptError::Lost(source))) => return Err(HookError::Lost(source)),
    };
    if status.success() {
        return Ok(Said::Well(said));
    }
    Ok(Said::Badly(reason(status, &mut complaint)))
}

/// The bytes as an unnamed file, which no other process can open, positioned at its beginning.
///
/// # Errors
/// If there can be no such file.
pub fn complete(document: &[u8]) -> io::Result<File> {
    let mut file = nameless()?;
    file.write_all(document)?;
    file.rewind()?;
    Ok(file)
}

#[cfg(target_os = "linux")]
fn nameless() -> io::Result<File> {
    use rustix::fs::{MemfdFlags, memfd_create};
    Ok(memfd_create("sexton-call", MemfdFlags::CLOEXEC)?.into())
}

#[cfg(not(target_os = "linux"))]
fn nameless() -> io::Result<File> {
    tempfile::tempfile()
}

/// The exit status and the end of the standard error.
fn reason(status: ExitStatus, complaint: &mut VecDeque<u8>) -> String {
    let how = match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("ended by signal {signal}"),
        (None, None) => "ended in an unknown way".to_owned(),
    };
    let words = String::from_utf8_lossy(complaint.make_contiguous());
    // Invalid UTF-8 takes more bytes once it is made text.
    let from = (0..words.len()).find(|at| words.is_char_boundary(*at) && words.len() - at <= COMPLAINT);
    let words = words[from.unwrap_or(0)..].trim();
    if words.is_empty() { how } else { format!("{how}: {words}") }
}
