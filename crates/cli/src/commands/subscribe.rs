//! `sexton subscribe` and `sexton unsubscribe`: destruction dependencies, by which an object outlives another one and
//! is warned of its end.

use serde_json::Value;
use sexton_client::resources::{ListAsk, text};
use sexton_client::{Kinds, Place, ServedKind};
use sexton_model::class::Class;
use sexton_model::environment::CLASSES_GROUP;
use sexton_model::hook::ObjectRef;
use sexton_model::subscription::{self, Subscription, Target};
use sexton_model::{marks, module};

use crate::failure::{Exit, Failure};
use crate::naming::Names;
use crate::one::One;
use crate::output::ndjson::Event;
use crate::output::{FormFlag, Output, Paint};
use crate::settings::{Settings, quoted};
use crate::targets;
use crate::world::{Purpose, World};

/// Subscribe an object to the destruction of another
///
/// Subscriptions are counted: as many unsubscribes as subscribes. They keep neither side alive.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The object that is told, then the one of whose end: each KIND/NAME, KIND/NAMESPACE/NAME or KIND NAME; the second may
    /// be self
    #[arg(value_names = ["KIND/NAME", "TARGET"], required = true, num_args = 2..=4)]
    objects: Vec<String>,
    /// The method of its class that hears of it; without one it only outlives the target
    #[arg(long, value_name = "NAME")]
    handler: Option<String>,
    /// Whoever holds the name, rather than the life that holds it now; it need not exist
    #[arg(long)]
    by_name: bool,
    #[command(flatten)]
    form: FormFlag,
}

/// Take one subscription back
#[derive(Debug, clap::Args)]
pub(crate) struct UnArgs {
    /// The object that is told, then the one of whose end: each KIND/NAME, KIND/NAMESPACE/NAME or KIND NAME; the second may
    /// be self
    #[arg(value_names = ["KIND/NAME", "TARGET"], required = true, num_args = 2..=4)]
    objects: Vec<String>,
    /// The handler that it was made with; checked, not needed
    #[arg(long, value_name = "NAME")]
    handler: Option<String>,
    #[command(flatten)]
    form: FormFlag,
}

pub(crate) async fn run(args: Args, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    let world = World::open(settings, Purpose::Look).await?;
    let kinds = world.kinds().await?;
    let [object, word] = targets::two(&args.objects)?;
    let mut one = One::find(&world, &kinds, &object).await?;
    let names = Names::new(&kinds, &world.namespace);
    check_handler(&world, &one, args.handler.as_deref()).await?;
    let (target, uid) = target(&world, &kinds, &one, &word, args.by_name).await?;
    let note = note(&one);
    one.annotate(&world, note, |now| {
        let mut all = read(note, now)?;
        subscription::subscribe(&mut all, target.clone(), uid.clone(), args.handler.clone());
        Ok(subscription::format(&all))
    })
    .await?;
    let count = counted(&one, &target, uid.as_deref());
    let (label, named) = (one.label.clone(), called(&target, &one, &names));
    let times = if count > 1 { format!(", {count} times") } else { String::new() };
    let event = Event::Subscribed {
        label: &label,
        target: &target.to_string(),
        handler: args.handler.as_deref(),
        count,
        changed: true,
    };
    let told = args.handler.as_ref().map(|handler| format!(" by {handler}")).unwrap_or_default();
    let text = format!("{label} hears of the end of {named}{told}{times}");
    output.tell(&event, '+', Paint::Good, &text)?;
    Ok(Exit::Done)
}

pub(crate) async fn undo(args: UnArgs, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    let world = World::open(settings, Purpose::Look).await?;
    let kinds = world.kinds().await?;
    let [object, word] = targets::two(&args.objects)?;
    let mut one = One::find(&world, &kinds, &object).await?;
    let names = Names::new(&kinds, &world.namespace);
    check_handler(&world, &one, args.handler.as_deref()).await?;
    let (target, uid) = match target(&world, &kinds, &one, &word, false).await {
        Ok(found) => found,
        // What is gone can still be unsubscribed from, by its name.
        Err(_) => target(&world, &kinds, &one, &word, true).await?,
    };
    let (label, named) = (one.label.clone(), called(&target, &one, &names));
    let target_word = target.to_string();
    let has = |note: &&str| {
        let all = read(note, one.annotation(note)).unwrap_or_default();
        all.iter().any(|known| is_same(known, &target, uid.as_deref()))
    };
    let Some(note) = [marks::SUBSCRIPTIONS, marks::DEPENDENCIES].into_iter().find(has) else {
        let event = unsubscribed(&label, &target_word, 0, false);
        output.tell(&event, '=', Paint::Faint, &format!("{label} has no subscription to {named}"))?;
        return Ok(Exit::Done);
    };
    if note == marks::DEPENDENCIES
        && let Some(manager) = applied_by(&one)
    {
        return Err(in_the_document(&label, (&target, &named), manager));
    }
    one.annotate(&world, note, |now| {
        let mut all = read(note, now)?;
        subscription::unsubscribe(&mut all, &target, uid.as_deref());
        Ok(subscription::format(&all))
    })
    .await?;
    let count = counted(&one, &target, uid.as_deref());
    let left = match count {
        0 => format!("{label} does not hear of the end of {named} any more"),
        1 => format!("{label} hears of the end of {named}, 1 subscription is left"),
        many => format!("{label} hears of the end of {named}, {many} subscriptions are left"),
    };
    let event = unsubscribed(&label, &target_word, count, true);
    output.tell(&event, if count == 0 { '-' } else { '~' }, Paint::Change, &left)?;
    Ok(Exit::Done)
}

