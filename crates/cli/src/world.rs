//! The target of a command: the embedded store, a server of ours or another cluster, all reached by a `kube::Client`.
//!
//! For the embedded store that client calls the router of the server, in this process, so all targets behave the same.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sexton_client::connect::{self, ConnectError, Connection};
use sexton_client::{ForeignGateway, Gateway, Kinds, Place, Resources, ServedKind};
use sexton_collector::preview::World as Seen;
use sexton_model::feed::WHOLE_GROUP;
use sexton_model::hook::Allowance;
use sexton_model::{GroupResource, stored, tombstone};
use sexton_server::api::{Api, OwnerChecks, RealNature};
use sexton_server::http::{App, Authentication, Metrics, RequestLimits, router};
use sexton_store::embedded::{self, OpenError};
use sexton_store::local::LocalEngine;
use sexton_store::{Engine, Retention, Store, memory};

use crate::allowing::AllowingHere;
use crate::failure::{Exit, Failure};
use crate::input::Document;
use crate::lock;
use crate::output::Output;
use crate::settings::{self, Settings};

/// What a command is going to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Only read: a store that does not exist is not created.
    Look,
    /// Read, and perhaps write: a store that does not exist is created.
    Write,
}

/// How long to wait for a command that uses the same data directory, and is probably as short as this one.
const PATIENCE: Duration = Duration::from_secs(5);

/// The target of a command.
#[derive(Debug)]
pub(crate) struct World {
    /// The client for its resources.
    pub(crate) resources: Resources,
    /// Its name, for headers and questions.
    pub(crate) target: String,
    /// The namespace that is meant when a document names none.
    pub(crate) namespace: String,
    /// The namespace that was typed; a document that names another one contradicts it.
    given: Option<String>,
    /// Whether the store is in this process.
    pub(crate) embedded: bool,
    /// The data directory, if it is.
    pub(crate) data: Option<PathBuf>,
    /// What methods of classes that are stored on a cluster may run and call on this machine.
    pub(crate) allowance: Allowance,
    output: Output,
    /// Whether groups that do not answer were named already: once per command is enough.
    warned: AtomicBool,
}

impl World {
    /// Opens the target that the settings name.
    pub(crate) async fn open(settings: &Settings, purpose: Purpose) -> Result<World, Failure> {
        if let Some(url) = &settings.server {
            let connection = connect::to_url(url, &settings.credentials()?).await;
            let connection = connection.map_err(|error| cannot_connect(error, settings))?;
            let target = match settings.server_of_variable {
                true => format!("{} ({})", connection.address, settings::SERVER_VARIABLE),
                false => connection.address.clone(),
            };
            return World::over(connection, target, settings);
        }
        if let Some(name) = &settings.context {
            let connection = connect::to_context(name, &settings.kubeconfig_files()).await;
            let connection = connection.map_err(|error| cannot_connect(error, settings))?;
            let target = format!("context {name} ({})", connection.address);
            return World::over(connection, target, settings);
        }
        if let Some(file) = &settings.kubeconfig {
            // A kubeconfig means a cluster; falling back to the store in this directory would change the wrong target.
            return Err(Failure::new("--kubeconfig alone does not say which cluster is meant")
                .next(
                    "see its contexts",
                    format!("kubectl config get-contexts --kubeconfig {}", file.display()),
                )
                .next("name one", "the same command with --context NAME"));
        }
        World::embedded(settings, purpose).await
    }

    fn over(connection: Connection, target: String, settings: &Settings) -> Result<World, Failure> {
        let namespace = settings.namespace.clone().unwrap_or(connection.namespace);
        Ok(World {
            resources: Resources::new(connection.client).within(&namespace),
            target,
            namespace,
            given: settings.namespace.clone(),
            embedded: false,
            data: None,
            allowance: settings
                .allowing
                .as_ref()
                .map(AllowingHere::allowance)
                .transpose()?
                .unwrap_or_default(),
            output: Output::new(settings.no_color),
            warned: AtomicBool::new(false),
        })
    }

