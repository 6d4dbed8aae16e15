//! A resource that a module manages, or that it might: what is needed to judge it, and nothing else.

use std::collections::BTreeMap;
use std::fmt;

/// A resource with the marks that it carries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Member {
    /// Empty for the core group.
    pub group: String,
    /// The plural.
    pub resource: String,
    /// Group and version.
    pub api_version: String,
    /// The kind's name.
    pub kind: String,
    /// Empty for cluster-scoped kinds.
    pub namespace: String,
    /// The name.
    pub name: String,
    /// Which life of that name.
    pub uid: String,
    /// The version that was seen.
    pub version: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// The uids of its owners.
    pub owners: Vec<String>,
    /// Which deployment put it last, if one did.
    pub deployment: Option<String>,
    /// Where it stands in its module, if that is a number.
    pub order: Option<i64>,
    /// Why it must not be destroyed, if it must not.
    pub protect: Option<String>,
    /// Whether it is on its way out already.
    pub terminating: bool,
    /// Whether somebody says that it is garbage, such as an earlier sweep that was not carried through.
    pub accused: bool,
}

impl Member {
    /// What distinguishes it from all others that live at the same time, in the order of keys.
    pub fn slot(&self) -> (&str, &str, &str, &str) {
        (&self.group, &self.resource, &self.namespace, &self.name)
    }
}

impl fmt::Display for Member {
    /// As people type it: `Vm.example.com/shop/web`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        if !self.group.is_empty() {
            write!(f, ".{}", self.group)?;
        }
        if !self.namespace.is_empty() {
            write!(f, "/{}", self.namespace)?;
        }
        write!(f, "/{}", self.name)
    }
}
