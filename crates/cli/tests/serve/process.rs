//! A server process of a test: started, asked for its address, and ended whatever happens.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};

/// A running `sexton serve`; killed when dropped.
pub(crate) struct Server {
    child: Child,
    /// Kept open: a server whose output nobody takes might stop.
    _stdout: BufReader<ChildStdout>,
    /// `127.0.0.1:port`
    pub(crate) address: String,
    /// With its scheme.
    pub(crate) url: String,
}

impl Server {
    /// Starts a server on any free port and waits until it serves. Unless the arguments are about that, it asks for no
    /// token: see [`Server::start_guarded`].
    pub(crate) fn start(data: &Path, arguments: &[&str]) -> Server {
        Server::start_with(data, arguments, Stdio::null())
    }

    /// The same as its users start it: it asks for its own token.
    pub(crate) fn start_guarded(data: &Path, arguments: &[&str]) -> Server {
        Server::begin(data, arguments, Stdio::null(), &[])
    }

    /// The same, where it logs all that it can to `logs`.
    pub(crate) fn start_talkative(data: &Path, arguments: &[&str], logs: Stdio) -> Server {
        Server::begin(data, arguments, logs, &[("SEXTON_LOG", "trace")])
    }

    /// The same, where what it logs goes to `logs`.
    pub(crate) fn start_with(data: &Path, arguments: &[&str], logs: Stdio) -> Server {
        const SAID: [&str; 4] = ["--open", "--self-signed", "--tokens", "--client-ca"];
        let said = arguments.iter().any(|argument| SAID.contains(argument));
        let open: &[&str] = if said { &[] } else { &["--open"] };
        Server::begin(data, &[arguments, open].concat(), logs, &[])
    }

    fn begin(data: &Path, arguments: &[&str], logs: Stdio, variables: &[(&str, &str)]) -> Server {
        let mut child = Command::new(env!("CARGO_BIN_EXE_sexton"))
            .arg("--data")
            .arg(data)
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .stderr(logs)
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let url = line.trim().rsplit(' ').next().unwrap().to_owned();
        let address = url.rsplit("://").next().unwrap().to_owned();
        assert!(!address.is_empty(), "the server ended before it served");
        Server { child, _stdout: stdout, address, url }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// `kill -9`.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to stop and waits until it has. Returns whether it ended well.
    pub(crate) fn stop(self) -> bool {
        self.stop_and(|_| {})
    }

    /// The same; `meanwhile` happens once it was asked, and can read what it logs, if that is a pipe.
    pub(crate) fn stop_and(mut self, meanwhile: impl FnOnce(Option<BufReader<ChildStderr>>)) -> bool {
        let asked = Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
        meanwhile(self.child.stderr.take().map(BufReader::new));
        asked.success() && self.child.wait().unwrap().success()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
