//! `sexton apply`: makes a module be as its documents say, and has what is no longer among them swept. What is swept,
//! in which order and whether at all is decided elsewhere.

mod act;
mod drift;
mod kinds;
mod lines;
mod module;
mod show;

use std::time::Instant;

use clap::ValueEnum;
use sexton_collector::modules::{ModulePlan, Modules, PlanError};

use super::delete::consent::{Agreement, Refusal, consent, obtain};
use crate::allowing::AllowingHere;
use crate::failure::{Exit, Failure};
use crate::interrupt::breakable;
use crate::naming::Names;
use crate::output::Output;
use crate::output::style::{Style, count};
use crate::settings::{Settings, quoted};
use crate::world::{Purpose, World};

pub(crate) use act::{LEASE_ENDS, MAY_READ_CLASSES, Sweep, follow_sweep, tools};
pub(crate) use show::{deaths, doomed_lines, order};

/// Apply a module: put its documents, then delete what left it
///
/// All documents are read and checked first, and what would happen is shown: deletions first. Then every document is put
/// and marked in order, and when all of them are, what is in the module's scope and was not put is destroyed in the
/// reverse order. If anything cannot be put, nothing is swept. Exit codes: 1 if something was not put, 3 if nothing was
/// done or something is in the way, 4 if part of the sweep is done, 5 if somebody else works on the module.
#[derive(Debug, Clone, clap::Args)]
#[group(id = "apply")]
pub(crate) struct Args {
    /// A file of YAML or JSON documents, a directory of such files, or - for stdin
    #[arg(short, long = "filename", required = true, value_name = "FILE|DIR|-")]
    pub(crate) files: Vec<String>,
    /// The name of the module; without it the one in the sexton.yaml of the directory
    #[arg(long, value_name = "NAME")]
    pub(crate) manager: Option<String>,
    /// What the module may sweep, such as manager=shop,namespace=web; without it all that it manages
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',')]
    pub(crate) gc_scope: Vec<String>,
    /// Whether the module sweeps at all
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    pub(crate) support_gc: Option<bool>,
    /// Destroy no more than so many, or so many percent of what is in scope
    #[arg(long, value_name = "N|N%")]
    pub(crate) max_delete: Option<String>,
    /// Sweep nothing this time; what would have been swept keeps its order for the next time
    #[arg(long)]
    pub(crate) dry_gc: bool,
    /// Show what would happen, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// With --dry-run: exit with 2 if anything would change
    #[arg(long)]
    pub(crate) detailed_exitcode: bool,
    /// Put only documents with these labels, or these KIND/NAMEs; nothing is swept then
    #[arg(long, value_name = "LABELS|KIND/NAME")]
    pub(crate) only: Option<String>,
    /// What this round of deployment is called; no other one of the module may have had this name
    #[arg(long, value_name = "ID")]
    pub(crate) deployment_id: Option<String>,
    /// A module without documents is meant: all of it is swept
    #[arg(long)]
    pub(crate) allow_empty: bool,
    /// What to do when a document cannot be put; nothing is swept then in any case
    #[arg(long, value_enum, value_name = "stop|continue")]
    pub(crate) on_failure: Option<OnFailureName>,
    /// Take over fields that others manage and that have other values; the plan shows each of them
    #[arg(long, visible_alias = "force-conflicts")]
    pub(crate) take_over: bool,
    /// On the embedded store: make kinds that nobody has defined yet, without asking
    #[arg(long)]
    pub(crate) register_kinds: bool,
    #[command(flatten)]
    pub(crate) agreement: Agreement,
    #[command(flatten)]
    pub(crate) allowing: AllowingHere,
    /// Show every single line, however many they are
    #[arg(long)]
    pub(crate) full: bool,
    /// The form of the answer; pictures only with --dry-run
    #[arg(short, long, value_enum, default_value_t = Form::Text)]
    pub(crate) output: Form,
}

/// What to do when a document cannot be put.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnFailureName {
    /// Put no more
    Stop,
    /// Put the others
    Continue,
}

/// The form of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// One line per object
    Text,
    /// A stream of JSON lines for programs; docs/output.md describes it
    Json,
    /// A picture of what would be destroyed, for Graphviz
    Dot,
    /// The same for Mermaid
    Mermaid,
    /// The same as a picture
    Svg,
}

pub(crate) async fn run(args: Args, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    let started = Instant::now();
    match breakable(prepare(&args, settings, output)).await? {
        None => Ok(Exit::Done),
        Some(Prepared::Over(exit)) => Ok(exit),
        Some(Prepared::Agreed(agreed)) => act::act(&args, settings, *agreed, started, output).await,
    }
}

/// A deployment with consent.
pub(crate) struct Agreed {
    pub(crate) world: World,
    pub(crate) modules: Modules,
    pub(crate) plan: ModulePlan,
    pub(crate) names: Names,
}

enum Prepared {
    Over(Exit),
    Agreed(Box<Agreed>),
}

