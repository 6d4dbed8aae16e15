//! Where the record and the lease of a module are: in the namespace `default`, or in the user's own.
//!
//! One rule: a record that exists is used where it is, in `default` before the user's own namespace. A new one is
//! made in `default` if the user may write there, else in the user's own namespace. So a user with rights in one
//! namespace finds the record again in each run.

use std::collections::BTreeSet;

use serde_json::json;
use sexton_model::lease::WORK_NAMESPACE;

use super::records::{Home, ModuleRecord, Records, RecordsError};
use super::{Modules, WorkLease};
use crate::rights::is_allowed;

impl Modules {
    /// The user's own namespace, if it is not the usual one.
    fn own(&self) -> Option<&str> {
        self.tools.resources.namespace().filter(|own| *own != WORK_NAMESPACE)
    }

    /// The record of a module, if there is one. Remembers where it is from now on.
    pub(super) async fn find_record(&self, name: &str) -> Result<Option<ModuleRecord>, RecordsError> {
        let usual = Records::new(self.tools.resources.clone(), self.home).find(name).await;
        let Some(own) = self.own() else { return usual };
        let is_forbidden = match usual {
            Ok(Some(record)) => return Ok(Some(record)),
            Ok(None) => false,
            Err(error) if error.is_forbidden() => true,
            Err(error) => return Err(error),
        };
        let found = self.records_within(own).find(name).await?;
        if found.is_some() || is_forbidden || !self.may_write_usually().await {
            self.remember(name, own);
        }
        Ok(found)
    }

    /// All records that the user may read.
    pub(super) async fn all_records(&self) -> Result<Vec<ModuleRecord>, RecordsError> {
        let usual = Records::new(self.tools.resources.clone(), self.home).list().await;
        let Some(own) = self.own() else { return usual };
        let mut records = match usual {
            Err(error) if error.is_forbidden() => Vec::new(),
            usual => usual?,
        };
        let known: BTreeSet<String> = records.iter().map(|record| record.spec.manager.clone()).collect();
        let others = match self.records_within(own).list().await {
            Err(error) if error.is_forbidden() => Vec::new(),
            others => others?,
        };
        for record in others.into_iter().filter(|record| !known.contains(&record.spec.manager)) {
            self.remember(&record.spec.manager, own);
            records.push(record);
        }
        records.sort_by(|a, b| a.spec.manager.cmp(&b.spec.manager));
        Ok(records)
    }

    /// The records that have, or will have, the one of a module.
    pub(super) fn records_of(&self, name: &str) -> Records {
        match self.remembered(name) {
            Some(own) => self.records_within(&own),
            None => Records::new(self.tools.resources.clone(), self.home),
        }
    }

    /// The lease of a module, in the namespace of its record.
    pub(super) fn lease(&self, name: &str) -> WorkLease {
        let namespace = self.remembered(name);
        WorkLease::of_module(&self.tools, name, namespace.as_deref())
    }

    fn records_within(&self, own: &str) -> Records {
        Records::within(self.tools.resources.clone(), Home::ConfigMap, own)
    }

    fn remember(&self, name: &str, namespace: &str) {
        let mut elsewhere = self.elsewhere.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        elsewhere.insert(name.to_owned(), namespace.to_owned());
    }

    fn remembered(&self, name: &str) -> Option<String> {
        let elsewhere = self.elsewhere.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        elsewhere.get(name).cloned()
    }

    /// Whether the user may create leases in the usual namespace. If the server does not say, the write will tell.
    async fn may_write_usually(&self) -> bool {
        let asked = json!({
            "namespace": WORK_NAMESPACE, "verb": "create", "group": "coordination.k8s.io", "resource": "leases",
        });
        is_allowed(&self.tools.resources, asked).await.unwrap_or(true)
    }
}
