//! From documents as written to documents that can be put: each with its kind, namespace and place in the order.
//!
//! Errors in the documents are found before the server is asked about any object.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Value, json};
use sexton_client::resources::text;
use sexton_client::{Kinds, Place, ServedKind};
use sexton_lifecycle::module::{Entry, OrderError, arrange};
use sexton_model::{described, marks};

use super::deployment_mark::{DeploymentMark, set_mark};
use super::documents::{Deployment, Refusal, Source};

/// The label with which other tools mark what they manage.
pub(super) const APPLY_SET: &str = "applyset.kubernetes.io/part-of";

/// A document that can be put.
#[derive(Debug, Clone)]
pub(super) struct Prepared {
    pub(super) origin: String,
    /// With its namespace, without marks.
    pub(super) value: Value,
    pub(super) entry: Entry,
    pub(super) place: Place,
    /// From 1.
    pub(super) order: i64,
    /// Whether its kind or its namespace comes with the module, and may not be there yet.
    pub(super) awaits: bool,
    /// Whether its definition or its class comes with the module, and may be another one when it is put.
    pub(super) redefined: bool,
    /// Whether it is among the documents that are put this time.
    pub(super) wanted: bool,
    /// Whether it refers to an object that must be put before it.
    pub(super) linked: bool,
    /// Where it carries the id of its deployment.
    pub(super) deployment_mark: DeploymentMark,
}

impl Prepared {
    pub(super) fn object(&self) -> String {
        self.entry.label()
    }

    pub(super) fn refuse(&self, why: impl Into<String>, remedy: Option<String>) -> Refusal {
        Refusal { origin: self.origin.clone(), object: self.object(), why: why.into(), remedy }
    }

    /// Group, plural, namespace and name.
    pub(super) fn slot(&self) -> (&str, &str, &str, &str) {
        let kind = &self.place.kind.resource;
        (&kind.group, &kind.resource, &self.entry.namespace, &self.entry.name)
    }

    /// The same, owned.
    pub(super) fn own_slot(&self) -> (String, String, String, String) {
        let (group, resource, namespace, name) = self.slot();
        (group.to_owned(), resource.to_owned(), namespace.to_owned(), name.to_owned())
    }

    /// Group and kind.
    pub(super) fn own_kind(&self) -> (String, String) {
        (self.entry.group.clone(), self.entry.kind.clone())
    }

    /// The document with the marks, as it is put.
    pub(super) fn marked(&self, manager: &str, deployment: &str) -> Value {
        let mut value = self.value.clone();
        for (map, name, mark) in [
            ("labels", marks::MANAGER, manager),
            ("annotations", marks::DEPENDENCY_ORDER, &self.order.to_string()),
        ] {
            set_mark(&mut value, map, name, mark);
        }
        self.deployment_mark.set(&mut value, deployment);
        value
    }
}

/// Why documents cannot be prepared.
#[derive(Debug)]
pub(super) enum NotPrepared {
    Refused(Vec<Refusal>),
    Order(OrderError),
}

/// The documents in the order in which they are put, or all errors in them.
pub(super) fn prepare(deployment: &Deployment, kinds: &Kinds) -> Result<Vec<Prepared>, NotPrepared> {
    let coming = coming_kinds(&deployment.documents);
    let mut refusals = Vec::new();
    let mut prepared = Vec::new();
    for (at, source) in deployment.documents.iter().enumerate() {
        match one(deployment, at, source, kinds, &coming).and_then(sensible) {
            Ok(document) => prepared.push(document),
            Err(refusal) => refusals.push(refusal),
        }
    }
    refusals.extend(duplicates(&prepared));
    if !refusals.is_empty() {
        return Err(NotPrepared::Refused(refusals));
    }
    let entries: Vec<Entry> = prepared.iter().map(|document| document.entry.clone()).collect();
    let order =
        arrange(&entries, &deployment.dependencies, deployment.spec.order).map_err(NotPrepared::Order)?;
    let namespaces: BTreeSet<String> = entries
        .iter()
        .filter(|entry| entry.kind == "Namespace" && entry.group.is_empty())
        .map(|entry| entry.name.clone())
        .collect();
    let provided: BTreeSet<(String, String)> =
        entries.iter().filter_map(|entry| entry.provides.clone()).collect();
    let mut by_place: Vec<Option<Prepared>> = prepared.into_iter().map(Some).collect();
    let mut arranged = Vec::with_capacity(order.len());
    for (at, order) in order {
        let Some(mut document) = by_place[at].take() else { continue };
        document.order = order;
        document.awaits |= namespaces.contains(&document.entry.namespace);
        document.redefined = !provided.is_empty() && provided.contains(&document.own_kind());
        arranged.push(document);
    }
    Ok(arranged)
}

/// Kinds that documents define: they may not be served yet.
fn coming_kinds(sources: &[Source]) -> BTreeMap<(String, String), ServedKind> {
    let mut coming = BTreeMap::new();
    for source in sources.iter().map(|source| &source.value) {
        if text(source, "/kind") != "CustomResourceDefinition" {
            continue;
        }
        let (group, kind) = (text(source, "/spec/group"), text(source, "/spec/names/kind"));
        for version in source.pointer("/spec/versions").and_then(Value::as_array).into_iter().flatten() {
            let version = text(version, "/name");
            let namespaced = text(source, "/spec/scope") == "Namespaced";
            let mut served =
                ServedKind::well_known(group, text(source, "/spec/names/plural"), kind, namespaced);
            version.clone_into(&mut served.version);
            coming.insert((format!("{group}/{version}"), kind.to_owned()), served);
        }
    }
    coming
}

