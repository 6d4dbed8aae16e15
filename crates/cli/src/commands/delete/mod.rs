//! `sexton delete`: shows the plan of a deletion, asks, and has exactly that plan executed. Plans are made in
//! `lifecycle`.

mod act;
pub(crate) mod consent;
pub(crate) mod policy;
mod preview;
pub(crate) mod tell;
mod wanted;

use std::time::Duration;

use consent::{Agreement, Refusal, consent, obtain};
use policy::PolicyName;
use preview::{Form, Preview, command};

use crate::allowing::AllowingHere;
use crate::failure::{Exit, Failure};
use crate::input::durations;
use crate::interrupt::breakable;
use crate::output::Output;
use crate::output::style::Style;
use crate::output::tree::Fold;
use crate::settings::Settings;
use crate::world::{Purpose, World};

/// Delete objects, and what follows from that
///
/// Shows first who would die, in which order and why, and then asks. Without a terminal it needs --yes, or --approve with
/// the digest of the plan; a namespace or a definition with contents is deleted only after its name was typed, or with
/// --approve. What is carried out is never more than what was shown. Exit codes: 3 if nothing was done or something is
/// in the way, 4 if part of it is gone, 130 if it was interrupted: then `sexton resume` goes on.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// KIND NAME…, KIND/NAME…, KIND/NAMESPACE/NAME…, or KIND with -l or --all
    #[arg(value_name = "KIND|KIND/NAME", required_unless_present = "files", conflicts_with = "files")]
    pub(crate) words: Vec<String>,
    /// The objects of these documents
    #[arg(short, long = "filename", value_name = "FILE|DIR|-")]
    pub(crate) files: Vec<String>,
    /// All objects with these labels, such as app=web,tier!=db
    #[arg(short = 'l', long, value_name = "LABELS", conflicts_with = "files")]
    pub(crate) selector: Option<String>,
    /// All objects of the kind, in the namespace
    #[arg(long, conflicts_with_all = ["files", "selector"])]
    pub(crate) all: bool,
    /// What becomes of the objects that these own; without it cascade, and for namespaces and definitions background
    #[arg(long, value_enum)]
    pub(crate) policy: Option<PolicyName>,
    /// Show what would happen, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// With --dry-run: exit with 2 if anything would be destroyed
    #[arg(long)]
    pub(crate) detailed_exitcode: bool,
    /// What is not there is no error
    #[arg(long)]
    pub(crate) ignore_not_found: bool,
    #[command(flatten)]
    pub(crate) agreement: Agreement,
    #[command(flatten)]
    pub(crate) allowing: AllowingHere,
    /// Return once everything is marked. On the embedded store `sexton resume` does the rest, elsewhere the collector of
    /// the server
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// Wait at most this long. Without it, on a cluster that is no server of Sexton, until nothing has moved for 30s
    #[arg(long, value_parser = durations::read, value_name = "DURATION", conflicts_with = "no_wait")]
    pub(crate) timeout: Option<Duration>,
    /// Show every single life, however many they are
    #[arg(long)]
    pub(crate) full: bool,
    /// The form of the answer; pictures only with --dry-run
    #[arg(short, long, value_enum, default_value_t = Form::Text)]
    pub(crate) output: Form,
}

/// A deletion with consent.
struct Agreed {
    world: World,
    kinds: sexton_client::Kinds,
    preview: Preview,
    /// What was named and is not there.
    missing: usize,
}

/// What came of the preparations.
enum Prepared {
    Over(Exit),
    Agreed(Box<Agreed>),
}

pub(crate) async fn run(args: Args, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    match breakable(prepare(&args, settings, output)).await? {
        Prepared::Over(exit) => Ok(exit),
        Prepared::Agreed(agreed) => act::act(&args, settings, *agreed, output).await,
    }
}

