//! What a deletion comes to: the object becomes terminating, is removed, or stays as it is. Decided here for every verb
//! that deletes; committed by the verbs, with the guards on which the decision rests.
//!
//! It must not know the requester, nor whether anything is written in the end.

use serde_json::{Map, Value};
use sexton_model::bulk::Annotations;
use sexton_model::marks::DESTROY_FINALIZER;
use sexton_model::{Document, Facts, Policy, Status, Stored, Term, names, time};
use sexton_store::{Guard, Object, Scope};

use super::commit::is_held;
use super::{Api, Result, Target};
use crate::admission;
use crate::kinds::Special;

/// A deletion, decided.
pub(super) struct Deletion {
    /// What the decision rests on.
    pub(super) guards: Vec<Guard>,
    /// What is to be written.
    pub(super) effect: Effect,
}

/// What a deletion writes.
pub(super) enum Effect {
    /// Nothing: it is terminating already, in just this way.
    Nothing,
    /// The object becomes terminating, or gets another policy.
    Mark {
        /// As it will be kept.
        stored: Stored,
    },
    /// The removal.
    Remove {
        /// How it looked in between, of what holds others.
        marked: Option<Box<Document>>,
    },
}

impl Api {
    /// Decides about exactly this version. Annotations are set if the object becomes terminating by it.
    pub(super) async fn decide_deletion(
        &self,
        target: &Target,
        current: &Object,
        facts: &Facts<'_>,
        policy: Option<Policy>,
        annotations: &Annotations,
    ) -> Result<Deletion> {
        let (_, name) = current.place();
        if target.kind.special == Special::Namespace && names::PERMANENT_NAMESPACES.contains(&name) {
            let why = "this namespace may not be deleted";
            return Err(Status::forbidden(&target.kind.resource, name, why).into());
        }
        if target.kind.special == Special::Lease {
            self.check_lease(target, Some(&current.document()?), None)?;
        }
        let mut guards = vec![current.unchanged()];
        if target.kind.special == Special::Environment {
            guards.extend(self.without_objects(target, name).await?);
        }
        let mut finalizers = finalizers_after(target, self.kinds.is_plain(), &facts.finalizers, policy);
        if facts.deleted.is_none() {
            self.hold_for_destruction(target, current, facts, &mut finalizers, &mut guards).await?;
        }
        if target.kind.holds_others() {
            return self.decide_holder(target, current, finalizers, guards, annotations).await;
        }
        if finalizers.is_empty() {
            // Nothing holds it, and that is known without reading its text.
            return Ok(Deletion { guards, effect: Effect::Remove { marked: None } });
        }
        if facts.deleted.is_some() && facts.finalizers == finalizers {
            return Ok(Deletion { guards, effect: Effect::Nothing });
        }
        if facts.deleted.is_none()
            && let Some(stored) = self.mark_quickly(current, &finalizers, annotations)?
        {
            return Ok(Deletion { guards, effect: Effect::Mark { stored } });
        }
        let mut sketch = current.stored.sketch()?;
        sketch.document.set_finalizers(finalizers);
        self.mark(target, &mut sketch.document, annotations)?;
        Ok(Deletion { guards, effect: marked_as(current, sketch.encode()) })
    }

    /// The record of an environment goes after its objects: without the program that it has, none of them could be
    /// destroyed. That there are none is made a guard.
    async fn without_objects(&self, target: &Target, name: &str) -> Result<Vec<Guard>> {
        let objects = self.objects_of_environment(name);
        if self.any_in(&objects).await? {
            let why = format!(
                "it still has objects, and they need its program to be destroyed: use `sexton destroy --env {name}`"
            );
            return Err(Status::conflict(&target.kind.resource, name, why).into());
        }
        Ok(objects.iter().map(Scope::empty).collect())
    }

    /// A namespace or definition that still has contents becomes terminating and is held, one without is not held by
    /// them.
    async fn decide_holder(
        &self,
        target: &Target,
        current: &Object,
        finalizers: Vec<String>,
        mut guards: Vec<Guard>,
        annotations: &Annotations,
    ) -> Result<Deletion> {
        let mut document = current.document()?;
        document.set_finalizers(finalizers);
        let contents = self.contents(target, &document);
        if self.any_in(&contents).await? {
            admission::hold_contents(target, &mut document, &time::format(self.now()));
        } else {
            admission::release_contents(target, &mut document);
            // They also guard a write that only makes it terminating: that may rest on there being no contents.
            guards.extend(contents.iter().map(Scope::empty));
        }
        if is_held(target, &document) {
            self.mark(target, &mut document, annotations)?;
            return Ok(Deletion { guards, effect: marked_as(current, target.encode(&document)) });
        }
        if !document.is_terminating() {
            self.set_mark(&mut document);
        }
        Ok(Deletion { guards, effect: Effect::Remove { marked: Some(Box::new(document)) } })
    }

