//! `sexton put`: makes objects be as documents say.

use std::collections::BTreeMap;
use std::time::Duration;

use clap::ValueEnum;
use serde_json::{Value, json};
use sexton_client::resources::{Put, PutAsk, PutError, PutOutcome, text};
use sexton_client::{CallError, Kinds, Place, ServedKind};
use sexton_model::described;

use crate::failure::{Exit, Failure};
use crate::input::{self, Document};
use crate::naming::Names;
use crate::output::ndjson::Event;
use crate::output::object::{list, without_managers};
use crate::output::progress::count::Count;
use crate::output::{Output, Paint};
use crate::settings::Settings;
use crate::world::{Purpose, World};

/// Make objects be as documents say
///
/// What the documents do not speak of is left alone. All documents are read before the first object is put; namespaces
/// and definitions are put first, the rest in the order in which it stands.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A file of YAML or JSON documents, a directory of such files, or - for stdin
    #[arg(short, long = "filename", required = true, value_name = "FILE|DIR|-")]
    files: Vec<String>,
    /// Take over fields that others manage and that have other values
    #[arg(long, visible_alias = "force-conflicts")]
    take_over: bool,
    /// Show what would happen, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// The form of the answer
    #[arg(short, long, value_enum, default_value_t = Form::Text)]
    output: Form,
}

/// The form of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// One line per object
    Text,
    /// A stream of JSON lines for programs; docs/output.md describes it
    Json,
    /// The objects as they are now
    Yaml,
    /// KIND/NAME lines
    Name,
}

/// A document and the place of its object.
struct Planned {
    document: Document,
    place: Place,
    /// What the object is called.
    label: String,
    /// Whether the kind is defined by another document of this put.
    defined_here: bool,
}

pub(crate) async fn run(args: Args, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    let documents = input::read(&args.files).map_err(nothing_put)?;
    let count = Count::new(output, "put");
    let purpose = if args.dry_run { Purpose::Look } else { Purpose::Write };
    let world = World::open(settings, purpose).await?;
    let kinds = world.kinds().await?;
    let planned = plan(documents, &kinds, &world).map_err(nothing_put)?;
    planned.iter().try_for_each(refuse_nonsense).map_err(nothing_put)?;
    let preview = if args.dry_run { "dry run of " } else { "" };
    output.talk(&format!("{preview}put on {}", world.target));
    let ask = PutAsk { force: args.take_over, dry_run: args.dry_run, ..PutAsk::default() };
    let (mut objects, mut failed) = (Vec::new(), 0);
    let all = planned.len();
    // A closed output does not stop the command in the middle; the first error is returned at the end.
    let mut unheard = Ok(());
    for (at, planned) in planned.iter().enumerate() {
        if !output.is_watched() {
            // Lines on the terminal say it themselves.
            count.at(at, Some(all));
        }
        match put(&world, planned, &ask).await {
            Ok(put) => {
                output.warn(&planned.label, &put.warnings);
                let put = Put { object: without_managers(put.object), ..put };
                unheard = unheard.and(tell(&args, planned, &put, output));
                objects.extend((args.output == Form::Yaml).then_some(put.object));
            }
            Err(failure) => {
                count.erase();
                failed += 1;
                output.explain(&failure);
            }
        }
    }
    let shown = |mut objects: Vec<Value>| if planned.len() == 1 { objects.remove(0) } else { list(objects) };
    match args.output {
        Form::Yaml if !objects.is_empty() => output.yaml(&shown(objects))?,
        _ => {}
    }
    drop(count);
    output.summarize(json!({"put": planned.len() - failed, "failed": failed, "preview": args.dry_run}));
    if failed > 0 && planned.len() > 1 {
        output.talk(&format!("{failed} of {} were not put", planned.len()));
    }
    if failed == 0 {
        unheard?;
    }
    Ok(Exit::of_several(failed, planned.len()))
}

/// Refuses a class or a rule that makes no sense. Other clusters store it, and it is ignored there.
fn refuse_nonsense(planned: &Planned) -> Result<(), Failure> {
    let complaints = described::complaints(&planned.document.value);
    let what = format!("{}: {} makes no sense", planned.document.origin, planned.label);
    match complaints.is_empty() {
        true => Ok(()),
        false => {
            Err(complaints.iter().fold(Failure::new(what), |failure, one| failure.detail(one.to_string())))
        }
    }
}

fn nothing_put(failure: Failure) -> Failure {
    failure.detail("nothing was put")
}

