//! Builds collectors: for a server, for a cluster that is not ours, and for one plan of a command. Only the wiring is
//! here.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sexton_client::foreign::{BulkOptions, FeedOptions};
use sexton_client::{ForeignGateway, Gateway, Kinds, Resources};
use sexton_collector::hooks::{Hooks, Keeper, Scripts};
use sexton_collector::{Collector, EventSettings, Means, Runner, Settings, SystemClock};
use sexton_lifecycle::{DeletionLimit, DeletionScope};
use sexton_model::hook::Allowance;

use crate::world::{World, is_ours};

/// The holder name of a collector on the store of its own process: in a server, or in a command. A store is used by one
/// process at a time, so a lease with this name that exists at the start is of a process that has ended.
const OF_THE_STORE: &str = "sexton-serve";

/// Deadlines are written in whole seconds; with less, no call could be made at all.
const SHORTEST_HOOK_TIME: Duration = Duration::from_secs(1);
/// The argument that makes a process the keeper of a hook; [`keeper_words`] recognizes it.
const KEEPER_WORD: &str = "hook-keeper";
/// The subdirectory of a data directory with the records of hooks that are under way.
const RECORDS: &str = "hooks";

/// The arguments after [`KEEPER_WORD`], if this process was started as the keeper of a hook.
pub(crate) fn keeper_words() -> Option<impl Iterator<Item = std::ffi::OsString>> {
    let mut words = std::env::args_os().skip(1);
    (words.next()? == KEEPER_WORD).then_some(words)
}

/// What can be chosen on the command line.
#[derive(Debug, Clone)]
pub(crate) struct Choices {
    /// How long an object with absent owners is left alone.
    pub(crate) orphan_grace: Duration,
    /// The deletion limit: how many objects may be destroyed at once that no request named.
    pub(crate) fuse: DeletionLimit,
    /// Whether the collector writes Events.
    pub(crate) events: bool,
    /// What methods of classes may run and call.
    pub(crate) allowance: Allowance,
    /// The longest that a call of a hook may take.
    pub(crate) max_hook_time: Duration,
}

impl Choices {
    fn events(&self) -> Option<EventSettings> {
        self.events.then(EventSettings::default)
    }
}

/// The collector of the store that this process serves. `wrap` is put around the runner of hooks.
pub(crate) fn of_the_store(
    resources: Resources,
    data: &Path,
    choices: Choices,
    wrap: impl FnOnce(Arc<dyn Runner>) -> Arc<dyn Runner>,
) -> Collector {
    let mut settings = Settings::new(OF_THE_STORE);
    settings.lease.inherits = true;
    settings.orphan_grace = choices.orphan_grace;
    settings.fuse = choices.fuse;
    settings.events = choices.events();
    settings.max_hook_time = choices.max_hook_time.max(SHORTEST_HOOK_TIME);
    collector_with(
        Arc::new(resources.clone()),
        resources,
        settings,
        Some(data),
        Some(choices.allowance),
        wrap,
    )
}

/// A collector for a server of ours, where other collectors may run: one of them has the lease.
pub(crate) fn of_a_server(resources: Resources, choices: Choices) -> Collector {
    let mut settings = Settings::new(own_name());
    settings.orphan_grace = choices.orphan_grace;
    settings.fuse = choices.fuse;
    settings.events = choices.events();
    settings.max_hook_time = choices.max_hook_time.max(SHORTEST_HOOK_TIME);
    let gateway = Arc::new(resources.clone());
    collector_with(gateway, resources, settings, None, Some(choices.allowance), |runner| runner)
}

/// A collector for any Kubernetes. It leaves orphans to rules, because the absence of an owner cannot be proved there.
pub(crate) fn of_a_cluster(resources: Resources, choices: Choices) -> Collector {
    let mut settings = Settings::new(own_name());
    settings.takes_orphans = false;
    settings.events = choices.events();
    settings.max_hook_time = choices.max_hook_time.max(SHORTEST_HOOK_TIME);
    let client = resources.client().clone();
    let gateway = ForeignGateway::new(client, FeedOptions::default(), BulkOptions::default());
    let gateway = Arc::new(gateway);
    collector_with(gateway, resources, settings, None, Some(choices.allowance), |runner| runner)
}

