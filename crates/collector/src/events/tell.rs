//! Makes messages from a round: collections that began and ended, blockers, forced steps, deferrals.
//!
//! It decides nothing. The messages of a collection are on its root; of its other objects only some that block others
//! have messages.

use std::collections::HashMap;

use sexton_lifecycle::explain::{self, Naming};
use sexton_lifecycle::{Cause, Finding, NodeId, Snapshot};
use sexton_model::collection::{Blocker, Root};
use sexton_model::{Uid, collection, time};

use super::said::{Involved, Reason, Said};
use super::waits::Pending;
use crate::blockers::{InTheWay, Sort};
use crate::controller::Collector;
use crate::decide::Decision;
use crate::ledger::News;
use crate::request::Request;
use crate::view::View;

/// The most blockers of one collection with a message of their own; the root's message has their number.
const EACH: usize = 10;
/// The most blockers of all collections with a message of their own.
const MOST: usize = 100;

impl Collector {
    /// Reports what is new after a round.
    pub(crate) fn tell(&mut self, decision: &Decision, in_the_way: &[InTheWay]) {
        let news = self.ledger.take_news();
        if !self.events.are_told() {
            return;
        }
        for one in &news {
            let said = self.of_news(decision, one);
            said.into_iter().for_each(|said| self.events.say(said));
        }
        let mut waits = self.waits(decision, in_the_way);
        waits.extend(self.fuse(decision));
        self.events.wait_for(waits);
        self.tell_given_up();
        self.tell_spared();
    }

    /// Reports that finalizers of other controllers are removed, because a user requested it.
    pub(crate) fn tell_forced(&mut self, lives: impl Iterator<Item = NodeId>) {
        let snapshot = &self.view.snapshot;
        for life in lives {
            let Some(request) = snapshot.request(life).and_then(Request::read) else { continue };
            let (what, why) = (request.blocker.unwrap_or_default(), request.reason.unwrap_or_default());
            let what = what.replace("finalizer:", "the finalizer ");
            let message = format!("{what} was given up, what it stands for may still exist: {why}");
            self.events.say(of_life(snapshot, life, Reason::Forced, &message));
        }
    }

    fn of_news(&self, decision: &Decision, news: &News) -> Option<Said> {
        let (view, record) = (&self.view, &news.record);
        let root = record.spec.roots.first()?;
        let others = (record.spec.roots.len() as u64 + record.spec.roots_omitted).saturating_sub(1);
        let with = if others == 0 { String::new() } else { format!(" and {others} others like it") };
        if news.over {
            let about = match view.snapshot.get(&Uid(root.uid.clone())) {
                Some(life) => involved(&view.snapshot, life),
                None => gone(view, root, None)?,
            };
            let gone = record.status.gone;
            let message = format!("is destroyed{with}: {gone} gone (collection {})", record.name);
            return Some(Said::new(about, String::new(), Reason::Destroyed, &message));
        }
        let judgement = &decision.judgement;
        let uid = Uid(root.uid.clone());
        let living = view.snapshot.get(&uid).and_then(|life| judgement.doomed.get(&life));
        let finding = living.or_else(|| judgement.doomed.values().find(|finding| finding.root == uid))?;
        let namespace = view.snapshot.namespace(finding.node).to_owned();
        let why = explain::sentence(&view.snapshot, judgement, finding, &Naming { namespace, groups: false });
        let follow = record.status.doomed.saturating_sub(1 + others);
        let follow = match follow {
            0 => String::new(),
            1 => "; 1 goes with it".to_owned(),
            follow => format!("; {follow} go with it"),
        };
        match living {
            Some(finding) => {
                let message = format!("{why}{with}{follow}");
                Some(of_life(&view.snapshot, finding.node, Reason::Destroying, &message))
            }
            None => {
                let first = view.snapshot.object_ref(finding.node);
                let count = record.status.doomed;
                let message =
                    format!("{count} that depended on it: {}/{} {why}{with}", first.kind, first.name);
                let about = gone(view, root, Some(finding))?;
                Some(Said::new(about, String::new(), Reason::Destroying, &message))
            }
        }
    }

    /// The message that the deletion limit is exceeded.
    fn fuse(&self, decision: &Decision) -> Option<Pending> {
        let held = decision.fuse.as_ref().filter(|_| !decision.let_through)?;
        let about = Involved {
            api_version: "sexton.dev/v1".to_owned(),
            kind: collection::KIND.to_owned(),
            name: self.ledger.fuse_record()?.to_owned(),
            ..Involved::default()
        };
        let said = Said::new(about, String::new(), Reason::Held, &held.to_string());
        Some(Pending { what: "fuse".to_owned(), failures: 0, said })
    }

    /// Reports calls of methods that a user gave up.
    fn tell_given_up(&mut self) {
        for (uid, active) in self.actives.iter() {
            let Some(abandoned) = &active.state.abandoned else { continue };
            let Some(life) = self.view.snapshot.get(&Uid(uid.clone())) else { continue };
            if self.events.told.insert(("forced", uid.clone())) {
                let (phase, reason) = (abandoned.phase.word(), &abandoned.reason);
                let callee = &abandoned.callee;
                let message =
                    format!("{phase} of {callee} was given up, what it stands for may still exist: {reason}");
                self.events.say(of_life(&self.view.snapshot, life, Reason::Forced, &message));
            }
        }
    }

