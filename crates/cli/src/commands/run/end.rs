//! `sexton destroy --env`: the end of an environment, by the program that is stored with it.

use std::rc::Rc;
use std::time::Instant;

use serde_json::json;
use sexton_lifecycle::DeletionLimit;
use sexton_model::environment::ProgramSpec;
use sexton_runtime::environment::{Ask, Here, Opened};
use sexton_runtime::gc::Preview;
use sexton_runtime::lua::{Grants, Limits};

use super::breaking::CurrentLease;
use super::report::{Words, destroyed, not_destroyed, show_preview, tell_opened};
use super::trouble::{cannot_open, not_stored};
use crate::commands::apply::tools;
use crate::commands::delete::consent::{Agreement, Refusal, consent, obtain};
use crate::failure::{Exit, Failure};
use crate::output::ndjson::Event;
use crate::output::style::{count, time};
use crate::output::{Output, Paint};
use crate::settings::{Settings, quoted};
use crate::world::{Purpose, World};

/// Shows what would be destroyed, asks, and ends the environment.
pub(crate) async fn destroy(
    environment: &str,
    dry_run: bool,
    agreement: &Agreement,
    settings: &Settings,
    output: &Output,
) -> Result<Exit, Failure> {
    let started = Instant::now();
    let purpose = if dry_run { Purpose::Look } else { Purpose::Write };
    let world = World::open(settings, purpose).await?;
    let tools = tools(&world).await?;
    super::refuse_foreign(&world).await?;
    let command = format!("sexton destroy --env {}{}", quoted(environment), settings.flags());
    let opened = Opened::open_to_end(&tools, ask(environment, dry_run, &world, output)).await;
    let Some(opened) = opened.map_err(|error| cannot_open(error, environment, &command))? else {
        output.talk(&format!("there is no environment {environment} on {}", world.target));
        return Ok(Exit::Done);
    };
    let lease = CurrentLease::new(&world.resources, environment, &command, output);
    lease.is_of(&opened);
    let asked = (environment, dry_run, command.as_str());
    lease.breakable(show_and_end(opened, asked, agreement, &world, (output, started))).await
}

/// Shows what would be destroyed, asks, and destroys it.
async fn show_and_end(
    opened: Opened,
    (environment, dry_run, command): (&str, bool, &str),
    agreement: &Agreement,
    world: &World,
    (output, started): (&Output, Instant),
) -> Result<Exit, Failure> {
    tell_opened(&opened, true, output);
    let preview = opened.preview().await.map_err(|error| Failure::new(error.to_string()))?;
    output.talk(&format!("destroy the environment {environment} on {}", world.target));
    output.event(&plan_event(&preview, world, environment, dry_run))?;
    show_preview(&preview, output)?;
    output.talk(&format!(
        "Plan: {} to destroy, then the record of {environment}.",
        count(preview.doomed.len())
    ));
    let digest: String = preview.digest.chars().take(8).collect();
    if dry_run {
        output.suggest(&[("do exactly this", format!("{command} --approve {digest}"))]);
        output.talk("Nothing was written.");
        opened.close().await;
        return Ok(Exit::Done);
    }
    let what = format!("all {} of {environment}", count(preview.doomed.len()));
    let refusal = Refusal { command, digest: &preview.digest, what: &what };
    let question = format!("Destroy {what} on {}?", world.target);
    let given = consent(agreement.given(&preview.digest), &[]);
    if let Err(failure) = obtain(given, &question, &refusal, output).await {
        opened.close().await;
        return Err(failure);
    }
    let ended = opened.end().await.map_err(|error| not_stored(&error, environment))?;
    let gone = destroyed(&ended.report, output)?;
    let left = not_destroyed(&ended.report, output)?;
    let took = time(started.elapsed());
    output.summarize(json!({
        "environment": environment, "environmentGone": ended.is_gone, "gone": gone, "left": left,
    }));
    if ended.is_gone {
        let event = Event::Gone { label: &format!("Environment/{environment}"), uid: "" };
        let text = format!("{environment} is gone, {} with it · {took}", count(gone));
        output.tell(&event, '-', Paint::Bad, &text)?;
        return Ok(Exit::Done);
    }
    let why = ended.kept.unwrap_or_else(|| format!("{} could not be destroyed", count(left)));
    let text = format!("{} destroyed, the record of {environment} stays: {why}", count(gone));
    output.tell(&Event::Trouble { message: &text }, '!', Paint::Change, &text)?;
    output.suggest(&[("once the cause is mended", command)]);
    Ok(Exit::Partial)
}

/// The plan as an event for programs; the events of its objects come after it.
fn plan_event<'a>(preview: &'a Preview, world: &'a World, environment: &'a str, dry_run: bool) -> Event<'a> {
    Event::Plan {
        target: &world.target,
        title: environment,
        preview: dry_run,
        digest: &preview.digest,
        destroy: preview.doomed.len(),
        waves: preview.doomed.iter().map(|one| one.wave + 1).max().unwrap_or(0),
        kept: preview.held.len(),
        loses: 0,
        held: preview.waiting.len(),
        unknown: 0,
        dropped: preview.dropped.len(),
    }
}

fn ask(environment: &str, preview: bool, world: &World, output: &Output) -> Ask {
    Ask {
        environment: environment.to_owned(),
        program: ProgramSpec::default(),
        revoked: Grants::default(),
        model: None,
        allow_empty: true,
        limits: Limits::default(),
        // What a user names is not limited.
        fuse: DeletionLimit { count: None, percent: None },
        output: Rc::new(Words::new(output.clone())),
        trace: false,
        preview,
        alone: world.embedded,
        here: match world.embedded {
            true => Here::Granted,
            false => Here::Allowed(world.allowance.clone()),
        },
    }
}
