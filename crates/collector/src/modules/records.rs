//! The records of modules: objects of our kind `Module` where the server has it, ConfigMaps elsewhere.
//!
//! Writes are conditional on the version that was read, so a record that another process changed meanwhile is never
//! overwritten. It must not know what a deployment is.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sexton_client::resources::{DeleteAsk, DeleteError, ListAsk, ListError, PutError, text};
use sexton_client::{CallError, Kinds, Place, Resources, ServedKind};
use sexton_model::Policy;
use sexton_model::lease::WORK_NAMESPACE;
use sexton_model::module::{KIND, ModuleSpec, ModuleStatus, PREFIX, RESOURCE};

use crate::lease::{LeaseError, call_error};

/// The label of ConfigMaps that are records.
const LABEL: &str = "sexton.dev/module";

/// Where records are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    /// Objects of the kind `Module`.
    Kind,
    /// ConfigMaps `sexton-module-NAME`, usually in the namespace `default`.
    ConfigMap,
}

/// A record.
#[derive(Debug, Clone, PartialEq)]
pub struct ModuleRecord {
    /// What the module is.
    pub spec: ModuleSpec,
    /// Its state.
    pub status: ModuleStatus,
    /// The object that was read, for conditional writes. `None` if there is none yet.
    pub(super) read: Option<Value>,
    /// Whether it is a ConfigMap from before our kinds were installed. The next write moves it.
    moves: bool,
}

/// Why a record was not read or written.
#[derive(Debug, thiserror::Error)]
pub enum RecordsError {
    /// Another process wrote it meanwhile.
    #[error("the record of the module {0} was changed by somebody else meanwhile")]
    Changed(String),
    /// It is not a record that this version can parse.
    #[error("the record of the module {name} cannot be understood: {why}")]
    Strange {
        /// Which one.
        name: String,
        /// Why.
        why: String,
    },
    /// The request failed or was refused.
    #[error("the record of the module {name} cannot be read or written")]
    Call {
        /// Which one; empty for all.
        name: String,
        /// Why.
        #[source]
        source: CallError,
    },
    /// The lease cannot be read.
    #[error(transparent)]
    Lease(LeaseError),
}

impl RecordsError {
    /// Whether the user has no right to.
    pub fn is_forbidden(&self) -> bool {
        matches!(self, RecordsError::Call { source: CallError::Refused(status), .. } if status.code == 403)
    }
}

impl Home {
    pub(super) fn of(kinds: &Kinds) -> Home {
        let ours =
            |kind: &ServedKind| kind.resource.group == "sexton.dev" && kind.resource.resource == RESOURCE;
        if kinds.all.iter().any(ours) { Home::Kind } else { Home::ConfigMap }
    }
}

impl ModuleRecord {
    /// A record that is not written yet.
    pub(super) fn new(spec: ModuleSpec) -> ModuleRecord {
        ModuleRecord { spec, status: ModuleStatus::default(), read: None, moves: false }
    }

    /// The same, to be written as an object of our kind.
    fn moving(self) -> ModuleRecord {
        ModuleRecord { read: None, moves: true, ..self }
    }

    /// The version that was read; empty if there was none.
    pub(super) fn version(&self) -> &str {
        self.read.as_ref().map_or("", |read| text(read, "/metadata/resourceVersion"))
    }
}

/// The records of a server.
#[derive(Debug)]
pub(super) struct Records {
    resources: Resources,
    home: Home,
    place: Place,
}

impl Records {
    /// The records in the usual namespace.
    pub(super) fn new(resources: Resources, home: Home) -> Records {
        Records::within(resources, home, WORK_NAMESPACE)
    }

    /// The records in a namespace, if they are ConfigMaps.
    pub(super) fn within(resources: Resources, home: Home, namespace: &str) -> Records {
        let place = match home {
            Home::Kind => Place::new(&ServedKind::of_ours(RESOURCE, KIND), None),
            Home::ConfigMap => {
                Place::new(&ServedKind::well_known("", "configmaps", "ConfigMap", true), Some(namespace))
            }
        };
        Records { resources, home, place }
    }

    /// The ConfigMaps from before our kinds were installed, if there may be any.
    fn before(&self) -> Option<Records> {
        (self.home == Home::Kind).then(|| Records::new(self.resources.clone(), Home::ConfigMap))
    }

    /// All of them, by name.
    pub(super) async fn list(&self) -> Result<Vec<ModuleRecord>, RecordsError> {
        let mut records = self.list_here().await?;
        if let Some(before) = self.before() {
            let known: BTreeSet<String> = records.iter().map(|record| record.spec.manager.clone()).collect();
            let others = before.list_here().await?.into_iter();
            records.extend(others.filter(|one| !known.contains(&one.spec.manager)).map(ModuleRecord::moving));
        }
        records.sort_by(|a, b| a.spec.manager.cmp(&b.spec.manager));
        Ok(records)
    }

    async fn list_here(&self) -> Result<Vec<ModuleRecord>, RecordsError> {
        let labels = if self.home == Home::ConfigMap { LABEL } else { "" };
        let ask = ListAsk { labels: labels.into(), ..ListAsk::default() };
        let listed = self.resources.list(&self.place, &ask).await.map_err(|error| {
            let source = match error {
                ListError::Expired(status) => CallError::Refused(status),
                ListError::Call(error) => error,
            };
            RecordsError::Call { name: String::new(), source }
        })?;
        listed.found.into_iter().map(|object| self.understand(object)).collect()
    }