    async fn embedded(settings: &Settings, purpose: Purpose) -> Result<World, Failure> {
        let dir = &settings.data;
        check_directory(dir)?;
        let mut target = format!("{} (embedded)", dir.display());
        let engine: Arc<dyn Engine> = if purpose == Purpose::Look && is_absent(dir)? {
            target = format!("{} (embedded, empty)", dir.display());
            Arc::new(memory::open_indexed(Retention::default(), stored::terms))
        } else {
            match open_patiently(settings).await? {
                Opened::Here(engine) => Arc::new(engine),
                Opened::Served(connection) => {
                    let url = connection.address.clone();
                    Output::new(settings.no_color)
                        .talk(&format!("using the server {url}, which serves {}", dir.display()));
                    return World::over(connection, url, settings);
                }
            }
        };
        let api = Api::open(Store::new(engine), Arc::new(RealNature), OwnerChecks::Warn).await;
        let api = api.map_err(|failure| Failure::new(format!("{}: {failure}", dir.display())))?;
        let app = App::new(api, Authentication::InProcess, RequestLimits::default(), Metrics::default());
        Ok(World {
            resources: Resources::new(connect::in_process(router(app))),
            target,
            namespace: settings.namespace.clone().unwrap_or_else(|| "default".into()),
            given: settings.namespace.clone(),
            embedded: true,
            data: Some(dir.clone()),
            allowance: Allowance::default(),
            output: Output::new(settings.no_color),
            warned: AtomicBool::new(false),
        })
    }

    /// What methods may run and call on this machine, where that has to be decided: on a cluster others write classes,
    /// too. The store of this process has no other users, and a server of ours runs methods itself.
    pub(crate) fn allowance(&self, kinds: &Kinds) -> Option<&Allowance> {
        (!self.embedded && !is_ours(kinds)).then_some(&self.allowance)
    }

    /// Where a document goes. One that names another namespace than was typed is refused, whatever is done with it.
    pub(crate) fn place(&self, document: &Document, kind: &ServedKind) -> Result<Place, Failure> {
        let own = document.namespace.as_str();
        if let Some(given) =
            self.given.as_deref().filter(|given| kind.namespaced && !own.is_empty() && own != *given)
        {
            let origin = &document.origin;
            return Err(Failure::new(format!(
                "{origin}: metadata.namespace is {own:?}, but -n says {given:?}"
            )));
        }
        let namespace = if own.is_empty() { self.namespace.as_str() } else { own };
        Ok(Place::new(kind, Some(namespace)))
    }

    /// Names the kinds that a snapshot could not list: decisions that depend on them are unknown. Groups that do not
    /// answer are left out, because `kinds` has named them.
    pub(crate) fn tell_unseen(&self, seen: &Seen) {
        self.tell_ignored_classes(seen);
        let whole = format!("{WHOLE_GROUP}.");
        let mut unseen: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (why, kinds) in seen.unseen() {
            // Each refusal names its kind; they are one line together.
            let why = if why.contains("is forbidden") { "they may not be listed".to_owned() } else { why };
            unseen.entry(why).or_default().extend(kinds.into_iter().filter(|kind| !kind.starts_with(&whole)));
        }
        for (why, kinds) in &unseen {
            let [first, others @ ..] = kinds.as_slice() else { continue };
            let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
            self.output.talk(&format!("warning: not all {first}{more} can be seen: {why}"));
        }
    }

    /// Names the classes that are ignored, and why: their methods are not called.
    pub(crate) fn tell_ignored_classes(&self, seen: &Seen) {
        seen.ignored_classes().iter().for_each(|line| self.output.talk(&format!("warning: {line}")));
    }

    /// Feed and bulk writes. Our own server has both; for other clusters they are built from watches and single writes.
    pub(crate) fn gateway(&self, kinds: &Kinds) -> Arc<dyn Gateway> {
        if is_ours(kinds) {
            return Arc::new(self.resources.clone());
        }
        Arc::new(ForeignGateway::of(&self.resources))
    }

    /// What the target serves. Groups that do not answer are named once.
    pub(crate) async fn kinds(&self) -> Result<Kinds, Failure> {
        // The first request of every command, so its errors name the target that does not answer.
        let kinds =
            self.resources.kinds().await.map_err(Failure::from).map_err(|failure| Failure {
                what: format!("{}: {}", self.target, failure.what),
                ..failure
            })?;
        if !kinds.unread.is_empty() && !self.warned.swap(true, Ordering::Relaxed) {
            for (group, status) in &kinds.unread {
                self.output.talk(&format!("warning: the group {group} does not answer: {}", status.message));
            }
            self.output.talk("  its kinds are unknown: what may depend on them is left alone");
        }
        Ok(Kinds::clone(&kinds))
    }
}

/// Whether this is a server of ours, which has records of collections.
pub(crate) fn is_ours(kinds: &Kinds) -> bool {
    kinds.bulk
}

/// Whether destroyed objects can leave tombstones: always on a server of ours, elsewhere if our kinds are installed.
pub(crate) fn keeps_tombstones(kinds: &Kinds) -> bool {
    let wanted = GroupResource::new("sexton.dev", tombstone::RESOURCE);
    kinds.preferred().any(|kind| kind.resource == wanted)
}

