//! Has orphans collected: shows the plan, asks, makes exactly the shown orphans candidates, and waits until they are
//! gone.

use sexton_collector::preview::World as Seen;
use sexton_collector::rules::{Accused, Charge, Found, accuse};
use sexton_lifecycle::plan::Plan;
use sexton_lifecycle::{DeletionScope, DetectionSettings, HypotheticalDeletion};
use sexton_model::accusation::Accuser;
use sexton_model::{Policy, Uid};

use super::{Args, Form, Looked, command, show};
use crate::collecting;
use crate::commands::delete::consent::{Agreement, Refusal, consent, obtain};
use crate::commands::delete::tell::{left, summary};
use crate::failure::{Exit, Failure};
use crate::following::{End, Follow, Until, Where, Work, now, report};
use crate::interrupt::{Interrupts, breakable};
use crate::output::ndjson;
use crate::output::style::count;
use crate::output::tree::{DeathPlan, Fold, json, text};
use crate::output::{Output, Paint};
use crate::settings::Settings;
use crate::showing::plan::Shown;

/// Shows the plan, asks, writes the candidates, and follows them.
pub(super) async fn collect(
    args: &Args,
    settings: &Settings,
    looked: Looked,
    output: &Output,
) -> Result<Exit, Failure> {
    let condemned: Vec<&Found> = looked.scan.condemned().collect();
    if condemned.is_empty() {
        return Ok(if looked.scan.troubles.is_empty() { Exit::Done } else { Exit::Partial });
    }
    refuse_too_much(args, settings, &looked)?;
    let doomed = breakable(agree(args, settings, &looked, &condemned, output)).await?;
    let mut interrupts = Interrupts::listen();
    let gateway = looked.world.gateway(&looked.kinds);
    let place = Where::of(&looked.world, &looked.kinds);
    let mut follow = Follow::begin(place, Until::Gone, &looked.names, output).await?;
    let scope = DeletionScope::only(doomed.iter().map(|(uid, _, _, _)| uid.clone()));
    let mut work = match collecting::of_a_plan(&looked.world, &looked.kinds, scope) {
        Some(collector) => Work::start(collector).await?,
        None => Work::Elsewhere,
    };
    let charge = Charge {
        accuser: Accuser::Orphaned,
        by: "sexton orphans".to_owned(),
        collection: format!("orphans-{}-{}", now(), std::process::id()),
        initiator: std::env::var("USER").ok().filter(|user| !user.is_empty() && looked.world.embedded),
    };
    let accused = match accuse(&*gateway, None, &condemned, &charge).await {
        Ok(accused) => accused,
        Err(error) => {
            work.end().await;
            return Err(Failure::new("the orphans could not be accused").because(&error));
        }
    };
    tell_refused(&accused, output);
    let refused: Vec<&str> = accused.refused.iter().map(|(label, _)| label.as_str()).collect();
    let saved: Vec<&str> = condemned
        .iter()
        .filter(|found| refused.contains(&found.label().as_str()))
        .map(|found| &*found.uid)
        .collect();
    follow.expect(
        doomed
            .into_iter()
            .filter(|(uid, root, _, _)| !saved.contains(&uid.0.as_str()) && !saved.contains(&root.0.as_str()))
            .map(|(uid, _, label, wave)| (uid, label, wave)),
    );
    let says = |label: &str, uid: &Uid| match args.output {
        Form::Json => ndjson::gone(label, uid),
        Form::Text => output.marked('-', Paint::Bad, &format!("{label} destroyed")) + "\n",
    };
    let end = follow.run(&mut work, &says, &mut interrupts).await?;
    finish(args, settings, &looked, &end, output)?;
    match end.exit() {
        Exit::Done if !accused.refused.is_empty() => Ok(Exit::Partial),
        Exit::Done => end.unheard.map(|()| Exit::Done),
        exit => Ok(exit),
    }
}