    /// One of them.
    pub(super) async fn find(&self, name: &str) -> Result<Option<ModuleRecord>, RecordsError> {
        let found = self.find_here(name).await?;
        match (found, self.before()) {
            (None, Some(before)) => Ok(before.find_here(name).await?.map(ModuleRecord::moving)),
            (found, _) => Ok(found),
        }
    }

    async fn find_here(&self, name: &str) -> Result<Option<ModuleRecord>, RecordsError> {
        let found = self.resources.find(&self.place, &self.object_name(name)).await;
        let found = found.map_err(|source| RecordsError::Call { name: name.to_owned(), source })?;
        found.map(|object| self.understand(object)).transpose()
    }

    /// Writes it, if it has not changed since it was read.
    pub(super) async fn write(&self, record: &mut ModuleRecord) -> Result<(), RecordsError> {
        record.status = std::mem::take(&mut record.status).bounded();
        let name = record.spec.manager.clone();
        let written = match self.home {
            Home::Kind => self.write_kind(record).await,
            Home::ConfigMap => self.write_config_map(record).await,
        };
        match written {
            Ok(object) => {
                record.read = Some(object);
                if std::mem::take(&mut record.moves)
                    && let Some(before) = self.before()
                {
                    before.remove_here(&name, None).await?;
                }
                Ok(())
            }
            Err(PutError::Conflict(_)) => Err(RecordsError::Changed(name)),
            Err(error) => Err(RecordsError::Call { name, source: call_error(error) }),
        }
    }

    async fn write_kind(&self, record: &ModuleRecord) -> Result<Value, PutError> {
        let name = &record.spec.manager;
        let spec = json!(record.spec);
        let mut object = match &record.read {
            None => self.resources.create(&self.place, &record.spec.document()).await?,
            Some(read) if read["spec"] == spec => read.clone(),
            Some(read) => {
                let mut whole = read.clone();
                whole["spec"] = spec;
                self.resources.replace(&self.place, name, &whole).await?
            }
        };
        object["status"] = json!(record.status);
        self.resources.replace_status(&self.place, name, &object).await
    }

    async fn write_config_map(&self, record: &ModuleRecord) -> Result<Value, PutError> {
        let name = self.object_name(&record.spec.manager);
        let text = json!({"spec": record.spec, "status": record.status}).to_string();
        match &record.read {
            None => {
                let object = json!({
                    "apiVersion": "v1", "kind": "ConfigMap",
                    "metadata": {
                        "name": name, "namespace": self.place.namespace, "labels": {LABEL: record.spec.manager},
                    },
                    "data": {"module": text},
                });
                self.resources.create(&self.place, &object).await
            }
            Some(read) => {
                let mut object = read.clone();
                object["data"] = json!({"module": text});
                self.resources.replace(&self.place, &name, &object).await
            }
        }
    }

    /// Removes it, if it has not changed since it was read.
    pub(super) async fn remove(&self, record: &ModuleRecord) -> Result<(), RecordsError> {
        let name = &record.spec.manager;
        let version = Some(record.version().to_owned()).filter(|version| !version.is_empty());
        match self.before().filter(|_| record.moves) {
            Some(before) => before.remove_here(name, None).await,
            None => self.remove_here(name, version).await,
        }
    }

    async fn remove_here(&self, name: &str, version: Option<String>) -> Result<(), RecordsError> {
        // A record has no dependents.
        let policy = Some(Policy::Background);
        let ask = DeleteAsk { policy, resource_version: version, ..DeleteAsk::default() };
        match self.resources.delete(&self.place, &self.object_name(name), &ask).await {
            Ok(_) | Err(DeleteError::NotFound(_)) => Ok(()),
            Err(DeleteError::Changed(_)) => Err(RecordsError::Changed(name.to_owned())),
            Err(DeleteError::Call(source)) => Err(RecordsError::Call { name: name.to_owned(), source }),
        }
    }

    fn object_name(&self, module: &str) -> String {
        match self.home {
            Home::Kind => module.to_owned(),
            Home::ConfigMap => format!("{PREFIX}{module}"),
        }
    }

    fn understand(&self, object: Value) -> Result<ModuleRecord, RecordsError> {
        let name = text(&object, "/metadata/name").trim_start_matches(PREFIX).to_owned();
        let strange = |why: String| RecordsError::Strange { name: name.clone(), why };
        let inner = match self.home {
            Home::Kind => object.clone(),
            Home::ConfigMap => serde_json::from_str(text(&object, "/data/module"))
                .map_err(|error| strange(error.to_string()))?,
        };
        let named = json!({
            "metadata": {"name": name}, "spec": inner.get("spec").cloned().unwrap_or_else(|| json!({})),
        });
        let spec = ModuleSpec::parse(&named).map_err(|errors| {
            strange(errors.iter().map(ToString::to_string).collect::<Vec<String>>().join("; "))
        })?;
        let status = inner.get("status").cloned().unwrap_or_else(|| json!({}));
        let status = serde_json::from_value(status).map_err(|error| strange(error.to_string()))?;
        Ok(ModuleRecord { spec, status, read: Some(object), moves: false })
    }
}
