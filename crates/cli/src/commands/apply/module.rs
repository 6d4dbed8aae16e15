//! What is deployed: documents, the `sexton.yaml` beside them, and what was typed. What was typed wins.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;
use sexton_collector::modules::{Deployment, Source};
use sexton_model::LabelSelector;
use sexton_model::module::{ModuleSettings, ModuleSpec, OnFailure};

use super::{Args, OnFailureName};
use crate::failure::Failure;
use crate::input::{self, Document};
use crate::output::Output;
use crate::output::progress::count::Count;
use crate::world::World;

/// All documents, and the settings beside them.
pub(super) fn read(args: &Args, output: &Output) -> Result<(Vec<Document>, ModuleSettings), Failure> {
    let mut found: Option<(String, ModuleSettings)> = None;
    for file in input::settings_files(&args.files)? {
        let shown = file.display().to_string();
        if let Some((first, _)) = &found {
            return Err(Failure::new(format!("there are two settings files: {first} and {shown}"))
                .detail("one deployment is of one module"));
        }
        let folder = file.parent().unwrap_or(Path::new(""));
        if !args.files.iter().any(|path| Path::new(path) == folder) {
            return Err(Failure::new(format!("{shown} says that its directory is a module of its own"))
                .next("deploy that one", format!("sexton apply -f {}", folder.display()))
                .next("or make it a part", format!("remove {shown}")));
        }
        found = Some((shown.clone(), settings(&shown)?));
    }
    let count = Count::new(output, "read");
    let documents = input::read_counting(&args.files, &|read, all| count.at(read, Some(all)))?;
    Ok((documents, found.map(|(_, settings)| settings).unwrap_or_default()))
}

fn settings(file: &str) -> Result<ModuleSettings, Failure> {
    let value = input::read_settings(file)?;
    ModuleSettings::parse(&value).map_err(|errors| {
        let failure = Failure::new(format!("{file} cannot be understood"));
        errors.iter().fold(failure, |failure, error| failure.detail(error.to_string()))
    })
}

/// The deployment that was asked for.
pub(super) fn deployment(
    args: &Args,
    world: &World,
    documents: Vec<Document>,
    named: ModuleSettings,
) -> Result<Deployment, Failure> {
    let manager = args.manager.clone().or_else(|| named.manager.clone()).ok_or_else(no_manager)?;
    let scope = match args.gc_scope.as_slice() {
        [] => {
            named.scope_for(&manager).map_err(|why| Failure::new(format!("the scope is refused: {why}")))?
        }
        typed => scope(typed)?,
    };
    let spec = ModuleSpec {
        manager,
        scope,
        support_gc: args.support_gc.or(named.support_gc).unwrap_or(true),
        max_delete: args.max_delete.clone().or(named.max_delete),
        order: named.order.unwrap_or_default(),
        parallel: named.parallel,
    };
    let only = args.only.as_deref().map(|only| chosen(only, &documents)).transpose()?;
    let sources = documents
        .into_iter()
        .map(|document| Source {
            origin: document.origin.to_string(),
            file: document.origin.file.clone(),
            value: document.value,
        })
        .collect();
    let id = args.deployment_id.clone().unwrap_or_else(new_id);
    let mut deployment = Deployment::new(spec, id, sources);
    deployment.namespace = world.namespace.clone();
    deployment.dependencies = named.dependencies;
    deployment.allow_empty = args.allow_empty || named.allow_empty.unwrap_or(false);
    deployment.dry_gc = args.dry_gc;
    deployment.only = only;
    deployment.on_failure = match args.on_failure {
        Some(OnFailureName::Stop) => OnFailure::Stop,
        Some(OnFailureName::Continue) => OnFailure::Continue,
        None => named.on_failure.unwrap_or_default(),
    };
    deployment.force = args.take_over;
    Ok(deployment)
}

fn no_manager() -> Failure {
    Failure::new("the module has no name")
        .detail("its name is on everything that it manages, so that nothing else is ever swept")
        .next("say it once", "a sexton.yaml in the directory, with a line such as `manager: shop`")
        .next("or type it", "--manager shop")
}

