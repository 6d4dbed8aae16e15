//! `sexton run`: a program in an environment.

mod breaking;
pub(crate) mod end;
mod out;
mod read;
mod report;
mod trouble;

use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use sexton_collector::modules::Tools;
use sexton_lifecycle::DeletionLimit;
use sexton_model::environment::ProgramSpec;
use sexton_runtime::environment::{Ask, Here, Opened, RunError};
use sexton_runtime::gc::{Cancelled, Preview};
use sexton_runtime::lua::{Grants, Limits};
use sexton_runtime::model::Model;

use self::breaking::CurrentLease;
use self::out::OutFile;
use self::report::{Words, destroyed, not_destroyed, show_preview, tell_opened, tried};
pub(crate) use self::trouble::cannot_open;
use self::trouble::{not_stored, still_unknown, stopped};
use super::apply::tools;
use super::delete::consent::{Agreement, Refusal, consent, obtain};
use crate::failure::{Exit, Failure};
use crate::output::style::{count, time};
use crate::output::{FormFlag, Output, Paint};
use crate::settings::{Settings, quoted};
use crate::world::{Purpose, World};

/// How long a program may run, unless it is said.
const DEADLINE_SECONDS: u64 = 3600;
/// How much memory its script may use, unless it is said.
const MEMORY_MEBIBYTES: usize = 512;

/// Run a program; its objects are stored in an environment
///
/// First what the incoming model does not have any more is destroyed, then `deploy` runs and its model is stored, each
/// object as a resource of the kind of its class; then what the environment does not reach any more is destroyed. After a
/// run that fails or is killed, what is stored is the old model or the new one. `sexton destroy --env NAME` ends an
/// environment.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program, in Luau
    #[arg(value_name = "PROGRAM")]
    program: PathBuf,
    /// The environment: a namespace of this name has its objects
    #[arg(long, value_name = "NAME")]
    env: String,
    /// The incoming model, as JSON; without it, the stored one
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// The model has no objects, or none of those that are stored, and that is meant: all of these are destroyed
    #[arg(long)]
    allow_empty: bool,
    /// Write the model to a file when it is over
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Show what would be destroyed before the deployment, and write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    agreement: Agreement,
    /// Show every object's birth, references, warnings and end
    #[arg(long)]
    trace: bool,
    /// A program of this machine that the script may run, now and in later runs; may be repeated
    #[arg(long, value_name = "NAME")]
    allow_exec: Vec<String>,
    /// A host that the script may ask, now and in later runs; may be repeated
    #[arg(long, value_name = "HOST")]
    allow_http: Vec<String>,
    /// Take back what an earlier run was allowed with --allow-exec; may be repeated
    #[arg(long, value_name = "NAME")]
    revoke_exec: Vec<String>,
    /// Take back what an earlier run was allowed with --allow-http; may be repeated
    #[arg(long, value_name = "HOST")]
    revoke_http: Vec<String>,
    /// How many stored objects may be destroyed at once: a number, or a part of all such as 30%
    #[arg(long, value_name = "N|N%")]
    max_delete: Option<DeletionLimit>,
    /// How long the program may run, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = DEADLINE_SECONDS)]
    deadline: u64,
    /// How much memory its script may use, in mebibytes
    #[arg(long, value_name = "MIB", default_value_t = MEMORY_MEBIBYTES)]
    memory: usize,
    #[command(flatten)]
    form: FormFlag,
}

pub(crate) async fn run(args: Args, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    let started = Instant::now();
    let program = read::program(&args)?;
    let model = args.model.as_deref().map(read::model).transpose()?;
    let out = match &args.out {
        Some(path) if !args.dry_run => Some(OutFile::prepare(path)?),
        _ => None,
    };
    let purpose = if args.dry_run { Purpose::Look } else { Purpose::Write };
    let world = World::open(settings, purpose).await?;
    let tools = tools(&world).await?;
    refuse_foreign(&world).await?;
    let command = command(&args, settings);
    let session = Session {
        ask: ask(&args, program, model, &world, output),
        lease: CurrentLease::new(&world.resources, &args.env, &command, output),
        command: &command,
        args: &args,
        settings,
        output,
        tools: &tools,
    };
    session.lease.breakable(session.run(&world, out, started)).await
}

/// What one command has to do, and with what.
struct Session<'a> {
    args: &'a Args,
    settings: &'a Settings,
    output: &'a Output,
    tools: &'a Tools,
    ask: Ask,
    command: &'a str,
    lease: CurrentLease<'a>,
}

