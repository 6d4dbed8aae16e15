//! What methods of classes that others stored may run and call on this machine: the flags and variables of its user.

use std::path::PathBuf;

use sexton_collector::hooks::allowance::allowed_dir;
use sexton_model::hook::{ALLOW_EXEC, ALLOW_HTTP, Allowance, AllowedHost};
use sexton_model::text::quoted;

use crate::failure::Failure;

/// The variables that say the same as the flags.
const EXEC_VARIABLE: &str = "SEXTON_ALLOW_EXEC";
const HTTP_VARIABLE: &str = "SEXTON_ALLOW_HTTP";

/// The flags about it.
#[derive(Debug, clap::Args)]
pub(crate) struct Allowing {
    /// Run methods of classes that are programs in this directory, or below it; may be repeated
    ///
    /// Without it no program is run: what needs one waits, and "sexton why" names the directory. The variable
    /// SEXTON_ALLOW_EXEC names more of them, separated by colons.
    #[arg(long, value_name = "DIR")]
    allow_exec: Vec<PathBuf>,
    /// Call methods of classes that are services on this host; may be repeated
    ///
    /// NAME, or NAME:PORT for another port than the usual one. Without it no service is called. The variable
    /// SEXTON_ALLOW_HTTP names more of them, separated by commas.
    #[arg(long, value_name = "HOST")]
    allow_http: Vec<AllowedHost>,
}

impl Allowing {
    /// What the flags and the variables allow together.
    pub(crate) fn allowance(&self) -> Result<Allowance, Failure> {
        allowance(&self.allow_exec, &self.allow_http)
    }
}

/// The same flags of commands that destroy by themselves on a cluster.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct AllowingHere {
    /// On a cluster: run methods of the classes there that are programs in this directory of this machine, or below it;
    /// may be repeated
    ///
    /// Any client that may write a class there could otherwise choose what runs here. Without it nothing is deleted that needs one.
    /// The variable SEXTON_ALLOW_EXEC names more of them, separated by colons. The store of a data directory needs no such
    /// flag, and a server of Sexton has its own.
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    allow_exec: Vec<PathBuf>,
    /// On a cluster: call methods of the classes there that are services on this host; may be repeated
    ///
    /// NAME, or NAME:PORT for another port than the usual one. The variable SEXTON_ALLOW_HTTP names more of them,
    /// separated by commas.
    #[arg(long, value_name = "HOST", hide_short_help = true)]
    allow_http: Vec<AllowedHost>,
}

impl AllowingHere {
    /// The flags as they were typed, to be typed again.
    pub(crate) fn flags(&self) -> String {
        let dirs =
            self.allow_exec.iter().map(|dir| format!(" {ALLOW_EXEC} {}", quoted(&dir.display().to_string())));
        let hosts = self
            .allow_http
            .iter()
            .map(|host| format!(" {ALLOW_HTTP} {}", quoted(&String::from(host.clone()))));
        dirs.chain(hosts).collect()
    }

    /// What the flags and the variables allow together.
    pub(crate) fn allowance(&self) -> Result<Allowance, Failure> {
        allowance(&self.allow_exec, &self.allow_http)
    }
}

fn allowance(dirs: &[PathBuf], hosts: &[AllowedHost]) -> Result<Allowance, Failure> {
    let given = std::env::var_os(EXEC_VARIABLE).unwrap_or_default();
    let more = std::env::split_paths(&given).filter(|dir| !dir.as_os_str().is_empty());
    let mut exec = Vec::new();
    for dir in dirs.iter().cloned().chain(more) {
        let real = allowed_dir(&dir).map_err(|error| {
            Failure::new(format!("programs in {} cannot be allowed: {error}", dir.display()))
        })?;
        exec.push(real);
    }
    let given = std::env::var(HTTP_VARIABLE).unwrap_or_default();
    let mut http = hosts.to_vec();
    for host in given.split(',').map(str::trim).filter(|host| !host.is_empty()) {
        let host = host.parse();
        http.push(host.map_err(|error| Failure::new(format!("the variable {HTTP_VARIABLE}: {error}")))?);
    }
    Ok(Allowance { exec, http })
}
