//! The same program called by kubectl: `kubectl sexton why cm/x` runs a file of the name `kubectl-sexton`.
//!
//! There the current context is meant, as with everything that kubectl does, and usage texts say how it was called.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::Path;
use std::sync::OnceLock;

use clap::FromArgMatches;
use clap::parser::ValueSource;
use sexton_client::connect;

use crate::arguments::{self, Arguments, Command};
use crate::failure::Failure;
use crate::output::ndjson;
use crate::settings::Settings;

/// The name by which kubectl finds it.
const NAME: &str = "kubectl-sexton";

/// How this program was called does not change while it runs, and everything that proposes a command wants to know.
static CALLED_BY_KUBECTL: OnceLock<bool> = OnceLock::new();

/// Remembers by which name this program was called.
pub(crate) fn remember(name: Option<OsString>) {
    let _ = CALLED_BY_KUBECTL.set(name.is_some_and(|name| is_plugin(Path::new(&name))));
}

/// Whether this program was called by kubectl.
pub(crate) fn is_called_by_kubectl() -> bool {
    CALLED_BY_KUBECTL.get() == Some(&true)
}

/// The name by which this program was called, without the directory.
pub(crate) fn program_name() -> &'static str {
    if is_called_by_kubectl() { NAME } else { "sexton" }
}

/// A proposed command as the user types it: with `kubectl` in front if this program was called by kubectl.
pub(crate) fn typed(command: &str) -> Cow<'_, str> {
    typed_by(command, is_called_by_kubectl())
}

fn typed_by(command: &str, kubectl: bool) -> Cow<'_, str> {
    match kubectl && command.starts_with("sexton ") {
        true => Cow::Owned(format!("kubectl {command}")),
        false => Cow::Borrowed(command),
    }
}

/// What was typed, understood.
#[derive(Debug)]
pub(crate) struct Typed {
    pub(crate) arguments: Arguments,
    /// Whether kubectl called, and no store of this machine was named.
    pub(crate) called_by_kubectl: bool,
    /// The words of the command, if its answer is to be a stream for programs.
    pub(crate) stream: Option<String>,
}

/// Reads what was typed.
///
/// `server` is what the variable SEXTON_SERVER says: it counts unless a target was typed, and not for kubectl, which means
/// its current context.
pub(crate) fn parse(
    typed: impl IntoIterator<Item = OsString>,
    server: Option<String>,
) -> Result<Typed, clap::Error> {
    let typed: Vec<OsString> = typed.into_iter().collect();
    let called_by_kubectl = typed.first().is_some_and(|name| is_plugin(Path::new(name)));
    let mut command = arguments::program();
    if called_by_kubectl {
        command = command.bin_name("kubectl sexton");
    }
    let matches = command.try_get_matches_from_mut(typed)?;
    let mut arguments = Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    let data = matches.value_source("data") == Some(ValueSource::CommandLine);
    if !called_by_kubectl && !data && !arguments.settings.names_target() && has_server(&arguments.command) {
        arguments.settings.server = server.filter(|url| !url.is_empty());
        arguments.settings.server_of_variable = arguments.settings.server.is_some();
    }
    let stream = ndjson::asked(&matches);
    Ok(Typed { arguments, called_by_kubectl: called_by_kubectl && !data, stream })
}

fn is_plugin(program: &Path) -> bool {
    program.file_stem().is_some_and(|stem| stem == NAME)
}

/// Whether a command works on resources, wherever they are.
fn has_target(command: &Command) -> bool {
    !matches!(
        command,
        Command::Serve(_)
            | Command::Demo(_)
            | Command::Backup(_)
            | Command::Restore(_)
            | Command::Kubeconfig(_)
            | Command::Complete(_)
            | Command::Completions(_)
            | Command::Version(_)
            | Command::ScriptWorker(_)
    )
}

/// Whether a command works on a server, or says how others reach it.
fn has_server(command: &Command) -> bool {
    has_target(command) || matches!(command, Command::Kubeconfig(_))
}

