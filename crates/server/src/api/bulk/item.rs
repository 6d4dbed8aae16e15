//! One item: what it comes to on what is stored now, and what that rests on.

use memchr::memmem;
use sexton_model::bulk::{Action, Annotations, Item, Outcome};
use sexton_model::{Facts, FieldError, GroupResource, Policy, Revision, Status, Term, marks};
use sexton_store::{Guard, Object, Op, Scope};

use super::epoch::Turn;
use super::patch::Patch;
use crate::api::deletion::{Deletion, Effect};
use crate::api::{Api, Result, Target, terminating};
use crate::kinds::Special;

/// What an item says about one of its objects.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) item: &'a Item,
    pub(super) name: &'a str,
    pub(super) uid: &'a str,
    /// Whether records may be left behind. On a full disk they must not keep anything from being removed.
    pub(super) records: bool,
}

impl<'a> Asked<'a> {
    pub(super) fn each(item: &'a Item) -> impl Iterator<Item = Asked<'a>> {
        item.lives().map(move |(name, uid)| Asked { item, name, uid, records: true })
    }
}

/// An item, decided but not committed.
pub(super) struct Decided {
    pub(super) target: Target,
    /// First what the moment was like, then the conditions.
    pub(super) guards: Vec<Guard>,
    pub(super) ops: Vec<Op>,
    pub(super) outcome: Outcome,
    /// Of what was there.
    pub(super) revision: Revision,
    /// Whether anything is written.
    pub(super) writes: bool,
    /// How many guards are about the moment.
    moment: usize,
    conditions: Vec<Condition>,
}

/// What the caller asked for to be true.
#[derive(Clone, Copy)]
pub(super) enum Condition {
    /// An object does not exist.
    Absent,
    /// An object is terminating.
    Marked,
    /// Another object is as it was, or only the named objects subscribe to this one.
    Unchanged,
    /// Nothing names the object as its owner.
    Unowned,
    /// Nothing is inside of it, or of its kind.
    NoContents,
    /// The name of the tombstone is free.
    TombstoneFree,
    /// No object has the uid of a new one.
    UidFree,
}

/// What a guard stands for.
pub(super) enum Rests {
    /// The world was so when it was decided; it can be decided again.
    OnTheMoment,
    /// The caller said so, and it is not.
    OnCondition(Condition),
}

impl Decided {
    /// An item that rests on the moment so far, and does nothing yet.
    pub(super) fn new(target: Target, guards: Vec<Guard>, outcome: Outcome, revision: Revision) -> Decided {
        Decided {
            moment: guards.len(),
            guards,
            ops: Vec::with_capacity(1),
            outcome,
            revision,
            writes: false,
            conditions: Vec::new(),
            target,
        }
    }

    /// What the guard of this number stands for.
    pub(super) fn rests_on(&self, guard: usize) -> Rests {
        let condition = guard.checked_sub(self.moment).and_then(|at| self.conditions.get(at));
        condition.map_or(Rests::OnTheMoment, |condition| Rests::OnCondition(*condition))
    }

    /// How much it writes.
    pub(super) fn bytes(&self) -> usize {
        let bytes = |op: &Op| match op {
            Op::Put { value, .. } => value.len(),
            Op::Delete { .. } => 0,
        };
        self.ops.iter().map(bytes).sum()
    }

