//! Checks before anything runs: classes with kinds that belong to other programs, models that contradict the stored
//! objects, a terminating namespace.

use std::collections::BTreeMap;

use sexton_client::{Kinds, Place, ServedKind};
use sexton_collector::modules::Tools;
use sexton_model::environment::{CLASSES_GROUP, CLASSES_VERSION, plural_of};
use sexton_model::names;

use super::OpenError;
use crate::lua::Program;
use crate::model::{Model, ModelObject};
use crate::stored::{MAX_OBJECT_BYTES, too_large};
use crate::world::ObjectId;

/// The class that every program has.
const BUILT_IN: &str = "Environment";

/// Refuses a program that could not be run, if it is to be, and one whose objects could not be stored.
pub(super) fn check_program(program: &Program, served: &Kinds, runs: bool) -> Result<(), OpenError> {
    if runs {
        program.check_entry()?;
    }
    check_classes(program, served)
}

/// Refuses classes that cannot be kinds: objects are resources of kinds with the names of their classes. That also
/// includes classes with a name that another kind has, one of this program or one that is served already.
fn check_classes(program: &Program, served: &Kinds) -> Result<(), OpenError> {
    let mut known: Vec<Names> = vec![Names::of(BUILT_IN)];
    for class in program.classes() {
        if let Err(why) = names::dns1035_label(&class.to_lowercase()) {
            return Err(OpenError::Class { class, why: why.to_string() });
        }
        let own = Names::of(&class);
        if let Some((other, name)) = known.iter().find_map(|other| Some((&other.kind, own.shared(other)?))) {
            let why = format!("{other} would be called {name} as well");
            return Err(OpenError::Class { class, why });
        }
        if class != BUILT_IN {
            known.push(own);
        }
    }
    let ours = || served.preferred().filter(|kind| kind.resource.group == CLASSES_GROUP);
    for kind in ours().filter(|kind| known.iter().any(|own| own.kind == kind.kind)) {
        if let Some(why) = unfit(kind, served) {
            let definition = format!("{}.{CLASSES_GROUP}", kind.resource.resource);
            return Err(OpenError::UnfitKind { class: kind.kind.clone(), definition, why });
        }
    }
    let ours: Vec<Names> = ours().map(Names::of_served).collect();
    for own in &known {
        if let Some((other, name)) = ours.iter().find_map(|other| Some((other, own.shared(other)?))) {
            return Err(OpenError::TakenKind {
                class: own.kind.clone(),
                name,
                other: other.kind.clone(),
                definition: format!("{}.{CLASSES_GROUP}", other.plural),
            });
        }
    }
    Ok(())
}

/// Why objects of programs cannot be stored as a kind that is defined already.
fn unfit(kind: &ServedKind, served: &Kinds) -> Option<String> {
    if !kind.namespaced {
        return Some("puts its objects in no namespace".to_owned());
    }
    let is_version = |one: &&ServedKind| one.resource == kind.resource && one.version == CLASSES_VERSION;
    match served.all.iter().find(is_version) {
        Some(_) => None,
        None => Some(format!("does not serve the version {CLASSES_VERSION}")),
    }
}

/// The names that a kind takes: no other kind of the group may have any of them.
struct Names {
    kind: String,
    plural: String,
    singular: String,
    short: Vec<String>,
}

impl Names {
    fn of(class: &str) -> Names {
        let (plural, singular) = (plural_of(class), class.to_lowercase());
        Names { kind: class.to_owned(), plural, singular, short: Vec::new() }
    }

    fn of_served(kind: &ServedKind) -> Names {
        Names {
            kind: kind.kind.clone(),
            plural: kind.resource.resource.clone(),
            singular: kind.singular.clone(),
            short: kind.short_names.clone(),
        }
    }

    /// A name that both take, if they are two kinds.
    fn shared(&self, other: &Names) -> Option<String> {
        if self.kind == other.kind {
            return (self.plural != other.plural).then(|| self.kind.clone());
        }
        let taken =
            |name: &String| [&other.plural, &other.singular].contains(&name) || other.short.contains(name);
        let lists = |one: &Names, two: &Names| format!("{}List", one.kind) == two.kind;
        let resource = [&self.plural, &self.singular].into_iter().find(|name| taken(name)).cloned();
        resource
            .or_else(|| lists(self, other).then(|| other.kind.clone()))
            .or_else(|| lists(other, self).then(|| self.kind.clone()))
    }
}

/// A model that came in must not contradict what is stored, nor drop everything by accident, nor be too large.
pub(super) fn check_model(incoming: &Model, before: &Model, allow_empty: bool) -> Result<(), OpenError> {
    if incoming.objects.is_empty() && !before.objects.is_empty() && !allow_empty {
        return Err(OpenError::EmptyModel { stored: before.objects.len() });
    }
    if let (Some(first), None) = (incoming.objects.first(), &incoming.root) {
        let (path, what) = (first.path.clone(), "nothing reaches it: the model has no root, Objects is null");
        return Err(OpenError::Contradicts { path, what: what.to_owned() });
    }
    let stored: BTreeMap<&ObjectId, &ModelObject> =
        before.objects.iter().map(|object| (&object.id, object)).collect();
    let living = before.objects.iter().filter(|object| !object.destroyed).count();
    let is_kept = |id: &ObjectId| stored.get(id).is_some_and(|object| !object.destroyed);
    if living > 0 && !incoming.objects.is_empty() && !incoming.ids().any(is_kept) && !allow_empty {
        return Err(OpenError::NothingKept { stored: living });
    }
    for object in &incoming.objects {
        if let Some(bytes) = too_large(object) {
            let what =
                format!("{} is too large to be stored: {bytes} bytes, at most {MAX_OBJECT_BYTES}", object.id);
            return Err(OpenError::Contradicts { path: object.path.clone(), what });
        }
        let Some(stored) = stored.get(&object.id) else { continue };
        let (id, is, said) = (&object.id, &stored.class, &object.class);
        let what = match (stored.destroyed, object.destroyed) {
            _ if is != said => format!(
                "{id} is stored as a {is}, and the model says {said}: an object keeps its class; give the new one another id"
            ),
            (true, false) => format!(
                "{id} is destroyed, and the model does not say so: nothing brings it back; leave \"destroyed\": true in its header"
            ),
            (false, true) => format!(
                "the model says that {id} is destroyed, and it is not: leave it out of the model, and it will be"
            ),
            _ => continue,
        };
        return Err(OpenError::Contradicts { path: object.path.clone(), what });
    }
    Ok(())
}

/// Nothing can be stored in a namespace that is being deleted.
pub(super) async fn check_namespace(tools: &Tools, name: &str) -> Result<(), OpenError> {
    let place = Place::new(&ServedKind::well_known("", "namespaces", "Namespace", false), None);
    let found = tools.resources.find(&place, name).await.map_err(OpenError::Call)?;
    match found.filter(|namespace| !namespace["metadata"]["deletionTimestamp"].is_null()) {
        Some(_) => Err(OpenError::NamespaceTerminates(name.to_owned())),
        None => Ok(()),
    }
}
