//! Executes a deployment, and follows the objects of its sweep until they are gone.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use sexton_collector::modules::{
    DeployError, Deployed, Destruction, Event, LeaseError, Member, ModulePlan, Tools,
};
use sexton_collector::{Collector, SystemClock};
use sexton_lifecycle::{DeletionScope, NodeId};
use sexton_model::Uid;

use super::{Agreed, Args, Form, lines};
use crate::collecting;
use crate::commands::delete::tell::left;
use crate::failure::{Exit, Failure};
use crate::following::{Follow, Obituary, Until, Where, Work, report, silence};
use crate::interrupt::Interrupts;
use crate::naming::Names;
use crate::output::ndjson;
use crate::output::progress::count::Count;
use crate::output::style::{count, time};
use crate::output::{Output, Paint};
use crate::settings::Settings;
use crate::world::{World, is_ours};

/// Failures with one reason that are shown; the rest is counted.
const SAME_SHOWN: usize = 3;

/// A hint for users about a lease that another process has.
pub(crate) const LEASE_ENDS: &str = "Should it have died, its lease ends by itself within 15 seconds.";

/// The command that creates a role for reading classes: without that right nothing is deleted where classes exist.
pub(crate) const MAY_READ_CLASSES: &str =
    "kubectl create clusterrole read-classes --verb=get,list --resource=classes.sexton.dev";

/// What `Modules` needs to work on a target: clients, a clock, and names for requester and holder.
pub(crate) async fn tools(world: &World) -> Result<Tools, Failure> {
    let kinds = world.kinds().await?;
    let user = std::env::var("USER").ok().filter(|user| !user.is_empty());
    Ok(Tools {
        resources: world.resources.clone(),
        gateway: world.gateway(&kinds),
        clock: Arc::new(SystemClock),
        by: user.unwrap_or_else(|| "local".to_owned()),
        holder: collecting::own_name(),
        alone: world.embedded,
        allowance: world.allowance(&kinds).cloned(),
    })
}

/// How the sweep ended.
pub(crate) struct Swept {
    pub(crate) gone: usize,
    pub(crate) left: usize,
    pub(crate) interrupted: bool,
    pub(crate) exit: Exit,
    /// Whether the lines about objects that are gone could be written to stdout.
    pub(crate) unheard: Result<(), Failure>,
}

/// Executes the deployment that was approved.
pub(super) async fn act(
    args: &Args,
    settings: &Settings,
    agreed: Agreed,
    started: Instant,
    output: &Output,
) -> Result<Exit, Failure> {
    let Agreed { world, modules, plan, names } = agreed;
    let mut interrupts = Interrupts::listen();
    let told = Mutex::new(Ok(()));
    let (reasons, sealed) = (Mutex::new(HashMap::new()), Mutex::new(None));
    let count = Count::new(output, "put");
    let tell = |event: Event| {
        if let (Event::Sealed { .. }, Ok(mut sealed)) = (&event, sealed.lock()) {
            *sealed = Some(Instant::now());
        }
        match &event {
            Event::Put { done, of, warnings, .. } if warnings.is_empty() => count.at(*done, Some(*of)),
            _ => count.erase(),
        }
        let heard = tell(args, &event, &reasons, output);
        if let (Err(failure), Ok(mut told)) = (heard, told.lock()) {
            // A closed output does not stop the deployment in the middle; the error is returned at the end.
            *told = Err(failure);
        }
    };
    let deployed = tokio::select! {
        biased;
        deployed = modules.deploy(&plan, &tell) => {
            deployed.map_err(|error| not_deployed(error, &plan, settings))?
        }
        () = interrupts.next() => {
            return Err(interrupted(sealed.lock().is_ok_and(|sealed| sealed.is_some())));
        }
    };
    count.erase();
    let swept = match &plan.destruction {
        Some(destruction) if !deployed.swept.accused.is_empty() => {
            let accused = &deployed.swept.accused;
            let sweep = Sweep { accused, destruction, names: &names, settings };
            let says: &Obituary<'_> = if args.output == Form::Json { &ndjson::gone } else { &silence };
            follow_sweep(&world, sweep, says, &mut interrupts, output).await?
        }
        _ => Swept { gone: 0, left: 0, interrupted: false, exit: Exit::Done, unheard: Ok(()) },
    };
    let sealed = sealed.into_inner().ok().flatten();
    let unheard = end(args, &plan, &deployed, &swept, Times { names: &names, started, sealed }, output);
    if swept.left == 0 && (world.embedded || !is_ours(modules.kinds())) {
        left_before(&plan, &deployed, output);
    }
    let unheard = told.into_inner().unwrap_or(Ok(())).and(swept.unheard).and(unheard);
    match swept.exit {
        Exit::Done => unheard.map(|()| Exit::Done),
        exit => Ok(exit),
    }
}

