//! Parsing: from text to a [`Model`]. Only the form is checked here; classes and contracts are checked by the import.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value as Json};

use super::{Dependency, HEADER, Model, ModelObject, ModelValue};
use crate::world::{MAX_DEPTH, MAX_NAME_BYTES, ObjectId};

/// The maximum length of a model's text in bytes.
pub const MAX_BYTES: usize = 1 << 30;

/// Why a text is not a model.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The text is too long.
    #[error("the model is longer than {MAX_BYTES} bytes")]
    TooLong,
    /// The text is not JSON, or nested too deeply for the parser.
    #[error("the model is no JSON")]
    Json(#[source] serde_json::Error),
    /// A part of the text has the wrong form.
    #[error("{path}: {what}")]
    Form {
        /// The place in the text.
        path: String,
        /// What is wrong there.
        what: String,
    },
    /// Two objects with the same id.
    #[error("{path}: id {id} is taken by the object at {first}")]
    Duplicate {
        /// The place in the text.
        path: String,
        /// The id.
        id: ObjectId,
        /// The place of the first object with this id.
        first: String,
    },
    /// An object owns itself, directly or through other objects.
    #[error("{path}: {id} is its own owner")]
    OwnerCircle {
        /// The place in the text.
        path: String,
        /// The id of the object.
        id: ObjectId,
    },
}

impl Model {
    /// Parses a model: `{"Objects": …, "Also": […]}`, or a single object.
    ///
    /// # Errors
    /// See [`ModelError`].
    pub fn parse(text: &str) -> Result<Model, ModelError> {
        if text.len() > MAX_BYTES {
            return Err(ModelError::TooLong);
        }
        let json: Json = serde_json::from_str(text).map_err(ModelError::Json)?;
        let mut reader = ModelParser::default();
        match json {
            Json::Object(entries) if entries.contains_key(HEADER) => {
                reader.model.root = reader.object(entries, None, "$")?;
            }
            Json::Object(entries) => reader.document(entries)?,
            Json::Null => {}
            _ => return Err(form("$", "a model is an object")),
        }
        let ModelParser { model, .. } = reader;
        model.check_ids_and_owners()?;
        Ok(model)
    }

    /// Checks that ids are unique and that no object owns itself.
    fn check_ids_and_owners(&self) -> Result<(), ModelError> {
        let mut owners: BTreeMap<&ObjectId, (&Option<ObjectId>, &str)> = BTreeMap::new();
        for object in &self.objects {
            if let Some((_, first)) = owners.insert(&object.id, (&object.owner, &object.path)) {
                let (path, id, first) = (object.path.clone(), object.id.clone(), first.to_owned());
                return Err(ModelError::Duplicate { path, id, first });
            }
        }
        let mut settled: HashSet<&ObjectId> = HashSet::new();
        for object in &self.objects {
            let mut chain: HashSet<&ObjectId> = HashSet::new();
            let mut at = Some(&object.id);
            while let Some(id) = at.filter(|id| !settled.contains(id)) {
                if !chain.insert(id) {
                    return Err(ModelError::OwnerCircle { path: object.path.clone(), id: id.clone() });
                }
                at = owners.get(id).and_then(|(owner, _)| owner.as_ref());
            }
            settled.extend(chain);
        }
        Ok(())
    }
}

/// Collects the objects of a model. Recursive: the JSON parser bounds the depth.
#[derive(Default)]
struct ModelParser {
    model: Model,
}

impl ModelParser {
    fn document(&mut self, mut entries: Map<String, Json>) -> Result<(), ModelError> {
        match entries.remove("Objects") {
            Some(Json::Object(root)) => self.model.root = self.object(root, None, "$.Objects")?,
            Some(Json::Null) | None => {}
            Some(_) => return Err(form("$.Objects", "the root is an object or null")),
        }
        let also = match entries.remove("Also") {
            Some(Json::Array(also)) => also,
            Some(Json::Null) | None => Vec::new(),
            Some(_) => return Err(form("$.Also", "a list of objects is expected")),
        };
        for (at, one) in also.into_iter().enumerate() {
            let path = format!("$.Also[{at}]");
            match one {
                Json::Object(entries) if entries.contains_key(HEADER) => {
                    self.object(entries, None, &path)?;
                }
                _ => return Err(form(&path, "an object with a header is expected")),
            }
        }
        match entries.keys().next() {
            Some(name) => Err(form(&format!("$.{name}"), "a model has Objects and Also, and nothing else")),
            None => Ok(()),
        }
    }

    /// An object, with all that is nested in it. Gives back its id.
    fn object(
        &mut self,
        mut entries: Map<String, Json>,
        enclosing: Option<&ObjectId>,
        path: &str,
    ) -> Result<Option<ObjectId>, ModelError> {
        let at = format!("{path}.?");
        let Some(Json::Object(mut header)) = entries.remove(HEADER) else {
            return Err(form(&at, "the header is an object"));
        };
        let id = id_of(text(&mut header, "id", &at)?, &at)?;
        let class = text(&mut header, "type", &at)?;
        let name = optional(&mut header, "name", &at)?;
        if name.as_ref().is_some_and(|name| name.len() > MAX_NAME_BYTES) {
            return Err(form(&at, &format!("name has at most {MAX_NAME_BYTES} bytes")));
        }
        let destroyed = match header.remove("destroyed") {
            Some(Json::Bool(destroyed)) => destroyed,
            None => false,
            Some(_) => return Err(form(&at, "destroyed is true or false")),
        };
        let owner = match header.remove("owner") {
            Some(Json::String(owner)) => Some(id_of(owner, &at)?),
            Some(Json::Null) => None,
            None => enclosing.cloned(),
            Some(_) => return Err(form(&at, "owner is an id or null")),
        };
        let dependencies = dependencies(header.remove("dependencies"), &at)?;
        if let Some(odd) = header.keys().next() {
            return Err(form(&at, &format!("{odd} is not known")));
        }
        let place = self.model.objects.len();
        let (properties, path) = (BTreeMap::new(), path.to_owned());
        let object =
            ModelObject { id: id.clone(), class, name, destroyed, owner, dependencies, properties, path };
        self.model.objects.push(object);
        for (name, json) in entries {
            let path = format!("{}.{name}", self.model.objects[place].path);
            let value = self.value(json, &id, &path, 0)?;
            self.model.objects[place].properties.insert(name, value);
        }
        Ok(Some(id))
    }

