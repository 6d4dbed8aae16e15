//! Which programs may be run: those inside of the directories that the operator names, by their real paths.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use sexton_model::hook::{ALLOW_EXEC, Allowance};

use super::{EXAMPLE_DIR, NotAllowed, shown};

/// Where a program that is only named is looked for, wherever the collector was started.
pub(in crate::hooks) const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// Directories in which a system has its programs: to allow one of them is to allow everything.
const SYSTEM_DIRS: [&str; 6] =
    ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];
/// How programs begin that run what they are told to, wherever they are.
const INTERPRETERS: [&str; 16] = [
    "ash", "awk", "bash", "busybox", "csh", "dash", "deno", "env", "fish", "ksh", "lua", "node", "perl",
    "php", "python", "ruby",
];
/// Variables that choose what else a program loads or runs: a class that sets one runs more than the program.
const STEERING: [&str; 14] = [
    "BASH_ENV",
    "BASHOPTS",
    "CDPATH",
    "ENV",
    "GCONV_PATH",
    "GLIBC_TUNABLES",
    "HOME",
    "IFS",
    "LOCPATH",
    "PATH",
    "PROMPT_COMMAND",
    "PS4",
    "SHELLOPTS",
    "ZDOTDIR",
];
/// All variables that begin so do the same.
const STEERING_PREFIXES: [&str; 10] =
    ["BASH_FUNC_", "DYLD_", "GIT_", "JAVA_", "JDK_", "LD_", "NODE_", "PERL", "PYTHON", "RUBY"];

/// Why a program is not run.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// The operator does not allow it.
    #[error(transparent)]
    NotAllowed(NotAllowed),
    /// It would be allowed, and is not there.
    #[error(transparent)]
    NotThere(io::Error),
}

/// The real path of a program, if the operator allows it: symbolic links and `..` are resolved before it is decided, and
/// what is returned is what has to be run. `name` is a path, from `dir` if it is relative, or a name to be looked for.
///
/// # Errors
/// See [`ProgramError`].
pub fn program(
    allowance: &Allowance,
    name: &str,
    dir: &Path,
    env: &BTreeMap<String, String>,
) -> Result<PathBuf, ProgramError> {
    let refused = |words: String| Err(ProgramError::NotAllowed(NotAllowed(words)));
    let Some(path) = (if name.contains('/') { Some(dir.join(name)) } else { on_path(name) }) else {
        return refused(format!("{} is not among the programs in {PATH}", shown(name)));
    };
    let real = match std::fs::canonicalize(&path) {
        Ok(real) if is_inside(allowance, &real) => real,
        // What is not there is only told of directories that are allowed: of others nothing may be found out so.
        Err(error) if is_inside(allowance, &without_dots(&path)) => {
            return Err(ProgramError::NotThere(error));
        }
        Ok(real) => return refused(words(name, &real)),
        Err(_) => return refused(words(name, &without_dots(&path))),
    };
    let steers = |variable: &str| {
        STEERING.contains(&variable) || STEERING_PREFIXES.iter().any(|prefix| variable.starts_with(prefix))
    };
    match env.keys().find(|variable| steers(variable) || !is_plain(variable)) {
        Some(variable) => refused(format!(
            "{} is not run with the variable {}, which chooses what else is loaded or run: the program may set it itself",
            shown(name),
            shown(variable)
        )),
        None => Ok(real),
    }
}

/// Whether a variable has a name as every shell has it. Others can be functions.
fn is_plain(variable: &str) -> bool {
    variable.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The first program of a name that can be run.
fn on_path(name: &str) -> Option<PathBuf> {
    let can_run = |path: &PathBuf| {
        std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    PATH.split(':').map(|dir| Path::new(dir).join(name)).find(can_run)
}

/// The directories are resolved each time: one of them may be a link that leads elsewhere by now.
fn is_inside(allowance: &Allowance, path: &Path) -> bool {
    let holds = |dir: &PathBuf| std::fs::canonicalize(dir).is_ok_and(|dir| path.starts_with(dir));
    allowance.exec.iter().any(holds)
}

/// A path without `.` and `..`, by its words alone.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain
}

/// That it is not allowed, and what to do about it.
fn words(name: &str, real: &Path) -> String {
    let (name, shown_path) = (shown(name), shown(real.display()));
    let that = if name == shown_path { String::new() } else { format!(" ({shown_path})") };
    let refused = format!("{name}{that} may not be run, because no {ALLOW_EXEC} names its directory");
    match real.parent().filter(|dir| is_for_hooks(real, dir)) {
        Some(dir) => format!("{refused}: add {ALLOW_EXEC} {}", dir.display()),
        None => format!(
            "{refused}; that directory is not one to allow: put what the method does into a program of its own, \
             in a directory of hooks such as {EXAMPLE_DIR}, and add {ALLOW_EXEC} {EXAMPLE_DIR}"
        ),
    }
}

/// Whether it could be right to allow a directory for the sake of a program in it: no shells and interpreters, no
/// directory of the system, none into which all users write, and a path that can be typed as it is shown.
fn is_for_hooks(program: &Path, dir: &Path) -> bool {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let interprets = INTERPRETERS.contains(&stem) || stem.ends_with("sh") && stem.len() <= 4;
    let resolved = |system: &str| std::fs::canonicalize(system).is_ok_and(|system| system == dir);
    let of_system = SYSTEM_DIRS.iter().any(|system| Path::new(system) == dir || resolved(system));
    let text = dir.to_string_lossy();
    let plain = text.len() <= super::MAX_SHOWN
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "/-_.+@%=,".contains(c));
    !interprets && !of_system && plain && dir != Path::new("/") && !is_open(dir)
}

/// Whether all users of this machine may write into a directory.
fn is_open(dir: &Path) -> bool {
    std::fs::metadata(dir).is_ok_and(|found| found.permissions().mode() & 0o002 != 0)
}

/// A directory that an operator names, as an absolute path.
///
/// # Errors
/// It is not there, is not a directory, or all users of this machine can put programs into it.
pub fn allowed_dir(dir: &Path) -> io::Result<PathBuf> {
    let absolute = std::path::absolute(dir)?;
    match std::fs::metadata(&absolute)? {
        found if !found.is_dir() => {
            Err(io::Error::new(io::ErrorKind::NotADirectory, "it is not a directory"))
        }
        _ if is_open(&absolute) => Err(io::Error::other("all users of this machine may write into it")),
        _ => Ok(absolute),
    }
}

#[cfg(test)]
mod tests;