/// The failure for an interrupted deployment: says whether it was sealed, and what the next one does.
fn interrupted(sealed: bool) -> Failure {
    let failure = match sealed {
        false => Failure::new("interrupted: the deployment is not sealed, and nothing was swept")
            .detail("what was put is marked; the next deployment goes on from there"),
        true => Failure::new("interrupted: the deployment is sealed, but not all of its sweep was begun")
            .detail("the next deployment sweeps the rest"),
    };
    failure.exit(Exit::Interrupted)
}

/// The objects that a sweep made candidates, and the plan for them.
pub(crate) struct Sweep<'a> {
    pub(crate) accused: &'a [Member],
    pub(crate) destruction: &'a Destruction,
    pub(crate) names: &'a Names,
    pub(crate) settings: &'a Settings,
}

/// Follows candidates and their doomed dependents until they are gone. A collector in this process does the work on the
/// embedded store, and on a cluster that is not ours.
pub(crate) async fn follow_sweep(
    world: &World,
    sweep: Sweep<'_>,
    says: &Obituary<'_>,
    interrupts: &mut Interrupts,
    output: &Output,
) -> Result<Swept, Failure> {
    let kinds = world.kinds().await?;
    let expected = expected(&sweep);
    let accused = sweep.accused.iter().map(|member| Uid(member.uid.clone()));
    let scope = DeletionScope::only(expected.iter().map(|(uid, _, _)| uid.clone()).chain(accused));
    // Both list everything first, so they start together. An object that is gone before the listing counts as gone,
    // because `expected` comes from the plan.
    let begin = Follow::begin(Where::of(world, &kinds), Until::Gone, sweep.names, output);
    let (follow, work) = tokio::join!(begin, start(collecting::of_a_plan(world, &kinds, scope)));
    let mut work = work?;
    let mut follow = match follow {
        Ok(follow) => follow,
        Err(failure) => {
            work.end().await;
            return Err(failure);
        }
    };
    follow.expect(expected.into_iter());
    let end = follow.run(&mut work, says, interrupts).await?;
    let told = left(&end, output);
    if end.interrupted && !end.left.is_empty() {
        output.talk(&end.interrupted_text());
        if world.embedded || !is_ours(&kinds) {
            output.suggest(&[("go on", "sexton resume")]);
        }
    } else if !end.left.is_empty() {
        let accused: Vec<Uid> = sweep.accused.iter().map(|member| Uid(member.uid.clone())).collect();
        report(&end, &accused, &world.namespace, sweep.settings, output);
    }
    let exit = end.exit();
    Ok(Swept {
        gone: end.gone,
        left: end.left.len(),
        interrupted: end.interrupted,
        exit,
        unheard: end.unheard.and(told),
    })
}

async fn start(collector: Option<Collector>) -> Result<Work, Failure> {
    match collector {
        Some(collector) => Work::start(collector).await,
        None => Ok(Work::Elsewhere),
    }
}

/// The candidates and all objects doomed because of them: uid, label and wave, from 1.
fn expected(sweep: &Sweep<'_>) -> Vec<(Uid, String, usize)> {
    let snapshot = sweep.destruction.world.snapshot();
    let accused: std::collections::HashSet<&str> =
        sweep.accused.iter().map(|member| member.uid.as_str()).collect();
    let label = |life: NodeId| sweep.names.of(snapshot, life);
    let waves = sweep.destruction.plan.waves.iter().enumerate();
    waves
        .flat_map(|(wave, in_wave)| {
            let steps = in_wave.groups.iter().flat_map(|group| &group.members);
            steps.map(move |step| (wave, step))
        })
        .filter(|(_, step)| accused.contains(step.finding.root.0.as_str()))
        .map(|(wave, step)| (step.uid.clone(), label(step.node), wave + 1))
        .collect()
}