impl Session<'_> {
    async fn open(&self) -> Result<Opened, Failure> {
        let opened = Opened::open(self.tools, self.ask.clone()).await;
        let opened = opened.map_err(|error| cannot_open(error, &self.args.env, self.command))?;
        self.lease.is_of(&opened);
        Ok(opened)
    }

    /// Asks, lets the stored program destroy what only it knows, and runs the new one.
    async fn run(&self, world: &World, out: Option<OutFile>, started: Instant) -> Result<Exit, Failure> {
        let Session { args, settings, output, .. } = *self;
        let opened = self.open().await?;
        tell_opened(&opened, world.embedded, output);
        let Some(mut opened) = agree(args, settings, output, world, opened).await? else {
            return Ok(Exit::Done);
        };
        let mut before = 0;
        if opened.predecessor {
            output.talk(
                "what goes first is destroyed by the program that made it: the new one does not know its classes",
            );
            let told = opened.dangling.clone();
            before = by_predecessor(opened, args, self.command, output).await?;
            opened = self.open().await?;
            for one in opened.dangling.iter().filter(|one| !told.contains(one)) {
                output.warn("environment", std::slice::from_ref(one));
            }
            if opened.predecessor {
                opened.close().await;
                return Err(still_unknown(&args.program));
            }
        }
        carry_out(args, settings, output, (opened, out), (started, before)).await
    }
}

fn ask(args: &Args, program: ProgramSpec, model: Option<Model>, world: &World, output: &Output) -> Ask {
    Ask {
        environment: args.env.clone(),
        program,
        revoked: Grants { exec: args.revoke_exec.clone(), http: args.revoke_http.clone() },
        model,
        allow_empty: args.allow_empty,
        limits: Limits {
            memory: args.memory << 20,
            whole_run: Duration::from_secs(args.deadline),
            ..Limits::default()
        },
        fuse: args.max_delete.unwrap_or_default(),
        output: Rc::new(Words::new(output.clone())),
        trace: args.trace,
        preview: args.dry_run,
        alone: world.embedded,
        here: match world.embedded {
            true => Here::Granted,
            false => Here::Named(Grants { exec: args.allow_exec.clone(), http: args.allow_http.clone() }),
        },
    }
}

/// Programs store their objects only where many of them can be written at once.
async fn refuse_foreign(world: &World) -> Result<(), Failure> {
    if world.kinds().await?.bulk {
        return Ok(());
    }
    let what = format!("{} is no server of Sexton: programs cannot store their objects there", world.target);
    Err(Failure::new(what).next("run it on a store of this machine", "sexton run … --data DIR"))
}

/// Lets the stored program destroy what only it knows.
async fn by_predecessor(
    mut opened: Opened,
    args: &Args,
    command: &str,
    output: &Output,
) -> Result<usize, Failure> {
    let removed = opened.remove().await;
    let finished = opened.finish(removed.as_ref().err()).await;
    let report = removed.map_err(|error| Failure::new(error.to_string()).because(&error))?;
    let finished = finished.map_err(|error| not_stored(&error, &args.env))?;
    let gone = destroyed(&report, output)? + destroyed(&finished.report, output)?;
    if let Some(cancelled) = &report.cancelled {
        return Err(stopped(cancelled, command));
    }
    match not_destroyed(&report, output)? + not_destroyed(&finished.report, output)? {
        0 => Ok(gone),
        left => {
            let failure = Failure::new(format!("{left} could not be destroyed, so deploy did not run"));
            Err(failure.exit(Exit::Partial))
        }
    }
}

/// Shows what would be destroyed first, and asks if there is anything.
async fn agree(
    args: &Args,
    settings: &Settings,
    output: &Output,
    world: &World,
    opened: Opened,
) -> Result<Option<Opened>, Failure> {
    let preview = opened.preview().await.map_err(|error| Failure::new(error.to_string()))?;
    let what = format!("{} in {} on {}", args.program.display(), args.env, world.target);
    output.talk(&format!("run {what} · {} objects stored", count(opened.stored)));
    show_preview(&preview, output)?;
    let command = command(args, settings);
    if let Some(why) = opened.fused() {
        let failure = too_many(&why, &command);
        opened.close().await;
        return Err(failure);
    }
    if args.dry_run {
        if !preview.doomed.is_empty() {
            output.suggest(&[("do exactly this", format!("{command} --approve {}", short(&preview)))]);
        }
        output.talk("What deploy does is not foreseen. Nothing was written.");
        opened.close().await;
        return Ok(None);
    }
    let given = args.agreement.given(&preview.digest);
    let what = format!("{} of {}", count(preview.doomed.len()), args.env);
    let refusal = Refusal { command: &command, digest: &preview.digest, what: &what };
    let question = format!("Destroy {what} before the deployment?");
    if !preview.doomed.is_empty() || args.agreement.approve.is_some() {
        let obtained = obtain(consent(given, &[]), &question, &refusal, output).await;
        if let Err(failure) = obtained {
            opened.close().await;
            return Err(failure);
        }
    }
    Ok(Some(opened))
}

