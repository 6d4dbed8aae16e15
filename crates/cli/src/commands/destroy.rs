//! `sexton destroy`: the end of a whole module, in the reverse order of its deployment, or of an environment.

use std::time::Instant;

use sexton_collector::modules::{Buried, DestroyError, DestroyPlan, LeaseError, Modules, Unlistable};

use super::apply::{LEASE_ENDS, Sweep, deaths, doomed_lines, follow_sweep, order, tools};
use super::delete::consent::{Agreement, Refusal, consent, obtain};
use super::run::end;
use crate::allowing::AllowingHere;
use crate::failure::{Exit, Failure};
use crate::following::{Obituary, silence};
use crate::interrupt::{Interrupts, breakable};
use crate::naming::Names;
use crate::output::ndjson::{self, Event};
use crate::output::style::{Style, count, time, wrapped};
use crate::output::tree::{Beside, DeathPlan, json};
use crate::output::{FormFlag, Output, Paint};
use crate::settings::{Settings, quoted};
use crate::world::{Purpose, World};

/// Destroy all that a module manages, the last that was put first; or an environment and all its objects
///
/// It does not need the documents: what has to be known about the end of an object is stored with it. What is protected
/// stays, and so does the record of the module or the environment then. Doing it twice is no mistake.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The name of the module
    #[arg(value_name = "MODULE", required_unless_present = "env")]
    module: Option<String>,
    /// An environment instead: its objects are destroyed by the program that is stored with it, then its record goes
    #[arg(long, value_name = "NAME", conflicts_with = "module")]
    env: Option<String>,
    /// Show what would happen, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Show everything, however much it is
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    agreement: Agreement,
    #[command(flatten)]
    pub(crate) allowing: AllowingHere,
    #[command(flatten)]
    form: FormFlag,
}

pub(crate) async fn run(args: Args, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    if let Some(environment) = &args.env {
        return end::destroy(environment, args.dry_run, &args.agreement, settings, output).await;
    }
    let module = args.module.as_deref().unwrap_or_default();
    let started = Instant::now();
    let Some((world, modules, plan, names)) = breakable(prepare(&args, module, settings, output)).await?
    else {
        return Ok(Exit::Done);
    };
    let mut interrupts = Interrupts::listen();
    let destroyed = modules.destroy(&plan, &|_| {}).await.map_err(|error| failed(error, module, settings))?;
    let mut gone = 0;
    if let Some(destruction) = plan.destruction.as_ref().filter(|_| !destroyed.swept.accused.is_empty()) {
        let accused = &destroyed.swept.accused;
        let sweep = Sweep { accused, destruction, names: &names, settings };
        let says: &Obituary<'_> = if output.is_stream() { &ndjson::gone } else { &silence };
        let swept = follow_sweep(&world, sweep, says, &mut interrupts, output).await?;
        let (left, interrupted) = (swept.left, swept.interrupted);
        output.summarize(serde_json::json!({"gone": swept.gone, "left": left, "interrupted": interrupted}));
        if swept.exit != Exit::Done {
            return Ok(swept.exit);
        }
        gone = swept.gone;
    }
    let buried = match destroyed.buried {
        true => Buried::Gone,
        false => {
            let modules = match takes_kinds_along(&plan) {
                true => {
                    world.resources.kinds_anew().await?;
                    Modules::open(tools(&world).await?).await?
                }
                false => modules,
            };
            modules
                .bury(module, destroyed.left.as_ref())
                .await
                .map_err(|error| failed(error, module, settings))?
        }
    };
    tell_end(module, buried, gone, started, output)
}

/// Whether the server serves other kinds once all of it is gone.
fn takes_kinds_along(plan: &DestroyPlan) -> bool {
    let mut steps = plan.destruction.iter().flat_map(|destruction| destruction.plan.steps());
    steps.any(|step| ["CustomResourceDefinition", "APIService"].contains(&step.kind.as_str()))
}

/// What became of the module itself.
fn tell_end(
    module: &str,
    buried: Buried,
    gone: usize,
    started: Instant,
    output: &Output,
) -> Result<Exit, Failure> {
    let took = time(started.elapsed());
    output.summarize(serde_json::json!({"module": module, "moduleGone": matches!(buried, Buried::Gone)}));
    match buried {
        Buried::Gone => {
            let event = Event::Gone { label: &format!("Module/{module}"), uid: "" };
            let text = format!("{module} is gone, {} with it · {took}", count(gone));
            output.tell(&event, '-', Paint::Bad, &text)?;
            Ok(Exit::Done)
        }
        Buried::Left(left) => {
            let are = if left.len() == 1 { "is" } else { "are" };
            let what = format!("{} of {module} {are} still there", count(left.len()));
            output.tell(&Event::Trouble { message: &what }, '!', Paint::Change, &what)?;
            Ok(Exit::Partial)
        }
        Buried::Unknown(kinds) => {
            let what = format!("the record of {module} stays: {}", Unlistable::lines(&kinds).join("; "));
            output.tell(&Event::Trouble { message: &what }, '!', Paint::Change, &what)?;
            if kinds.iter().any(|one| one.forbidden) {
                output
                    .talk("with gcScope namespace=NAME in its settings only that namespace must be listed:");
                output.talk("apply it so once, then destroy it");
            }
            Ok(Exit::Partial)
        }
    }
}