    /// Reports candidates that are deferred.
    fn tell_spared(&mut self) {
        let snapshot = &self.view.snapshot;
        for (uid, until) in self.waiting.spared() {
            let Some(life) = snapshot.get(uid) else { continue };
            if self.events.told.insert(("spared", format!("{uid} {until}"))) {
                let message = format!(
                    "somebody who was warned of its end said no: left alone until {}",
                    time::format(until)
                );
                self.events.say(of_life(snapshot, life, Reason::Spared, &message));
            }
        }
        let there = |uid: &str| snapshot.get(&Uid(uid.split(' ').next().unwrap_or_default().to_owned()));
        self.events.told.retain(|(_, uid)| there(uid).is_some());
    }
}

impl Collector {
    /// The messages about blockers: on a few objects of each collection, and with their number on the root.
    fn waits(&self, decision: &Decision, in_the_way: &[InTheWay]) -> Vec<Pending> {
        let snapshot = &self.view.snapshot;
        // Failures come first, so that they are not left out.
        let failed = |one: &&InTheWay| matches!(one.sort, Sort::Failed(_));
        let (first, then): (Vec<&InTheWay>, Vec<&InTheWay>) = in_the_way.iter().partition(failed);
        let (mut counts, mut roots, mut waits) = (HashMap::<&Uid, usize>::new(), Vec::new(), Vec::new());
        for one in first.into_iter().chain(then) {
            let count = counts.entry(&one.root).or_default();
            *count += 1;
            if *count == 1 {
                roots.push(one);
            }
            if *count <= EACH && waits.len() < MOST {
                waits.extend(pending(snapshot, one));
            }
        }
        for one in roots.into_iter().take(MOST) {
            waits.extend(self.of_root(decision, one, counts[&one.root] - 1));
        }
        waits
    }

    /// The message on the root: what it waits for; or, if the root itself is blocked, why it is deleted.
    fn of_root(&self, decision: &Decision, first: &InTheWay, more: usize) -> Option<Pending> {
        let snapshot = &self.view.snapshot;
        let root = snapshot.get(&first.root)?;
        let naming = Naming { namespace: snapshot.namespace(root).to_owned(), groups: false };
        if first.blocker.object.uid == first.root.0 {
            let finding =
                decision.judgement.doomed.get(&root).filter(|_| !self.ledger.has_told(&first.root))?;
            let why = explain::sentence(snapshot, &decision.judgement, finding, &naming);
            let said = of_life(snapshot, root, Reason::Destroying, &why);
            return Some(Pending { what: "why".to_owned(), failures: 0, said });
        }
        let more = if more == 0 { String::new() } else { format!(", and {more} more are in the way") };
        let waits_for = naming.name(&first.blocker.object);
        let message = format!("waits for {waits_for}: {}{more}", first.blocker.reason);
        let said = of_life(snapshot, root, Reason::Blocked, &message);
        Some(Pending { what: "root".to_owned(), failures: 0, said })
    }
}

fn pending(snapshot: &Snapshot, one: &InTheWay) -> Option<Pending> {
    let life = snapshot.get(&Uid(one.blocker.object.uid.clone()))?;
    let (reason, failures) = match one.sort {
        Sort::Failed(failures) => (Reason::HookFailed, failures),
        Sort::Held => (Reason::Held, 0),
        Sort::Other => (Reason::Blocked, 0),
    };
    let Blocker { what, waits_for, reason: why, clears, .. } = &one.blocker;
    let what = what.as_ref().or(waits_for.as_ref()).cloned().unwrap_or_default();
    let typed = clears.as_ref().map(|clears| format!(" (to clear it: {clears})")).unwrap_or_default();
    let said = of_life(snapshot, life, reason, &format!("{why}{typed}"));
    Some(Pending { what, failures, said })
}

fn of_life(snapshot: &Snapshot, life: NodeId, reason: Reason, message: &str) -> Said {
    Said::new(involved(snapshot, life), snapshot.revision_of(life).to_string(), reason, message)
}

fn involved(snapshot: &Snapshot, life: NodeId) -> Involved {
    Involved {
        api_version: api_version(snapshot.group(life), snapshot.version(life)),
        kind: snapshot.kind(life).to_owned(),
        namespace: snapshot.namespace(life).to_owned(),
        name: snapshot.name(life).to_owned(),
        uid: snapshot.uid(life).0,
    }
}

/// A root that is gone, as its dependent names it, or else as the record does.
fn gone(view: &View, root: &Root, follower: Option<&Finding>) -> Option<Involved> {
    let snapshot = &view.snapshot;
    let written = follower.and_then(|follower| {
        let Cause::OwnersGone { .. } = follower.cause else { return None };
        let owners = snapshot.owners(follower.node).into_iter();
        owners.map(|(owner, _)| owner).find(|owner| owner.uid.0 == root.uid)
    });
    let (group, kind, name) = match written {
        Some(owner) => (owner.group, owner.kind, owner.name),
        None => (root.group.clone(), root.kind.clone(), root.name.clone()),
    };
    let served = view.kinds.iter().find(|one| one.served && one.group == group && one.kind == kind)?;
    let namespace = match follower {
        // An owner is in the namespace of its dependents, or cluster-scoped.
        Some(follower) if served.namespaced => snapshot.namespace(follower.node).to_owned(),
        Some(_) => String::new(),
        None => root.namespace.clone(),
    };
    let api_version = api_version(&group, &served.version);
    Some(Involved { api_version, kind, namespace, name, uid: root.uid.clone() })
}

fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}
