//! What events do to a snapshot: a life is seen, a life is gone, a kind was listed anew.

use std::collections::HashSet;

use sexton_model::{GroupResource, Policy, Revision, Uid};

use super::gone::Gone;
use super::life::{Life, Rare, Ref, recorded};
use super::words::{Id, Words};
use super::{LifeId, Observation, Snapshot};

impl Snapshot {
    /// A life was seen. Older news than known are ignored, so that the order of events does not matter. Another life
    /// in the same slot is gone then.
    ///
    /// Gives back who is to be looked at again: see [`Snapshot::remove`].
    pub fn put(&mut self, seen: Observation) -> Vec<LifeId> {
        self.advance(seen.revision);
        let id = self.words.take_uid(&seen.uid);
        let touched = self.put_id(id, seen);
        self.words.release_id(id);
        touched
    }

    fn put_id(&mut self, id: Id, seen: Observation) -> Vec<LifeId> {
        if self.gone.get(id).is_some_and(|gone| seen.revision <= gone.at) {
            return Vec::new();
        }
        let known = self.by_id(id);
        if known.is_some_and(|known| seen.revision < self.life(known).revision) {
            return Vec::new();
        }
        let mut touched = Vec::new();
        if let Some(other) = self.find(&seen.key).filter(|other| self.life(*other).uid != id) {
            if self.life(other).revision > seen.revision {
                return Vec::new();
            }
            touched = self.remove_life(other, seen.revision, None);
        }
        let life = self.intern(id, seen);
        let index = match known {
            Some(known) => {
                touched.extend(self.waiting(known));
                self.unlink(known.index);
                let old = self.lives.get(known.index).clone();
                self.lives.replace(known.index, life);
                self.release(&old);
                known.index
            }
            None => {
                if let Some(gone) = self.gone.revive(id) {
                    self.words.forget(&gone, id);
                }
                self.lives.insert(life)
            }
        };
        self.link(index);
        let id = self.lives.id(index);
        touched.extend(self.waiting(id));
        touched.push(id);
        touched.sort_unstable();
        touched.dedup();
        touched.retain(|life| self.contains(*life));
        touched
    }

    /// A life is gone, at a revision, by somebody's wish if that is known. As long as anybody refers to it (and for
    /// some time besides) it is remembered that the removal was seen.
    ///
    /// Gives back who is to be looked at again: the marked lives that may have waited for this one, which are owners,
    /// namespace, definition and subscribers. Its dependents are those of [`Snapshot::dependents_of`].
    pub fn remove(&mut self, uid: &Uid, at: Revision, by: Option<&str>) -> Vec<LifeId> {
        self.advance(at);
        match self.get(uid) {
            Some(life) => self.remove_life(life, at, by),
            None => Vec::new(),
        }
    }

    fn remove_life(&mut self, life: LifeId, at: Revision, by: Option<&str>) -> Vec<LifeId> {
        let touched = self.waiting(life);
        let by = by.map(str::to_owned).or_else(|| self.deleted_by(life).map(str::to_owned));
        let orphans = self.is_marked(life) && self.policy(life) == Some(Policy::Orphan);
        self.unlink(life.index);
        let Some(old) = self.lives.remove(life.index) else { return touched };
        let mut gone = Gone::new(old.kind, old.namespace, old.name, at.max(old.revision));
        gone.by = by;
        if orphans {
            gone.policy = Policy::Orphan;
        }
        self.words.keep(&gone, old.uid);
        let dependents = &self.dependents;
        if let Some((id, forgotten)) = self.gone.insert(old.uid, gone, |id: Id| dependents.contains_key(&id))
        {
            self.words.forget(&forgotten, id);
        }
        if self.dependents.contains_key(&old.uid) {
            self.absent.insert(old.uid);
        }
        self.release(&old);
        touched
    }

