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
use crate::world::World;

/// The names of a settings file.
const SETTINGS: [&str; 2] = ["sexton.yaml", "sexton.yml"];

/// All documents, and the settings beside them.
pub(super) fn read(args: &Args) -> Result<(Vec<Document>, ModuleSettings), Failure> {
    let mut found: Option<(String, ModuleSettings)> = None;
    for path in &args.files {
        for name in SETTINGS {
            let file = Path::new(path).join(name);
            if path == "-" || !file.is_file() {
                continue;
            }
            let shown = file.display().to_string();
            if let Some((first, _)) = &found {
                return Err(Failure::new(format!("there are two settings files: {first} and {shown}"))
                    .detail("one deployment is of one module"));
            }
            found = Some((shown.clone(), settings(&shown)?));
        }
    }
    let documents = input::read_any(&args.files)?;
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
    };
    let only = args.only.as_deref().map(|only| chosen(only, &documents)).transpose()?;
    let sources = documents
        .into_iter()
        .map(|document| Source { origin: document.origin.to_string(), value: document.value })
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
    deployment.force = args.force_conflicts;
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
    let by_name = only.contains('/') && !only.contains('=');
    let chosen: BTreeSet<usize> = if by_name {
        let wanted: Vec<&str> = only.split(',').map(str::trim).collect();
        let is_wanted = |document: &Document| {
            let (short, long) = (
                format!("{}/{}", document.kind, document.name),
                format!("{}/{}/{}", document.kind, document.namespace, document.name),
            );
            wanted.iter().any(|one| one.eq_ignore_ascii_case(&short) || one.eq_ignore_ascii_case(&long))
        };
        places(documents, is_wanted)
    } else {
        let selector =
            LabelSelector::parse(only).map_err(|error| Failure::new(format!("--only {only}: {error}")))?;
        places(documents, |document| {
            let labels = document.value.pointer("/metadata/labels");
            selector.matches(|key| labels?.get(key).and_then(Value::as_str))
        })
    };
    if chosen.is_empty() {
        return Err(Failure::new(format!(
            "--only {only}: none of the {} documents is meant",
            documents.len()
        )));
    }
    Ok(chosen)
}

fn places(documents: &[Document], wanted: impl Fn(&Document) -> bool) -> BTreeSet<usize> {
    (0..).zip(documents).filter(|(_, document)| wanted(document)).map(|(place, _)| place).collect()
}

/// A name that sorts by time and that nobody else has.
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

    #[test]
    fn scopes_are_pairs() {
        let pair = |text: &str| scope(&[text.to_owned()]);
        assert_eq!(pair("manager=shop").unwrap()["manager"], "shop");
        assert_eq!(pair("tier=").unwrap()["tier"], "");
        assert!(pair("manager").is_err() && pair("=shop").is_err());
        assert!(scope(&["a=1".into(), "a=2".into()]).is_err());
    }
}