fn unsubscribed<'a>(label: &'a str, target: &'a str, count: u32, changed: bool) -> Event<'a> {
    Event::Subscribed { label, target, handler: None, count, changed }
}

/// The annotation that a subscription is added to. Objects of programs have one list, which the program keeps; all others
/// have one beside that of their document, so that the document's next apply meets no other manager.
fn note(one: &One) -> &'static str {
    match one.place.kind.resource.group == CLASSES_GROUP {
        true => marks::DEPENDENCIES,
        false => marks::SUBSCRIPTIONS,
    }
}

fn read(note: &str, annotation: Option<&str>) -> Result<Vec<Subscription>, Failure> {
    subscription::parse(annotation.unwrap_or_default())
        .map_err(|error| Failure::new(format!("the annotation {note} is {error}")))
}

/// The field manager that applied the annotation with the object's subscriptions. `None`: it was not applied.
fn applied_by(one: &One) -> Option<&str> {
    let field = format!("f:{}", marks::DEPENDENCIES);
    let managed = one.object.pointer("/metadata/managedFields")?.as_array()?;
    let has = |entry: &&Value| {
        text(entry, "/operation") == "Apply"
            && entry
                .pointer("/fieldsV1/f:metadata/f:annotations")
                .is_some_and(|all| all.get(&field).is_some())
    };
    managed.iter().find(has).map(|entry| text(entry, "/manager"))
}

fn in_the_document(label: &str, (target, named): (&Target, &str), manager: &str) -> Failure {
    let whose = match manager.strip_prefix(module::PREFIX) {
        Some(module) => format!("its document in the module {module} says so"),
        None => format!("the document that {manager} applied says so"),
    };
    Failure::new(format!("{label} subscribes to {named}, because {whose}"))
        .exit(Exit::Held)
        .detail(format!("Take {target} out of its annotation {}, and apply that.", marks::DEPENDENCIES))
}

fn is_same(known: &Subscription, target: &Target, uid: Option<&str>) -> bool {
    known.target == *target && (uid.is_none() || known.uid.is_none() || known.uid.as_deref() == uid)
}

fn counted(one: &One, target: &Target, uid: Option<&str>) -> u32 {
    let all = subscription::declared(|name| one.annotation(name)).subscriptions;
    all.iter().filter(|known| is_same(known, target, uid)).map(|known| known.count).sum()
}

/// The target that a word means, in full, and the uid of its incarnation unless the subscription is by name.
async fn target(
    world: &World,
    kinds: &Kinds,
    one: &One,
    word: &str,
    by_name: bool,
) -> Result<(Target, Option<String>), Failure> {
    if word == "self" {
        return Ok((Target::Own, None));
    }
    let (place, name) = One::meant(world, kinds, word)?;
    let uid = match by_name {
        true => None,
        false => Some(One::find(world, kinds, word).await?.uid().to_owned()),
    };
    let elsewhere =
        place.namespace.clone().filter(|namespace| Some(namespace) != one.place.namespace.as_ref());
    let Place { kind, .. } = place;
    let group = kind.resource.group;
    Ok((Target::Named { group, kind: kind.kind, namespace: elsewhere, name }, uid))
}

/// The label of a target, in the form of all labels.
fn called(target: &Target, one: &One, names: &Names) -> String {
    match target {
        Target::Own => one.label.clone(),
        Target::Named { group, kind, namespace, name } => {
            let namespace = namespace.clone().or_else(|| one.place.namespace.clone()).unwrap_or_default();
            let (group, kind, name) = (group.clone(), kind.clone(), name.clone());
            names.label(&ObjectRef { group, kind, namespace, name, uid: String::new() })
        }
    }
}

/// An unknown handler would only be noticed when it is too late.
async fn check_handler(world: &World, one: &One, handler: Option<&str>) -> Result<(), Failure> {
    let Some(handler) = handler else { return Ok(()) };
    let place = Place::new(&ServedKind::of_ours("classes", "Class"), None);
    let classes = world.resources.list(&place, &ListAsk::default()).await?;
    let kind = &one.place.kind;
    let class = classes.found.iter().find_map(|document| {
        let class = Class::parse(document).ok()?;
        let same = class.group == kind.resource.group && class.kind == kind.kind;
        same.then(|| (text(document, "/metadata/name").to_owned(), class))
    });
    let Some((name, class)) = class else {
        return Err(Failure::new(format!("{} has no class, and so no handler {handler:?}", kind.kind))
            .detail("a Class gives its objects handlers: docs/collector.md")
            .next("only outlive it", "the same command without --handler"));
    };
    if class.handlers.contains_key(handler) {
        return Ok(());
    }
    let known: Vec<String> = class.handlers.keys().map(|known| quoted(known)).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Err(Failure::new(format!("the class {name} of {} has no handler {handler:?}", kind.kind))
        .detail(format!("it has: {known}")))
}