    /// A kind, or everything, was listed anew at a revision: what was not listed is gone. Gives back their uids.
    pub fn keep_listed(
        &mut self,
        kind: Option<&GroupResource>,
        listed: &HashSet<Uid>,
        at: Revision,
    ) -> Vec<Uid> {
        let place = kind.map(|kind| self.kinds.find_place(&kind.group, &kind.resource));
        let stale = |life: &LifeId| {
            let seen = self.life(*life);
            let of_kind = place.is_none_or(|place| place == Some(self.kinds.get(seen.kind).place));
            of_kind && seen.revision <= at && !listed.contains(&self.uid(*life))
        };
        let stale: Vec<LifeId> = self.lives().filter(stale).collect();
        let uids = stale.iter().map(|life| self.uid(*life)).collect();
        stale.into_iter().for_each(|life| drop(self.remove_life(life, at, None)));
        uids
    }

    /// The marked lives that may wait for this one.
    fn waiting(&self, life: LifeId) -> Vec<LifeId> {
        let owners = self.life(life).owners.iter().filter_map(|owner| self.by_id(owner.uid));
        let around = self.namespace_life(life).into_iter().chain(self.definition_life(life));
        let told = self.subscribers_of(life).into_iter().map(|(subscriber, _)| subscriber);
        let all = owners.chain(around).chain(told);
        let mut all: Vec<LifeId> = all.filter(|other| *other != life && self.is_marked(*other)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn intern(&mut self, uid: Id, seen: Observation) -> Life {
        let words = &mut self.words;
        let mut owners: Vec<Ref> = Vec::with_capacity(seen.owners.len());
        for owner in &seen.owners {
            let kind = self.kinds.row(&owner.group, &owner.version, &owner.kind, "");
            let (name, uid) = (words.take(&owner.name), words.take_uid(&owner.uid));
            let of = self.kinds.get(kind).name;
            let same =
                |known: &Ref| (known.uid, known.name, self.kinds.get(known.kind()).name) == (uid, name, of);
            // A reference that is written twice is one, so that each owner counts once.
            let at = owners.iter().position(same).unwrap_or(owners.len());
            if at < owners.len() {
                words.release(name);
                words.release_id(uid);
            } else {
                owners.push(Ref::new(uid, name, kind));
            }
            owners[at].also(owner.controller, owner.blocks);
        }
        let rare = Rare {
            deleted: seen.deleted,
            subscriptions: seen.subscriptions,
            protect: seen.protect,
            journal: seen.journal,
            deleted_by: seen.deleted_by,
            approved: seen.approved,
            collection: seen.collection,
            destroyed: seen.destroyed,
            order: seen.order,
            manager: seen.manager,
            note: seen.note,
            request: seen.request,
            accusation: seen.accusation,
        };
        let key = &seen.key;
        Life {
            uid: words.take_id(uid),
            revision: seen.revision,
            created: seen.created,
            generation: seen.generation.clamp(0, i64::from(u32::MAX)) as u32,
            owners: owners.into_boxed_slice(),
            rare: if rare == Rare::default() { None } else { Some(Box::new(rare)) },
            kind: self.kinds.row(&key.kind.group, &seen.version, &seen.kind, &key.kind.resource),
            namespace: words.take(&key.namespace),
            name: words.take(&key.name),
            finalizers: words.take(&seen.finalizers.join("\n")),
            recorded: recorded(seen.finalizers.iter().map(String::as_str)),
        }
    }

    fn release(&mut self, life: &Life) {
        for owner in &life.owners {
            self.words.release(owner.name);
            self.words.release_id(owner.uid);
        }
        for word in [life.namespace, life.name, life.finalizers] {
            self.words.release(word);
        }
        self.words.release_id(life.uid);
    }
}

impl Words {
    fn keep(&mut self, gone: &Gone, id: Id) {
        self.take_id(id);
        for word in [gone.namespace, gone.name] {
            self.again(word);
        }
    }

    pub(super) fn forget(&mut self, gone: &Gone, id: Id) {
        self.release(gone.namespace);
        self.release(gone.name);
        self.release_id(id);
    }
}
