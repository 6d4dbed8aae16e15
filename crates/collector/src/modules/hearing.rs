//! Reads the members of a module and the snapshot around it in one pass over the change feed of a server of ours.
//!
//! The result is that of `look` and of [`World::look`]. On other servers it is made of those two calls. It must not
//! know what is concluded from it.

use std::collections::HashMap;

use sexton_client::resources::Slim;
use sexton_client::{Kinds, ServedKind};
use sexton_lifecycle::module::Member;
use sexton_model::feed::{FeedObject, Line};
use sexton_model::marks;

use super::Modules;
use super::look::{Looked, Unlistable, member};
use super::plan::PlanError;
use crate::preview::World;

/// Collects the members of a module from lines of the feed.
struct Hearing<'a> {
    module: &'a str,
    kinds: HashMap<(&'a str, &'a str), &'a ServedKind>,
    /// In the order of the feed, which is nearly that of the keys.
    members: Vec<Member>,
    unlistable: Vec<Unlistable>,
}

impl<'a> Hearing<'a> {
    fn new(kinds: &'a Kinds, module: &'a str) -> Hearing<'a> {
        let place = |kind: &'a ServedKind| (kind.resource.group.as_str(), kind.resource.resource.as_str());
        let kinds = kinds.preferred().map(|kind| (place(kind), kind)).collect();
        Hearing { module, kinds, members: Vec::new(), unlistable: Vec::new() }
    }

    fn hear(&mut self, line: &Line) {
        match line {
            Line::Added(seen) => self.see(seen),
            // Changes are rare during the first listing, so a linear search is enough.
            Line::Modified(seen) => {
                self.forget(seen);
                self.see(seen);
            }
            Line::Deleted(gone) => self.forget(gone),
            Line::Kinds { kinds } => {
                let broken = kinds.iter().filter_map(|kind| {
                    let why = kind.broken.clone()?;
                    Some(Unlistable::new(&kind.resource, why))
                });
                self.unlistable = broken.collect();
            }
            Line::Synced { .. } | Line::Bookmark { .. } | Line::Error { .. } => {}
        }
    }

    fn forget(&mut self, seen: &FeedObject) {
        self.members.retain(|member| member.uid != seen.object.metadata.uid);
    }

    fn see(&mut self, seen: &FeedObject) {
        let metadata = &seen.object.metadata;
        if metadata.labels.get(marks::MANAGER).map(String::as_str) != Some(self.module) {
            return;
        }
        let group = seen.object.api_version.split_once('/').map_or("", |(group, _)| group);
        let Some(kind) = self.kinds.get(&(group, seen.resource.as_str())) else { return };
        let slim = Slim {
            name: metadata.name.clone(),
            namespace: metadata.namespace.clone(),
            uid: metadata.uid.clone(),
            resource_version: metadata.resource_version.clone(),
            deletion_timestamp: metadata.deletion_timestamp.clone(),
            labels: metadata.labels.clone(),
            annotations: metadata.annotations.clone(),
            owner_references: metadata.owner_references.clone(),
            ..Slim::default()
        };
        self.members.push(member(kind, slim));
    }

    fn looked(mut self) -> Looked {
        self.members.sort_by(|a, b| a.key().cmp(&b.key()));
        Looked { members: self.members, unlistable: self.unlistable, ..Looked::default() }
    }
}

impl Modules {
    /// All members of a module now, and the snapshot around them.
    pub(super) async fn look_around(
        &self,
        module: &str,
        within: Option<&str>,
    ) -> Result<(Looked, World), PlanError> {
        let (gateway, resources) = (&*self.tools.gateway, &self.tools.resources);
        if !gateway.resumes() {
            // Elsewhere the feed is made of lists as well, and says less about what cannot be listed.
            let (looked, world) =
                futures::join!(self.look_at(module, within, None), World::look(gateway, resources));
            return Ok((looked, world?));
        }
        let kinds = self.kinds_now().await.map_err(|error| PlanError::Call(error.0))?;
        let mut hearing = Hearing::new(&kinds, module);
        let (world, _) = World::open_and(gateway, resources, |line| hearing.hear(line)).await?;
        Ok((hearing.looked(), world))
    }
}
