//! `sexton kubeconfig`: how other tools reach a running server.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::failure::{Exit, Failure};
use crate::lock;
use crate::output::{Output, yaml};
use crate::settings::Settings;

/// Print a kubeconfig for a running server
///
/// For example: sexton kubeconfig -o shop.kubeconfig, then KUBECONFIG=shop.kubeconfig kubectl get all. The address is
/// that of the server that uses the data directory, unless --server names another. Token and certificates given with
/// --token-file, SEXTON_TOKEN and --certificate-authority are written into it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Write it to this new file, readable for you only
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    if settings.context.is_some() {
        return Err(Failure::new("a context stands in a kubeconfig already"));
    }
    let url = match &settings.server {
        Some(url) => url.clone(),
        None => running(&settings.data)?,
    };
    let text = yaml::text(&document(&url, settings)?)?;
    match &args.output {
        Some(file) => {
            write_private(file, &text)?;
            output.talk(&format!(
                "wrote {}; use it: KUBECONFIG={} kubectl get all",
                file.display(),
                file.display()
            ));
        }
        None => output.data(&text)?,
    }
    Ok(Exit::Done)
}

fn running(data: &Path) -> Result<String, Failure> {
    let start = format!("sexton serve --data {}", data.display());
    let Some(holder) = lock::holder(data) else {
        return Err(Failure::new(format!("no server uses {}", data.display()))
            .next("start one", start)
            .next("or name one", "sexton kubeconfig --server URL"));
    };
    lock::address(&holder).ok_or_else(|| {
        Failure::new(format!("{} is in use, but not by a server", data.display()))
            .detail(format!("by {holder}"))
            .exit(Exit::Locked)
    })
}

fn document(url: &str, settings: &Settings) -> Result<Value, Failure> {
    let credentials = settings.credentials()?;
    let mut cluster = json!({"server": url});
    if let Some(file) = &credentials.authority {
        let bytes = std::fs::read(file).map_err(|error| {
            Failure::new(format!("cannot read the certificates in {}: {error}", file.display()))
        })?;
        cluster["certificate-authority-data"] = STANDARD.encode(bytes).into();
    }
    let user = credentials.token.map_or(json!({}), |token| json!({"token": token}));
    let mut context = json!({"cluster": "sexton", "user": "sexton"});
    if let Some(namespace) = &settings.namespace {
        context["namespace"] = namespace.as_str().into();
    }
    Ok(json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "sexton",
        "clusters": [{"name": "sexton", "cluster": cluster}],
        "contexts": [{"name": "sexton", "context": context}],
        "users": [{"name": "sexton", "user": user}],
    }))
}

/// A token may stand in it, so nobody else may read it, not even for a moment.
fn write_private(file: &Path, text: &str) -> Result<(), Failure> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(file).and_then(|mut open| open.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Failure::new(format!("{} exists; choose another name or remove it", file.display()))
        }
        _ => Failure::new(format!("cannot write {}: {error}", file.display())),
    })
}