fn scope(typed: &[String]) -> Result<BTreeMap<String, String>, Failure> {
    let mut scope = BTreeMap::new();
    for pair in typed {
        let Some((key, value)) = pair.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            return Err(Failure::new(format!(
                "--gc-scope {pair}: it must be KEY=VALUE, such as manager=shop"
            )));
        };
        if scope.insert(key.to_owned(), value.to_owned()).is_some() {
            return Err(Failure::new(format!("--gc-scope names {key} twice")));
        }
    }
    Ok(scope)
}

/// The documents that were chosen, by their places.
fn chosen(only: &str, documents: &[Document]) -> Result<BTreeSet<usize>, Failure> {
    if only.trim().is_empty() {
        return Err(Failure::new("--only says nothing: it must be labels, or KIND/NAMEs"));
    }
    let by_name = only.contains('/') && !only.contains('=');
    let chosen: BTreeSet<usize> = if by_name {
        // Every name must match: with a typing error in one of two, half of what was meant would be deployed.
        let mut all = BTreeSet::new();
        for one in only.split(',').map(str::trim) {
            let found = places(documents, |document| is_called(document, one));
            if found.is_empty() {
                return Err(none_is_meant(one, documents));
            }
            all.extend(found);
        }
        all
    } else {
        let selector =
            LabelSelector::parse(only).map_err(|error| Failure::new(format!("--only {only}: {error}")))?;
        places(documents, |document| {
            let labels = document.value.pointer("/metadata/labels");
            selector.matches(|key| labels?.get(key).and_then(Value::as_str))
        })
    };
    if chosen.is_empty() {
        return Err(none_is_meant(only, documents));
    }
    Ok(chosen)
}

/// Whether KIND/NAME or KIND/NAMESPACE/NAME means a document.
fn is_called(document: &Document, one: &str) -> bool {
    let Document { kind, namespace, name, .. } = document;
    one.eq_ignore_ascii_case(&format!("{kind}/{name}"))
        || one.eq_ignore_ascii_case(&format!("{kind}/{namespace}/{name}"))
}

fn none_is_meant(only: &str, documents: &[Document]) -> Failure {
    let failure = Failure::new(format!("--only {only}: none of the {} documents is meant", documents.len()));
    match documents.first() {
        Some(document) => failure.detail(format!("they are called like {}/{}", document.kind, document.name)),
        None => failure,
    }
}

fn places(documents: &[Document], wanted: impl Fn(&Document) -> bool) -> BTreeSet<usize> {
    (0..).zip(documents).filter(|(_, document)| wanted(document)).map(|(place, _)| place).collect()
}

/// A unique id that sorts by time.
fn new_id() -> String {
    const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let spell = |mut number: u128, digits: usize| {
        let mut text = vec![b'0'; digits];
        for digit in text.iter_mut().rev() {
            *digit = DIGITS[(number % 32) as usize];
            number /= 32;
        }
        String::from_utf8_lossy(&text).into_owned()
    };
    format!("{}{}", spell(since.as_millis(), 10), spell(uuid::Uuid::new_v4().as_u128(), 6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ_and_sort_by_time() {
        let ids: BTreeSet<String> = (0..1000).map(|_| new_id()).collect();
        assert_eq!(ids.len(), 1000);
        assert!(ids.iter().all(|id| id.len() == 16 && id.starts_with("01")), "{ids:?}");
    }

    /// EXT-5: what is typed after --only means something, all of it.
    #[test]
    fn what_is_chosen_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.yaml");
        let one =
            |name| format!("---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: ns}}\n");
        std::fs::write(&file, one("a") + &one("b")).unwrap();
        let documents = input::read_any(&[file.display().to_string()]).unwrap();
        let chosen = |only: &str| chosen(only, &documents);
        assert_eq!(chosen("pod/b,Pod/ns/a").unwrap(), BTreeSet::from([0, 1]));
        for nothing in ["", " ", "Pod/c", "Pod/a,Pod/c", "app=web"] {
            assert!(chosen(nothing).is_err(), "{nothing:?}");
        }
    }

    #[test]
    fn scopes_are_pairs() {
        let pair = |text: &str| scope(&[text.to_owned()]);
        assert_eq!(pair("manager=shop").unwrap()["manager"], "shop");
        assert_eq!(pair("tier=").unwrap()["tier"], "");
        assert!(pair("manager").is_err() && pair("=shop").is_err());
        assert!(scope(&["a=1".into(), "a=2".into()]).is_err());
    }
}