    pub(super) fn add(&mut self, condition: Condition, guard: Guard) {
        self.guards.push(guard);
        self.conditions.push(condition);
    }
}

/// What is to be done to the object.
pub(super) enum Write {
    /// Nothing: it is as asked for.
    Nothing,
    /// This is stored in its place.
    Put(sexton_model::Stored),
    /// It goes.
    Remove {
        /// Whether it was terminating before.
        marked: bool,
    },
}

impl Api {
    /// Decides about an object on what is stored now.
    pub(super) async fn decide_item(&self, asked: Asked<'_>, turn: &Turn) -> Result<Decided> {
        let target = self.target_of(asked)?;
        if let Action::Put { object, field_manager } = &asked.item.action {
            return self.decide_put(asked, turn, target, object.text(), field_manager).await;
        }
        let current = self.find(&target, asked.name).await?;
        let facts = current.facts()?;
        check_life(&target, asked, &current, &facts)?;
        self.check_fence(&target, asked.item, &facts, &turn.rights)?;
        let (guards, write, outcome) = match &asked.item.action {
            Action::Delete { .. } if asked.item.unmarked && facts.deleted.is_some() => {
                (vec![current.unchanged()], Write::Nothing, Outcome::Unchanged)
            }
            Action::Delete { policy, annotations, hold: _ } => {
                let policy = policy.as_deref().map(|name| policy_named(&target, asked, name)).transpose()?;
                let annotations = self.signed(annotations, turn.rights.cover(&target));
                let deletion = self.decide_deletion(&target, &current, &facts, policy, &annotations).await?;
                deletion_of(deletion, facts.deleted.is_some())
            }
            Action::Patch { remove_finalizers, add_finalizers, remove_owners, annotations } => {
                if target.kind.special == Special::Lease {
                    self.check_lease(&target, Some(&current.document()?), None)?;
                }
                let patch = Patch { remove_finalizers, add_finalizers, remove_owners, annotations };
                let (write, outcome) = patch.decide(&target, &current, &facts)?;
                (vec![current.unchanged()], write, outcome)
            }
            // Decided above: it needs nothing that is there.
            Action::Put { .. } => (vec![current.unchanged()], Write::Nothing, Outcome::Unchanged),
        };
        self.completed(asked, turn, target, &current, guards, (write, outcome)).await
    }

    /// Adds the guard of the lease, the conditions, and what is left behind.
    pub(super) async fn completed(
        &self,
        asked: Asked<'_>,
        turn: &Turn,
        target: Target,
        current: &Object,
        mut guards: Vec<Guard>,
        (write, outcome): (Write, Outcome),
    ) -> Result<Decided> {
        let item = asked.item;
        guards.extend(turn.guard());
        let mut decided = Decided::new(target, guards, outcome, current.revision);
        decided.writes = !matches!(write, Write::Nothing);
        for uid in &item.absent {
            decided.add(Condition::Absent, Guard::Unused { term: Term::uid(uid) });
        }
        for uid in &item.marked {
            decided.add(Condition::Marked, Guard::Used { term: Term::marked(uid) });
        }
        for (uid, version) in &item.unchanged {
            let revision = version.parse().unwrap_or(Revision::NONE);
            // One that is gone says nothing any more.
            for key in self.store.engine().with_term(Term::uid(uid), 1).await? {
                decided.add(Condition::Unchanged, Guard::At { key, revision });
            }
        }
        if let Some(known) = &item.subscribers {
            let kind = &decided.target.kind;
            let (namespace, name) = current.place();
            let slot = Term::subscription_slot(&kind.resource.group, &kind.kind, namespace, name);
            for term in [Term::subscription_uid(asked.uid), slot] {
                let others = known.iter().map(|uid| Term::uid(uid)).collect();
                decided.add(Condition::Unchanged, Guard::OnlyWith { term, others });
            }
        }
        if item.unreferenced {
            decided.add(Condition::Unowned, terminating::unowned(asked.uid, &item.except));
            if decided.target.kind.holds_others() {
                let contents = self.contents(&decided.target, &current.document()?);
                contents.iter().for_each(|scope| decided.add(Condition::NoContents, Scope::empty(scope)));
            }
        }
        match write {
            Write::Nothing => {}
            Write::Put(stored) => {
                decided.ops.push(Op::Put { key: current.key.clone(), value: stored.bytes().clone() });
            }
            Write::Remove { marked } => {
                self.sign_item(item, asked.uid, marked, turn.rights.cover(&decided.target));
                if let Some(spec) = item.tombstone.as_ref().filter(|_| asked.records) {
                    let (key, stored) = self.tombstone(asked, spec, current)?;
                    let free = Guard::At { key: key.clone(), revision: Revision::NONE };
                    decided.add(Condition::TombstoneFree, free);
                    // Before the removal, so that the revision of the whole is that of the removal.
                    decided.ops.push(Op::Put { key, value: stored.bytes().clone() });
                }
                decided.ops.push(Op::Delete { key: current.key.clone() });
            }
        }
        Ok(decided)
    }

