//! Keepers: every program that is run for a call gets one, a small process that outlives the collector if need be.
//!
//! What a call starts must be ended before the call is made again, also when the collector was killed in between. A
//! collector that is dead ends nothing, and the next one sees only processes without a parent that it knows. So the
//! hook is started by a keeper, which adopts orphaned processes below it, ends all of them when the hook or the
//! collector ends, and holds the lock of a record as long as it lives.

mod process;
mod record;
mod run;
mod survivors;

pub use run::keep;

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, SystemTime};

use rustix::process::Signal;

use self::record::Ended;

/// The variable of every program under a keeper: the path of its record, by which it is recognized later. The key alone
/// would not do: a copy of a data directory makes calls of the same keys.
const RECORD_VARIABLE: &str = "SEXTON_HOOK_RECORD";
/// Ends all processes at once: the deadline has passed, or the answer is not wanted any more.
pub(super) const END_NOW: Signal = Signal::USR1;
/// Ends all processes with a grace period: another process makes the same call again.
const END_SOFTLY: Signal = Signal::USR2;
/// How long the processes of a call may clean up after their collector has died.
const GRACE: Duration = Duration::from_secs(2);

/// The state of an earlier call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Earlier {
    /// No process of it is left.
    Over,
    /// It runs on another machine, and is over after this time at the latest.
    Elsewhere(Duration),
}

/// Starts programs under keepers, with records in a directory.
#[derive(Debug, Clone)]
pub struct Keeper {
    program: Vec<String>,
    dir: PathBuf,
}

impl Keeper {
    /// Keepers that this program runs, which passes the arguments after its own to [`keep`]. The records are in this
    /// directory, which is created if it does not exist; collectors that may make the same calls share it.
    ///
    /// # Errors
    /// The directory cannot be used, or this system has no keepers.
    pub fn new(program: Vec<String>, dir: &Path) -> io::Result<Keeper> {
        if !cfg!(target_os = "linux") {
            return Err(io::Error::other("keepers of hooks exist on Linux only"));
        }
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        let dir = fs::canonicalize(dir)?;
        for left in fs::read_dir(&dir)?.flatten() {
            // A record that cannot be removed blocks no call.
            let _ = record::remove_if_over(&left.path());
        }
        Ok(Keeper { program, dir })
    }

    /// The keeper of the call with this key. Keys are letters and digits; any other key has no record.
    pub(super) fn of(&self, key: &str) -> Option<Kept<'_>> {
        let is_name = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_name.then(|| Kept { program: &self.program, path: self.dir.join(key), key: key.to_owned() })
    }
}

/// The call of one key under its keeper.
pub(super) struct Kept<'k> {
    program: &'k [String],
    path: PathBuf,
    key: String,
}

impl Kept<'_> {
    /// Makes sure that no process of an earlier call with the key is left.
    pub(super) async fn end_earlier(&self) -> io::Result<Earlier> {
        survivors::end(&self.path, &self.key).await
    }

    /// A variable for the environment of the program.
    pub(super) fn variable(&self) -> (&'static str, &Path) {
        (RECORD_VARIABLE, &self.path)
    }

    /// The command that starts the keeper of a program, with the name by which to call it, and with a deadline for
    /// all of it.
    pub(super) fn command(
        &self,
        program: &Path,
        called: &Path,
        args: &[String],
        deadline: Duration,
    ) -> Command {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let until = (now + deadline).as_secs().saturating_add(1);
        let mut command = Command::new(self.program.first().map_or("", String::as_str));
        command
            .args(self.program.iter().skip(1))
            .arg(&self.path)
            .arg(&self.key)
            .arg(std::process::id().to_string())
            .arg(until.to_string())
            .arg(program)
            .arg(called)
            .args(args);
        command
    }

    /// The exit status of the hook, once its keeper has ended.
    ///
    /// # Errors
    /// It could not be started ([`KeptError::NotStarted`]), or nothing is known of it.
    pub(super) fn ended(&self, keeper: ExitStatus) -> Result<ExitStatus, KeptError> {
        let lost = |what: String| KeptError::Lost(io::Error::other(what));
        if !keeper.success() {
            return Err(lost(format!("the keeper of the hook ended with {keeper}")));
        }
        let file = record::open(&self.path).map_err(KeptError::Lost)?;
        let ended = file.and_then(|mut file| record::read(&mut file)).and_then(|record| record.ended);
        let _ = record::remove_if_over(&self.path);
        match ended {
            Some(Ended::Code(code)) => Ok(ExitStatus::from_raw((code & 0xff) << 8)),
            Some(Ended::Signal(signal)) => Ok(ExitStatus::from_raw(signal & 0x7f)),
            Some(Ended::NotStarted(errno)) => Err(KeptError::NotStarted(io::Error::from_raw_os_error(errno))),
            None => Err(lost("the keeper of the hook did not say how it ended".into())),
        }
    }
}

/// Why the exit status of a hook is unknown.
#[derive(Debug)]
pub(super) enum KeptError {
    /// It could not be started.
    NotStarted(io::Error),
    /// Its keeper, or the record, is gone.
    Lost(io::Error),
}