/// Shows the plan and asks. Nothing is written by this.
async fn prepare(args: &Args, settings: &Settings, output: &Output) -> Result<Prepared, Failure> {
    let pictures = [Form::Dot, Form::Mermaid, Form::Svg];
    if pictures.contains(&args.output) && !args.dry_run {
        let plan = command(args, settings).replacen("sexton delete", "sexton plan delete", 1);
        return Err(Failure::new("a picture shows what would happen")
            .next("draw it", format!("{plan} -o svg > plan.svg")));
    }
    if args.detailed_exitcode && !args.dry_run {
        return Err(Failure::new("--detailed-exitcode says what would happen, so it goes with --dry-run"));
    }
    // A store that is not there has nothing to delete, and need not be made for that.
    let world = World::open(settings, Purpose::Look).await?;
    let kinds = world.kinds().await?;
    let found = wanted::find(args, &world, &kinds).await?;
    found.failures.iter().for_each(|failure| output.explain(failure));
    let missing = found.failures.len();
    if found.named.is_empty() {
        if missing == 0 {
            output.talk(&format!("nothing to delete on {}", world.target));
        }
        return Ok(Prepared::Over(Exit::of_several(missing, missing)));
    }
    wanted::refuse_permanent(&found.named, &world, &kinds).await?;
    let preview = Preview::make(args, &world, &kinds, &found.named).await?;
    if args.dry_run {
        show_only(args, settings, &world, &preview, output)?;
        let pending = args.detailed_exitcode && !preview.plan.is_empty();
        let exit =
            if pending { Exit::Pending } else { Exit::of_several(missing, missing + found.named.len()) };
        return Ok(Prepared::Over(exit));
    }
    preview.seen.may_delete(preview.plan.steps().map(|step| step.node), world.allowance(&kinds))?;
    preview.refuse_protected(settings)?;
    show(args, &world, &preview, output)?;
    agree(args, settings, &world, &preview, output).await?;
    Ok(Prepared::Agreed(Box::new(Agreed { world, kinds, preview, missing })))
}

/// The plan as the whole answer.
fn show_only(
    args: &Args,
    settings: &Settings,
    world: &World,
    preview: &Preview,
    output: &Output,
) -> Result<(), Failure> {
    let mut plan = preview.shown(args, world);
    plan.preview = true;
    let command = command(args, settings);
    let digest: String = plan.digest.chars().take(8).collect();
    if let Err(refused) = preview.refuse_protected(settings) {
        plan.hints = refused.next;
    } else if !preview.plan.is_empty() {
        plan.hints.push(("do exactly this".into(), format!("{command} --approve {digest}")));
    }
    if preview.plan.len() > 1 {
        let draw = command.replacen("sexton delete", "sexton plan delete", 1);
        plan.hints.push(("look at it".into(), format!("{draw} -o svg > plan.svg")));
    }
    output.data(&preview.written(&plan, args.output, output.data_style(), fold(args)))
}

/// The plan before the question.
fn show(args: &Args, world: &World, preview: &Preview, output: &Output) -> Result<(), Failure> {
    let plan = preview.shown(args, world);
    if args.output == Form::Json {
        return output.data(&preview.written(&plan, Form::Json, Style::PLAIN, Fold::Never));
    }
    output.talk_text(&preview.written(&plan, Form::Text, output.talk_style(), fold(args)));
    Ok(())
}

fn fold(args: &Args) -> Fold {
    if args.full { Fold::Never } else { Fold::USUAL }
}

async fn agree(
    args: &Args,
    settings: &Settings,
    world: &World,
    preview: &Preview,
    output: &Output,
) -> Result<(), Failure> {
    let given = args.agreement.given(&preview.plan.digest);
    let what = preview.what();
    let others = preview.plan.len().saturating_sub(preview.roots.len());
    let along = match others {
        0 => String::new(),
        1 => " and 1 other".to_owned(),
        others => format!(" and {} others", crate::output::style::count(others)),
    };
    let question = format!("Destroy {what}{along} on {}?", world.target);
    let refusal = Refusal { command: &command(args, settings), digest: &preview.plan.digest, what: &what };
    obtain(consent(given, &preview.holders()), &question, &refusal, output).await
}
