//! `sexton transfer`: gives an object from one module to another, so that no sweep of either can take it.

use sexton_collector::modules::{Modules, Transfer, TransferError};

use super::apply::tools;
use crate::failure::{Exit, Failure};
use crate::naming::Names;
use crate::one::One;
use crate::output::ndjson::Event;
use crate::output::{FormFlag, Output, Paint};
use crate::settings::Settings;
use crate::targets;
use crate::world::{Purpose, World};

/// Give an object from one module to another, in one write
///
/// Apply the module that gets it, with the document in it, before the next deployment of the other one. Until then
/// neither of them sweeps it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// KIND/NAME, KIND/NAMESPACE/NAME, or KIND NAME
    #[arg(value_name = "KIND/NAME", required = true, num_args = 1..=2)]
    object: Vec<String>,
    /// The module that gets it
    #[arg(long, value_name = "MODULE")]
    to: String,
    /// Only if this module has it now
    #[arg(long, value_name = "MODULE")]
    from: Option<String>,
    /// Show what would happen, and write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    form: FormFlag,
}

pub(crate) async fn run(args: Args, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    let purpose = if args.dry_run { Purpose::Look } else { Purpose::Write };
    let world = World::open(settings, purpose).await?;
    let modules = Modules::open(tools(&world).await?).await?;
    let object = &targets::one(&args.object)?;
    let (place, name) = One::meant(&world, modules.kinds(), object)?;
    let object = &Names::new(modules.kinds(), &world.namespace).at(&place, &name);
    let ask = Transfer { place, name, from: args.from, to: args.to, dry_run: args.dry_run };
    let done = modules.transfer(&ask).await.map_err(|error| {
        let failure = Failure::new(format!("{object}: {error}")).because(&error);
        match error {
            TransferError::NotTheirs { .. } | TransferError::Terminating | TransferError::ApplySet(_) => {
                failure.detail("Nothing was written.").exit(Exit::Held)
            }
            _ => failure,
        }
    })?;
    let preview = if args.dry_run { " (dry run)" } else { "" };
    let event = Event::Transferred {
        label: object,
        from: done.from.as_deref(),
        to: &done.to,
        changed: !done.unchanged,
        preview: args.dry_run,
    };
    let from = done.from.as_deref().unwrap_or("no module");
    match done.unchanged {
        true => output.tell(&event, '=', Paint::Faint, &format!("{object} is in {} already", done.to))?,
        false => {
            let moved = format!("{object} moved from {from} to {}{preview}", done.to);
            output.tell(&event, '~', Paint::Change, &moved)?;
        }
    }
    output.talk(&done.next);
    Ok(Exit::Done)
}
