//! `sexton kubeconfig`: how other tools reach a running server.

mod file;
mod merge;

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sexton_client::connect::{self, Credentials};
use sexton_server::serve::{SelfSigned, host_name};

use self::merge::{Entries, How, MergeError};
use crate::failure::{Exit, Failure};
use crate::lock::{self, RunningServer};
use crate::output::{Output, yaml};
use crate::settings::{self, Settings, quoted};

/// Print a kubeconfig for a running server
///
/// For example: sexton kubeconfig -o shop.kubeconfig, then KUBECONFIG=shop.kubeconfig kubectl get all. The address is
/// that of the server that serves the data directory, unless --server names another. A server with --self-signed has its
/// certificates and its token in there, and they are written into the kubeconfig; others can be given with --token-file,
/// SEXTON_TOKEN and --certificate-authority.
///
/// With --merge it is put into the kubeconfig that other tools use already: of the files of KUBECONFIG the first that is
/// there, or ~/.kube/config. Everything else in there stays, but comments are lost.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Write it to this new file, readable for you only
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Put it into the kubeconfig that is there; its comments are lost
    #[arg(long, conflicts_with = "output")]
    merge: bool,
    /// What cluster, user and context are called
    #[arg(
        long,
        default_value = "sexton",
        value_name = "NAME",
        value_parser = clap::builder::NonEmptyStringValueParser::new()
    )]
    name: String,
    /// Name or address of the server for other machines; without this the first --host that it was started with
    #[arg(long, value_name = "NAME", value_parser = host_name)]
    host: Option<String>,
    /// Make it the current context; without this only if there is none
    #[arg(long = "use", requires = "merge")]
    switch: bool,
    /// Overwrite entries of that name that belong to another server
    #[arg(long, requires = "merge")]
    force: bool,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    if settings.context.is_some() {
        return Err(Failure::new("a context stands in a kubeconfig already"));
    }
    let (url, credentials) = match &settings.server {
        Some(url) => (checked(url, args, settings)?, settings.credentials()?),
        None => {
            let server = running(&settings.data)?;
            (outside(&server, args.host.as_deref())?, settings.credentials_for(&server)?)
        }
    };
    let entries = entries(&url, &args.name, &credentials, settings)?;
    if args.merge {
        return merge_into(args, &entries, settings, output);
    }
    let mut config = Value::Null;
    merge::merge(&mut config, &entries, How::default()).map_err(|error| Failure::new(error.to_string()))?;
    let text = yaml::text(&config)?;
    match &args.output {
        Some(file) => {
            write_private(file, &text)?;
            output.talk(&format!("wrote {}", file.display()));
            let path = quoted(&file.display().to_string());
            output.suggest(&[("use it", format!("KUBECONFIG={path} kubectl get all"))]);
        }
        None => output.data(&text)?,
    }
    Ok(Exit::Done)
}

/// The address as it was typed, if it can be one: other tools would only say later that it is none.
fn checked(url: &str, args: &Args, settings: &Settings) -> Result<String, Failure> {
    if args.host.is_some() {
        return Err(Failure::new(format!("the address {url} has a host already"))
            .detail("--host is for the server of a data directory"));
    }
    connect::check_url(url).map_err(|error| {
        let failure = Failure::new(error.to_string())
            .next("for example", "sexton kubeconfig --server http://127.0.0.1:8180");
        match settings.server_of_variable {
            true => failure.detail(format!("the variable {} says so", settings::SERVER_VARIABLE)),
            false => failure,
        }
    })?;
    Ok(url.to_owned())
}