/// Fails above the deletion limit. The limit holds for every requester, because no request names these objects.
fn refuse_too_much(args: &Args, settings: &Settings, looked: &Looked) -> Result<(), Failure> {
    let limits = args.max_delete.unwrap_or_default();
    looked.scan.fuse(&limits, looked.scan.scope).map_err(|held| {
        let mut parts = held.trim_start_matches("held: ").split("; ");
        let mut failure = Failure::new(parts.next().unwrap_or_default()).exit(Exit::Held);
        for part in parts {
            failure = failure.detail(part);
        }
        let all = Args {
            max_delete: None,
            kinds: args.kinds.clone(),
            selector: args.selector.clone(),
            agreement: Agreement::default(),
            allowing: args.allowing.clone(),
            ..*args
        };
        let many = looked.scan.condemned().count();
        let flags = settings.flags();
        let typed = command(&all, settings);
        let typed = typed.strip_suffix(&flags).unwrap_or(&typed);
        failure
            .detail("Nothing was deleted.")
            .next("let it through", format!("{typed} --max-delete {many}{flags}"))
    })
}

/// Shows the plan for the orphans and their dependents, and asks. Returns the doomed objects: uid, uid of the root,
/// label, and wave from 1.
async fn agree(
    args: &Args,
    settings: &Settings,
    looked: &Looked,
    condemned: &[&Found],
    output: &Output,
) -> Result<Vec<(Uid, Uid, String, usize)>, Failure> {
    let world = &looked.world;
    let seen = Seen::look(&*world.gateway(&looked.kinds), &world.resources).await?;
    world.tell_ignored_classes(&seen);
    let asked: Vec<HypotheticalDeletion> = condemned
        .iter()
        .filter_map(|found| {
            Some(HypotheticalDeletion { node: seen.life(&found.uid)?, policy: Policy::Background })
        })
        .collect();
    let (judgement, plan) = seen.if_deleted(&asked, &DetectionSettings::default())?;
    let what = match condemned {
        [one] => show::label(&looked.names, one),
        many => format!("{} orphans", count(many.len())),
    };
    let shown = Shown { world: &seen, judgement: &judgement, plan: &plan, names: &looked.names };
    let plan_shown =
        DeathPlan { target: world.target.clone(), title: format!("collect {what}"), ..shown.death_plan() };
    match args.output {
        Form::Json => output.data(&json::ndjson(&plan_shown))?,
        Form::Text => {
            let fold = if args.full { Fold::Never } else { Fold::USUAL };
            output.talk_text(&text::text(&plan_shown, output.talk_style(), fold));
        }
    }
    let given = args.agreement.given(&plan.digest);
    let along = match plan.len().saturating_sub(condemned.len()) {
        0 => String::new(),
        1 => " and 1 other".to_owned(),
        others => format!(" and {} others", count(others)),
    };
    let question = format!("Destroy {what}{along} on {}?", world.target);
    let refusal = Refusal { command: &command(args, settings), digest: &plan.digest, what: &what };
    seen.may_delete(plan.steps().map(|step| step.node), world.allowance(&looked.kinds))?;
    obtain(consent(given, &[]), &question, &refusal, output).await?;
    Ok(doomed(&plan, &seen, looked))
}

fn doomed(plan: &Plan, seen: &Seen, looked: &Looked) -> Vec<(Uid, Uid, String, usize)> {
    let steps = plan.steps().map(|step| {
        let wave = plan.wave_of(&step.uid).unwrap_or(0) + 1;
        (step.uid.clone(), step.finding.root.clone(), looked.names.of(seen.snapshot(), step.node), wave)
    });
    steps.collect()
}

fn tell_refused(accused: &Accused, output: &Output) {
    for (label, why) in &accused.refused {
        output.explain(&Failure::new(format!("{label} is left alone: {why}")));
    }
}

fn finish(
    args: &Args,
    settings: &Settings,
    looked: &Looked,
    end: &End,
    output: &Output,
) -> Result<(), Failure> {
    if args.output == Form::Json {
        left(end, output)?;
        output.summarize(summary(end));
        return Ok(());
    }
    if !end.left.is_empty() {
        output.talk(&format!("{} of {} are gone", end.gone, end.gone + end.left.len()));
        let uids: Vec<Uid> = end.left.keys().cloned().collect();
        report(end, &uids, &looked.world.namespace, settings, output);
    }
    Ok(())
}
