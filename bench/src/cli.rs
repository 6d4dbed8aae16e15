//! The command line: every flag and its default.
//! Must not know: how anything is measured.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Drives any Kubernetes-compatible server by URL and prints one JSON line per measurement.
#[derive(Parser)]
#[command(name = "sexton-bench", version)]
pub(crate) struct Cli {
    /// Flags that every measurement shares.
    #[command(flatten)]
    pub(crate) common: Common,
    /// What to measure.
    #[command(subcommand)]
    pub(crate) measurement: Measurement,
}

/// Flags that every measurement shares.
#[derive(Args, Clone)]
pub(crate) struct Common {
    /// The server: http://host:port or https://host:port
    #[arg(long, global = true, default_value = "http://127.0.0.1:8080")]
    pub(crate) server: String,
    /// Bearer token
    #[arg(long, global = true, env = "SEXTON_BENCH_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
    /// File holding the bearer token
    #[arg(long, global = true, conflicts_with = "token")]
    pub(crate) token_file: Option<PathBuf>,
    /// PEM file with the authorities that may have signed the server's certificate
    #[arg(long, global = true)]
    pub(crate) certificate_authority: Option<PathBuf>,
    /// PEM file with this client's certificate
    #[arg(long, global = true, requires = "client_key")]
    pub(crate) client_certificate: Option<PathBuf>,
    /// PEM file with this client's private key
    #[arg(long, global = true, requires = "client_certificate")]
    pub(crate) client_key: Option<PathBuf>,
    /// Accept any certificate of the server
    #[arg(long, global = true)]
    pub(crate) insecure_skip_tls_verify: bool,
    /// Namespace to work in; created if missing
    #[arg(long, short, global = true, default_value = "bench")]
    pub(crate) namespace: String,
    /// Start of the name of every object
    #[arg(long, global = true, default_value = "bench")]
    pub(crate) prefix: String,
    /// Part of new names that tells runs apart [default: from the clock]
    #[arg(long, global = true)]
    pub(crate) tag: Option<String>,
    /// Process of the server to read processor time and memory of; repeatable
    #[arg(long = "pid", global = true)]
    pub(crate) pids: Vec<u32>,
    /// Threads of this program
    #[arg(long, global = true, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) threads: u16,
    /// End a measurement after this time even if its count was not reached
    #[arg(long, global = true, default_value_t = 300)]
    pub(crate) max_seconds: u64,
}

/// The measurements.
#[derive(Subcommand)]
pub(crate) enum Measurement {
    /// Create ConfigMaps
    Create(CreateArgs),
    /// Get random existing ConfigMaps
    Get(GetArgs),
    /// List all ConfigMaps of the namespace page by page and check the pages
    List(ListArgs),
    /// Write at a rate and see every watcher receive every write
    Watch(WatchArgs),
    /// Delete existing ConfigMaps one by one
    Delete(DeleteArgs),
    /// Create one by one and compare with the disk's own fsync
    Single(SingleArgs),
    /// Delete an owner and see until the last of what hangs on it is gone
    Cascade(CascadeArgs),
    /// Create alone, and again while others do not read their lists, never send their bodies and close their windows
    Attack(AttackArgs),
    /// Run a program that works on the server, and see how long it takes and how much memory
    Run(RunArgs),
    /// create, get, list, watch, single, delete, in this order
    All(AllArgs),
}

/// Flags of `create`.
#[derive(Args, Clone)]
pub(crate) struct CreateArgs {
    /// How many to create
    #[arg(long, default_value_t = 10_000)]
    pub(crate) count: u64,
    /// Connections, each with one request under way
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) clients: u32,
    /// Bytes of the JSON of one object as sent
    #[arg(long, default_value_t = 1024)]
    pub(crate) size: usize,
    /// Create one owner first and refer to it from every object with blockOwnerDeletion
    #[arg(long)]
    pub(crate) owner: bool,
}

/// Flags of `get`.
#[derive(Args, Clone)]
pub(crate) struct GetArgs {
    /// How many to get
    #[arg(long, default_value_t = 20_000)]
    pub(crate) count: u64,
    /// Connections, each with one request under way
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) clients: u32,
}

/// Flags of `list`.
#[derive(Args, Clone)]
pub(crate) struct ListArgs {
    /// Objects per page
    #[arg(long, default_value_t = 500)]
    pub(crate) page: u64,
    /// It is an error if not exactly this many objects of the prefix are listed
    #[arg(long)]
    pub(crate) expect: Option<u64>,
}

/// Flags of `watch`.
#[derive(Args, Clone)]
pub(crate) struct WatchArgs {
    /// Watches of the collection, each on a connection of its own
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) watchers: u32,
    /// Writes per second to aim at; 0 writes as fast as it goes
    #[arg(long, default_value_t = 5000)]
    pub(crate) rate: u64,
    /// How long to write
    #[arg(long, default_value_t = 10)]
    pub(crate) seconds: u64,
    /// Writing connections
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) clients: u32,
    /// Bytes of the JSON of one object as sent
    #[arg(long, default_value_t = 1024)]
    pub(crate) size: usize,
    /// Updates that follow each create
    #[arg(long, default_value_t = 1)]
    pub(crate) updates: u64,
    /// How long to wait for events after the last write
    #[arg(long, default_value_t = 10)]
    pub(crate) drain_seconds: u64,
}

/// Flags of `delete`.
#[derive(Args, Clone)]
pub(crate) struct DeleteArgs {
    /// How many to delete [default: all of the prefix]
    #[arg(long)]
    pub(crate) count: Option<u64>,
    /// Connections, each with one request under way
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) clients: u32,
}