    fn value(
        &mut self,
        json: Json,
        enclosing: &ObjectId,
        path: &str,
        depth: usize,
    ) -> Result<ModelValue, ModelError> {
        if depth > MAX_DEPTH {
            return Err(form(path, &format!("values are nested at most {MAX_DEPTH} deep")));
        }
        Ok(match json {
            Json::Null => ModelValue::Null,
            Json::Bool(value) => ModelValue::Bool(value),
            Json::Number(number) => ModelValue::Number(number.as_f64().unwrap_or_default()),
            Json::String(text) => ModelValue::String(text),
            Json::Array(items) => {
                let mut list = Vec::with_capacity(items.len());
                for (at, item) in items.into_iter().enumerate() {
                    list.push(self.value(item, enclosing, &format!("{path}[{at}]"), depth + 1)?);
                }
                ModelValue::List(list)
            }
            Json::Object(entries) => match entries.get(HEADER) {
                None => ModelValue::Map(self.map(entries, enclosing, path, depth)?),
                Some(Json::Object(header)) if header.contains_key("ref") => {
                    reference(&entries, header, path)?
                }
                Some(Json::Object(header)) if header.contains_key("map") => {
                    match header.get("map").cloned() {
                        Some(Json::Object(inner)) if entries.len() == 1 => {
                            ModelValue::Map(self.map(inner, enclosing, path, depth)?)
                        }
                        _ => return Err(form(path, "a map is written as {\"?\": {\"map\": {…}}}")),
                    }
                }
                Some(_) => match self.object(entries, Some(enclosing), path)? {
                    Some(id) => ModelValue::Ref(id),
                    None => ModelValue::Null,
                },
            },
        })
    }

    fn map(
        &mut self,
        entries: Map<String, Json>,
        enclosing: &ObjectId,
        path: &str,
        depth: usize,
    ) -> Result<BTreeMap<String, ModelValue>, ModelError> {
        let mut map = BTreeMap::new();
        for (name, json) in entries {
            let value = self.value(json, enclosing, &format!("{path}.{name}"), depth + 1)?;
            map.insert(name, value);
        }
        Ok(map)
    }
}

fn reference(
    entries: &Map<String, Json>,
    header: &Map<String, Json>,
    path: &str,
) -> Result<ModelValue, ModelError> {
    match header.get("ref") {
        Some(Json::String(id)) if entries.len() == 1 && header.len() == 1 => {
            Ok(ModelValue::Ref(id_of(id.clone(), path)?))
        }
        _ => Err(form(path, "a reference is written as {\"?\": {\"ref\": id}}")),
    }
}

fn dependencies(json: Option<Json>, path: &str) -> Result<Vec<Dependency>, ModelError> {
    let wrong = || form(path, "dependencies are {\"onDestruction\": [{\"target\": id, …}, …]}");
    let list = match json {
        None | Some(Json::Null) => return Ok(Vec::new()),
        Some(Json::Object(mut entries)) => match (entries.remove("onDestruction"), entries.len()) {
            (Some(Json::Array(list)), 0) => list,
            _ => return Err(wrong()),
        },
        Some(_) => return Err(wrong()),
    };
    let one = |json: Json| {
        let Json::Object(mut entry) = json else { return Err(wrong()) };
        let target = id_of(text(&mut entry, "target", path)?, path)?;
        let handler = optional(&mut entry, "handler", path)?;
        let count = match entry.remove("count") {
            None => 1,
            Some(count) => {
                let count = count.as_u64().and_then(|count| u32::try_from(count).ok());
                count.filter(|count| *count > 0).ok_or_else(wrong)?
            }
        };
        if entry.is_empty() { Ok(Dependency { target, handler, count }) } else { Err(wrong()) }
    };
    list.into_iter().map(one).collect()
}

fn text(entries: &mut Map<String, Json>, name: &str, path: &str) -> Result<String, ModelError> {
    optional(entries, name, path)?.ok_or_else(|| form(path, &format!("{name} is missing")))
}

fn optional(entries: &mut Map<String, Json>, name: &str, path: &str) -> Result<Option<String>, ModelError> {
    match entries.remove(name) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) => Ok(Some(text)),
        Some(_) => Err(form(path, &format!("{name} is a text"))),
    }
}

fn id_of(text: String, path: &str) -> Result<ObjectId, ModelError> {
    ObjectId::new(&text).map_err(|error| form(path, &error.to_string()))
}

fn form(path: &str, what: &str) -> ModelError {
    ModelError::Form { path: path.to_owned(), what: what.to_owned() }
}