/// Refuses an invalid class or rule: other clusters would store it, and it would be ignored there.
fn sensible(document: Prepared) -> Result<Prepared, Refusal> {
    let complaints: Vec<String> =
        described::complaints(&document.value).iter().map(ToString::to_string).collect();
    match complaints.is_empty() {
        true => Ok(document),
        false => Err(document.refuse(complaints.join("; "), None)),
    }
}

fn one(
    deployment: &Deployment,
    at: usize,
    source: &Source,
    kinds: &Kinds,
    coming: &BTreeMap<(String, String), ServedKind>,
) -> Result<Prepared, Refusal> {
    let value = &source.value;
    let (api_version, kind, name) =
        (text(value, "/apiVersion"), text(value, "/kind"), text(value, "/metadata/name"));
    let refuse = |why: String, remedy: Option<&str>| Refusal {
        origin: source.origin.clone(),
        object: format!(
            "{}/{}",
            if kind.is_empty() { "?" } else { kind },
            if name.is_empty() { "?" } else { name }
        ),
        why,
        remedy: remedy.map(str::to_owned),
    };
    if api_version.is_empty() || kind.is_empty() || name.is_empty() {
        let why = "a document needs apiVersion, kind and metadata.name".to_owned();
        return Err(refuse(why, Some("a generated name would be another resource in each deployment")));
    }
    if api_version == "sexton.dev/v1" && matches!(kind, "Module" | "Collection" | "Tombstone") {
        return Err(refuse(format!("a {kind} is a record of what was done, and is not deployed"), None));
    }
    let served = kinds.of_document(api_version, kind);
    let awaited = coming.get(&(api_version.to_owned(), kind.to_owned()));
    let Some(known) = served.or(awaited) else {
        let why = format!("the server has no kind {kind} in {api_version}, and no document defines it");
        return Err(refuse(why, Some("define the kind first, with a CustomResourceDefinition")));
    };
    let labels = value.pointer("/metadata/labels");
    let label = |name: &str| labels.and_then(|labels| labels.get(name)).and_then(Value::as_str);
    if let Some(set) = label(APPLY_SET) {
        let why = format!("it says that it is part of the ApplySet {set}, which another tool manages");
        return Err(refuse(why, Some("take that label out of the document, or leave it to the other tool")));
    }
    let own = deployment.spec.manager.as_str();
    if let Some(other) = label(marks::MANAGER).filter(|other| *other != own) {
        let why = format!("its label {} says {other}, but the module is {own}", marks::MANAGER);
        return Err(refuse(why, None));
    }
    let mut value = value.clone();
    let mut namespace = text(&value, "/metadata/namespace").to_owned();
    match known.namespaced {
        true if namespace.is_empty() => {
            namespace.clone_from(&deployment.namespace);
            value["metadata"]["namespace"] = json!(namespace);
        }
        false if !namespace.is_empty() => {
            return Err(refuse(format!("it names a namespace, but no {kind} is in one"), None));
        }
        _ => {}
    }
    Ok(Prepared {
        origin: source.origin.clone(),
        entry: Entry { file: source.file.clone(), ..entry(&value, &known.resource.group, &namespace) },
        place: Place::new(known, Some(&namespace)),
        linked: is_linked(deployment, &value),
        value,
        order: 0,
        awaits: served.is_none(),
        redefined: false,
        deployment_mark: DeploymentMark::of(kinds, known),
        wanted: deployment.only.as_ref().is_none_or(|only| only.contains(&at)),
    })
}

/// Whether the document has owners, or is the second one of an explicit dependency.
fn is_linked(deployment: &Deployment, value: &Value) -> bool {
    let end = format!("/{}", text(value, "/metadata/name"));
    value.pointer("/metadata/ownerReferences").is_some()
        || deployment.dependencies.iter().any(|edge| edge.then.ends_with(&end))
}

fn entry(value: &Value, group: &str, namespace: &str) -> Entry {
    let owned = |part: &Value, pointer: &str| text(part, pointer).to_owned();
    let owner = |reference: &Value| {
        let group = text(reference, "/apiVersion").rsplit_once('/').map_or("", |(group, _)| group);
        (group.to_owned(), owned(reference, "/kind"), owned(reference, "/name"))
    };
    let provides = match (group, text(value, "/kind")) {
        ("apiextensions.k8s.io", "CustomResourceDefinition") => Some(("/spec/group", "/spec/names/kind")),
        ("sexton.dev", "Class") => Some(("/spec/for/group", "/spec/for/kind")),
        _ => None,
    };
    let owners = value.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    Entry {
        group: group.to_owned(),
        kind: owned(value, "/kind"),
        namespace: namespace.to_owned(),
        name: owned(value, "/metadata/name"),
        owners: owners.into_iter().flatten().map(owner).collect(),
        file: String::new(),
        provides: provides.map(|(group, kind)| (owned(value, group), owned(value, kind))),
    }
}

/// Two documents for one resource: the second would undo the first.
fn duplicates(prepared: &[Prepared]) -> Vec<Refusal> {
    let mut first: HashMap<(&str, &str, &str, &str), &Prepared> = HashMap::new();
    let mut refusals = Vec::new();
    for document in prepared {
        match first.get(&document.slot()) {
            Some(other) => {
                let why = format!("it is also in {}", other.origin);
                refusals.push(document.refuse(why, Some("keep one of the two".to_owned())));
            }
            None => {
                first.insert(document.slot(), document);
            }
        }
    }
    refusals
}