/// Reads, plans, shows and asks. Nothing of the module is written by this.
async fn prepare(args: &Args, settings: &Settings, output: &Output) -> Result<Option<Prepared>, Failure> {
    check(args, settings)?;
    let (documents, named) = module::read(args, output)?;
    let purpose = if args.dry_run { Purpose::Look } else { Purpose::Write };
    let world = World::open(settings, purpose).await?;
    kinds::make(args, settings, &world, &documents, output).await?;
    let deployment = module::deployment(args, &world, documents, named)?;
    let modules = Modules::open(tools(&world).await?).await?;
    let plan = modules.plan(&deployment).await.map_err(|error| refused(error, args, settings))?;
    let names = Names::new(modules.kinds(), &world.namespace);
    let shown = show::Shown { args, settings, world: &world, plan: &plan, names: &names };
    if args.dry_run {
        output.data(&shown.written(output.data_style()))?;
        let pending = args.detailed_exitcode && show::changes_something(&plan);
        let blocked = plan.held.is_some() || plan.conflicting().next().is_some();
        let exit = match (blocked, pending) {
            (true, _) => Exit::Held,
            (false, true) => Exit::Pending,
            (false, false) => Exit::Done,
        };
        return Ok(Some(Prepared::Over(exit)));
    }
    match args.output {
        Form::Json => output.data(&shown.written(Style::PLAIN))?,
        _ => output.talk_text(&shown.written(output.talk_style())),
    }
    if let Some(held) = &plan.held {
        return Err(show::held(held, args, settings, &plan));
    }
    if let Some(failure) = drift::conflicts(&plan, args, settings) {
        return Err(failure.detail("Nothing was put, nothing was swept."));
    }
    agree(args, settings, &world, &plan, output).await?;
    Ok(Some(Prepared::Agreed(Box::new(Agreed { world, modules, plan, names }))))
}

fn check(args: &Args, settings: &Settings) -> Result<(), Failure> {
    if [Form::Dot, Form::Mermaid, Form::Svg].contains(&args.output) && !args.dry_run {
        let plan = command(args, settings).replacen("sexton apply", "sexton plan", 1);
        return Err(Failure::new("a picture shows what would happen")
            .next("draw it", format!("{plan} -o svg > plan.svg")));
    }
    if args.detailed_exitcode && !args.dry_run {
        return Err(Failure::new("--detailed-exitcode says what would happen, so it goes with --dry-run"));
    }
    Ok(())
}

/// Asks for consent, if anything would be destroyed. Puts need none, because they can be put back.
async fn agree(
    args: &Args,
    settings: &Settings,
    world: &World,
    plan: &ModulePlan,
    output: &Output,
) -> Result<(), Failure> {
    let doomed = show::doomed(plan);
    if doomed == 0 && args.agreement.approve.is_none() {
        return Ok(());
    }
    let given = args.agreement.given(&plan.digest);
    let manager = &plan.spec.manager;
    let what = format!("{} of {} in {manager}", count(doomed), count(plan.in_scope));
    let question = format!("Destroy {what} on {}?", world.target);
    let refusal = Refusal { command: &command(args, settings), digest: &plan.digest, what: &what };
    obtain(consent(given, &[]), &question, &refusal, output).await
}

/// The command that was typed, without what gives consent.
pub(crate) fn command(args: &Args, settings: &Settings) -> String {
    let mut words = vec!["sexton apply".to_owned()];
    words.extend(args.files.iter().map(|file| format!("-f {}", quoted(file))));
    words.extend(args.manager.iter().map(|name| format!("--manager {}", quoted(name))));
    words.extend(args.gc_scope.iter().map(|scope| format!("--gc-scope {}", quoted(scope))));
    words.extend(args.support_gc.map(|on| format!("--support-gc {on}")));
    words.extend(args.max_delete.iter().map(|most| format!("--max-delete {}", quoted(most))));
    words.extend(args.only.iter().map(|only| format!("--only {}", quoted(only))));
    words.extend(args.deployment_id.iter().map(|id| format!("--deployment-id {}", quoted(id))));
    words.extend(args.on_failure.map(|what| match what {
        OnFailureName::Stop => "--on-failure stop".to_owned(),
        OnFailureName::Continue => "--on-failure continue".to_owned(),
    }));
    for (given, flag) in
        [(args.dry_gc, "--dry-gc"), (args.allow_empty, "--allow-empty"), (args.take_over, "--take-over")]
    {
        words.extend(given.then(|| flag.to_owned()));
    }
    format!("{}{}", words.join(" "), settings.flags())
}

/// The failure for a module that cannot be planned, with the command to type.
fn refused(error: PlanError, args: &Args, settings: &Settings) -> Failure {
    let nothing = |failure: Failure| failure.detail("Nothing was put, nothing was swept.");
    let failure = Failure::new(error.to_string()).because(&error);
    nothing(match &error {
        PlanError::Empty(_) => {
            failure.exit(Exit::Held).next("it is meant", format!("{} --allow-empty", command(args, settings)))
        }
        PlanError::Refused(refusals) => {
            let mut failure = match refusals.as_slice() {
                [one] => Failure::new(one.to_string()),
                _ => refusals.iter().take(20).fold(failure, |failure, one| failure.detail(one.to_string())),
            };
            for remedy in refusals.iter().filter_map(|one| one.remedy.as_ref()).take(3) {
                failure = failure.next("try", remedy.clone());
            }
            failure
        }
        _ => failure,
    })
}