async fn carry_out(
    args: &Args,
    settings: &Settings,
    output: &Output,
    (mut opened, out): (Opened, Option<OutFile>),
    (started, before): (Instant, usize),
) -> Result<Exit, Failure> {
    let mut gone = before;
    let mut open = 0;
    let (mut failed, mut cancelled): (Option<RunError>, Option<Cancelled>) = (None, None);
    match opened.remove().await {
        Ok(report) => {
            gone += destroyed(&report, output)?;
            open += not_destroyed(&report, output)?;
            cancelled = report.cancelled;
        }
        Err(error) => failed = Some(error),
    }
    // Objects that should have been destroyed before the deployment would still be there for it.
    let ready = failed.is_none() && cancelled.is_none() && open == 0;
    if ready && let Err(error) = opened.deploy().await {
        failed = Some(error);
    }
    for report in opened.collections() {
        gone += destroyed(&report, output)?;
        // Objects that are still garbage are found again at the end of the run: only that counts.
        tried(&report, output)?;
    }
    let finished = opened.finish(failed.as_ref()).await;
    let finished = finished.map_err(|error| not_stored(&error, &args.env))?;
    gone += destroyed(&finished.report, output)?;
    open += not_destroyed(&finished.report, output)?;
    if let Some(out) = out {
        out.write(&finished.model)?;
    }
    output.summarize(serde_json::json!({
        "environment": args.env, "gone": gone, "left": open,
        "stored": finished.objects, "written": finished.written, "deployed": ready && failed.is_none(),
    }));
    let sum = format!(
        "{} destroyed · {} objects stored, {} written · {}",
        count(gone),
        count(finished.objects),
        count(finished.written),
        time(started.elapsed())
    );
    if let Some(error) = failed {
        output.talk(&sum);
        return Err(Failure::new(error.to_string())
            .because(&error)
            .detail("What the environment reaches is stored."));
    }
    if let Some(cancelled) = cancelled {
        output.talk(&sum);
        return Err(stopped(&cancelled, &command(args, settings)));
    }
    if let Some(why) = finished.fused {
        output.talk(&sum);
        return Err(too_many(&why, &command(args, settings)));
    }
    conclude(output, &sum, (open, ready), &command(args, settings))
}

/// Writes how the run ended. `open`: objects that should have been destroyed and still exist; `ready`: whether `deploy`
/// could run.
fn conclude(
    output: &Output,
    sum: &str,
    (open, ready): (usize, bool),
    command: &str,
) -> Result<Exit, Failure> {
    let (sign, paint) = if open == 0 { ('✔', Paint::Good) } else { ('!', Paint::Change) };
    if !output.is_stream() {
        output.mark(sign, paint, sum)?;
    }
    if !ready {
        output.talk("deploy did not run, because not all could be destroyed that has to be before");
    }
    if open > 0 {
        output.suggest(&[("once the cause is mended", command)]);
    }
    Ok(if open == 0 { Exit::Done } else { Exit::Partial })
}

fn too_many(why: &str, command: &str) -> Failure {
    Failure::new(why)
        .exit(Exit::Held)
        .detail("Nothing of it was touched.")
        .next("if that is meant", format!("{command} --max-delete 100%"))
}

fn short(preview: &Preview) -> String {
    preview.digest.chars().take(8).collect()
}

fn command(args: &Args, settings: &Settings) -> String {
    let mut command =
        format!("sexton run {} --env {}", quoted(&args.program.display().to_string()), quoted(&args.env));
    for (flag, path) in [("--model", &args.model), ("--out", &args.out)] {
        if let Some(path) = path {
            command.push_str(&format!(" {flag} {}", quoted(&path.display().to_string())));
        }
    }
    for (flag, names) in [
        ("--allow-exec", &args.allow_exec),
        ("--allow-http", &args.allow_http),
        ("--revoke-exec", &args.revoke_exec),
        ("--revoke-http", &args.revoke_http),
    ] {
        for name in names {
            command.push_str(&format!(" {flag} {}", quoted(name)));
        }
    }
    if args.allow_empty {
        command.push_str(" --allow-empty");
    }
    for (flag, value, usual) in [
        ("--deadline", args.deadline, DEADLINE_SECONDS),
        ("--memory", args.memory as u64, MEMORY_MEBIBYTES as u64),
    ] {
        if value != usual {
            command.push_str(&format!(" {flag} {value}"));
        }
    }
    command + &settings.flags()
}
