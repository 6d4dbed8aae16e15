//! What the API knows of namespaces: the first ones, and that objects are only made in living ones.

use serde_json::json;
use sexton_model::environment::CLASSES_GROUP;
use sexton_model::{Document, GroupResource, Key, Status, names};
use sexton_store::{At, Guard, Scope};

use super::{Api, Result, Target, WriteOptions};
use crate::admission::class_for;
use crate::kinds::{KindRef, Special};

fn namespaces() -> GroupResource {
    GroupResource::new("", "namespaces")
}

impl Api {
    /// Makes sure that the permanent namespaces exist.
    pub(super) async fn ensure_namespaces(&self) -> Result<()> {
        let registry = self.kinds.current();
        let Some(kind) = registry.find("", "v1", "namespaces") else { return Ok(()) };
        let target = Target { kind: KindRef::clone(kind), namespace: String::new() };
        let options = WriteOptions { field_manager: "sexton".into(), ..WriteOptions::default() };
        for name in names::PERMANENT_NAMESPACES {
            if self.store.get(&target.key(name), At::Latest).await?.is_none() {
                let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
                self.create(&target, Document::from_value(body)?, &options).await?;
            }
        }
        Ok(())
    }

    /// The guards under which a new object may come into being: its namespace is not terminating, its definition
    /// stands.
    pub(super) async fn room_for(&self, target: &Target, name: &str) -> Result<Vec<Guard>> {
        let mut guards = Vec::new();
        if target.kind.namespaced {
            guards.push(self.living_namespace(target, name).await?);
        }
        if target.kind.is_custom() {
            let registry = self.kinds.current();
            let resource = &target.kind.resource;
            let current = registry.find(&resource.group, &target.kind.version, &resource.resource);
            let current = current.ok_or_else(Status::no_such_path)?;
            if current.terminating {
                let mut refused = Status::method_not_allowed();
                refused.message = "create not allowed while custom resource definition is terminating".into();
                return Err(refused.into());
            }
            guards.extend(current.definition.clone());
        }
        Ok(guards)
    }

    async fn living_namespace(&self, target: &Target, name: &str) -> Result<Guard> {
        let inside = target.namespace.as_str();
        let key = Key { kind: namespaces(), namespace: String::new(), name: inside.to_owned() };
        let Some(namespace) = self.store.get(&key, At::Latest).await? else {
            return Err(Status::not_found(&namespaces(), inside).into());
        };
        if namespace.facts()?.deleted.is_some() {
            let why =
                format!("unable to create new content in namespace {inside} because it is being terminated");
            let message = format!("namespace {inside} is being terminated");
            let status = Status::forbidden(&target.kind.resource, name, why);
            return Err(status.because("NamespaceTerminating", message, "metadata.namespace").into());
        }
        Ok(namespace.unchanged())
    }

    /// Everything that a namespace can hold, that a definition defines, or that a class is for.
    pub(super) fn contents(&self, target: &Target, document: &Document) -> Vec<Scope> {
        let registry = self.kinds.current();
        if target.kind.special == Special::Class {
            let (group, kind) = class_for(document);
            let resources = registry.resources_of(group, kind).into_iter();
            return resources.map(|kind| Scope { kind, namespace: None }).collect();
        }
        let scope = |(resource, namespaced): (&GroupResource, bool)| match target.kind.special {
            Special::Namespace if namespaced => {
                Some(Scope { kind: resource.clone(), namespace: Some(document.name().to_owned()) })
            }
            Special::Definition if resource.to_string() == document.name() => {
                Some(Scope { kind: resource.clone(), namespace: None })
            }
            _ => None,
        };
        registry.stored().filter_map(scope).collect()
    }

    /// The guards under which the last hold of a namespace or a definition may be taken off by hand: nothing is left in it. What
    /// would be left could neither be reached nor destroyed by its hook, and would be there again with the next of that name.
    pub(super) async fn without_contents(&self, target: &Target, document: &Document) -> Result<Vec<Guard>> {
        let kind = &target.kind;
        if self.kinds.is_plain() || !matches!(kind.special, Special::Namespace | Special::Definition) {
            return Ok(Vec::new());
        }
        let contents = self.contents(target, document);
        if self.any_in(&contents).await? {
            let object = format!("{}/{}", kind.singular, document.name());
            let why = format!(
                "it still has objects, which would be left behind without their end; to see what they wait for, type: \
                 sexton why {object}; to give up on that, type: sexton force OBJECT"
            );
            return Err(Status::conflict(&kind.resource, document.name(), why).into());
        }
        Ok(contents.iter().map(Scope::empty).collect())
    }

    /// Everything that can be an object of an environment, or look like one.
    pub(super) fn objects_of_environment(&self, name: &str) -> Vec<Scope> {
        let registry = self.kinds.current();
        let classes =
            registry.stored().filter(|(kind, namespaced)| *namespaced && kind.group == CLASSES_GROUP);
        classes.map(|(kind, _)| Scope { kind: kind.clone(), namespace: Some(name.to_owned()) }).collect()
    }

    /// Whether any of the scopes holds anything.
    pub(super) async fn any_in(&self, scopes: &[Scope]) -> Result<bool> {
        for scope in scopes {
            if self.store.any(scope).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
