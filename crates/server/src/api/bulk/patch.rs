//! The patch of an item: holds, owners and annotations, and nothing else of an object. The managed fields are not
//! touched by it.

use serde_json::Value;
use sexton_model::bulk::{Annotations, Outcome};
use sexton_model::marks::NAMESPACE_HOLD;
use sexton_model::{Document, Facts, Stored};
use sexton_store::Object;

use super::item::Write;
use crate::admission;
use crate::api::commit::is_held;
use crate::api::deletion::annotate;
use crate::api::{Result, Target};
use crate::kinds::Special;

/// What an item changes.
pub(super) struct Patch<'a> {
    pub(super) remove_finalizers: &'a [String],
    pub(super) add_finalizers: &'a [String],
    pub(super) remove_owners: &'a [String],
    pub(super) annotations: &'a Annotations,
}

impl Patch<'_> {
    /// What it comes to on this version.
    pub(super) fn decide(
        &self,
        target: &Target,
        current: &Object,
        facts: &Facts<'_>,
    ) -> Result<(Write, Outcome)> {
        let marked = facts.deleted.is_some();
        let namespace = target.kind.special == Special::Namespace;
        if marked
            && !namespace
            && self.add_finalizers.is_empty()
            && facts.finalizers.iter().all(|name| self.removes(name))
        {
            // The last holds go, and the object with them: known without reading its text.
            return Ok((Write::Remove { marked }, Outcome::Removed));
        }
        let stored = if namespace {
            let mut document = current.document()?;
            self.apply(target, &mut document)?;
            if marked && self.removes(NAMESPACE_HOLD) {
                admission::release_contents(target, &mut document);
            }
            if marked && !is_held(target, &document) {
                return Ok((Write::Remove { marked }, Outcome::Removed));
            }
            target.encode(&document)
        } else if let Some(stored) = self.apply_quickly(current, facts)? {
            stored
        } else {
            let mut sketch = current.stored.sketch()?;
            self.apply(target, &mut sketch.document)?;
            sketch.encode()
        };
        if stored == current.stored {
            return Ok((Write::Nothing, Outcome::Unchanged));
        }
        admission::check_size(Some(&current.stored), &stored)?;
        Ok((Write::Put(stored), Outcome::Patched))
    }

    fn removes(&self, finalizer: &str) -> bool {
        self.remove_finalizers.iter().any(|name| name == finalizer)
    }

    /// What only takes something away, or only annotates, is done without reading the rest.
    fn apply_quickly(&self, current: &Object, facts: &Facts<'_>) -> Result<Option<Stored>> {
        if !self.add_finalizers.is_empty() {
            return Ok(None);
        }
        if !self.annotations.is_empty() {
            if !self.remove_finalizers.is_empty() || !self.remove_owners.is_empty() {
                return Ok(None);
            }
            let changes = self.annotations.iter().map(|(name, value)| (name.as_str(), value.as_deref()));
            return Ok(current.stored.words(facts)?.and_then(|words| words.annotated(changes)));
        }
        let kept: Vec<String> = facts
            .finalizers
            .iter()
            .filter(|name| !self.removes(name))
            .map(|name| (*name).to_owned())
            .collect();
        let Some(mut pieces) = current.stored.pieces()? else { return Ok(None) };
        if !pieces.remove_owners(self.remove_owners) {
            return Ok(None);
        }
        pieces.set_finalizers(&kept);
        Ok(Some(pieces.encode()))
    }

    fn apply(&self, target: &Target, document: &mut Document) -> Result<()> {
        let kept = document.finalizers().into_iter().filter(|name| !self.removes(name));
        let mut finalizers: Vec<String> = kept.map(str::to_owned).collect();
        for finalizer in self.add_finalizers {
            if !finalizers.contains(finalizer) {
                finalizers.push(finalizer.clone());
            }
        }
        document.set_finalizers(finalizers);
        if !self.remove_owners.is_empty() {
            let goes = |owner: &Value| self.remove_owners.iter().any(|uid| owner["uid"] == uid.as_str());
            let kept: Vec<Value> =
                document.owner_references().iter().filter(|owner| !goes(owner)).cloned().collect();
            document.set_or_remove("ownerReferences", (!kept.is_empty()).then(|| kept.into()));
        }
        annotate(document, self.annotations);
        if self.add_finalizers.is_empty() && self.annotations.values().all(Option::is_none) {
            return Ok(());
        }
        admission::check_marks(target, document)
    }
}
