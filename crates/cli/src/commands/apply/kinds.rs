//! Kinds that documents use and that are not defined: on the embedded store they can be created, after a question.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sexton_client::{Kinds, Place};
use sexton_model::environment::plural_of;

use super::{Args, command};
use crate::ask;
use crate::failure::{Exit, Failure};
use crate::input::Document;
use crate::output::Output;
use crate::settings::Settings;
use crate::world::World;

/// A kind that is missing, and one document of it.
struct Missing<'a> {
    group: &'a str,
    version: &'a str,
    kind: &'a str,
    document: &'a Document,
    namespaced: bool,
}

/// Creates missing kinds if the user agrees. Otherwise an error that names the command to type.
pub(super) async fn make(
    args: &Args,
    settings: &Settings,
    world: &World,
    documents: &[Document],
    output: &Output,
) -> Result<(), Failure> {
    let kinds = world.kinds().await?;
    let missing = missing(&kinds, documents);
    let Some(first) = missing.first() else { return Ok(()) };
    let names: Vec<String> = missing.iter().map(|one| format!("{}.{}", one.kind, one.group)).collect();
    let what = format!(
        "{}: there is no kind {} of apiVersion {}",
        first.document.origin, first.kind, first.document.api_version
    );
    let failure = Failure::new(what).detail("Nothing was put, nothing was swept.");
    let core = missing.iter().any(|one| one.group.is_empty());
    if first.group == "sexton.dev" && !world.embedded {
        // On a server of another make, our own kinds are not there by themselves.
        return Err(failure.next("make them known", format!("sexton install-crds{}", settings.flags())));
    }
    if core || !world.embedded {
        return Err(failure.next("see all kinds", format!("sexton kinds{}", settings.flags())));
    }
    let typed = format!("{} --register-kinds", command(args, settings));
    let failure = failure
        .detail(format!("on this store kinds can be made: {}", names.join(", ")))
        .next("make them, with any content", typed);
    if args.dry_run {
        return Err(failure);
    }
    if !args.register_kinds {
        if !ask::somebody_is_there() {
            return Err(failure.exit(Exit::Held));
        }
        let question =
            format!("Make the kinds {}, with any content, on {}? Type yes: ", names.join(", "), world.target);
        if ask::answer(&question, output).await? != "yes" {
            return Err(failure.exit(Exit::Held));
        }
    }
    let definitions = kinds
        .of_document("apiextensions.k8s.io/v1", "CustomResourceDefinition")
        .ok_or_else(|| Failure::new("the store cannot define kinds"))?;
    for one in &missing {
        let document = definition(one);
        world.resources.create(&Place::new(definitions, None), &document).await?;
        output.talk(&format!("made the kind {}.{}", one.kind, one.group));
    }
    Ok(())
}

fn missing<'a>(kinds: &Kinds, documents: &'a [Document]) -> Vec<Missing<'a>> {
    let defined = |group: &str, kind: &str| {
        documents.iter().any(|document| {
            document.kind == "CustomResourceDefinition"
                && document.value.pointer("/spec/group").and_then(Value::as_str) == Some(group)
                && document.value.pointer("/spec/names/kind").and_then(Value::as_str) == Some(kind)
        })
    };
    let mut found: BTreeMap<(&str, &str), Missing<'_>> = BTreeMap::new();
    for document in documents {
        let (group, version) =
            document.api_version.split_once('/').unwrap_or(("", document.api_version.as_str()));
        let kind = document.kind.as_str();
        if kinds.of_document(&document.api_version, kind).is_some() || defined(group, kind) {
            continue;
        }
        let one = found.entry((group, kind)).or_insert(Missing {
            group,
            version,
            kind,
            document,
            namespaced: true,
        });
        one.version = version;
    }
    found.into_values().collect()
}

fn definition(one: &Missing<'_>) -> Value {
    let singular = one.kind.to_lowercase();
    let plural = plural_of(one.kind);
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let scope = if one.namespaced { "Namespaced" } else { "Cluster" };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{}", one.group)},
        "spec": {
            "group": one.group,
            "names": {"kind": one.kind, "plural": plural, "singular": singular},
            "scope": scope,
            "versions": [{"name": one.version, "served": true, "storage": true,
                "schema": {"openAPIV3Schema": schema}}],
        },
    })
}
