//! `exec`: starts programs of the host that are granted by name.
//!
//! Without a shell, with a clean environment and bounded output. At its timeout, or when the run ends, the program is
//! killed with all processes that it started.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use mlua::{Lua, Table, Value as Script};
use sexton_collector::hooks::allowance::{self, ProgramError};
use sexton_collector::hooks::complete;
use sexton_collector::hooks::group::{Group, Pipes};
use std::os::unix::process::ExitStatusExt;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{ChildStderr, ChildStdout};

use super::engine::Engine;
use super::fault::raise;
use super::values;
use crate::worker::Lifted;

/// Environment variables, the same for every program.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
const LANG: &str = "C.UTF-8";
/// How long a program may run by default, and at most.
const DEFAULT_TIMEOUT_SECONDS: f64 = 60.0;
const MAX_TIMEOUT_SECONDS: f64 = 3600.0;
/// The maximum number of arguments.
const MAX_ARGS: usize = 1000;

/// Defines `exec`.
pub(super) fn install(lua: &Lua, engine: &Rc<Engine>) -> mlua::Result<()> {
    let engine = engine.clone();
    let exec = move |lua: Lua, options: Script| {
        let engine = engine.clone();
        async move {
            engine.check_stage(&lua, "exec")?;
            let wanted = read(&engine, &options).map_err(|error| raise(&lua, error))?;
            drop(options);
            let real = real(&engine, &wanted).map_err(|error| raise(&lua, error))?;
            let ended = run(&wanted, &real, engine.limits.answer).await;
            let ended = ended.map_err(|error| raise(&lua, format!("{:?} {error}", wanted.program)))?;
            let result = lua.create_table()?;
            result.raw_set("code", ended.code)?;
            result.raw_set("signal", ended.signal)?;
            result.raw_set("stdout", lua.create_string(&ended.stdout)?)?;
            result.raw_set("stderr", lua.create_string(&ended.stderr)?)?;
            result.set_readonly(true);
            Ok(result)
        }
    };
    lua.globals().raw_set("exec", lua.create_async_function(exec)?)
}

/// A checked call of `exec`.
struct ExecRequest {
    program: String,
    args: Vec<String>,
    stdin: Vec<u8>,
    timeout: Duration,
}

