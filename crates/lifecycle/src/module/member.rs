//! Members: resources with the label of a module, with what deployments and sweeps need to know of each.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A resource with the label of a module.
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
    /// Its uid.
    pub uid: String,
    /// The resource version that was seen.
    pub version: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// The uids of its owners.
    pub owners: Vec<String>,
    /// The id of the deployment that put it last, if one did: the mark.
    pub deployment: Option<String>,
    /// Its place in the order of its module, if that is a number.
    pub order: Option<i64>,
    /// Why it is protected, if it is.
    pub protect: Option<String>,
    /// Whether its deletion has begun.
    pub is_terminating: bool,
    /// Whether it is recorded as a candidate, for example by an earlier sweep that was not completed.
    pub is_candidate: bool,
}

impl Member {
    /// Its key: different for all resources that exist at the same time.
    pub fn key(&self) -> (&str, &str, &str, &str) {
        (&self.group, &self.resource, &self.namespace, &self.name)
    }
}

impl fmt::Display for Member {
    /// As users type it: `Vm.example.com/shop/web`.
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

/// The indexes of members that may be copies: objects that carry the label of the module without having been put by it.
///
/// Other controllers copy labels: endpoints have those of their service, pods those of their owner. Sweeping copies
/// would destroy objects in use. Only the field managers of an object tell for sure; this narrows down which to ask
/// about.
///
/// A member may be a copy if it has an owner, even with the mark of a deployment: many controllers copy annotations as
/// well, some only once, so the mark need not be that of the owner now. Without a mark it may also be one if the module
/// never put an object of its kind. `kinds` are the kinds that it ever put, as `resource.group`; `None` if that is not
/// known.
pub fn possible_copies(members: &[Member], kinds: Option<&BTreeSet<String>>) -> BTreeSet<usize> {
    let is_of_foreign_kind = |member: &Member| kinds.is_some_and(|kinds| !kinds.contains(&kind_of(member)));
    let may_be_copy = |member: &Member| {
        !member.owners.is_empty() || (member.deployment.is_none() && is_of_foreign_kind(member))
    };
    (0..).zip(members).filter(|(_, member)| may_be_copy(member)).map(|(at, _)| at).collect()
}

/// `resource.group`, as records of modules name kinds.
pub fn kind_of(member: &Member) -> String {
    match member.group.as_str() {
        "" => member.resource.clone(),
        group => format!("{}.{group}", member.resource),
    }
}
