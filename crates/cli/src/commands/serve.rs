//! `sexton serve`: the API server on the embedded store.
//!
//! Wires store, API and sockets together; decides nothing.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use sexton_client::{Resources, connect};
use sexton_collector::{Stop, Summary};
use sexton_lifecycle::FuseLimits;
use sexton_server::api::{Api, EventExpiry, Failure as ApiFailure, OwnerChecks, RealNature};
use sexton_server::http::{App, Authentication, Metrics, RequestLimits, router};
use sexton_server::serve::{Gate, Listening, Security, SecurityError, SecurityFiles, ServeError};
use sexton_store::embedded::{self, OpenError};
use sexton_store::local::LocalEngine;
use sexton_store::{Engine, Retention, Store};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{oneshot, watch};

use crate::arguments::Command;
use crate::collecting::{self, Choices};
use crate::failure::{Exit, Failure};
use crate::input::durations;
use crate::logging::Logs;
use crate::output::Output;
use crate::settings::Settings;
use crate::world;

/// Serve the API on the embedded store
///
/// On a loopback address the server is plain and open to this machine. On any other address it needs TLS and
/// authentication and says how to make them.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Address to listen on; port 0 takes any free one
    #[arg(long, default_value = "127.0.0.1:8180", value_name = "ADDRESS")]
    listen: SocketAddr,
    /// Certificate chain of the server, PEM
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// Key of the server, PEM
    #[arg(long, value_name = "FILE")]
    tls_key: Option<PathBuf>,
    /// Bearer tokens: lines of `token,user`
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Authority that signs client certificates, PEM; the common name is the user
    #[arg(long, value_name = "FILE")]
    client_ca: Option<PathBuf>,
    /// What happens to owner references that point at nothing that lives
    #[arg(long, value_enum, default_value_t = Checks::Warn)]
    owner_checks: Checks,
    /// How long a watch can be resumed and a list be continued
    #[arg(long, default_value = "10m", value_parser = durations::read, value_name = "DURATION")]
    history_age: Duration,
    /// How much memory and disk that history may take, in MiB
    #[arg(long, default_value_t = Retention::default().bytes >> 20, value_name = "MIB")]
    history_size: usize,
    /// Whether this server collects what its deletions leave; `off` leaves that to `sexton collect`
    #[arg(long, value_enum, default_value_t = Switch::On)]
    collector: Switch,
    /// How long an object is left alone whose owners are all gone, if nobody saw them go
    #[arg(long, default_value = "5s", value_parser = durations::read, value_name = "DURATION")]
    orphan_grace: Duration,
    /// How many objects without owners may be destroyed at once, such as 20 or 30%; more are held. Without it: 10, or half
    /// of all if that is more
    #[arg(long, value_name = "COUNT|PERCENT")]
    max_delete: Option<FuseLimits>,
    /// Write no events about what is destroyed, and what is in the way of that
    #[arg(long)]
    no_events: bool,
    /// How long events are kept after they were repeated last, such as 90m; 0 keeps them for ever
    #[arg(long, default_value = "1h", value_parser = durations::read, value_name = "DURATION")]
    event_ttl: Duration,
    /// Serve nothing that only Sexton has, so that this looks like any Kubernetes: no kinds of the group sexton.dev, no
    /// bulk verb, no feed over all kinds, no collector of its own; `sexton collect` works beside it
    #[arg(long)]
    plain: bool,
    /// How the log on stderr is written
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    log: LogFormat,
    /// Requests served at once; more are told to come back
    #[arg(long, default_value_t = RequestLimits::default().requests, value_name = "COUNT")]
    max_requests: usize,
    /// Watches served at once
    #[arg(long, default_value_t = RequestLimits::default().watches, value_name = "COUNT")]
    max_watches: usize,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Checks {
    /// Stored, with a warning
    Warn,
    /// Refused
    Strict,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Switch {
    /// Yes
    On,
    /// No
    Off,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum LogFormat {
    /// Lines for people
    Text,
    /// A JSON object a line
    Json,
}

/// How a command logs: a server by itself, everything else when asked to.
pub(crate) fn logs(command: &Command) -> Logs {
    match command {
        Command::Serve(Args { log: LogFormat::Json, .. }) => Logs::Json,
        Command::Serve(_) => Logs::Text,
        _ => Logs::Quiet,
    }
}

/// Why serving ended other than on request.
#[derive(Debug, thiserror::Error)]
enum Error {
    /// Not like this.
    #[error(transparent)]
    Security(#[from] SecurityError),
    /// Not on this address.
    #[error(transparent)]
    Listen(#[from] ServeError),
    /// Not with this directory.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The store is there and cannot be served.
    #[error("the store cannot be served")]
    Api(#[from] ApiFailure),
    /// Nobody takes the address.
    #[error("cannot say where the server is")]
    Say(Failure),
    /// The system does not tell us when to stop.
    #[error("cannot listen for signals")]
    Signals(#[source] std::io::Error),
}

/// Serves until a signal says stop.
pub(crate) async fn run(args: Args, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    if settings.server.is_some() || settings.context.is_some() {
        return Err(Failure::new("a server serves a data directory, not another server")
            .next("for example", "sexton serve --data DIR"));
    }
    serve(&settings.data, &args, output)
        .await
        .map(|()| Exit::Done)
        .map_err(|error| failure(&settings.data, error))
}

fn failure(data: &Path, error: Error) -> Failure {
    match error {
        Error::Open(error) => world::cannot_open(data, &error),
        Error::Say(failure) => failure,
        Error::Listen(_) => Failure::new(error.to_string())
            .because(&error)
            .next("take any free port", "sexton serve --listen 127.0.0.1:0"),
        other => Failure::new(other.to_string()).because(&other),
    }
}

async fn serve(data: &Path, args: &Args, output: &Output) -> Result<(), Error> {
    let started = Instant::now();
    let files = SecurityFiles {
        certificate: args.tls_cert.clone(),
        key: args.tls_key.clone(),
        tokens: args.token_file.clone(),
        client_authority: args.client_ca.clone(),
    };
    let security = Security::decide(args.listen, &files)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(Error::Signals)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(Error::Signals)?;
    let listening = Listening::bind(args.listen).await?;
    let address = listening.address();
    let gate = Gate::default();
    let (stop, stopped) = oneshot::channel::<()>();
    let answering = tokio::spawn({
        let (gate, security) = (gate.clone(), security.clone());
        async move { listening.serve(gate, &security, async { drop(stopped.await) }).await }
    });
    // From here on clients hear 503 until the gate opens.
    let engine = open(data, args).await?;
    let scheme = if security.is_encrypted() { "https" } else { "http" };
    let url = format!("{scheme}://{address}");
    // Before anybody is served: whoever finds it ready finds its address, too.
    if let Err(error) = embedded::announce(data, &url) {
        tracing::warn!(%error, "cannot write the address into the lock file");
    }
    let collecting = assemble(&gate, engine.clone(), &security, args).await?;
    tracing::info!(%url, data = %data.display(), millis = started.elapsed().as_millis() as u64, "serving");
    output.line(&format!("serving {} on {url}", data.display())).map_err(Error::Say)?;
    output.talk(&format!("for kubectl: sexton kubeconfig --data {} > kubeconfig", data.display()));
    let why = tokio::select! {
        _ = terminate.recv() => "terminated",
        _ = interrupt.recv() => "interrupted",
    };
    tracing::info!(why, "shutting down");
    if let Some(collecting) = collecting {
        collecting.stop().await;
    }
    drop(stop);
    let _ = answering.await;
    engine.close().await;
    Ok(())
}

async fn open(data: &Path, args: &Args) -> Result<Arc<LocalEngine>, Error> {
    let keep = Retention { age: args.history_age, bytes: args.history_size << 20, ..Retention::default() };
    let data = data.to_owned();
    let options = embedded::Options { retention: keep, indexer: Some(sexton_model::stored::terms) };
    let opening = tokio::task::spawn_blocking(move || embedded::open(&data, options));
    match opening.await {
        Ok(opened) => Ok(Arc::new(opened?)),
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    }
}

async fn assemble(
    gate: &Gate,
    engine: Arc<LocalEngine>,
    security: &Security,
    args: &Args,
) -> Result<Option<Collecting>, Error> {
    let checks = match args.owner_checks {
        Checks::Warn => OwnerChecks::Warn,
        Checks::Strict => OwnerChecks::Strict,
    };
    let (store, nature) = (Store::new(engine.clone()), Arc::new(RealNature));
    let api = match args.plain {
        true => Api::open_plain(store, nature, checks).await?,
        false => Api::open(store, nature, checks).await?,
    };
    let limits = RequestLimits { requests: args.max_requests, watches: args.max_watches };
    let metrics = store_metrics(engine);
    if !args.event_ttl.is_zero() {
        // It ends with the watches, when the server does.
        tokio::spawn(EventExpiry::begin(api.clone(), args.event_ttl).await?.run());
    }
    let collecting = (args.collector == Switch::On && !args.plain).then(|| {
        let orphan_grace = args.orphan_grace;
        let fuse = args.max_delete.unwrap_or_default();
        let events = !args.no_events;
        Collecting::start(api.clone(), Choices { orphan_grace, fuse, events }, &metrics)
    });
    let app = App::new(api, security.authentication(), limits, metrics);
    gate.open(app);
    Ok(collecting)
}

/// The collector of this server, which reaches it only through its API.
struct Collecting {
    stop: watch::Sender<Stop>,
    work: tokio::task::JoinHandle<()>,
}

impl Collecting {
    fn start(api: Api, choices: Choices, metrics: &Metrics) -> Collecting {
        let limits = RequestLimits::default();
        let app = App::new(api, Authentication::InProcess, limits, Metrics::default());
        let resources = Resources::new(connect::in_process(router(app)));
        let collector = collecting::of_the_store(resources, choices);
        collector_metrics(metrics, &collector.summary());
        let (stop, stopped) = watch::channel(Stop::No);
        Collecting { stop, work: tokio::spawn(collector.run(stopped)) }
    }

    /// Waits for calls under way, but not for ever: the next one finds them again.
    async fn stop(self) {
        const PATIENCE: Duration = Duration::from_secs(5);
        self.stop.send_replace(Stop::Drain);
        let mut work = self.work;
        if tokio::time::timeout(PATIENCE, &mut work).await.is_err() {
            self.stop.send_replace(Stop::Now);
            let _ = tokio::time::timeout(PATIENCE, work).await;
        }
    }
}

/// What the collector has to tell about itself.
fn collector_metrics(metrics: &Metrics, summary: &watch::Receiver<Summary>) {
    let count = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
    let now = summary.clone();
    metrics.gauge("collector_lives", "Objects that the collector knows", move || count(now.borrow().lives));
    let now = summary.clone();
    metrics.gauge("collector_doomed", "Objects that are to go", move || count(now.borrow().doomed));
    let now = summary.clone();
    metrics.gauge("collector_blockers", "What is in the way of objects that are to go", move || {
        count(now.borrow().blockers.len())
    });
    let now = summary.clone();
    metrics.gauge("collector_events_dropped", "Events that were not written: too many at once", move || {
        i64::try_from(now.borrow().events_dropped).unwrap_or(i64::MAX)
    });
    let now = summary.clone();
    metrics.gauge("collector_removed", "Objects that the collector removed since start", move || {
        i64::try_from(now.borrow().removed).unwrap_or(i64::MAX)
    });
}

/// What the store has to tell about itself.
fn store_metrics(engine: Arc<LocalEngine>) -> Metrics {
    use std::sync::atomic::Ordering::Relaxed;
    let metrics = Metrics::default();
    let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    let count = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
    let size = engine.clone();
    metrics.gauge("store_objects", "Objects stored", move || count(size.size().0));
    let size = engine.clone();
    metrics
        .gauge("store_history_changes", "Changes that watches can resume from", move || count(size.size().1));
    let size = engine.clone();
    metrics.gauge("store_history_bytes", "Memory that only history holds", move || count(size.size().2));
    let figures = engine.clone();
    metrics.gauge("store_batches", "Durable batches since start", move || {
        number(figures.figures().batches.load(Relaxed))
    });
    let figures = engine.clone();
    metrics.gauge("store_changes", "Durable changes since start", move || {
        number(figures.figures().changes.load(Relaxed))
    });
    metrics.gauge("store_journal_microseconds", "Time spent making batches durable", move || {
        number(engine.figures().journal_micros.load(Relaxed))
    });
    metrics
}
