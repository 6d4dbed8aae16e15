//! `sexton protect` and `sexton unprotect`: objects that are destroyed neither with their owners nor by name.

use sexton_model::marks;

use crate::failure::{Exit, Failure};
use crate::one::One;
use crate::output::ndjson::Event;
use crate::output::{FormFlag, Output, Paint};
use crate::settings::Settings;
use crate::suggest::is_placeholder;
use crate::targets;
use crate::world::{Purpose, World};

/// Protect objects from deletion
///
/// Nothing that is deleted takes them along, and they cannot be deleted by name.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// KIND/NAME, KIND/NAMESPACE/NAME, or KIND NAME
    #[arg(value_name = "KIND/NAME", required = true)]
    objects: Vec<String>,
    /// Why; shown to whoever wants to delete them
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    form: FormFlag,
}

/// Remove the protection of objects
#[derive(Debug, clap::Args)]
pub(crate) struct UnArgs {
    /// KIND/NAME, KIND/NAMESPACE/NAME, or KIND NAME
    #[arg(value_name = "KIND/NAME", required = true)]
    objects: Vec<String>,
    #[command(flatten)]
    form: FormFlag,
}

pub(crate) async fn run(args: Args, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    let reason = args.reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty());
    if reason.is_some_and(is_placeholder) {
        return Err(Failure::new("why are they protected? Whoever wants to delete them wants to know")
            .next("say why", "--reason \"billing data\""));
    }
    note(&args.objects, Some(reason.unwrap_or("true").to_owned()), settings, output).await
}

pub(crate) async fn undo(args: UnArgs, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    note(&args.objects, None, settings, output).await
}

async fn note(
    objects: &[String],
    reason: Option<String>,
    settings: &Settings,
    output: &Output,
) -> Result<Exit, Failure> {
    let world = World::open(settings, Purpose::Look).await?;
    let kinds = world.kinds().await?;
    let mut found = Vec::new();
    for word in targets::several(objects)? {
        found.push(One::find(&world, &kinds, &word).await?);
    }
    let word = if reason.is_some() { "protected" } else { "protected no longer" };
    for mut one in found {
        let label = one.label.clone();
        if one.annotation(marks::PROTECT) == reason.as_deref() {
            let event = Event::Protected { label: &label, reason: reason.as_deref(), changed: false };
            output.tell(&event, '=', Paint::Faint, &format!("{label} {word}"))?;
            continue;
        }
        one.annotate(&world, marks::PROTECT, |_| Ok(reason.clone())).await?;
        let event = Event::Protected { label: &label, reason: reason.as_deref(), changed: true };
        output.tell(&event, '~', Paint::Change, &format!("{label} {word}"))?;
    }
    Ok(Exit::Done)
}
