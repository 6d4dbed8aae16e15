//! The naive model: all objects that exist and that ever did, and what follows from deletions by walking over
//! everything until nothing changes. It must not share anything with the code that it judges.

use std::collections::{BTreeMap, BTreeSet};

use sexton_model::subscription::Target;

use super::life::{Life, Owner};

/// Where a reference leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leads<'a> {
    /// To this object, rightly.
    To(&'a Life),
    /// To an object of another kind, name or namespace than the reference says.
    Astray,
    /// To an object that existed and is gone.
    ToGhost,
    /// To an object that never existed as the reference says.
    Nowhere,
    /// To a kind that there is not.
    Unknown,
}

impl PartialEq for Life {
    fn eq(&self, other: &Life) -> bool {
        self.uid == other.uid
    }
}

impl Eq for Life {}

/// The world by itself.
#[derive(Debug, Default)]
pub struct Model {
    /// The objects that exist, by uid.
    pub lives: BTreeMap<String, Life>,
    /// The objects that are gone, as they were last, by uid.
    pub ghosts: BTreeMap<String, Life>,
}

impl Model {
    /// Whether a kind is served.
    fn knows(&self, group: &str, kind: &str) -> bool {
        match group {
            "" => ["ConfigMap", "Secret", "Namespace"].contains(&kind),
            _ => self.definitions().any(|(g, k, _)| g == group && k == kind),
        }
    }

    fn definitions(&self) -> impl Iterator<Item = (&str, &str, &Life)> {
        let definitions = self.lives.values().filter(|life| life.resource() == "customresourcedefinitions");
        definitions.filter_map(|life| {
            let spec = &life.document["spec"];
            Some((spec["group"].as_str()?, spec["names"]["kind"].as_str()?, life))
        })
    }

    fn fits(dependent: &Life, reference: &Owner, owner: &Life) -> bool {
        owner.kind == reference.kind
            && owner.group() == reference.group
            && owner.key.name == reference.name
            && (owner.namespace().is_empty() || owner.namespace() == dependent.namespace())
    }

