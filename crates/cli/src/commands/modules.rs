//! `sexton modules`: the modules that exist, their deployments, and the holders of their leases.

use serde_json::json;
use sexton_collector::modules::{LeaseView, ModuleView, Modules};
use sexton_model::module::ModulePhase;

use super::apply::tools;
use crate::failure::{Exit, Failure};
use crate::output::ndjson::Event;
use crate::output::style::{padded, width};
use crate::output::{FormFlag, Output};
use crate::settings::{Settings, quoted};
use crate::world::{Purpose, World};

/// Show modules and their deployments
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    /// Only this one, with its history
    #[arg(value_name = "MODULE")]
    module: Option<String>,
    #[command(flatten)]
    form: FormFlag,
    /// The same as -o json
    #[arg(long, hide = true)]
    json: bool,
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Take the lease of a module away from whoever holds it
    Unlock {
        /// The name of the module
        #[arg(value_name = "MODULE")]
        module: String,
        #[command(flatten)]
        form: FormFlag,
    },
}

pub(crate) async fn run(args: Args, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    let purpose = if args.verb.is_some() { Purpose::Write } else { Purpose::Look };
    let world = World::open(settings, purpose).await?;
    let modules = Modules::open(tools(&world).await?).await?;
    match (args.verb, args.module) {
        (Some(Verb::Unlock { module, .. }), _) => unlock(&modules, &module, output).await,
        (None, Some(module)) => one(&modules, &module, &world, settings, output).await,
        (None, None) => all(&modules, &world, output).await,
    }
}

async fn unlock(modules: &Modules, module: &str, output: &Output) -> Result<Exit, Failure> {
    let taken = modules.unlock(module).await;
    let taken = taken.map_err(|error| Failure::new(error.to_string()).because(&error))?;
    if output.is_stream() {
        let (holder, since) = taken.as_ref().map(|taken| (&*taken.holder, &*taken.since)).unzip();
        output.event(&Event::Unlocked { module, holder, since })?;
        return Ok(Exit::Done);
    }
    match taken {
        Some(LeaseView { holder, since, .. }) => {
            output
                .line(&format!("the lease of {module} was taken from {holder}, who had it since {since}"))?;
        }
        None => output.talk(&format!("nobody holds the lease of {module}")),
    }
    Ok(Exit::Done)
}

async fn all(modules: &Modules, world: &World, output: &Output) -> Result<Exit, Failure> {
    let views = modules.list().await.map_err(|error| Failure::new(error.to_string()).because(&error))?;
    if output.is_stream() {
        views.iter().try_for_each(|view| event(view, output))?;
        return Ok(Exit::Done);
    }
    if views.is_empty() {
        output.talk(&format!("there are no modules on {}", world.target));
        return Ok(Exit::Done);
    }
    let head = ["MODULE", "PHASE", "DEPLOYMENT", "OBJECTS", "SWEPT", "AT WORK"].map(str::to_owned);
    let rows: Vec<[String; 6]> = std::iter::once(head).chain(views.iter().map(row)).collect();
    let columns: Vec<usize> =
        (0..6).map(|at| rows.iter().map(|row| width(&row[at])).max().unwrap_or(0)).collect();
    for row in &rows {
        let cells: Vec<String> =
            row.iter().zip(&columns).map(|(cell, columns)| padded(cell, *columns)).collect();
        output.line(cells.join("   ").trim_end())?;
    }
    Ok(Exit::Done)
}

fn row(view: &ModuleView) -> [String; 6] {
    let status = &view.record.status;
    let sealed = status.sealed.as_ref();
    let deployment = sealed.map(|sealed| sealed.deployment_id.clone());
    [
        view.record.spec.manager.clone(),
        status.phase.map_or("-", phase).to_owned(),
        deployment.unwrap_or_else(|| "-".to_owned()),
        sealed.map_or("-".to_owned(), |sealed| sealed.count.to_string()),
        sealed.map_or("-".to_owned(), |sealed| sealed.swept.to_string()),
        view.lease
            .as_ref()
            .filter(|lease| !lease.expired)
            .map_or("-".to_owned(), |lease| lease.holder.clone()),
    ]
}

fn phase(phase: ModulePhase) -> &'static str {
    match phase {
        ModulePhase::Deploying => "deploying",
        ModulePhase::Sealed => "sealed",
        ModulePhase::Failed => "failed",
        ModulePhase::Destroying => "destroying",
    }
}

fn event(view: &ModuleView, output: &Output) -> Result<(), Failure> {
    let lease = view.lease.as_ref().map(|lease| {
        json!({"holder": lease.holder, "since": lease.since, "renewed": lease.renewed, "expired": lease.expired})
    });
    let (spec, status) = (json!(view.record.spec), json!(view.record.status));
    output.event(&Event::Module { spec: &spec, status: &status, lease })
}

async fn one(
    modules: &Modules,
    module: &str,
    world: &World,
    settings: &Settings,
    output: &Output,
) -> Result<Exit, Failure> {
    let found =
        modules.find(module).await.map_err(|error| Failure::new(error.to_string()).because(&error))?;
    let Some(view) = found else {
        return Err(Failure::new(format!("there is no module {module} on {}", world.target))
            .next("see all", format!("sexton modules{}", settings.flags())));
    };
    if output.is_stream() {
        event(&view, output)?;
        return Ok(Exit::Done);
    }
    let (spec, status) = (&view.record.spec, &view.record.status);
    let scope: Vec<String> = spec.scope.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let state = status.phase.map_or("never deployed", phase);
    output.line(&format!("{module} · {state} · scope {}", scope.join(",")))?;
    if let Some(lease) = &view.lease {
        let state = if lease.expired { "expired" } else { "at work" };
        output.line(&format!("  lease     {} since {} ({state})", lease.holder, lease.since))?;
        output.suggest(&[("if that one is dead", format!("sexton modules unlock {}", quoted(module)))]);
    }
    if let Some(intent) = &status.intent {
        let (id, at, by) = (&intent.deployment_id, &intent.started_at, &intent.by);
        output.line(&format!("  begun     {id}  {at}  by {by}, never sealed"))?;
    }
    if let Some(sealed) = &status.sealed {
        let (id, at, by) = (&sealed.deployment_id, &sealed.at, &sealed.by);
        let counts = format!("{} objects, {} swept", sealed.count, sealed.swept);
        output.line(&format!("  sealed    {id}  {at}  by {by}, {counts}"))?;
    }
    let newest = status.sealed.as_ref().map(|sealed| sealed.deployment_id.as_str());
    for past in status.history.iter().filter(|past| Some(past.deployment_id.as_str()) != newest) {
        let (id, at, by) = (&past.deployment_id, &past.at, &past.by);
        let counts = format!("{} objects, {} swept", past.count, past.swept);
        output.line(&format!("  {:<9} {id}  {at}  by {by}, {counts}", phase(past.phase)))?;
    }
    Ok(Exit::Done)
}