/// Flags of `attack`.
#[derive(Args, Clone)]
pub(crate) struct AttackArgs {
    /// How many to create, alone and again under attack
    #[arg(long, default_value_t = 5_000)]
    pub(crate) count: u64,
    /// Connections of the honest client, each with one request under way
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) clients: u32,
    /// Bytes of the JSON of one object as sent
    #[arg(long, default_value_t = 1024)]
    pub(crate) size: usize,
    /// Lists of all ConfigMaps of the namespace that are asked for and not read
    #[arg(long, default_value_t = 420, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub(crate) lists: u32,
    /// Creates whose bodies never come
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub(crate) bodies: u32,
    /// Connections of HTTP/2 with closed windows
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=1_000))]
    pub(crate) connections: u32,
    /// Lists on each of them
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) streams: u32,
    /// Rest between the beginning of the attack and the creates
    #[arg(long, default_value_t = 1_000)]
    pub(crate) settle_ms: u64,
    /// How often the attackers let go and come again
    #[arg(long, default_value_t = 3_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) again_ms: u64,
    /// A program that adds to the attack, behind --: it is run when the attack begins, and has to end well
    #[arg(last = true)]
    pub(crate) command: Vec<String>,
}

/// Flags of `run`.
#[derive(Args, Clone)]
pub(crate) struct RunArgs {
    /// How many objects it works on, for the figures per object
    #[arg(long, default_value_t = 1)]
    pub(crate) objects: u64,
    /// The program and its arguments, behind --
    #[arg(last = true, required = true)]
    pub(crate) command: Vec<String>,
}

/// Flags of `single`.
#[derive(Args, Clone)]
pub(crate) struct SingleArgs {
    /// How many to create, one after the other
    #[arg(long, default_value_t = 5000)]
    pub(crate) count: u64,
    /// Bytes of the JSON of one object as sent
    #[arg(long, default_value_t = 1024)]
    pub(crate) size: usize,
    /// Directory on the server's disk in which to measure fsync
    #[arg(long)]
    pub(crate) fsync_dir: Option<PathBuf>,
    /// Synced writes per kind of file, half before and half after the creates
    #[arg(long, default_value_t = 2000)]
    pub(crate) fsync_count: u64,
}

/// How objects hang on each other.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShapeKind {
    /// SIZE dependents of one owner
    Flat,
    /// SIZE is BxD: every object owns B others, D levels below the root
    Tree,
    /// SIZE objects in all, each owning the next
    Chain,
}

/// What the DELETE says about dependents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Policy {
    /// The owner goes at once, its dependents after it
    Background,
    /// Dependents go before their owner
    Foreground,
    /// Dependents stay and lose their reference
    Orphan,
    /// A DELETE without options: what the server takes for the right thing
    Default,
}

/// Flags of `cascade`.
#[derive(Args, Clone)]
pub(crate) struct CascadeArgs {
    /// How the objects hang on each other
    #[arg(value_enum)]
    pub(crate) shape: ShapeKind,
    /// How many: a number, for a tree BxD as in 10x4
    pub(crate) size: String,
    /// What the DELETE says about dependents; several make one line each
    #[arg(long = "policy", value_enum, value_delimiter = ',', default_value = "background")]
    pub(crate) policies: Vec<Policy>,
    /// Cascades per line, each on new objects; the figures are medians
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) repeat: u32,
    /// Connections that create the objects
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) clients: u32,
    /// Rest between the last create and the DELETE, so that what the creates left to do is not counted
    #[arg(long, default_value_t = 500)]
    pub(crate) settle_ms: u64,
    /// Objects that have nothing to do with it, with owners of their own, in other namespaces
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=50_000_000))]
    pub(crate) world: u64,
    /// How long creating the world may take, and removing it
    #[arg(long, default_value_t = 1800)]
    pub(crate) world_seconds: u64,
    /// Leave the objects of --world for another run
    #[arg(long, requires = "world")]
    pub(crate) keep_world: bool,
    /// The objects of --world are there from an earlier run with --keep-world
    #[arg(long, requires = "world")]
    pub(crate) world_exists: bool,
}

/// Flags of `all`.
#[derive(Args, Clone)]
pub(crate) struct AllArgs {
    /// Objects to create and later delete
    #[arg(long, default_value_t = 10_000)]
    pub(crate) count: u64,
    /// Connections of create, get and delete
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) clients: u32,
    /// Bytes of the JSON of one object as sent
    #[arg(long, default_value_t = 1024)]
    pub(crate) size: usize,
    /// Give every created object an owner
    #[arg(long)]
    pub(crate) owner: bool,
    /// Gets to make
    #[arg(long, default_value_t = 20_000)]
    pub(crate) gets: u64,
    /// Objects per page
    #[arg(long, default_value_t = 500)]
    pub(crate) page: u64,
    /// Watches of the collection
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) watchers: u32,
    /// Writes per second during the watch
    #[arg(long, default_value_t = 5000)]
    pub(crate) rate: u64,
    /// How long to write during the watch
    #[arg(long, default_value_t = 10)]
    pub(crate) seconds: u64,
    /// Writing connections during the watch
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) watch_clients: u32,
    /// How long to wait for events after the last write
    #[arg(long, default_value_t = 10)]
    pub(crate) drain_seconds: u64,
    /// Creates of the single client
    #[arg(long, default_value_t = 5000)]
    pub(crate) singles: u64,
    /// Directory on the server's disk in which to measure fsync
    #[arg(long)]
    pub(crate) fsync_dir: Option<PathBuf>,
    /// Synced writes per kind of file
    #[arg(long, default_value_t = 2000)]
    pub(crate) fsync_count: u64,
}
