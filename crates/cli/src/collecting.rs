//! A collector for a server or for the store of this process: wired here, decided elsewhere.

use std::sync::Arc;
use std::time::Duration;

use sexton_client::foreign::{BulkOptions, FeedOptions};
use sexton_client::{ForeignGateway, Gateway, Kinds, Resources};
use sexton_collector::hooks::{Hooks, Scripts};
use sexton_collector::{Collector, EventSettings, Means, Runner, Settings, SystemClock};
use sexton_lifecycle::{DeletionScope, FuseLimits};
use sexton_model::hook::Allowance;

use crate::world::{World, is_ours};

/// Who collects for the server itself: one per store, so a lease under this name is a dead predecessor's.
const OF_THE_STORE: &str = "sexton-serve";

/// What can be chosen on the command line.
#[derive(Debug, Clone)]
pub(crate) struct Choices {
    /// How long a life without owners is left alone.
    pub(crate) orphan_grace: Duration,
    /// How much of what nobody asked for may be destroyed at once.
    pub(crate) fuse: FuseLimits,
    /// Whether what is done is told as events.
    pub(crate) events: bool,
    /// What methods of classes may run and call.
    pub(crate) allowance: Allowance,
}

impl Choices {
    fn events(&self) -> Option<EventSettings> {
        self.events.then(EventSettings::default)
    }
}

/// The collector of the store that this process serves, or works on. `wrap` is put around what runs hooks.
pub(crate) fn of_the_store(
    resources: Resources,
    choices: Choices,
    wrap: impl FnOnce(Arc<dyn Runner>) -> Arc<dyn Runner>,
) -> Collector {
    let mut settings = Settings::new(OF_THE_STORE);
    settings.lease.inherits = true;
    settings.orphan_grace = choices.orphan_grace;
    settings.fuse = choices.fuse;
    settings.events = choices.events();
    collector_with(Arc::new(resources.clone()), resources, settings, Some(choices.allowance), wrap)
}

/// A collector for a server of ours, beside others that may be there.
pub(crate) fn of_a_server(resources: Resources, choices: Choices) -> Collector {
    let mut settings = Settings::new(own_name());
    settings.orphan_grace = choices.orphan_grace;
    settings.fuse = choices.fuse;
    settings.events = choices.events();
    let gateway = Arc::new(resources.clone());
    collector_with(gateway, resources, settings, Some(choices.allowance), |runner| runner)
}

/// A collector for any Kubernetes. Orphans are left to rules there: nobody can prove that an owner is gone.
pub(crate) fn of_a_cluster(resources: Resources, choices: Choices) -> Collector {
    let mut settings = Settings::new(own_name());
    settings.takes_orphans = false;
    settings.events = choices.events();
    let client = resources.client().clone();
    let gateway = ForeignGateway::new(client, FeedOptions::default(), BulkOptions::default());
    collector_with(Arc::new(gateway), resources, settings, Some(choices.allowance), |runner| runner)
}

/// The collector of a command. Its user is its operator: it runs what the plan shows.
fn collector(gateway: Arc<dyn Gateway>, resources: Resources, settings: Settings) -> Collector {
    collector_with(gateway, resources, settings, None, |runner| runner)
}

fn collector_with(
    gateway: Arc<dyn Gateway>,
    resources: Resources,
    settings: Settings,
    allowance: Option<Allowance>,
    wrap: impl FnOnce(Arc<dyn Runner>) -> Arc<dyn Runner>,
) -> Collector {
    let mut hooks = Hooks::new().parallel(settings.hooks_at_once);
    if let Some(allowance) = allowance {
        hooks = hooks.allowing(allowance);
    }
    if let Ok(program) = std::env::current_exe() {
        let worker = vec![program.to_string_lossy().into_owned(), "script-worker".to_owned()];
        hooks = hooks.with_scripts(Scripts::new(worker, resources.clone()));
    }
    let runner = wrap(Arc::new(hooks));
    let means = Means { gateway, resources, runner, clock: Arc::new(SystemClock) };
    Collector::new(means, settings)
}

/// A name that no other collector has.
pub(crate) fn own_name() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = if host.trim().is_empty() { "sexton" } else { host.trim() };
    // Processes of one machine differ by number, and in time.
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    format!("{host}-{}-{:x}", std::process::id(), since.as_nanos())
}

/// The collector that carries one plan out for a command: on the store of this process, and on a cluster of another make,
/// where perhaps nothing else collects. None on a server of ours, which does it itself.
pub(crate) fn of_a_plan(world: &World, kinds: &Kinds, scope: DeletionScope) -> Option<Collector> {
    let resources = world.resources.clone();
    if world.embedded {
        return Some(of_a_plan_here(resources, scope, None));
    }
    if is_ours(kinds) {
        return None;
    }
    let mut settings = for_commands(own_name(), scope);
    settings.finalizes_containers = false;
    settings.lease.fallback = resources.namespace().map(str::to_owned);
    let gateway = ForeignGateway::of(&resources);
    Some(collector(Arc::new(gateway), resources, settings))
}

/// The same on the store of this process. With a grace it takes those of the plan whose owners do not exist, too.
pub(crate) fn of_a_plan_here(
    resources: Resources,
    scope: DeletionScope,
    orphan_grace: Option<Duration>,
) -> Collector {
    let mut settings = for_commands(OF_THE_STORE.to_owned(), scope);
    settings.lease.inherits = true;
    if let Some(grace) = orphan_grace {
        (settings.takes_orphans, settings.orphan_grace) = (true, grace);
    }
    collector(Arc::new(resources.clone()), resources, settings)
}

/// A command destroys what is in its plan, and leaves orphans and rules to collectors that work for everything.
fn for_commands(holder: String, scope: DeletionScope) -> Settings {
    let mut settings = Settings::new(holder);
    settings.takes_orphans = false;
    settings.keeps_rules = false;
    settings.rules.scope = scope;
    settings
}
