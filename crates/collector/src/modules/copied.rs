//! Tells members of a module from copies: objects that carry its label, and perhaps its marks, but were not put by
//! it.
//!
//! Labels and annotations are copied: by controllers from a workload to what it creates, and by users with a
//! manifest. The proof is in the managed fields: what a module has put has an `Apply` entry of its field manager.
//! Reading these costs a request per object, so only doubtful objects are read: those that [`copies`] names and that
//! no document names. An object that cannot be read counts as a copy, and so is not swept. It must not know what
//! happens to members.

use std::collections::BTreeSet;

use futures::stream::{self, StreamExt};
use serde_json::Value;
use sexton_client::resources::text;
use sexton_client::{Kinds, Place, ServedKind};
use sexton_lifecycle::module::{Member, kind_of, possible_copies};

use super::Modules;
use super::look::{Looked, slot_of};
use super::puts::field_manager;

/// The most objects that are read at a time.
const AT_ONCE: usize = 64;

/// Whether a module has put an object, or received it by a transfer.
pub(super) fn is_put_by(object: &Value, module: &str) -> bool {
    let manager = field_manager(module);
    let managed = object.pointer("/metadata/managedFields").and_then(Value::as_array);
    managed
        .into_iter()
        .flatten()
        .any(|entry| text(entry, "/manager") == manager && text(entry, "/operation") == "Apply")
}

impl Modules {
    /// Moves copies from `looked.members` to `looked.copies`. `kinds` are those that the module is known to have;
    /// `None` if it may have any. `is_named` says whether a document names an object.
    pub(super) async fn set_copies_aside(
        &self,
        looked: &mut Looked,
        module: &str,
        kinds: Option<BTreeSet<String>>,
        is_named: impl Fn(&Member) -> bool,
    ) {
        // A member with an owner may be a copy itself.
        let put =
            looked.members.iter().filter(|member| member.deployment.is_some() && member.owners.is_empty());
        let kinds = kinds.map(|kinds| put.map(kind_of).chain(kinds).collect());
        let mut doubtful = possible_copies(&looked.members, kinds.as_ref());
        doubtful.retain(|at| !is_named(&looked.members[*at]));
        let copied = self.not_put(looked, module, doubtful).await;
        let (copies, members): (Vec<_>, Vec<_>) =
            (0..).zip(looked.members.drain(..)).partition(|(at, _)| copied.contains(at));
        let bare = |list: Vec<(usize, Member)>| list.into_iter().map(|(_, member)| member).collect();
        (looked.copies, looked.members) = (bare(copies), bare(members));
    }

    /// The doubtful members that the module did not put; one that cannot be read is among them.
    async fn not_put(&self, looked: &Looked, module: &str, doubtful: BTreeSet<usize>) -> BTreeSet<usize> {
        if doubtful.is_empty() {
            return doubtful;
        }
        let kinds = self.kinds_now().await.unwrap_or_else(|_| self.kinds.clone());
        let asked = doubtful.into_iter().map(|at| {
            let (member, kinds) = (looked.members[at].clone(), &kinds);
            let seen = looked.objects.get(&slot_of(&member)).map(|object| is_put_by(object, module));
            async move {
                let put = match seen {
                    Some(put) => put,
                    None => self.is_member_put(&member, kinds, module).await,
                };
                (at, put)
            }
        });
        let asked: Vec<_> = asked.collect();
        let answers: Vec<(usize, bool)> = stream::iter(asked).buffer_unordered(AT_ONCE).collect().await;
        answers.into_iter().filter(|(_, put)| !put).map(|(at, _)| at).collect()
    }

    async fn is_member_put(&self, member: &Member, kinds: &Kinds, module: &str) -> bool {
        let is_kind = |kind: &&ServedKind| {
            kind.resource.group == member.group && kind.resource.resource == member.resource
        };
        let Some(kind) = kinds.all.iter().find(is_kind) else { return false };
        let place = Place::new(kind, Some(&member.namespace));
        let found = self.tools.resources.find(&place, &member.name).await;
        found.ok().flatten().is_some_and(|object| is_put_by(&object, module))
    }
}