fn tell(args: &Args, planned: &Planned, put: &Put, output: &Output) -> Result<(), Failure> {
    let label = planned.label.as_str();
    if args.output == Form::Name {
        return output.line(&planned.place.kind.label(&planned.document.name));
    }
    let (symbol, paint, word) = match put.outcome {
        PutOutcome::Created => ('+', Paint::Good, "created"),
        PutOutcome::Changed => ('~', Paint::Change, "changed"),
        PutOutcome::Unchanged => ('=', Paint::Faint, "unchanged"),
    };
    match args.output {
        Form::Yaml => return Ok(()),
        Form::Json => {
            let object = &put.object;
            return output.event(&Event::Object { label, action: Some(word), object });
        }
        Form::Text | Form::Name => {}
    }
    let preview = if args.dry_run { " (dry run)" } else { "" };
    output.mark(symbol, paint, &format!("{label} {word}{preview}"))
}

/// Finds the kind and the place of every document, or refuses all of them.
fn plan(documents: Vec<Document>, kinds: &Kinds, world: &World) -> Result<Vec<Planned>, Failure> {
    let defined = defined_kinds(&documents);
    let names = Names::new(kinds, &world.namespace);
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    let mut planned = Vec::new();
    for document in documents {
        let served = kinds.of_document(&document.api_version, &document.kind);
        let (kind, defined_here) =
            match served.or_else(|| defined.of_document(&document.api_version, &document.kind)) {
                Some(kind) => (kind, served.is_none()),
                None => return Err(unknown(&document, kinds)),
            };
        let place = world.place(&document, kind)?;
        let label = names.at(&place, &document.name);
        let slot = format!("{} {}", kind.resource.group, label);
        if let Some(first) = seen.insert(slot, document.origin.to_string()) {
            let what = format!("{}: {label} stands here a second time", document.origin);
            return Err(Failure::new(what).detail(format!("the first time is {first}")));
        }
        planned.push(Planned { document, place, label, defined_here });
    }
    planned.sort_by_key(|planned| match planned.document.kind.as_str() {
        "CustomResourceDefinition" | "Namespace" => 0,
        _ => 1,
    });
    Ok(planned)
}

fn unknown(document: &Document, kinds: &Kinds) -> Failure {
    let what = format!(
        "{}: there is no kind {} of apiVersion {}",
        document.origin, document.kind, document.api_version
    );
    let same = kinds.preferred().find(|kind| kind.kind == document.kind);
    let failure = match same {
        Some(kind) => Failure::new(what).detail(format!("there is one of apiVersion {}", kind.api_version())),
        None => match kinds.near(&document.kind).first() {
            Some(kind) => Failure::new(what).detail(format!("did you mean {}?", kind.kind)),
            None => Failure::new(what),
        },
    };
    failure.next("see all kinds", "sexton kinds")
}

/// The kinds that definitions among the documents bring along.
fn defined_kinds(documents: &[Document]) -> Kinds {
    let mut kinds = Kinds::default();
    for document in documents.iter().filter(|document| document.kind == "CustomResourceDefinition") {
        let spec = &document.value["spec"];
        let kind = text(spec, "/names/kind");
        let versions = spec["versions"].as_array().map_or(&[][..], Vec::as_slice);
        kinds.all.extend(versions.iter().map(|version| ServedKind {
            resource: sexton_model::GroupResource::new(text(spec, "/group"), text(spec, "/names/plural")),
            version: text(version, "/name").to_owned(),
            preferred: false,
            kind: kind.to_owned(),
            singular: match text(spec, "/names/singular") {
                "" => kind.to_lowercase(),
                singular => singular.to_owned(),
            },
            short_names: Vec::new(),
            categories: Vec::new(),
            namespaced: text(spec, "/scope") == "Namespaced",
            verbs: Vec::new(),
        }));
    }
    kinds
}

/// How often a kind that was defined just now is asked for again, and how long in between.
const SERVED_SOON: (u32, Duration) = (20, Duration::from_millis(250));

async fn put(world: &World, planned: &Planned, ask: &PutAsk) -> Result<Put, Failure> {
    let document = &planned.document;
    let (mut tries, pause) =
        if planned.defined_here && !ask.dry_run { SERVED_SOON } else { (0, Duration::ZERO) };
    loop {
        match world.resources.put(&planned.place, &document.name, &document.value, ask).await {
            // Some servers need a moment after a definition.
            Err(PutError::Call(CallError::Refused(status))) if status.code == 404 && tries > 0 => {
                tries -= 1;
                tokio::time::sleep(pause).await;
            }
            Err(error) => return Err(explain(error, planned)),
            Ok(put) => return Ok(put),
        }
    }
}

fn explain(error: PutError, planned: &Planned) -> Failure {
    let is_conflict = matches!(&error, PutError::Conflict(status) if status.message.contains("conflict"));
    let failure = Failure::from(error);
    let failure = Failure {
        what: format!("{}: {}: {}", planned.document.origin, planned.label, failure.what),
        ..failure
    };
    match is_conflict {
        true => failure.next("take the fields over", "the same command with --take-over"),
        false => failure,
    }
}