/// Whether the directory has no store. An error if that cannot be found out.
fn is_absent(dir: &Path) -> Result<bool, Failure> {
    for name in ["store.db", "store.db-wal"] {
        let file = dir.join(name);
        let there =
            file.try_exists().map_err(|error| Failure::new(format!("{}: {error}", file.display())))?;
        if there {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A store in this process, or the server that has it.
enum Opened {
    Here(LocalEngine),
    Served(Connection),
}

/// Opens the store of the data directory. While another short command uses it, tries again for [`PATIENCE`]; if a
/// server serves it, connects to that server.
async fn open_patiently(settings: &Settings) -> Result<Opened, Failure> {
    let (dir, since) = (&settings.data, Instant::now());
    let options = embedded::Options {
        indexer: Some(stored::terms),
        urgent: Some(stored::is_deletion_step),
        ..embedded::Options::default()
    };
    loop {
        let error = match embedded::open(dir, options) {
            Ok(engine) => return Ok(Opened::Here(engine)),
            Err(error @ OpenError::Locked { .. }) => error,
            Err(error) => return Err(cannot_open(dir, &error)),
        };
        let late = since.elapsed() > PATIENCE;
        if let Some(server) = lock::server(dir) {
            let connection = connect::to_url(&server.url, &settings.credentials_for(&server)?).await;
            let connection = connection.map_err(|error| cannot_connect(error, settings))?;
            // An unavailable server is starting, or was killed a moment ago: try again.
            if late || !connection.is_unavailable().await {
                return Ok(Opened::Served(connection));
            }
        } else if late {
            return Err(cannot_open(dir, &error));
        }
        // There is no event for a lock that becomes free, so it is tried again.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The failure for a store that cannot be opened, with the command to type next.
pub(crate) fn cannot_open(dir: &Path, error: &OpenError) -> Failure {
    match error {
        OpenError::Locked { holder, .. } => in_use(dir, holder),
        error @ (OpenError::NotAStore { .. } | OpenError::Corrupt { .. } | OpenError::Lost { .. }) => {
            Failure::new(error.to_string())
                .because(error)
                .next("restore a backup in another directory", "sexton restore FILE --data DIR")
        }
        error => elsewhere(Failure::new(error.to_string()).because(error)),
    }
}

/// Fails if the path is no directory, or if every user of the machine can read the store.
pub(crate) fn check_directory(dir: &Path) -> Result<(), Failure> {
    if dir.metadata().is_ok_and(|found| !found.is_dir()) {
        return Err(elsewhere(Failure::new(format!("{} is a file, not a data directory", dir.display()))));
    }
    match embedded::is_exposed(dir) {
        true => Err(exposed(&format!("the store in {}", dir.display()), dir, "700")),
        false => Ok(()),
    }
}

fn elsewhere(failure: Failure) -> Failure {
    failure.next("use another directory", "the same command with --data DIR")
}

/// The failure for a file or directory that every user of the machine can read.
pub(crate) fn exposed(what: &str, path: &Path, mode: &str) -> Failure {
    Failure::new(format!("{what} can be read by every user of this machine"))
        .detail("it holds what is secret; nothing was read")
        .next("make it private", format!("chmod {mode} {}", settings::quoted(&path.display().to_string())))
}

/// The failure for a data directory that another process uses.
pub(crate) fn in_use(dir: &Path, holder: &str) -> Failure {
    let failure = Failure::new(format!("{} is in use", dir.display()))
        .detail(format!("by {holder}"))
        .exit(Exit::Locked);
    match lock::server(dir) {
        Some(_) => failure.detail("commands on this directory use that server by themselves"),
        None => failure
            .detail("an embedded store is used by one command at a time; a server shares it")
            .next("start a server", format!("sexton serve --data {}", dir.display())),
    }
}

fn cannot_connect(error: ConnectError, settings: &Settings) -> Failure {
    let failure = Failure::new(error.to_string()).because(&error);
    let failure = match settings.server_of_variable {
        true => failure.detail(format!("the variable {} says so", settings::SERVER_VARIABLE)),
        false => failure,
    };
    match error {
        ConnectError::NoContext { known, files, .. } if known.is_empty() => {
            let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
            failure.detail(format!("no contexts in {}", files.join(", ")))
        }
        ConnectError::NoContext { known, .. } => failure.detail(format!("there are: {}", known.join(", "))),
        ConnectError::BadUrl { .. } => failure.next("for example", "--server http://127.0.0.1:8180"),
        ConnectError::Kubeconfig(_) | ConnectError::SetUp(_) => failure,
    }
}