fn tell(
    args: &Args,
    event: &Event,
    reasons: &Mutex<HashMap<String, usize>>,
    output: &Output,
) -> Result<(), Failure> {
    if args.output == Form::Json {
        return lines::event(event).map_or(Ok(()), |line| output.data(&line));
    }
    match event {
        Event::Put { object, warnings, .. } => {
            output.warn(object, warnings);
            Ok(())
        }
        Event::Failed(failed) => {
            let times = reasons.lock().map_or(0, |mut reasons| {
                let times = reasons.entry(failed.why.clone()).or_default();
                *times += 1;
                *times
            });
            // One cause often fails many objects: their number is shown at the end.
            match times {
                0..=SAME_SHOWN => {}
                times if times == SAME_SHOWN + 1 => {
                    output.talk("  of more that fail for the same reason nothing is said");
                    return Ok(());
                }
                _ => return Ok(()),
            }
            output.explain(&Failure::new(format!("{}: {}: {}", failed.origin, failed.object, failed.why)));
            Ok(())
        }
        // The plan said already that nothing is swept.
        _ => Ok(()),
    }
}

/// When the command began, and when the deployment was sealed, if it was.
struct Times<'a> {
    /// What the objects are called.
    names: &'a Names,
    started: Instant,
    sealed: Option<Instant>,
}

/// Names `sexton resume` if an earlier command left terminating objects: without a collector they stay so, and none
/// runs after this command.
fn left_before(plan: &ModulePlan, deployed: &Deployed, output: &Output) {
    let left = plan.kept.iter().filter(|kept| kept.member.is_terminating).count();
    if left > 0 && deployed.swept.accused.is_empty() {
        let are = if left == 1 { "is" } else { "are" };
        output.talk(&format!("{} {are} still on the way out from before", count(left)));
        output.suggest(&[("go on", "sexton resume")]);
    }
}

fn end(
    args: &Args,
    plan: &ModulePlan,
    deployed: &Deployed,
    swept: &Swept,
    times: Times<'_>,
    output: &Output,
) -> Result<(), Failure> {
    let Times { names, started, sealed } = times;
    if args.output == Form::Json {
        let sweep = sealed.filter(|_| swept.gone > 0).map(|sealed| sealed.elapsed());
        output.summarize(lines::summary(deployed, swept, sweep));
        return Ok(());
    }
    let style = output.data_style();
    let put = deployed.created + deployed.changed;
    let mut facts = vec![format!("put {}", count(put))];
    if deployed.unchanged > 0 {
        facts.push(format!("{} unchanged", count(deployed.unchanged)));
    }
    facts.push(match args.only {
        Some(_) => "not sealed, not swept: only a part was put".to_owned(),
        None if args.dry_gc => {
            format!("sealed, not swept: {} keep their order", count(plan.victims.len()))
        }
        None => format!("sealed{}swept {}", style.dot(), count(swept.gone)),
    });
    facts.push(time(started.elapsed()));
    for kept in &deployed.swept.spared {
        output.talk(&format!("  {} was spared: {}", names.member(&kept.member), kept.why));
    }
    let dot = style.dot();
    match swept.left {
        0 => output.mark('✔', Paint::Good, &facts.join(dot)),
        left => {
            facts.push(format!("{} still there", count(left)));
            output.mark('!', Paint::Change, &facts.join(dot))
        }
    }
}

/// The failure for a deployment that could not be finished, with the command to type.
fn not_deployed(error: DeployError, plan: &ModulePlan, settings: &Settings) -> Failure {
    let manager = &plan.spec.manager;
    let flags = settings.flags();
    let error = match error {
        DeployError::MayNot(error) => return error.into(),
        error => error,
    };
    let failure = Failure::new(error.to_string()).because(&error);
    match &error {
        DeployError::Held(_) | DeployError::Conflicts { .. } => failure.exit(Exit::Held),
        DeployError::Lease(LeaseError::Held { .. }) => failure
            .exit(Exit::Locked)
            .detail("Nothing was put, nothing was swept.")
            .detail(LEASE_ENDS)
            .next("see who", format!("sexton modules {manager}{flags}"))
            .next("if that one is dead", format!("sexton modules unlock {manager}{flags}")),
        DeployError::Puts { .. } => {
            failure.detail("what was put stays put; the next deployment goes on from there")
        }
        DeployError::Outdated(_) => failure.exit(Exit::Held),
        DeployError::Sweep(_) => failure.exit(Exit::Partial),
        DeployError::Lease(LeaseError::Lost { .. }) => failure
            .detail("the deployment is not sealed, and nothing was swept")
            .next("see who has it", format!("sexton modules {manager}{flags}")),
        DeployError::Lease(_)
        | DeployError::Record(_)
        | DeployError::Withdraw(_)
        | DeployError::MayNot(_) => failure,
    }
}
