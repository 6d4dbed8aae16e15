//! The objects that are meant, by uid: no successor of the same name is deleted instead.

use serde_json::Value;
use sexton_client::resources::{DeleteAsk, DeleteError, GetError, ListAsk, text};
use sexton_client::{CallError, Kinds, Place};
use sexton_model::names::PERMANENT_NAMESPACES;
use sexton_model::{Policy, Uid, environment};

use super::Args;
use crate::failure::{Exit, Failure};
use crate::one::absent;
use crate::settings::quoted;
use crate::world::{World, is_ours};
use crate::{input, targets};

/// An object that was named and exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    /// Its kind, and where.
    pub(crate) place: Place,
    pub(crate) name: String,
    pub(crate) uid: Uid,
}

/// The objects that were named, and a failure for each that was not found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) named: Vec<Named>,
    pub(crate) failures: Vec<Failure>,
}

/// Finds what the arguments name.
pub(crate) async fn find(args: &Args, world: &World, kinds: &Kinds) -> Result<Found, Failure> {
    let wanted = if args.files.is_empty() {
        let wanted = targets::read(kinds, &args.words)?;
        refuse_half_known(kinds, &args.words, &wanted)?;
        check(args, &wanted)?;
        let usual = Some(world.namespace.as_str());
        wanted.into_iter().map(|wanted| (wanted.place(usual), wanted.name)).collect()
    } else {
        of_documents(input::read(&args.files)?, kinds, world)?
    };
    let mut found = Found::default();
    for (place, name) in &wanted {
        match look(args, world, place, name.as_deref()).await {
            Ok(named) => found.named.extend(named),
            Err(failure) => found.failures.push(failure),
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    found.named.retain(|named| seen.insert(named.uid.clone()));
    Ok(found)
}

/// Fails for objects that the server never deletes, before the user is asked for consent: permanent namespaces,
/// definitions of the server's own kinds, environments that have objects. Finds out by a dry run of each deletion.
pub(crate) async fn refuse_permanent(named: &[Named], world: &World, kinds: &Kinds) -> Result<(), Failure> {
    let holds = |named: &&Named| {
        let plural = named.place.kind.resource.resource.as_str();
        ["namespaces", "customresourcedefinitions"].contains(&plural) || is_environment(named)
    };
    let (mut refused, mut exit) = (Vec::new(), Exit::Held);
    let mut environments = Vec::new();
    for named in named.iter().filter(holds) {
        let (uid, policy) = (Some(named.uid.0.clone()), Some(Policy::Background));
        let ask = DeleteAsk { uid, policy, dry_run: true, ..DeleteAsk::default() };
        let asked = world.resources.delete(&named.place, &named.name, &ask).await;
        // Other errors may be gone when the plan is executed, and are shown then if not.
        match asked {
            Err(DeleteError::Call(CallError::Refused(status))) if status.code == 403 => {
                refused.push(status.message);
                // On other clusters 403 may mean missing rights of this user only.
                if !is_ours(kinds) && !PERMANENT_NAMESPACES.contains(&named.name.as_str()) {
                    exit = Exit::Error;
                }
            }
            Err(DeleteError::Changed(_)) if is_environment(named) => {
                refused.push(format!(
                    "the environment {} has objects, and its program destroys them",
                    named.name
                ));
                environments.push(named.name.as_str());
            }
            _ => {}
        }
    }
    let [first, others @ ..] = refused.as_slice() else { return Ok(()) };
    let failure = others.iter().fold(Failure::new(first), |failure, other| failure.detail(other));
    let failure = environments.into_iter().fold(failure, |failure, name| {
        failure.next("destroy it in order", format!("sexton destroy --env {}", quoted(name)))
    });
    Err(failure.detail("Nothing was deleted.").exit(exit))
}

/// Whether the record of an environment is meant.
fn is_environment(named: &Named) -> bool {
    let kind = &named.place.kind.resource;
    kind.resource == environment::RESOURCE && kind.group != environment::CLASSES_GROUP
}

/// Fails if a word may mean a kind of a group that does not answer: the kind that would be deleted is not certain then.
/// Kinds of the core group are certain, because they have precedence, and so are kinds that are typed with their group.
fn refuse_half_known(kinds: &Kinds, words: &[String], wanted: &[targets::Wanted]) -> Result<(), Failure> {
    let is_core = |wanted: &targets::Wanted| wanted.kind.resource.group.is_empty();
    let has_group = |word: &String| word.split(['/', ',']).next().is_some_and(|kind| kind.contains('.'));
    let qualified = match words.first().is_some_and(|word| word.contains('/')) {
        true => words.iter().all(has_group),
        false => words.iter().take(1).all(|word| word.split(',').all(|kind| kind.contains('.'))),
    };
    if kinds.unread.is_empty() || qualified || wanted.iter().all(is_core) {
        return Ok(());
    }
    let groups: Vec<&str> = kinds.unread.iter().map(|(group, _)| group.as_str()).collect();
    Err(Failure::new(format!("these groups did not answer: {}", groups.join(", ")))
        .detail("a word could mean a kind of theirs; nothing was deleted")
        .next("say exactly what is meant", "sexton delete KIND.GROUP/NAME, or sexton delete -f FILE"))
}

fn check(args: &Args, wanted: &[targets::Wanted]) -> Result<(), Failure> {
    let named = wanted.iter().any(|wanted| wanted.name.is_some());
    match (named, &args.selector) {
        (true, Some(_)) => Err(Failure::new("names and selectors exclude each other")),
        (true, None) if args.all => Err(Failure::new("--all means all of a kind, and needs no name")),
        (false, None) if args.all => Ok(()),
        (false, None) => Err(Failure::new("which of them?")
            .next("by name", "sexton delete KIND NAME")
            .next("by label", "sexton delete KIND -l app=web")
            .next("all of them", "sexton delete KIND --all")),
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

async fn look(args: &Args, world: &World, place: &Place, name: Option<&str>) -> Result<Vec<Named>, Failure> {
    let named = |object: &Value| Named {
        place: Place::new(&place.kind, Some(text(object, "/metadata/namespace"))),
        name: text(object, "/metadata/name").to_owned(),
        uid: Uid(text(object, "/metadata/uid").to_owned()),
    };
    let Some(name) = name else {
        let labels = args.selector.clone().unwrap_or_default();
        // Only names and uids are wanted, perhaps of very many.
        let listed = world.resources.list_metadata(place, &ListAsk { labels, ..ListAsk::default() }).await?;
        return Ok(listed.found.iter().map(named).collect());
    };
    match world.resources.get(place, name).await {
        Ok(object) => Ok(vec![named(&object)]),
        Err(GetError::NotFound(_)) if args.ignore_not_found => Ok(Vec::new()),
        Err(GetError::NotFound(_)) => Err(absent(world, place, name).await),
        Err(error) => Err(error.into()),
    }
}
