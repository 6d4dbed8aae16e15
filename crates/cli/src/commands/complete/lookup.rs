//! The names that a target knows. What does not answer knows none.

use std::collections::BTreeMap;

use sexton_client::connect::{self, ConnectError};
use sexton_client::resources::{ListAsk, text};
use sexton_client::{Kinds, Place, ServedKind};
use sexton_collector::modules::Modules;
use sexton_model::{collection, environment};

use super::typed::{Thing, Word};
use crate::commands::apply::tools;
use crate::settings::Settings;
use crate::targets::Wanted;
use crate::world::{Purpose, World};

/// Names offered at most: longer lists are of no use for choosing.
const MOST_NAMES: usize = 5_000;

/// All words of a sort; which of them fit is the caller's business.
pub(super) async fn find(thing: &Thing, current: &str, settings: Option<Settings>) -> Option<Vec<Word>> {
    let settings = settings?;
    if *thing == Thing::Context {
        return contexts(&settings).await;
    }
    let world = World::open(&settings, Purpose::Look).await.ok()?;
    if *thing == Thing::Module {
        let modules = Modules::open(tools(&world).await.ok()?).await.ok()?;
        let views = modules.list().await.ok()?;
        return Some(views.into_iter().map(|view| Word::new(view.record.spec.manager, "")).collect());
    }
    let known = world.kinds().await.ok()?;
    match thing {
        Thing::Namespace => names(&world, &known, "namespaces", None, "").await,
        Thing::Environment => names(&world, &known, environment::RESOURCE, None, "").await,
        Thing::Collection => names(&world, &known, collection::RESOURCE, None, "").await,
        Thing::Name(kind) => names(&world, &known, kind, None, "").await,
        Thing::Kind => Some(kinds(&known, "")),
        Thing::KindOrObject | Thing::Object => match current.split_once('/') {
            Some((kind, rest)) => match rest.split_once('/') {
                Some((namespace, _)) => {
                    let beginning = format!("{kind}/{namespace}/");
                    names(&world, &known, kind, Some(namespace), &beginning).await
                }
                None => names(&world, &known, kind, None, &format!("{kind}/")).await,
            },
            None if *thing == Thing::Object => Some(kinds(&known, "/")),
            None => Some(kinds(&known, "")),
        },
        Thing::Context | Thing::Module => None,
    }
}

async fn contexts(settings: &Settings) -> Option<Vec<Word>> {
    // No context has an empty name, so the error lists all that exist.
    match connect::to_context("", &settings.kubeconfig_files()).await {
        Err(ConnectError::NoContext { known, .. }) => {
            Some(known.into_iter().map(|name| Word::new(name, "")).collect())
        }
        _ => None,
    }
}

/// Kinds that can be listed, with their group where that is needed to tell them apart.
fn kinds(kinds: &Kinds, ending: &str) -> Vec<Word> {
    let listed: Vec<&ServedKind> = kinds.preferred().filter(|kind| kind.can("list")).collect();
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for kind in &listed {
        *times.entry(kind.resource.resource.as_str()).or_default() += 1;
    }
    let word = |kind: &&ServedKind| {
        let name = match times.get(kind.resource.resource.as_str()) {
            Some(1) => kind.resource.resource.clone(),
            _ => kind.resource.to_string(),
        };
        Word::new(format!("{name}{ending}"), &kind.kind)
    };
    let mut words: Vec<Word> = listed.iter().map(word).collect();
    words.sort_by(|a, b| a.text.cmp(&b.text));
    words
}

/// The names of the objects of a kind, each behind a beginning; in a namespace, or else in the usual one.
async fn names(
    world: &World,
    known: &Kinds,
    kind: &str,
    namespace: Option<&str>,
    beginning: &str,
) -> Option<Vec<Word>> {
    let kind = known.resolve(kind).ok()?.clone();
    let wanted = Wanted { kind, namespace: namespace.map(str::to_owned), name: None };
    let place: Place = wanted.place(Some(&world.namespace));
    let ask = ListAsk { limit: Some(MOST_NAMES), ..ListAsk::default() };
    let listed = world.resources.list_metadata(&place, &ask).await.ok()?;
    let name =
        |object: &serde_json::Value| Word::new(format!("{beginning}{}", text(object, "/metadata/name")), "");
    Some(listed.found.iter().map(name).collect())
}
