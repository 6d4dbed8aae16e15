//! Rules: read strictly when they are written down; and where one asks for it, no object comes into being while there
//! is something with its labels that belonged to an earlier object of its name.
//!
//! It must not know what is garbage: it compares labels and references with what is stored, and removes nothing.

use sexton_model::rule::{Detector, KindName, Leftover, Rule, Targets};
use sexton_model::{Document, FieldError, LabelSelector, Status, Term};
use sexton_store::store::Scope;
use sexton_store::{At, Object};

use super::Change;
use crate::api::{Api, Result, Target};
use crate::kinds::Special;

/// So many are named in a refusal.
const NAMED: usize = 3;
/// After so many seconds it is worth another try.
const RETRY: u32 = 1;

pub(super) fn rule(target: &Target, change: &Change<'_>, errors: &mut Vec<FieldError>) {
    let spec = |document: &Document| document.object().get("spec").cloned();
    if target.kind.special != Special::Rule || change.old.is_some_and(|old| spec(old) == spec(change.new)) {
        return;
    }
    if let Err(complaints) = Rule::parse(change.new.value()) {
        errors.extend(complaints);
    }
}

impl Api {
    /// Refuses a new object while a rule holds its name.
    pub(super) async fn check_name_is_clean(&self, target: &Target, change: &Change<'_>) -> Result<()> {
        let registry = self.kinds().current();
        if change.old.is_some() || !registry.holds_names() {
            return Ok(());
        }
        let (group, kind) = (&target.kind.resource.group, &target.kind.kind);
        let name = change.new.name();
        for rule in registry.name_holds(group, kind) {
            let Detector::Leftover(leftover) = &rule.detector else { continue };
            let outside = !rule.namespaces.is_empty() && !rule.namespaces.contains(&target.namespace);
            if outside && target.kind.namespaced {
                continue;
            }
            let found = self.left_of(target, name, rule.as_ref(), leftover).await?;
            if let Some(first) = found.first() {
                let more = found.len().saturating_sub(NAMED);
                let mut shown = found.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
                if more > 0 {
                    shown.push_str(&format!(" and {more} more"));
                }
                let why = format!(
                    "leftovers of {name:?} are still there: {shown}; see: sexton why {first}; try again once they are gone"
                );
                return Err(Status::conflict(&target.kind.resource, name, why).retry_after(RETRY).into());
            }
        }
        Ok(())
    }

    /// Objects with the labels of a name whose owners are all gone, one of them with this name.
    async fn left_of(
        &self,
        target: &Target,
        name: &str,
        rule: &Rule,
        leftover: &Leftover,
    ) -> Result<Vec<String>> {
        let Targets::These(kinds) = &rule.kinds else { return Ok(Vec::new()) };
        let mut selectors = Vec::with_capacity(2);
        for text in [leftover.selector_for(name), rule.selector.clone()] {
            selectors.push(LabelSelector::parse(&text).map_err(|bad| Status::bad_request(bad.to_string()))?);
        }
        let registry = self.kinds().current();
        let mut found = Vec::new();
        for KindName { group, kind } in kinds {
            for resource in registry.resources_of(group, kind) {
                let Some(kept) = registry.kept(&resource).cloned() else { continue };
                let inside = kept.namespaced && target.kind.namespaced;
                let scope = Scope { kind: resource, namespace: inside.then(|| target.namespace.clone()) };
                for object in self.store().list(&scope, At::Latest, None, None).await?.objects {
                    let facts = object.facts()?;
                    let labelled = selectors.iter().all(|selector| selector.matches(|key| facts.label(key)));
                    if labelled
                        && !facts.owners.is_empty()
                        && self.is_left(&object, &leftover.owner, name).await?
                    {
                        found.push(format!("{}/{}", kept.singular, object.place().1));
                    }
                }
            }
        }
        Ok(found)
    }

    async fn is_left(&self, object: &Object, owner: &KindName, name: &str) -> Result<bool> {
        for uid in object.facts()?.owners {
            if !self.store().engine().with_term(Term::uid(uid), 1).await?.is_empty() {
                return Ok(false);
            }
        }
        let document = object.document()?;
        Ok(document.owner_references().iter().any(|reference| {
            let text = |part: &str| reference[part].as_str().unwrap_or("");
            let group = text("apiVersion").rsplit_once('/').map_or("", |(group, _)| group);
            (group, text("kind"), text("name")) == (owner.group.as_str(), owner.kind.as_str(), name)
        }))
    }
}
