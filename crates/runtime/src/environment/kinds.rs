//! The kinds of a program's objects, and the classes that give code to them, made where they are missing.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use sexton_client::resources::{PutAsk, PutError, text};
use sexton_client::{CallError, Place, Resources, ServedKind};
use sexton_model::class::API_VERSION;
use sexton_model::environment::{CLASSES_GROUP, CLASSES_VERSION, plural_of};

use crate::model::ModelObject;
use crate::world::World;

/// What has to be known of a class to store its objects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ClassCode {
    /// Whether it, or a class from which it inherits, has a destructor.
    pub(super) destroys: bool,
    /// Methods of it that hear of the end of others.
    pub(super) handlers: BTreeSet<String>,
}

/// The classes of objects, with the methods that their destruction may need.
pub(super) fn classes_of(world: &World, objects: &[ModelObject]) -> BTreeMap<String, ClassCode> {
    let mut classes: BTreeMap<String, ClassCode> = BTreeMap::new();
    for object in objects {
        let code = classes.entry(object.class.clone()).or_insert_with(|| ClassCode {
            destroys: world.class(&object.class).is_some_and(|class| class.has_destroy()),
            ..ClassCode::default()
        });
        code.handlers.extend(object.dependencies.iter().filter_map(|one| one.handler.clone()));
    }
    classes
}

/// Why there are no kinds for a program's objects.
#[derive(Debug, thiserror::Error)]
pub enum KindsError {
    /// The server refused one.
    #[error("the kinds of the objects could not be made")]
    Put(#[from] PutError),
    /// The server cannot be asked.
    #[error("the kinds of the objects could not be made")]
    Call(#[from] CallError),
    /// Another kind has the name.
    #[error(
        "objects of class {class} cannot be stored: the definition {definition} is that of the kind {kind}"
    )]
    Taken {
        /// The class.
        class: String,
        /// The definition.
        definition: String,
        /// The kind that it defines.
        kind: String,
    },
}

/// Makes sure that the objects of these classes can be stored and destroyed. Several environments may share a class:
/// each says which methods its own objects need, and none takes anything away from another.
///
/// # Errors
/// What was not written.
pub(super) async fn ensure(
    resources: &Resources,
    environment: &str,
    classes: &BTreeMap<String, ClassCode>,
) -> Result<(), KindsError> {
    let ask = PutAsk { manager: format!("sexton-run-{environment}"), force: true, dry_run: false };
    ensure_namespace(resources, environment).await?;
    let definitions = ServedKind::well_known(
        "apiextensions.k8s.io",
        "customresourcedefinitions",
        "CustomResourceDefinition",
        false,
    );
    let definitions = Place::new(&definitions, None);
    let methods = Place::new(&ServedKind::of_ours("classes", "Class"), None);
    for (class, code) in classes {
        let name = format!("{}.{CLASSES_GROUP}", plural_of(class));
        let found = resources.find(&definitions, &name).await?;
        match found.as_ref().map(|found| text(found, "/spec/names/kind")) {
            None => _ = resources.put(&definitions, &name, &definition(class), &ask).await?,
            Some(kind) if kind != class => {
                let (class, kind) = (class.clone(), kind.to_owned());
                return Err(KindsError::Taken { class, definition: name, kind });
            }
            Some(_) => {}
        }
        if code.destroys || !code.handlers.is_empty() {
            resources.put(&methods, &name, &class_of(class, code), &ask).await?;
        }
    }
    Ok(())
}

async fn ensure_namespace(resources: &Resources, name: &str) -> Result<(), PutError> {
    let place = Place::new(&ServedKind::well_known("", "namespaces", "Namespace", false), None);
    if resources.find(&place, name).await?.is_some() {
        return Ok(());
    }
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
    match resources.create(&place, &namespace).await {
        // A conflict means that it exists by now.
        Ok(_) | Err(PutError::Conflict(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

fn definition(class: &str) -> Value {
    let (plural, singular) = (plural_of(class), class.to_lowercase());
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{CLASSES_GROUP}")},
        "spec": {
            "group": CLASSES_GROUP,
            "names": {"kind": class, "plural": plural, "singular": singular, "listKind": format!("{class}List")},
            "scope": "Namespaced",
            "versions": [{
                "name": CLASSES_VERSION, "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            }],
        },
    })
}

fn class_of(class: &str, code: &ClassCode) -> Value {
    let mut spec = Map::new();
    spec.insert("for".into(), json!({"group": CLASSES_GROUP, "kind": class}));
    if code.destroys {
        spec.insert("destroy".into(), json!({"lua": {}}));
    }
    if !code.handlers.is_empty() {
        let handlers: Map<String, Value> =
            code.handlers.iter().map(|name| (name.clone(), json!({"lua": {}}))).collect();
        spec.insert("handlers".into(), handlers.into());
    }
    let name = format!("{}.{CLASSES_GROUP}", plural_of(class));
    json!({"apiVersion": API_VERSION, "kind": "Class", "metadata": {"name": name}, "spec": spec})
}