/// The address under the name that other machines use, if it has one.
fn outside(server: &RunningServer, host: Option<&str>) -> Result<String, Failure> {
    let Some(host) = host.or(server.hosts.first().map(String::as_str)) else { return Ok(server.url.clone()) };
    if let Some(own) = server.self_signed.clone().map(SelfSigned::at)
        && !own.is_valid_for(host)
    {
        return Err(Failure::new(format!("the certificate of {} is not valid for {host}", server.url)).next(
            "make it so",
            format!("sexton serve --self-signed --host {host}, and the flags it runs with"),
        ));
    }
    let (scheme, address) = server.url.split_once("://").unwrap_or(("http", &server.url));
    let port = address.rsplit_once(':').map_or("", |(_, port)| port);
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    Ok(format!("{scheme}://{host}:{port}"))
}

fn running(data: &Path) -> Result<RunningServer, Failure> {
    if let Some(server) = lock::server(data) {
        return Ok(server);
    }
    let start = format!("sexton serve --data {}", data.display());
    let Some(holder) = lock::holder(data) else {
        return Err(Failure::new(format!("no server uses {}", data.display()))
            .next("start one", start)
            .next("or name one", "sexton kubeconfig --server URL"));
    };
    Err(Failure::new(format!("{} is in use, but not by a server", data.display()))
        .detail(format!("by {holder}"))
        .exit(Exit::Locked))
}

/// Puts it into the kubeconfig that is there.
fn merge_into(args: &Args, entries: &Entries, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    let files = settings.kubeconfig_files();
    // As kubectl does it: the first that is there, or else the last that was named.
    let Some(path) = files.iter().find(|file| file.exists()).or(files.last()).cloned() else {
        return Err(Failure::new("there is no home directory in which a kubeconfig could be")
            .next("name one", "KUBECONFIG=FILE sexton kubeconfig --merge"));
    };
    let others: Vec<PathBuf> = files.into_iter().filter(|file| *file != path && file.is_file()).collect();
    let has_current = connect::current_context(&others).ok().flatten().is_some();
    let how = How { switch: args.switch, has_current, force: args.force };
    let used = file::change(&path, |before| {
        let mut config = read(&path, before.as_deref().unwrap_or_default())?;
        let used = merge::merge(&mut config, entries, how)
            .map_err(|error| refused(args, settings, &path, &error))?;
        Ok((yaml::text(&config)?, used))
    })?;
    let name = quoted(&args.name);
    match used {
        true => output.talk(&format!("{} has {name} as its current context", path.display())),
        false => output
            .talk(&format!("{} has the context {name}: kubectl --context {name} get all", path.display())),
    }
    Ok(Exit::Done)
}

/// What is in a kubeconfig; what cannot be understood is not touched.
fn read(path: &Path, text: &str) -> Result<Value, Failure> {
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    let options = serde_saphyr::options! { with_snippet: false };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        Failure::new(format!("{} cannot be understood and is left as it is: {error}", path.display()))
    })
}

fn refused(args: &Args, settings: &Settings, path: &Path, error: &MergeError) -> Failure {
    let typed = |name: &str| format!("sexton kubeconfig --merge --name {name}{}", settings.flags());
    let failure = Failure::new(format!("{} is left as it is: {error}", path.display()));
    match error {
        MergeError::NotOne(_) => failure,
        MergeError::Taken { .. } => failure
            .next("take another name", typed("NAME"))
            .next("or overwrite it", format!("{} --force", typed(&quoted(&args.name)))),
    }
}

fn entries(
    url: &str,
    name: &str,
    credentials: &Credentials,
    settings: &Settings,
) -> Result<Entries, Failure> {
    let mut cluster = json!({"server": url});
    if let Some(file) = &credentials.authority {
        let bytes = std::fs::read(file).map_err(|error| {
            Failure::new(format!("cannot read the certificates in {}: {error}", file.display()))
        })?;
        cluster["certificate-authority-data"] = STANDARD.encode(bytes).into();
    }
    let user = credentials.token.as_ref().map_or(json!({}), |token| json!({"token": token}));
    Ok(Entries { name: name.to_owned(), cluster, user, namespace: settings.namespace.clone() })
}

/// Writes a new file. It may contain a token, so other users cannot read it at any moment.
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