async fn prepare(
    args: &Args,
    module: &str,
    settings: &Settings,
    output: &Output,
) -> Result<Option<(World, Modules, DestroyPlan, Names)>, Failure> {
    let purpose = if args.dry_run { Purpose::Look } else { Purpose::Write };
    let world = World::open(settings, purpose).await?;
    let modules = Modules::open(tools(&world).await?).await?;
    let plan = modules
        .plan_destroy(module)
        .await
        .map_err(|error| Failure::new(error.to_string()).because(&error))?;
    let names = Names::new(modules.kinds(), &world.namespace);
    if plan.victims.is_empty() && !plan.recorded {
        output.talk(&format!("there is nothing of a module {module} on {}", world.target));
        return Ok(None);
    }
    let written = |style| written(&plan, &world, &names, args.full, style);
    match args.dry_run {
        _ if output.is_stream() => output.data(&lines(&plan, &world, &names, args.dry_run))?,
        true => output.data(&written(output.data_style()))?,
        false => output.talk_text(&written(output.talk_style())),
    }
    let digest: String = plan.digest.chars().take(8).collect();
    let command = format!("sexton destroy {}{}", quoted(module), settings.flags());
    if args.dry_run {
        output.suggest(&[("do exactly this", format!("{command} --approve {digest}"))]);
        output.talk("Nothing was written.");
        return Ok(None);
    }
    let given = args.agreement.given(&plan.digest);
    let doomed = plan.destruction.as_ref().map_or(0, |destruction| destruction.plan.len());
    let what = format!("all {} of {module}", count(doomed));
    let question = format!("Destroy {what} on {}?", world.target);
    let refusal = Refusal { command: &command, digest: &plan.digest, what: &what };
    if doomed > 0 || args.agreement.approve.is_some() {
        obtain(consent(given, &[]), &question, &refusal, output).await?;
    }
    Ok(Some((world, modules, plan, names)))
}

/// The plan as one text, so that its lines are not mixed with other output.
fn written(plan: &DestroyPlan, world: &World, names: &Names, full: bool, style: Style) -> String {
    let order = order(&plan.spec);
    let mut text = format!("destroy {} on {}{}{order}\n", plan.module, world.target, style.dot());
    let deaths = plan.destruction.as_ref().map(|all| deaths(all, &plan.victims, names)).unwrap_or_default();
    text.push_str(&doomed_lines(&deaths, full, style));
    let kept = plan.kept.iter().map(|kept| format!("! {}  kept: {}", names.member(&kept.member), kept.why));
    let unlistable = Unlistable::lines(&plan.unlistable).into_iter().map(|line| format!("? {line}"));
    let ignored = plan.destruction.iter().flat_map(|all| all.world.ignored_classes());
    for line in kept.chain(unlistable).chain(ignored.map(|line| format!("! {line}"))) {
        let lines = wrapped(&line, style.columns(), 2);
        text.extend(lines.iter().map(|line| format!("{}\n", style.paint(line, Paint::Change))));
    }
    text.push_str(&format!("Plan: {} to destroy.\n", count(deaths.len())));
    text
}

/// The same for programs.
fn lines(plan: &DestroyPlan, world: &World, names: &Names, preview: bool) -> String {
    let beside = |label: String, why: &str| Beside { label, why: why.to_owned() };
    json::ndjson(&DeathPlan {
        target: world.target.clone(),
        title: format!("destroy {}", plan.module),
        preview,
        entries: plan.destruction.as_ref().map(|all| deaths(all, &plan.victims, names)).unwrap_or_default(),
        kept: plan.kept.iter().map(|kept| beside(names.member(&kept.member), &kept.why)).collect(),
        unknown: plan.unlistable.iter().map(|one| beside(one.kind.clone(), &one.why)).collect(),
        digest: plan.digest.clone(),
        ..DeathPlan::default()
    })
}

fn failed(error: DestroyError, module: &str, settings: &Settings) -> Failure {
    let error = match error {
        DestroyError::MayNot(error) => return error.into(),
        error => error,
    };
    let failure = Failure::new(error.to_string()).because(&error);
    match &error {
        DestroyError::Lease(LeaseError::Held { .. }) => failure.exit(Exit::Locked).detail(LEASE_ENDS).next(
            "if that one is dead",
            format!("sexton modules unlock {}{}", quoted(module), settings.flags()),
        ),
        _ => failure,
    }
}