/// The result of a program that ended.
struct ExecOutcome {
    code: Option<i32>,
    signal: Option<i32>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

fn read(engine: &Engine, options: &Script) -> Result<ExecRequest, String> {
    let Script::Table(options) = options else {
        return Err(format!(
            "exec wants a table, as in exec{{ program = \"ls\" }}, not a {}",
            values::kind(options)
        ));
    };
    only(options, &["program", "args", "stdin", "timeout"], "exec")?;
    let program = text(options, "program")?.ok_or("exec: program is missing")?;
    let program = String::from_utf8(program).map_err(|_| "exec: program is not UTF-8".to_owned())?;
    if !engine.grants.exec.contains(&program) {
        return Err(format!(
            "this program may not start {program:?} unless it is granted: --allow-exec {program}"
        ));
    }
    let mut args = Vec::new();
    if let Some(list) =
        options.raw_get::<Option<Table>>("args").map_err(|_| "exec: args is a list of texts")?
    {
        for at in 1..=list.raw_len().min(MAX_ARGS + 1) {
            let arg: Script = list.raw_get(at).map_err(|error| error.to_string())?;
            let arg = match &arg {
                Script::String(arg) => arg.to_str().ok().map(|arg| arg.to_owned()),
                Script::Integer(_) | Script::Number(_) => arg.to_string().ok(),
                _ => None,
            };
            let arg = arg.filter(|arg| !arg.contains('\0'));
            args.push(arg.ok_or_else(|| format!("exec: argument {at} is no text"))?);
        }
    }
    if args.len() > MAX_ARGS {
        return Err(format!("exec: more than {MAX_ARGS} arguments"));
    }
    let stdin = text(options, "stdin")?.unwrap_or_default();
    Ok(ExecRequest {
        program,
        args,
        stdin,
        timeout: timeout(options, DEFAULT_TIMEOUT_SECONDS, MAX_TIMEOUT_SECONDS)?,
    })
}

/// Checks that a table has no unknown keys.
pub(super) fn only(options: &Table, words: &[&str], function: &str) -> Result<(), String> {
    for pair in options.pairs::<Script, Script>() {
        let (key, _) = pair.map_err(|error| error.to_string())?;
        let word = key.as_string().map(|word| word.to_string_lossy()).unwrap_or_default();
        if !words.contains(&word.as_str()) {
            return Err(format!(
                "{function}: {word:?} means nothing here; what can be said is {}",
                words.join(", ")
            ));
        }
    }
    Ok(())
}

/// An optional text in a table.
pub(super) fn text(options: &Table, name: &str) -> Result<Option<Vec<u8>>, String> {
    match options.raw_get::<Script>(name).map_err(|error| error.to_string())? {
        Script::Nil => Ok(None),
        Script::String(text) => Ok(Some(text.as_bytes().to_vec())),
        other => Err(format!("{name} is a text, not a {}", values::kind(&other))),
    }
}

/// The `timeout` in a table, in seconds; `usual` if there is none, refused above `most`.
pub(super) fn timeout(options: &Table, usual: f64, most: f64) -> Result<Duration, String> {
    let seconds = match options.raw_get::<Script>("timeout").map_err(|error| error.to_string())? {
        Script::Nil => usual,
        Script::Integer(whole) => whole as f64,
        Script::Number(seconds) => seconds,
        other => return Err(format!("timeout is a number of seconds, not a {}", values::kind(&other))),
    };
    if !(seconds > 0.0 && seconds <= most) {
        return Err(format!("timeout is more than 0 and at most {most} seconds, not {seconds}"));
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// The file to start. With an operator's allowance it is the file that was allowed, otherwise the name as given.
fn real(engine: &Engine, wanted: &ExecRequest) -> Result<PathBuf, String> {
    let name = &wanted.program;
    let Some(allowance) = &engine.allowance else { return Ok(name.into()) };
    match allowance::program(allowance, name, Path::new("/"), &BTreeMap::new()) {
        Ok(real) => Ok(real),
        Err(ProgramError::NotAllowed(refused)) => Err(engine.refuse(refused)),
        Err(ProgramError::NotThere(error)) => Err(format!("{name:?} cannot be started: {error}")),
    }
}

async fn run(wanted: &ExecRequest, real: &Path, limit: usize) -> Result<ExecOutcome, String> {
    let failed = |error: io::Error| format!("cannot be started: {error}");
    let mut command = Command::new(real);
    command.arg0(&wanted.program);
    command.args(&wanted.args).current_dir("/").env_clear().env("PATH", PATH).env("LANG", LANG);
    let stdin = complete(&wanted.stdin).map_err(failed)?;
    let attended = async {
        // Dropping the group kills all its processes, also when this future is cancelled.
        let (mut group, pipes) = start(command, stdin).await.map_err(failed)?;
        attend(&mut group, pipes, limit).await
    };
    let attended = tokio::time::timeout(wanted.timeout, attended).await;
    attended.unwrap_or_else(|_| {
        Err(format!("did not end within {} seconds, so it was killed", wanted.timeout.as_secs_f64()))
    })
}

/// Starts a program without the memory bound of a worker. The script does not run while the bound is lifted.
async fn start(command: Command, stdin: File) -> io::Result<(Group, Pipes)> {
    let lifted = Lifted::new();
    let mut group = Group::start(command, stdin)?;
    let pipes = match lifted {
        Some(_lifted) => thread::scope(|scope| {
            let waiting = scope.spawn(|| -> io::Result<Pipes> {
                let runtime = tokio::runtime::Builder::new_current_thread().build()?;
                runtime.block_on(group.pipes())
            });
            waiting.join().unwrap_or_else(|_| Err(io::Error::other("its start was not seen")))
        })?,
        None => group.pipes().await?,
    };
    Ok((group, pipes))
}

async fn attend(group: &mut Group, pipes: Pipes, limit: usize) -> Result<ExecOutcome, String> {
    let lost = |error: io::Error| format!("cannot be waited for: {error}");
    let stdout = ChildStdout::from_std(pipes.stdout).map_err(lost)?;
    let stderr = ChildStderr::from_std(pipes.stderr).map_err(lost)?;
    let (stdout, stderr) = tokio::try_join!(all(stdout, limit), all(stderr, limit))?;
    let status = group.ended().await.map_err(lost)?;
    Ok(ExecOutcome { code: status.code(), signal: status.signal(), stdout, stderr })
}

/// Reads to the end.
///
/// # Errors
/// If there is more than `limit` bytes.
async fn all(from: impl AsyncRead + Unpin, limit: usize) -> Result<Vec<u8>, String> {
    let mut output = Vec::new();
    let read = from.take(limit as u64 + 1).read_to_end(&mut output).await;
    read.map_err(|error| format!("cannot be heard: {error}"))?;
    if output.len() > limit {
        Err(format!("said more than {limit} bytes, so it was killed"))
    } else {
        Ok(output)
    }
}