    /// Where an item points: a kind in whichever version, served or not.
    fn target_of(&self, Asked { item, name, .. }: Asked<'_>) -> Result<Target> {
        let resource = GroupResource::new(item.group.as_str(), item.resource.as_str());
        let registry = self.kinds.current();
        let kind = registry.kept(&resource).ok_or_else(|| Status::not_found(&resource, name))?;
        if kind.namespaced == item.namespace.is_empty() {
            return Err(Status::not_found(&resource, name).into());
        }
        Ok(Target { kind: kind.clone(), namespace: item.namespace.clone() })
    }
}

/// Whether this is what the caller means.
pub(super) fn check_life(
    target: &Target,
    Asked { item, name, uid, .. }: Asked<'_>,
    current: &Object,
    facts: &Facts<'_>,
) -> Result<()> {
    if facts.uid != uid {
        // That object is gone; another one that has its name now is not what the caller means.
        return Err(Status::not_found(&target.kind.resource, name).into());
    }
    if let Some(version) = &item.resource_version
        && *version != current.revision.to_string()
    {
        return Err(crate::api::update::modified(target, name).into());
    }
    if let Some(owners) = &item.owners {
        let named = |owner: &&str| owners.iter().any(|uid| uid == owner);
        if !facts.owners.iter().all(named) || !owners.iter().all(|uid| facts.owners.contains(&uid.as_str())) {
            let owners = facts.owners.join(", ");
            return Err(Status::owners_changed(&target.kind.resource, name, &owners).into());
        }
    }
    if !item.annotated.is_empty() || !item.labelled.is_empty() {
        check_words(target, item, name, current, facts)?;
    }
    if item.unprotected && is_protected(current)? {
        return Err(Status::protected(&target.kind.resource, name).into());
    }
    Ok(())
}

/// Whether labels and annotations are what the caller thinks.
fn check_words(target: &Target, item: &Item, name: &str, current: &Object, facts: &Facts<'_>) -> Result<()> {
    let (annotation, label) = match current.stored.words(facts)? {
        Some(words) => (
            changed(&item.annotated, |name, said| words.annotates(name, said)),
            changed(&item.labelled, |name, said| words.label(name) == said),
        ),
        None => {
            let document = current.document()?;
            let label = |name: &str| document.metadata().get("labels")?.get(name)?.as_str();
            (
                changed(&item.annotated, |name, said| document.annotation(name) == said),
                changed(&item.labelled, |name, said| label(name) == said),
            )
        }
    };
    match (annotation, label) {
        (Some(other), _) => Err(Status::annotations_changed(&target.kind.resource, name, other).into()),
        (_, Some(other)) => Err(Status::labels_changed(&target.kind.resource, name, other).into()),
        (None, None) => Ok(()),
    }
}

/// One that is not what the caller thinks.
fn changed(said: &Annotations, is: impl Fn(&str, Option<&str>) -> bool) -> Option<&str> {
    said.iter().find(|(name, value)| !is(name, value.as_deref())).map(|(name, _)| name.as_str())
}

fn is_protected(current: &Object) -> Result<bool> {
    // Few are: most documents need not be read for it.
    if memmem::find(current.stored.text()?, marks::PROTECT.as_bytes()).is_none() {
        return Ok(false);
    }
    let document = current.document()?;
    let annotations = document.metadata().get("annotations");
    let value = annotations.and_then(|all| all.get(marks::PROTECT)).and_then(serde_json::Value::as_str);
    Ok(value.is_some_and(|value| !value.is_empty() && value != "false"))
}

fn policy_named(target: &Target, asked: Asked<'_>, policy: &str) -> Result<Policy> {
    Policy::named(policy).ok_or_else(|| {
        let known = &["Cascade", "Foreground", "Background", "Orphan"];
        let error = FieldError::not_supported("action.delete.policy", policy, known);
        Status::invalid(&target.kind.resource.group, &target.kind.kind, asked.name, &[error]).into()
    })
}

fn deletion_of(deletion: Deletion, marked: bool) -> (Vec<Guard>, Write, Outcome) {
    let Deletion { guards, effect } = deletion;
    match effect {
        Effect::Nothing => (guards, Write::Nothing, Outcome::Unchanged),
        Effect::Mark { stored } => (guards, Write::Put(stored), Outcome::Marked),
        Effect::Remove { .. } => (guards, Write::Remove { marked }, Outcome::Removed),
    }
}
