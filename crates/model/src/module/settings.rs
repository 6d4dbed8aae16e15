//! What stands in the `sexton.yaml` beside a module's documents.
//!
//! It must not know what else can be said on a command line, nor where the file is.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{MANAGER_KEY, Scope, check_scope, default_scope, manager_name, read};
use crate::class::read::{Errors, object, text, within};
use crate::invalid::FieldError;

/// More explicit edges are refused.
const MAX_DEPENDENCIES: usize = 10_000;
const KNOWN: [&str; 9] = [
    MANAGER_KEY,
    "gcScope",
    "supportGc",
    "maxDelete",
    "order",
    "parallel",
    "allowEmpty",
    "onFailure",
    "dependencies",
];

/// How the order of a module's documents is meant: which of them get equal places, and so may be destroyed in parallel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ModuleOrder {
    /// Each document has a place of its own, in the order in which they are written.
    #[default]
    Documents,
    /// The documents of one file are equal, as far as no edge is between them; files follow each other.
    Files,
    /// Only edges order: owner references, explicit dependencies, and what has to be served first.
    Edges,
}

impl ModuleOrder {
    /// All of them.
    pub const ALL: [ModuleOrder; 3] = [ModuleOrder::Documents, ModuleOrder::Files, ModuleOrder::Edges];

    /// `documents`, `files` or `edges`.
    pub fn named(word: &str) -> Option<ModuleOrder> {
        ModuleOrder::ALL.into_iter().find(|order| order.word() == word)
    }

    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            ModuleOrder::Documents => "documents",
            ModuleOrder::Files => "files",
            ModuleOrder::Edges => "edges",
        }
    }

    pub(super) fn is_usual(&self) -> bool {
        *self == ModuleOrder::default()
    }
}

/// What is done after a resource could not be put.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// Nothing more is put.
    #[default]
    Stop,
    /// The others are still put. Nothing is swept either way.
    Continue,
}

impl OnFailure {
    /// `stop` or `continue`.
    pub fn named(word: &str) -> Option<OnFailure> {
        match word {
            "stop" => Some(OnFailure::Stop),
            "continue" => Some(OnFailure::Continue),
            _ => None,
        }
    }
}

/// An explicit edge between two documents of a module, each as `Kind/name` or `Kind/namespace/name`; a kind may be
/// followed by its group, as in `Vm.example.com/a`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dependency {
    /// Is put first, and goes last.
    pub first: String,
    /// Is put after it, and goes before it.
    pub then: String,
}

/// The settings of a module. What is not said is `None`, so that a command line can tell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModuleSettings {
    /// The module's name.
    pub manager: Option<String>,
    /// What it may sweep.
    pub gc_scope: Option<Scope>,
    /// Whether it sweeps at all.
    pub support_gc: Option<bool>,
    /// How much may be destroyed at once.
    pub max_delete: Option<String>,
    /// How the order of the documents is meant.
    pub order: Option<ModuleOrder>,
    /// How many members are destroyed at the same time.
    pub parallel: Option<u32>,
    /// Whether a module without documents is meant.
    pub allow_empty: Option<bool>,
    /// What is done after a resource could not be put.
    pub on_failure: Option<OnFailure>,
    /// Explicit edges.
    pub dependencies: Vec<Dependency>,
}

impl ModuleSettings {
    /// Reads a whole settings document.
    ///
    /// # Errors
    /// All that is wrong with it, each with its place; unknown words among it.
    pub fn parse(document: &Value) -> Result<ModuleSettings, Vec<FieldError>> {
        let mut errors = Errors::new();
        let settings = settings(document, &mut errors);
        match (settings, errors.is_empty()) {
            (Some(settings), true) => Ok(settings),
            (None, true) => Err(vec![FieldError::invalid("", document.clone(), "cannot be read")]),
            (_, false) => Err(errors),
        }
    }

