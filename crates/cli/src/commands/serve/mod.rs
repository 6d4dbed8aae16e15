//! `sexton serve`: the API server on the embedded store.
//!
//! Wires store, API and sockets together; decides nothing.

mod access;
mod metrics;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sexton_client::{Resources, connect};
use sexton_collector::{Runner, Stop};
use sexton_lifecycle::DeletionLimit;
use sexton_model::hook::Allowance;
use sexton_server::api::{Api, EventExpiry, Failure as ApiFailure, OwnerChecks, RealNature};
use sexton_server::http::{App, Authentication, Metrics, RequestLimits, router};
use sexton_server::serve::{Gate, Listening, Security, SecurityError, ServeError};
use sexton_store::embedded::{self, OpenError};
use sexton_store::local::LocalEngine;
use sexton_store::{Engine, Retention, Store};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Notify, oneshot, watch};

use self::access::Access;
use crate::allowing::Allowing;
use crate::arguments::Command;
use crate::collecting::{self, Choices};
use crate::failure::{Exit, Failure};
use crate::input::durations;
use crate::lock::{self, Announcement, RunningServer};
use crate::logging::Logs;
use crate::output::Output;
use crate::settings::{self, Settings};
use crate::world;

/// Serve the API on the embedded store
///
/// On a loopback address the server makes a token of its own in the data directory, which commands on that directory and
/// "sexton kubeconfig" use by themselves; it speaks https and http. On any other address it needs TLS and authentication:
/// --self-signed makes both. Certificates and tokens are read again when their files change, and on SIGHUP.
///
/// It runs no programs and calls no services for classes, unless --allow-exec and --allow-http name them.
///
/// While it runs, commands on the same data directory use it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    access: Access,
    /// What happens to owner references that point at nothing that lives
    #[arg(long, hide_short_help = true, value_enum, default_value_t = Checks::Warn)]
    owner_checks: Checks,
    /// How long a watch can be resumed and a list be continued
    #[arg(long, hide_short_help = true, default_value = "10m", value_parser = durations::read, value_name = "DURATION")]
    history_age: Duration,
    /// How much memory and disk that history may take, in MiB
    #[arg(long, hide_short_help = true, default_value_t = Retention::default().bytes >> 20, value_name = "MIB")]
    history_size: usize,
    /// Whether this server collects what its deletions leave; `off` leaves that to `sexton collect`
    #[arg(long, value_enum, default_value_t = Switch::On)]
    collector: Switch,
    #[command(flatten)]
    allowing: Allowing,
    /// How long an object is left alone whose owners are all gone, if nobody saw them go
    #[arg(long, hide_short_help = true, default_value = "5s", value_parser = durations::read, value_name = "DURATION")]
    orphan_grace: Duration,
    /// How many objects without owners may be destroyed at once, such as 20 or 30%; more are held. Without it: 10, or half
    /// of all if that is more
    #[arg(long, value_name = "COUNT|PERCENT")]
    max_delete: Option<DeletionLimit>,
    /// Write no events about what is destroyed, and what is in the way of that
    #[arg(long, hide_short_help = true)]
    no_events: bool,
    /// How long a call of a hook may take at most, whatever its class says
    #[arg(long, hide_short_help = true, default_value = "1h", value_parser = durations::read, value_name = "DURATION")]
    max_hook_time: Duration,
    /// How long events are kept after they were repeated last, such as 90m; 0 keeps them for ever
    #[arg(long, hide_short_help = true, default_value = "1h", value_parser = durations::read, value_name = "DURATION")]
    event_ttl: Duration,
    /// Serve nothing that only Sexton has, so that this looks like any Kubernetes: no kinds of the group sexton.dev, no
    /// bulk verb, no feed over all kinds, no collector of its own; `sexton collect` works beside it
    #[arg(long, hide_short_help = true)]
    plain: bool,
    /// How the log on stderr is written
    #[arg(long, hide_short_help = true, value_enum, default_value_t = LogFormat::Text)]
    log: LogFormat,
    /// Requests served at once; more are told to come back
    #[arg(long, hide_short_help = true, default_value_t = RequestLimits::default().requests, value_name = "COUNT")]
    max_requests: usize,
    /// Watches served at once
    #[arg(long, hide_short_help = true, default_value_t = RequestLimits::default().watches, value_name = "COUNT")]
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
        Command::Serve(_) | Command::Collect(_) => Logs::Text,
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
    /// The address cannot be written to stdout.
    #[error("cannot say where the server is")]
    Say(Failure),
    /// Signals to stop cannot be received.
    #[error("cannot listen for signals")]
    Signals(#[source] std::io::Error),
}

/// Serves until a signal says stop.
pub(crate) async fn run(args: Args, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    if settings.server.is_some() || settings.context.is_some() {
        return Err(Failure::new("a server serves a data directory, not another server")
            .next("for example", "sexton serve --data DIR"));
    }
    // Before certificates are made in a directory that belongs to another process, or in none.
    world::check_directory(&settings.data)?;
    if let Some(holder) = lock::holder(&settings.data) {
        return Err(world::in_use(&settings.data, &holder));
    }
    let allowance = args.allowing.allowance()?;
    serve(&settings.data, &args, allowance, output)
        .await
        .map(|()| Exit::Done)
        .map_err(|error| failure(&settings.data, &args, error))
}