fn collector_with(
    gateway: Arc<dyn Gateway>,
    resources: Resources,
    settings: Settings,
    data: Option<&Path>,
    allowance: Option<Allowance>,
    wrap: impl FnOnce(Arc<dyn Runner>) -> Arc<dyn Runner>,
) -> Collector {
    let mut hooks = Hooks::new().parallel(settings.hooks_at_once + settings.scripts_at_once);
    if let Some(allowance) = allowance {
        hooks = hooks.allowing(allowance);
    }
    match keeper(data) {
        Ok(keeper) => hooks = hooks.kept_by(keeper),
        Err(error) => {
            tracing::warn!(%error, "hooks run without a keeper: if this process is killed, they go on")
        }
    }
    if let Ok(program) = std::env::current_exe() {
        let worker = vec![program.to_string_lossy().into_owned(), "script-worker".to_owned()];
        hooks = hooks.with_scripts(Scripts::new(worker, resources.clone()));
    }
    let runner = wrap(Arc::new(hooks));
    let means = Means { gateway, resources, runner, clock: Arc::new(SystemClock) };
    Collector::new(means, settings)
}

/// Keepers of hooks. Their records are in the data directory if the store is in this process, else in [`own_records`].
fn keeper(data: Option<&Path>) -> std::io::Result<Keeper> {
    // This very program, also after another version was installed at its path.
    let program = vec!["/proc/self/exe".to_owned(), KEEPER_WORD.to_owned()];
    let dir = data.map_or_else(own_records, |data| data.join(RECORDS));
    Keeper::new(program, &dir)
}

fn own_records() -> PathBuf {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").filter(|dir| !dir.is_empty());
    let state = std::env::var_os("HOME").filter(|dir| !dir.is_empty());
    match (runtime, state) {
        (Some(runtime), _) => PathBuf::from(runtime).join("sexton").join(RECORDS),
        (None, Some(home)) => PathBuf::from(home).join(".local/state/sexton").join(RECORDS),
        (None, None) => PathBuf::from("/var/lib/sexton").join(RECORDS),
    }
}

/// A name that no other collector has.
pub(crate) fn own_name() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = if host.trim().is_empty() { "sexton" } else { host.trim() };
    // Two processes of one machine differ in their number or their start time.
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    format!("{host}-{}-{:x}", std::process::id(), since.as_nanos())
}

/// The collector that executes one plan for a command: on the store of this process, and on a cluster that is not ours,
/// where perhaps no other collector runs. `None` on a server of ours, which has its own.
pub(crate) fn of_a_plan(world: &World, kinds: &Kinds, scope: DeletionScope) -> Option<Collector> {
    let resources = world.resources.clone();
    if let Some(data) = &world.data {
        return Some(of_a_plan_here(resources, data, scope, None));
    }
    if is_ours(kinds) {
        return None;
    }
    let mut settings = for_commands(own_name(), scope);
    settings.finalizes_containers = false;
    settings.lease.fallback = resources.namespace().map(str::to_owned);
    let gateway = ForeignGateway::of(&resources);
    let allowance = world.allowance(kinds).cloned();
    Some(collector_with(Arc::new(gateway), resources, settings, None, allowance, |runner| runner))
}

/// The same on the store of this process. With a grace period it also destroys objects of the scope with absent owners.
pub(crate) fn of_a_plan_here(
    resources: Resources,
    data: &Path,
    scope: DeletionScope,
    orphan_grace: Option<Duration>,
) -> Collector {
    let mut settings = for_commands(OF_THE_STORE.to_owned(), scope);
    settings.lease.inherits = true;
    if let Some(grace) = orphan_grace {
        (settings.takes_orphans, settings.orphan_grace) = (true, grace);
    }
    collector_with(Arc::new(resources.clone()), resources, settings, Some(data), None, |runner| runner)
}

/// The settings for a command: it destroys only objects in its plan, and leaves orphans and rules to other collectors.
fn for_commands(holder: String, scope: DeletionScope) -> Settings {
    let mut settings = Settings::new(holder);
    settings.takes_orphans = false;
    settings.keeps_rules = false;
    settings.rules.scope = scope;
    settings
}
