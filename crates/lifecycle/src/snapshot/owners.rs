//! Owners and dependents: to whom a reference leads, and what may be said if it leads nowhere.

use sexton_model::Uid;

use super::bag::Bag;
use super::gone::Gone;
use super::life::{Life, Ref};
use super::words::{Id, NOTHING};
use super::{LifeId, OwnerRef, Snapshot};

/// Where a reference to an owner leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ownership {
    /// To this life.
    Valid(LifeId),
    /// Nowhere: the owner does not exist, for certain.
    Absent {
        /// Whether its removal was seen, rather than only that it is not there.
        seen: bool,
    },
    /// To a life that is something else than the reference says. Neither keeps nor condemns.
    Invalid(WhyInvalid),
    /// It cannot be said whether the owner exists.
    Unknown(WhyUnknown),
}

/// What is wrong with a reference to a life that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WhyInvalid {
    /// The life has another name.
    Name,
    /// The life is of another kind.
    Kind,
    /// The life is in another namespace.
    Namespace,
    /// The life is in a namespace and what refers to it is in none.
    NotInNamespace,
}

/// Why it cannot be said whether an owner exists.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WhyUnknown {
    /// There is no such kind now.
    KindUnknown,
    /// Not all objects of the kind are seen, for this reason.
    Incomplete(String),
    /// The first listing is not complete yet.
    Starting,
}

impl Snapshot {
    /// The owners that a life names, and where each reference leads.
    pub fn owners(&self, life: LifeId) -> Vec<(OwnerRef, Ownership)> {
        let seen = self.life(life);
        seen.owners.iter().map(|owner| (self.written(owner), self.ownership(seen, owner))).collect()
    }

