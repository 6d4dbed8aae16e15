//! `sexton delete`: asks for the end of objects. What follows from it is decided elsewhere.

mod confirm;
mod doomed;
mod policy;

use clap::ValueEnum;
use sexton_client::resources::{DeleteAsk, DeleteError, Deleted, Ending, GetError, ListAsk, text};
use sexton_client::{Kinds, Place};

use confirm::confirm;
use doomed::Doomed;
use policy::PolicyName;

use crate::failure::{Exit, Failure};
use crate::output::{Output, Paint};
use crate::settings::Settings;
use crate::world::{Purpose, World};
use crate::{input, targets};

/// Delete objects
///
/// More than one object, or one that takes its contents along, is deleted only after a yes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// KIND NAME…, KIND/NAME…, or KIND with -l
    #[arg(value_name = "KIND|KIND/NAME", required_unless_present = "files", conflicts_with = "files")]
    words: Vec<String>,
    /// The objects of these documents
    #[arg(short, long = "filename", value_name = "FILE|DIR|-")]
    files: Vec<String>,
    /// All objects with these labels, such as app=web,tier!=db
    #[arg(short = 'l', long, value_name = "LABELS", conflicts_with = "files")]
    selector: Option<String>,
    /// What becomes of the objects that these own
    #[arg(long, value_enum, default_value_t = PolicyName::Background)]
    policy: PolicyName,
    /// Show what would happen, and delete nothing
    #[arg(long)]
    dry_run: bool,
    /// What is not there is no error
    #[arg(long)]
    ignore_not_found: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// The form of the answer
    #[arg(short, long, value_enum, default_value_t = Form::Text)]
    output: Form,
}

/// The form of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// One line per object
    Text,
    /// KIND/NAME lines
    Name,
}

pub(crate) async fn run(args: Args, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    let documents = if args.files.is_empty() { Vec::new() } else { input::read(&args.files)? };
    // A store that is not there has nothing to delete, and need not be made for that.
    let world = World::open(settings, Purpose::Look).await?;
    let kinds = world.kinds().await?;
    let (mut doomed, mut failures) = (Vec::new(), Vec::new());
    let wanted = if documents.is_empty() {
        refuse_half_known(&kinds)?;
        let wanted = targets::read(&kinds, &args.words)?;
        check(&args, &wanted)?;
        wanted
            .into_iter()
            .map(|wanted| (Place::new(&wanted.kind, Some(&world.namespace)), wanted.name))
            .collect()
    } else {
        of_documents(documents, &kinds, &world)?
    };
    for (place, name) in &wanted {
        match find(&args, &world, place, name.as_deref()).await {
            Ok(found) => doomed.extend(found),
            Err(failure) => failures.push(failure),
        }
    }
    let preview = if args.dry_run { "dry run of " } else { "" };
    output.talk(&format!("{preview}delete on {}", world.target));
    failures.iter().for_each(|failure| output.explain(failure));
    if !args.dry_run && !doomed.is_empty() {
        confirm(args.yes, &world, &doomed, output).await?;
    }
    let (mut failed, all) = (failures.len(), failures.len() + doomed.len());
    // That nobody listens any more is no reason to stop in the middle.
    let mut unheard = Ok(());
    for doomed in &doomed {
        match end(&args, &world, doomed).await {
            Ok(deleted) => unheard = unheard.and(tell(&args, doomed, deleted, output)),
            Err(failure) => {
                failed += 1;
                output.explain(&failure);
            }
        }
    }
    if all == 0 {
        output.talk("nothing to delete");
    }
    if failed == 0 {
        unheard?;
    }
    Ok(Exit::of_several(failed, all))
}

/// A word may mean a kind of a group that does not answer: then nobody knows what would be deleted, or left.
fn refuse_half_known(kinds: &Kinds) -> Result<(), Failure> {
    if kinds.unread.is_empty() {
        return Ok(());
    }
    let groups: Vec<&str> = kinds.unread.iter().map(|(group, _)| group.as_str()).collect();
    Err(Failure::new(format!("these groups did not answer: {}", groups.join(", ")))
        .detail("a word could mean a kind of theirs; nothing was deleted")
        .next("say exactly what is meant", "sexton delete -f FILE"))
}

fn check(args: &Args, wanted: &[targets::Wanted]) -> Result<(), Failure> {
    let named = wanted.iter().any(|wanted| wanted.name.is_some());
    match (named, &args.selector) {
        (true, Some(_)) => Err(Failure::new("names and selectors exclude each other")),
        (false, None) => Err(Failure::new("which of them?")
            .next("by name", "sexton delete KIND NAME")
            .next("by label", "sexton delete KIND -l app=web")),
        (false, Some(selector)) if selector.trim().is_empty() => {
            Err(Failure::new("an empty selector would mean all of them"))
        }
        _ => Ok(()),
    }
}