fn failure(data: &Path, args: &Args, error: Error) -> Failure {
    match error {
        Error::Security(error) => args.access.refused(&error),
        Error::Open(error) => world::cannot_open(data, &error),
        Error::Say(failure) => failure,
        Error::Listen(_) => Failure::new(error.to_string())
            .because(&error)
            .next("take any free port", "sexton serve --listen 127.0.0.1:0"),
        other => Failure::new(other.to_string()).because(&other),
    }
}

async fn serve(data: &Path, args: &Args, allowance: Allowance, output: &Output) -> Result<(), Error> {
    let started = Instant::now();
    let security = args.access.decide(data)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(Error::Signals)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(Error::Signals)?;
    let mut hangup = signal(SignalKind::hangup()).map_err(Error::Signals)?;
    let listening = Listening::bind(args.access.listen).await?;
    let address = listening.address();
    let gate = Gate::default();
    let (stop, stopped) = oneshot::channel::<()>();
    let answering = tokio::spawn({
        let (gate, security) = (gate.clone(), security.clone());
        async move { listening.serve(gate, &security, async { drop(stopped.await) }).await }
    });
    // From here on clients get 503 until the gate opens.
    let engine = open(data, args).await?;
    let running = args.access.announced(data, &security, address);
    // Before the first request is served: a client that finds the server ready finds its address, too.
    let announced = announce(data, &running);
    let collecting = assemble(&gate, engine.clone(), &security, data, args, allowance).await?;
    let millis = started.elapsed().as_millis() as u64;
    tracing::info!(url = running.url, data = %data.display(), millis, "serving");
    say(data, args, &running, output).map_err(Error::Say)?;
    let reload = Arc::new(Notify::new());
    let current = tokio::spawn(security.keep_current(reload.clone()));
    let why = loop {
        tokio::select! {
            _ = terminate.recv() => break "terminated",
            _ = interrupt.recv() => break "interrupted",
            _ = hangup.recv() => reload.notify_one(),
        }
    };
    tracing::info!(why, "shutting down");
    current.abort();
    // Commands that begin now wait until the store is free.
    drop(announced);
    if let Some(collecting) = collecting {
        collecting.stop().await;
    }
    drop(stop);
    let _ = answering.await;
    engine.close().await;
    Ok(())
}

/// Writes the address of the server into the data directory, for commands that find it locked, and for people.
fn announce(data: &Path, running: &RunningServer) -> Option<Announcement> {
    let told = embedded::announce(data, &running.url).and_then(|()| lock::announce(data, running));
    told.inspect_err(|error| tracing::warn!(%error, "cannot write the address into the data directory")).ok()
}

fn say(data: &Path, args: &Args, running: &RunningServer, output: &Output) -> Result<(), Failure> {
    let flag = match data.display().to_string() {
        usual if usual == settings::DATA => String::new(),
        other => format!(" --data {}", settings::quoted(&other)),
    };
    output.line(&format!("serving {} on {}", data.display(), running.url))?;
    if running.self_signed.is_some() {
        output.talk(&format!("certificates and token are in {}", data.join("tls").display()));
    }
    if args.access.is_open() {
        output
            .talk("warning: --open: every user and program of this machine may do everything on this server");
    }
    if args.access.lacks_host() {
        output.talk("other machines need a name in the certificate: serve with --host NAME");
    }
    output.suggest(&[("for kubectl", format!("sexton kubeconfig{flag} -o kubeconfig"))]);
    Ok(())
}

async fn open(data: &Path, args: &Args) -> Result<Arc<LocalEngine>, Error> {
    let keep = Retention { age: args.history_age, bytes: args.history_size << 20, ..Retention::default() };
    let data = data.to_owned();
    let options = embedded::Options {
        retention: keep,
        indexer: Some(sexton_model::stored::terms),
        urgent: Some(sexton_model::stored::is_deletion_step),
    };
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
    data: &Path,
    args: &Args,
    allowance: Allowance,
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
    let metrics = metrics::store_metrics(&engine);
    if !args.event_ttl.is_zero() {
        // It ends with the watches, when the server does.
        tokio::spawn(EventExpiry::begin(api.clone(), args.event_ttl).await?.run());
    }
    let collecting = (args.collector == Switch::On && !args.plain).then(|| {
        let orphan_grace = args.orphan_grace;
        let fuse = args.max_delete.unwrap_or_default();
        let (events, max_hook_time) = (!args.no_events, args.max_hook_time);
        let choices = Choices { orphan_grace, fuse, events, allowance, max_hook_time };
        Collecting::start(api.clone(), data, choices, &metrics)
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
    fn start(api: Api, data: &Path, choices: Choices, metrics: &Metrics) -> Collecting {
        let limits = RequestLimits::default();
        let app = App::new(api, Authentication::InProcess, limits, Metrics::default());
        let resources = Resources::new(connect::in_process(router(app)));
        let timed = |runner| -> Arc<dyn Runner> { Arc::new(metrics::TimedRunner::new(runner, metrics)) };
        let collector = collecting::of_the_store(resources, data, choices, timed);
        metrics::collector_metrics(metrics, &collector.summary());
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