    /// The same without the references as they are written.
    pub(crate) fn ownerships(&self, life: LifeId) -> impl Iterator<Item = (&Ref, Ownership)> + '_ {
        let seen = self.life(life);
        seen.owners.iter().map(move |owner| (owner, self.ownership(seen, owner)))
    }

    /// The uids of the owners that a life names, and where each reference leads.
    pub fn owner_uids(&self, life: LifeId) -> impl Iterator<Item = (Uid, Ownership)> + '_ {
        self.ownerships(life).map(|(reference, leads)| (self.words.uid(reference.uid), leads))
    }

    /// Where each reference of a life to an owner leads.
    pub fn leads(&self, life: LifeId) -> impl Iterator<Item = Ownership> + '_ {
        self.ownerships(life).map(|(_, leads)| leads)
    }

    /// The owners of a life that are there and are rightly named.
    pub fn owner_lives(&self, life: LifeId) -> impl Iterator<Item = LifeId> + '_ {
        self.ownerships(life).filter_map(|(_, owner)| match owner {
            Ownership::Valid(owner) => Some(owner),
            _ => None,
        })
    }

    /// The lives whose references to this one are valid.
    pub fn dependents(&self, life: LifeId) -> impl Iterator<Item = (LifeId, OwnerRef)> + '_ {
        let owner = self.life(life).uid;
        self.valid_dependents(life).filter_map(move |dependent| {
            let written = self.references(dependent, owner);
            let mut valid = written.filter(move |reference| self.fits(dependent, reference, life));
            Some((dependent, self.written(valid.next()?)))
        })
    }

    /// The same without the references themselves.
    pub(crate) fn valid_dependents(&self, life: LifeId) -> impl Iterator<Item = LifeId> + '_ {
        let owner = self.life(life).uid;
        self.all_dependents(owner).filter(move |dependent| self.depends_on(*dependent, life))
    }

    /// Whether a life rightly names another as its owner.
    pub fn depends_on(&self, dependent: LifeId, owner: LifeId) -> bool {
        let mut references = self.references(dependent, self.life(owner).uid);
        references.any(|reference| self.fits(dependent, reference, owner))
    }

    /// Whether a dependent blocks the foreground deletion of an owner: a valid reference says `blockOwnerDeletion`.
    pub fn blocks(&self, dependent: LifeId, owner: LifeId) -> bool {
        let mut references = self.references(dependent, self.life(owner).uid);
        references.any(|reference| reference.blocks() && self.fits(dependent, reference, owner))
    }

    /// Whether two lives name the same owners, in the same way.
    pub fn have_same_owners(&self, one: LifeId, another: LifeId) -> bool {
        self.life(one).owners == self.life(another).owners
    }

    /// Everybody who names a uid as an owner, rightly or not, whether that lives or not.
    pub fn dependents_of(&self, uid: &Uid) -> impl Iterator<Item = LifeId> + '_ {
        self.words.find_uid(&uid.0).into_iter().flat_map(|id| self.all_dependents(id))
    }

    pub(crate) fn all_dependents(&self, uid: Id) -> impl Iterator<Item = LifeId> + '_ {
        let bag = self.dependents.get(&uid).into_iter();
        bag.flat_map(Bag::iter).map(|index| self.lives.id(index))
    }

    /// Whether anybody names this life as an owner, rightly or not.
    pub fn is_referenced(&self, life: LifeId) -> bool {
        self.dependents.contains_key(&self.life(life).uid)
    }

    /// How many name this life as an owner, rightly or not.
    pub fn dependent_count(&self, life: LifeId) -> usize {
        self.dependents.get(&self.life(life).uid).map_or(0, Bag::len)
    }

    fn references(&self, dependent: LifeId, owner: Id) -> impl Iterator<Item = &Ref> + '_ {
        self.life(dependent).owners.iter().filter(move |reference| reference.uid == owner)
    }

    fn fits(&self, dependent: LifeId, reference: &Ref, owner: LifeId) -> bool {
        self.misfit(self.life(dependent), reference, self.life(owner)).is_none()
    }

    pub(crate) fn ownership(&self, dependent: &Life, reference: &Ref) -> Ownership {
        if let Some(owner) = self.by_id(reference.uid) {
            return match self.misfit(dependent, reference, self.life(owner)) {
                None => Ownership::Valid(owner),
                Some(why) => Ownership::Invalid(why),
            };
        }
        if self.seen_going(dependent, reference).is_some() {
            return Ownership::Absent { seen: true };
        }
        let name = self.kinds.named(reference.kind());
        let taken = name.places.iter().any(|place| {
            let here = self.in_slot(*place, dependent.namespace, reference.name);
            here.or_else(|| self.in_slot(*place, NOTHING, reference.name)).is_some()
        });
        let unknown = match (&name.incomplete, name.namespaced) {
            _ if taken => None,
            (Some(reason), _) => Some(WhyUnknown::Incomplete(reason.clone())),
            (_, None) => Some(WhyUnknown::KindUnknown),
            _ if !self.synced => Some(WhyUnknown::Starting),
            _ => None,
        };
        unknown.map_or(Ownership::Absent { seen: false }, Ownership::Unknown)
    }

    /// The owner that a reference meant, if its removal was seen and the reference was right.
    pub(crate) fn seen_going(&self, dependent: &Life, reference: &Ref) -> Option<&Gone> {
        let gone = self.gone.get(reference.uid)?;
        let kind = self.kinds.get(gone.kind).name == self.kinds.get(reference.kind()).name;
        let place = self.reachable(dependent, gone.namespace).is_none();
        (kind && place && gone.name == reference.name).then_some(gone)
    }

    fn misfit(&self, dependent: &Life, reference: &Ref, owner: &Life) -> Option<WhyInvalid> {
        if self.kinds.get(owner.kind).name != self.kinds.get(reference.kind()).name {
            return Some(WhyInvalid::Kind);
        }
        if owner.name != reference.name {
            return Some(WhyInvalid::Name);
        }
        self.reachable(dependent, owner.namespace)
    }

    /// Owners are in the own namespace, or in none.
    fn reachable(&self, dependent: &Life, namespace: u32) -> Option<WhyInvalid> {
        if namespace == dependent.namespace || namespace == NOTHING {
            None
        } else if dependent.namespace == NOTHING {
            Some(WhyInvalid::NotInNamespace)
        } else {
            Some(WhyInvalid::Namespace)
        }
    }

    pub(crate) fn written(&self, reference: &Ref) -> OwnerRef {
        let name = self.kinds.named(reference.kind());
        OwnerRef {
            group: name.group.clone(),
            version: self.kinds.get(reference.kind()).version.clone(),
            kind: name.kind.clone(),
            name: self.words.text(reference.name).to_owned(),
            uid: self.words.uid(reference.uid),
            controller: reference.controller(),
            blocks: reference.blocks(),
        }
    }
}