/// Where nothing else is named, the current context is.
pub(crate) fn take_current_context(settings: &mut Settings, command: &Command) -> Result<(), Failure> {
    if settings.server.is_some() || settings.context.is_some() || !has_target(command) {
        return Ok(());
    }
    let files = settings.kubeconfig_files();
    let current = connect::current_context(&files);
    let current = current.map_err(|error| Failure::new(error.to_string()).because(&error))?;
    let Some(current) = current else {
        let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        return Err(Failure::new("there is no current context")
            .detail(format!("looked for in {}", files.join(", ")))
            .next("choose one", "kubectl config use-context NAME")
            .next("or name one", "the same command with --context NAME"));
    };
    settings.context = Some(current);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(typed: &[&str]) -> Result<Typed, clap::Error> {
        parse(typed.iter().map(OsString::from), None)
    }

    /// The variable is the weakest: what is typed wins, and commands without a target do not have one.
    #[test]
    fn a_server_of_the_environment() {
        let server = |typed: &[&str]| {
            let parsed = parse(typed.iter().map(OsString::from), Some("http://env".into())).unwrap();
            parsed.arguments.settings.server
        };
        assert_eq!(server(&["sexton", "kinds"]).as_deref(), Some("http://env"));
        assert_eq!(server(&["sexton", "kubeconfig"]).as_deref(), Some("http://env"));
        assert_eq!(server(&["sexton", "kinds", "--server", "http://typed"]).as_deref(), Some("http://typed"));
        for typed in [["--context", "c"], ["--data", "d"]] {
            assert_eq!(server(&["sexton", "kinds", typed[0], typed[1]]), None, "{typed:?}");
        }
        assert_eq!(server(&["sexton", "serve"]), None);
        assert_eq!(server(&["kubectl-sexton", "kinds"]), None);
    }

    #[test]
    fn the_name_decides() {
        for name in ["kubectl-sexton", "/opt/bin/kubectl-sexton", "kubectl-sexton.exe"] {
            assert!(parsed(&[name, "kinds"]).unwrap().called_by_kubectl, "{name}");
        }
        for name in ["sexton", "/opt/kubectl-sexton/sexton", ""] {
            assert!(!parsed(&[name, "kinds"]).unwrap().called_by_kubectl, "{name}");
        }
        let named = parsed(&["kubectl-sexton", "kinds", "--data", "x"]).unwrap();
        assert!(!named.called_by_kubectl, "a store was named");
    }

    #[test]
    fn flags_are_understood_behind_the_command() {
        let typed = ["kubectl-sexton", "why", "cm/x", "--context", "c", "-n", "n", "--kubeconfig", "f"];
        let Arguments { settings, .. } = parsed(&typed).unwrap().arguments;
        assert_eq!(settings.context.as_deref(), Some("c"));
        assert_eq!(settings.namespace.as_deref(), Some("n"));
        assert_eq!(settings.kubeconfig_files(), [Path::new("f")]);
    }

    #[test]
    fn proposals_are_typed_as_it_was_called() {
        assert_eq!(typed_by("sexton why cm/x", true), "kubectl sexton why cm/x");
        assert_eq!(typed_by("sexton why cm/x", false), "sexton why cm/x");
        assert_eq!(typed_by("kubectl config use-context NAME", true), "kubectl config use-context NAME");
    }

    #[test]
    fn usage_says_how_it_was_called() {
        let usage = |name: &str| parsed(&[name, "why", "--help"]).unwrap_err().to_string();
        assert!(usage("kubectl-sexton").contains("Usage: kubectl sexton why"), "{}", usage("kubectl-sexton"));
        assert!(usage("sexton").contains("Usage: sexton why"));
    }

    #[test]
    fn the_current_context_is_taken_unless_another_target_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config");
        std::fs::write(&file, "current-context: here\n").unwrap();
        let path = file.to_str().unwrap();
        let taken = |typed: &[&str]| {
            let typed = [&["kubectl-sexton"], typed, &["--kubeconfig", path]].concat();
            let Arguments { mut settings, command } = parsed(&typed).unwrap().arguments;
            take_current_context(&mut settings, &command).map(|()| settings.context)
        };
        assert_eq!(taken(&["kinds"]).unwrap().as_deref(), Some("here"));
        assert_eq!(taken(&["kinds", "--context", "there"]).unwrap().as_deref(), Some("there"));
        assert_eq!(taken(&["kinds", "--server", "http://x"]).unwrap(), None);
        assert_eq!(taken(&["version"]).unwrap(), None);
        std::fs::write(&file, "contexts: []\n").unwrap();
        assert_eq!(taken(&["kinds"]).unwrap_err().what, "there is no current context");
    }
}