    /// An object whose class brings code for its end, or to whose end another object subscribed, is held until that is
    /// done. That there is no subscriber is made a guard, so none can be missed. Only the deletion that makes the
    /// object terminating puts this hold on: where it was taken off, the destruction was through.
    async fn hold_for_destruction(
        &self,
        target: &Target,
        current: &Object,
        facts: &Facts<'_>,
        finalizers: &mut Vec<String>,
        guards: &mut Vec<Guard>,
    ) -> Result<()> {
        if self.kinds.is_plain() {
            return Ok(());
        }
        let (namespace, name) = current.place();
        let kind = &target.kind;
        let terms = [
            Term::subscription_uid(facts.uid),
            Term::subscription_slot(&kind.resource.group, &kind.kind, namespace, name),
        ];
        let mut held = self.kinds.current().has_class(kind);
        for term in terms {
            held = held || !self.store.engine().with_term(term, 1).await?.is_empty();
        }
        if !held {
            guards.extend(terms.map(|term| Guard::Unused { term }));
        } else if !finalizers.iter().any(|finalizer| finalizer == DESTROY_FINALIZER) {
            finalizers.push(DESTROY_FINALIZER.to_owned());
        }
        Ok(())
    }

    /// Makes an object terminating, which is irreversible; a second delete may change the policy but never the time.
    fn mark(&self, target: &Target, document: &mut Document, annotations: &Annotations) -> Result<()> {
        if document.is_terminating() {
            return Ok(());
        }
        if !annotations.is_empty() {
            annotate(document, annotations);
            admission::check_marks(target, document)?;
        }
        self.set_mark(document);
        let generation = document.generation();
        if generation > 0 {
            document.set_or_remove("generation", Some((generation + 1).into()));
        }
        Ok(())
    }

    /// The same without reading more than the names of the fields: of all that happens in a cascade, this happens most.
    fn mark_quickly(
        &self,
        current: &Object,
        finalizers: &[String],
        annotations: &Annotations,
    ) -> Result<Option<Stored>> {
        let Some(mut pieces) = current.stored.pieces()? else { return Ok(None) };
        let wanted = annotations.iter().map(|(name, value)| Some((name.as_str(), value.as_deref()?)));
        let Some(wanted) = wanted.collect::<Option<Vec<(&str, &str)>>>() else { return Ok(None) };
        let signature = self.signature();
        if !pieces.annotate(&wanted, signature.as_slice()) {
            return Ok(None);
        }
        pieces.set_finalizers(finalizers);
        pieces.mark(self.now());
        Ok(Some(pieces.encode()))
    }

    fn set_mark(&self, document: &mut Document) {
        document.set_or_remove("deletionTimestamp", Some(time::format(self.now()).into()));
        document.set_or_remove("deletionGracePeriodSeconds", Some(0.into()));
        self.sign_mark(document);
    }
}

fn marked_as(current: &Object, stored: Stored) -> Effect {
    if stored == current.stored { Effect::Nothing } else { Effect::Mark { stored } }
}

/// Sets and removes annotations.
pub(super) fn annotate(document: &mut Document, annotations: &Annotations) {
    if annotations.is_empty() {
        return;
    }
    let metadata = document.metadata_mut();
    let all = metadata.entry("annotations").or_insert_with(|| Value::Object(Map::new()));
    let Some(all) = all.as_object_mut() else { return };
    for (name, value) in annotations {
        match value {
            Some(value) => drop(all.insert(name.clone(), value.as_str().into())),
            None => drop(all.remove(name)),
        }
    }
    if all.is_empty() {
        metadata.remove("annotations");
    }
}

/// The finalizers that the deletion leaves: other people's stay, of the policies' own exactly the effective one.
fn finalizers_after(target: &Target, plain: bool, finalizers: &[&str], asked: Option<Policy>) -> Vec<String> {
    let recorded = finalizers.iter().find_map(|finalizer| Policy::recorded_by(finalizer));
    let effective = match target.kind.special {
        // Events own nothing; a namespace's, a definition's and a class's contents have holds of their own.
        Special::Event => Policy::Background,
        Special::Namespace | Special::Definition | Special::Class => {
            asked.or(recorded).unwrap_or(Policy::Background)
        }
        _ if plain => asked.or(recorded).unwrap_or(Policy::Background),
        _ => asked.or(recorded).unwrap_or(Policy::Cascade),
    };
    let wanted = effective.finalizer().filter(|_| target.kind.special != Special::Event);
    let mut after: Vec<String> = finalizers
        .iter()
        .filter(|finalizer| Policy::recorded_by(finalizer).is_none() || Some(**finalizer) == wanted)
        .map(|finalizer| (*finalizer).to_owned())
        .collect();
    after.extend(wanted.filter(|wanted| !finalizers.contains(wanted)).map(str::to_owned));
    after
}
