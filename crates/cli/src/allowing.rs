//! The allowance of a collector: the programs and hosts that methods of classes may run and call, by flags and
//! variables.

use std::path::PathBuf;

use sexton_collector::hooks::allowance::allowed_dir;
use sexton_model::hook::{Allowance, AllowedHost};

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
        let given = std::env::var_os(EXEC_VARIABLE).unwrap_or_default();
        let dirs = std::env::split_paths(&given).filter(|dir| !dir.as_os_str().is_empty());
        let mut exec = Vec::new();
        for dir in self.allow_exec.iter().cloned().chain(dirs) {
            let real = allowed_dir(&dir).map_err(|error| {
                Failure::new(format!("programs in {} cannot be allowed: {error}", dir.display()))
            })?;
            exec.push(real);
        }
        let given = std::env::var(HTTP_VARIABLE).unwrap_or_default();
        let mut http = self.allow_http.clone();
        for host in given.split(',').map(str::trim).filter(|host| !host.is_empty()) {
            let host = host.parse();
            http.push(host.map_err(|error| Failure::new(format!("the variable {HTTP_VARIABLE}: {error}")))?);
        }
        Ok(Allowance { exec, http })
    }
}