/// The objects of documents, last first: what was put after something is deleted before it.
fn of_documents(
    documents: Vec<input::Document>,
    kinds: &Kinds,
    world: &World,
) -> Result<Vec<(Place, Option<String>)>, Failure> {
    let mut wanted = Vec::new();
    for document in documents.into_iter().rev() {
        let Some(kind) = kinds.of_document(&document.api_version, &document.kind) else {
            let what = format!(
                "{}: there is no kind {} of apiVersion {}",
                document.origin, document.kind, document.api_version
            );
            return Err(Failure::new(what)
                .detail("nothing was deleted")
                .next("see all kinds", "sexton kinds"));
        };
        let place = world.place(&document, kind).map_err(|failure| failure.detail("nothing was deleted"))?;
        wanted.push((place, Some(document.name)));
    }
    Ok(wanted)
}

/// The lives that are meant. What is deleted later are these and no others, even if their names are taken again.
async fn find(args: &Args, world: &World, place: &Place, name: Option<&str>) -> Result<Vec<Doomed>, Failure> {
    let Some(name) = name else {
        let labels = args.selector.clone().unwrap_or_default();
        let listed = world.resources.list(place, &ListAsk { labels, ..ListAsk::default() }).await?;
        return Ok(listed.found.iter().map(|object| Doomed::new(place.clone(), object, false)).collect());
    };
    match world.resources.get(place, name).await {
        Ok(object) => Ok(vec![Doomed::new(place.clone(), &object, true)]),
        Err(GetError::NotFound(_)) if args.ignore_not_found => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

/// An object that somebody named may be written to by others meanwhile; as long as it is the same life, it is meant.
const TRIES: usize = 5;

async fn end(args: &Args, world: &World, doomed: &Doomed) -> Result<Deleted, Failure> {
    let mut version = doomed.version.clone();
    for _ in 1..TRIES {
        match delete(args, world, doomed, &version).await {
            Err(DeleteError::Changed(_)) if doomed.by_name => {}
            result => return finish(args, doomed, result),
        }
        let now = world.resources.find(&doomed.place, &doomed.name).await?;
        match now.filter(|now| text(now, "/metadata/uid") == doomed.uid) {
            Some(now) => version = text(&now, "/metadata/resourceVersion").to_owned(),
            None => break,
        }
    }
    finish(args, doomed, delete(args, world, doomed, &version).await)
}

async fn delete(args: &Args, world: &World, doomed: &Doomed, version: &str) -> Result<Deleted, DeleteError> {
    let ask = DeleteAsk {
        policy: Some(args.policy.into()),
        uid: Some(doomed.uid.clone()),
        resource_version: Some(version.to_owned()),
        dry_run: args.dry_run,
    };
    world.resources.delete(&doomed.place, &doomed.name, &ask).await
}

fn finish(args: &Args, doomed: &Doomed, result: Result<Deleted, DeleteError>) -> Result<Deleted, Failure> {
    match result {
        // Somebody else was faster: it is gone, which is what was asked for.
        Err(DeleteError::NotFound(_)) if args.ignore_not_found => {
            Ok(Deleted { ending: Ending::Gone, warnings: Vec::new() })
        }
        Err(error) => {
            let failure = Failure::from(error);
            Err(Failure { what: format!("{}: {}", doomed.label(), failure.what), ..failure })
        }
        Ok(deleted) => Ok(deleted),
    }
}

fn tell(args: &Args, doomed: &Doomed, deleted: Deleted, output: &Output) -> Result<(), Failure> {
    let label = doomed.label();
    output.warn(&label, &deleted.warnings);
    if args.output == Form::Name {
        return output.line(&doomed.place.kind.label(&doomed.name));
    }
    match (deleted.ending, args.dry_run) {
        (Ending::Gone, false) => output.mark('-', Paint::Bad, &format!("{label} deleted")),
        (Ending::Gone, true) => output.mark('-', Paint::Bad, &format!("{label} would be deleted (dry run)")),
        (Ending::Held { finalizers }, dry_run) => {
            let words = if dry_run { "would be marked, and held by" } else { "marked, and held by" };
            let preview = if dry_run { " (dry run)" } else { "" };
            let held = format!("{label} {words} finalizers: {}{preview}", finalizers.join(", "));
            output.mark('!', Paint::Change, &held)
        }
    }
}