    /// The scope of a module of this name.
    ///
    /// # Errors
    /// The scope is not one that this module may have.
    pub fn scope_for(&self, manager: &str) -> Result<Scope, String> {
        let scope = self.gc_scope.clone().unwrap_or_else(|| default_scope(manager));
        check_scope(&scope, manager)?;
        Ok(scope)
    }
}

fn settings(document: &Value, errors: &mut Errors) -> Option<ModuleSettings> {
    if document.is_null() {
        return Some(ModuleSettings::default());
    }
    let map = object(document, "", &KNOWN, errors)?;
    let manager = match map.get(MANAGER_KEY) {
        None => None,
        Some(_) => Some(text(map, "", MANAGER_KEY, errors)?.to_owned()),
    };
    if let Some(manager) = &manager
        && let Err(complaint) = manager_name(manager)
    {
        errors.push(FieldError::invalid(MANAGER_KEY, manager.as_str(), complaint));
    }
    let gc_scope = scope(map, manager.as_deref(), errors);
    let said = |name: &str, errors: &mut Errors| {
        map.contains_key(name).then(|| read::flag(map, "", name, false, errors)).flatten()
    };
    Some(ModuleSettings {
        gc_scope,
        support_gc: said("supportGc", errors),
        allow_empty: said("allowEmpty", errors),
        max_delete: read::limit(map, "", errors).flatten(),
        order: read::order(map, "", errors).flatten(),
        parallel: read::parallel(map, "", errors).flatten(),
        on_failure: on_failure(map, errors),
        dependencies: dependencies(map, errors),
        manager,
    })
}

/// The manager may be named elsewhere: then the scope is checked once that is known.
fn scope(map: &Map<String, Value>, manager: Option<&str>, errors: &mut Errors) -> Option<Scope> {
    let given = map.get("gcScope")?;
    let own = given.get(MANAGER_KEY).and_then(Value::as_str);
    read::scope(map, "", "gcScope", manager.or(own).unwrap_or_default(), errors)
}

fn on_failure(map: &Map<String, Value>, errors: &mut Errors) -> Option<OnFailure> {
    let value = map.get("onFailure")?;
    let found = value.as_str().and_then(OnFailure::named);
    if found.is_none() {
        errors.push(FieldError::not_supported("onFailure", value.clone(), &["stop", "continue"]));
    }
    found
}

fn dependencies(map: &Map<String, Value>, errors: &mut Errors) -> Vec<Dependency> {
    let path = "dependencies";
    let Some(value) = map.get(path) else { return Vec::new() };
    let Some(list) = value.as_array() else {
        let detail = "must be a list, e.g. [{first: Network/lan, then: Vm/web}]";
        errors.push(FieldError::invalid(path, value.clone(), detail));
        return Vec::new();
    };
    if list.len() > MAX_DEPENDENCIES {
        errors.push(FieldError::too_many(path, list.len(), MAX_DEPENDENCIES));
        return Vec::new();
    }
    let mut found = Vec::new();
    for (at, value) in list.iter().enumerate() {
        let path = format!("{path}[{at}]");
        let Some(edge) = object(value, &path, &["first", "then"], errors) else { continue };
        let first = end(edge, &path, "first", errors);
        let then = end(edge, &path, "then", errors);
        if let (Some(first), Some(then)) = (first, then) {
            found.push(Dependency { first, then });
        }
    }
    found
}

fn end(edge: &Map<String, Value>, path: &str, name: &str, errors: &mut Errors) -> Option<String> {
    let said = text(edge, path, name, errors)?;
    let parts: Vec<&str> = said.split('/').collect();
    if !(2..=3).contains(&parts.len()) || parts.iter().any(|part| part.is_empty()) {
        let detail = "must be Kind/name or Kind/namespace/name, e.g. Vm/web";
        errors.push(FieldError::invalid(within(path, name), said, detail));
        return None;
    }
    Some(said.to_owned())
}
