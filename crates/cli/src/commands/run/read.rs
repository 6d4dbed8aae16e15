//! The files that a run is given.

use std::path::Path;

use sexton_model::environment::ProgramSpec;
use sexton_runtime::model::Model;

use super::Args;
use crate::failure::Failure;

/// The program, with what it is allowed from now on.
pub(super) fn program(args: &Args) -> Result<ProgramSpec, Failure> {
    for (allowed, revoked) in [(&args.allow_exec, &args.revoke_exec), (&args.allow_http, &args.revoke_http)] {
        if let Some(both) = allowed.iter().find(|one| revoked.contains(one)) {
            return Err(Failure::new(format!("{both} is allowed and revoked by the same command")));
        }
    }
    let path = &args.program;
    let source = std::fs::read_to_string(path)
        .map_err(|error| Failure::new(format!("cannot read {}: {error}", path.display())))?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(ProgramSpec { name, source, exec: args.allow_exec.clone(), http: args.allow_http.clone() })
}

/// The incoming model.
pub(super) fn model(path: &Path) -> Result<Model, Failure> {
    let cannot = |why: String| Failure::new(format!("cannot read {}: {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| cannot(error.to_string()))?;
    Model::parse(&text).map_err(|error| cannot(error.to_string()))
}