    /// Where a reference leads.
    pub fn leads(&self, dependent: &Life, reference: &Owner) -> Leads<'_> {
        if let Some(owner) = self.lives.get(&reference.uid) {
            return if Self::fits(dependent, reference, owner) { Leads::To(owner) } else { Leads::Astray };
        }
        match self.ghosts.get(&reference.uid) {
            Some(ghost) if Self::fits(dependent, reference, ghost) => Leads::ToGhost,
            // It was never what the reference says; that it is gone is known, even if its kind is gone, too.
            Some(_) => Leads::Nowhere,
            _ if !self.knows(&reference.group, &reference.kind) => Leads::Unknown,
            _ => Leads::Nowhere,
        }
    }

    /// The dependents that rightly name an object as their owner, and whether each blocks.
    pub fn dependents<'a>(&'a self, owner: &'a Life) -> impl Iterator<Item = (&'a Life, bool)> {
        self.lives.values().flat_map(move |life| {
            let named = life.owners.iter().filter(|reference| reference.uid == owner.uid);
            let right = named.filter(|reference| Self::fits(life, reference, owner));
            right.map(move |reference| (life, reference.blocks))
        })
    }

    /// The namespace and the definition around an object.
    pub fn around<'a>(&'a self, life: &'a Life) -> impl Iterator<Item = &'a Life> {
        let namespace = self.lives.values().filter(|other| {
            other.resource() == "namespaces"
                && !life.namespace().is_empty()
                && other.key.name == life.namespace()
        });
        let definition = self.definitions().filter(|(g, k, _)| *g == life.group() && *k == life.kind);
        namespace.chain(definition.map(|(_, _, life)| life))
    }

    /// Whether a subscription of `subscriber` is about `target`.
    fn is_about(
        subscriber: &Life,
        subscription: &sexton_model::subscription::Subscription,
        target: &Life,
    ) -> bool {
        let same = match &subscription.target {
            Target::Own => subscriber.uid == target.uid,
            Target::Named { group, kind, namespace, name } => {
                let place = namespace.as_deref().unwrap_or(subscriber.namespace());
                *group == target.group()
                    && *kind == target.kind
                    && *name == target.key.name
                    && (target.namespace().is_empty() || place == target.namespace())
            }
        };
        same && subscription.uid.as_ref().is_none_or(|uid| *uid == target.uid)
    }

    /// The subscribers of an object, each with its handler.
    pub fn subscribers<'a>(&'a self, target: &'a Life) -> impl Iterator<Item = (&'a Life, Option<&'a str>)> {
        self.lives.values().flat_map(move |life| {
            let about = life.subscriptions.iter().filter(move |one| Self::is_about(life, one, target));
            about.map(move |one| (life, one.handler.as_deref()))
        })
    }

    /// The class of a kind.
    pub fn class(&self, group: &str, kind: &str) -> Option<&Life> {
        self.lives.values().find(|life| {
            let of = &life.document["spec"]["for"];
            life.resource() == "classes"
                && of["kind"].as_str() == Some(kind)
                && of["group"].as_str().unwrap_or("") == group
        })
    }

    /// All objects that are not terminating and may be destroyed now, because of what is terminating or gone, or as
    /// candidates. The value says whether their dependents follow whatever other owners they have.
    pub fn doomed(&self) -> BTreeMap<String, bool> {
        self.doomed_by(true)
    }

    /// The same; or only because of what is terminating, not because of what is gone.
    fn doomed_by(&self, absence: bool) -> BTreeMap<String, bool> {
        let mut doomed: BTreeMap<String, bool> = BTreeMap::new();
        loop {
            let mut more: Vec<(String, bool)> = Vec::new();
            for life in self.lives.values().filter(|life| life.marked.is_none() && !life.protected()) {
                if let Some(cascade) = self.dooms(life, &doomed, absence)
                    && doomed.get(&life.uid).is_none_or(|known| cascade && !known)
                {
                    more.push((life.uid.clone(), cascade));
                }
            }
            if more.is_empty() {
                return doomed;
            }
            doomed.extend(more);
        }
    }

    /// Whether an object follows the doomed ones; if so, whether its dependents follow whatever other owners they have.
    fn dooms(&self, life: &Life, doomed: &BTreeMap<String, bool>, absence: bool) -> Option<bool> {
        let (mut pulled, mut keepers, mut absent) = (false, 0, 0);
        for reference in &life.owners {
            match self.leads(life, reference) {
                Leads::To(owner) => {
                    let cascade = doomed.get(&owner.uid).copied();
                    if cascade == Some(true) || (owner.marked.is_some() && owner.has("cascade_deletion")) {
                        return Some(true);
                    }
                    let goes =
                        cascade.is_some() || (owner.marked.is_some() && owner.has("foregroundDeletion"));
                    pulled |= goes;
                    keepers += usize::from(!goes);
                }
                Leads::Unknown => keepers += 1,
                Leads::ToGhost => {
                    pulled |= absence;
                    absent += 1;
                }
                Leads::Nowhere => absent += 1,
                Leads::Astray => {}
            }
        }
        if life.accused() {
            return Some(false);
        }
        let orphan = absence && !life.owners.is_empty() && absent == life.owners.len();
        let contained = self.around(life).any(|around| around.marked.is_some());
        (contained || ((pulled || orphan) && keepers == 0)).then_some(false)
    }

    /// Whether an owner keeps an object: one that stays, or that leaves it behind.
    pub fn is_kept(&self, life: &Life) -> bool {
        let doomed = self.doomed_by(false);
        life.owners.iter().any(|reference| match self.leads(life, reference) {
            Leads::To(owner) => {
                let takes = owner.has("cascade_deletion") || owner.has("foregroundDeletion");
                let goes = doomed.contains_key(&owner.uid) || (owner.marked.is_some() && takes);
                !goes
            }
            Leads::ToGhost => self.ghosts.get(&reference.uid).is_some_and(|ghost| ghost.has("orphan")),
            Leads::Astray | Leads::Nowhere | Leads::Unknown => false,
        })
    }

    /// Uids of all owners of an object, of theirs, and so on, and of whatever they lie in; also of those that are gone.
    pub fn above(&self, life: &Life) -> BTreeSet<String> {
        let mut above = BTreeSet::new();
        let mut todo = vec![life];
        while let Some(life) = todo.pop() {
            above.extend(self.around(life).map(|around| around.uid.clone()));
            let fresh = life.owners.iter().filter(|owner| above.insert(owner.uid.clone()));
            todo.extend(fresh.filter_map(|owner| self.lives.get(&owner.uid).or(self.ghosts.get(&owner.uid))));
        }
        above
    }

    /// Uids of the objects for which an object waits: an owner for its dependents, a subscriber for its targets. Also
    /// of those that are gone.
    fn waits_for(&self, life: &Life, hard_only: bool) -> BTreeSet<String> {
        let all = || self.lives.values().chain(self.ghosts.values());
        let mut awaited = BTreeSet::new();
        for other in all() {
            let target = life.subscriptions.iter().any(|one| Self::is_about(life, one, other));
            let owned = !hard_only && other.owners.iter().any(|reference| reference.uid == life.uid);
            if target || owned {
                awaited.insert(other.uid.clone());
            }
        }
        awaited
    }

    /// Whether `from` waits for `to`, over however many others.
    pub fn waits(&self, from: &Life, to: &Life, hard_only: bool) -> bool {
        let find = |uid: &String| self.lives.get(uid).or_else(|| self.ghosts.get(uid));
        let mut seen = BTreeSet::new();
        let mut todo = vec![from.uid.clone()];
        while let Some(uid) = todo.pop() {
            let Some(life) = find(&uid) else { continue };
            for next in self.waits_for(life, hard_only) {
                if next == to.uid {
                    return true;
                }
                if seen.insert(next.clone()) {
                    todo.push(next);
                }
            }
        }
        false
    }
}
