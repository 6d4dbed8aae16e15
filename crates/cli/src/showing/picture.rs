//! Objects and their relations as a [`Picture`]: owners, destruction dependencies, containers, and waves of a plan.
//!
//! In two steps: a [`Scene`] is the set of objects to draw (all of them, those around some roots, or those of a plan),
//! and [`View::picture`] turns it into nodes and edges. An owner that does not exist is drawn as an absent node. A
//! container (namespace or definition) is connected only if it is in the scene itself.

use std::collections::{BTreeSet, HashMap, VecDeque};

use sexton_lifecycle::plan::{Plan, Step};
use sexton_lifecycle::{Cause, NodeId, Ownership, Snapshot};
use sexton_model::Uid;

use crate::naming::Names;
use crate::output::graph::{Edge, Meaning, Node, Picture, State};

/// The objects of a picture.
pub(crate) struct Scene {
    pub(crate) lives: BTreeSet<NodeId>,
    /// How many further objects exist that are not drawn.
    pub(crate) more: usize,
    /// The objects that the picture is about; drawn in any case.
    pub(crate) roots: Vec<NodeId>,
}

/// What pictures are made from.
pub(crate) struct View<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) plan: &'a Plan,
    pub(crate) names: &'a Names,
}

impl View<'_> {
    /// All objects that have a relation to another object, or are doomed. All objects at all if there are none, or if
    /// `unconnected` is set. Records of the collector, leases and events are left out.
    pub(crate) fn all(&self, unconnected: bool) -> Scene {
        let everything = || self.snapshot.nodes().filter(|life| !is_record(self.snapshot, *life));
        let is_wanted = |life: &NodeId| unconnected || self.is_connected(*life);
        let wanted: BTreeSet<NodeId> = everything().filter(is_wanted).collect();
        let total = everything().count();
        let lives = if wanted.is_empty() { everything().collect() } else { wanted };
        Scene { more: total - lives.len(), lives, roots: Vec::new() }
    }

    fn is_connected(&self, life: NodeId) -> bool {
        let snapshot = self.snapshot;
        self.plan.is_doomed(&snapshot.uid(life))
            || snapshot.is_referenced(life)
            || !snapshot.owners(life).is_empty()
            || !snapshot.subscriptions(life).is_empty()
            || !snapshot.subscribers_of(life).is_empty()
    }

    /// The roots, and everything reachable from them over owners, dependents and subscriptions in both directions, and
    /// from a container to its contents.
    pub(crate) fn around(&self, roots: &[NodeId]) -> Scene {
        let mut found: BTreeSet<NodeId> = roots.iter().copied().collect();
        let mut work: VecDeque<NodeId> = roots.iter().copied().collect();
        while let Some(life) = work.pop_front() {
            work.extend(self.neighbours(life).into_iter().filter(|next| found.insert(*next)));
        }
        Scene { lives: found, more: 0, roots: roots.to_vec() }
    }

    fn neighbours(&self, life: NodeId) -> Vec<NodeId> {
        let snapshot = self.snapshot;
        let mut all: Vec<NodeId> = snapshot.valid_owners(life).collect();
        all.extend(snapshot.dependents(life).map(|(dependent, _)| dependent));
        all.extend(snapshot.targets_of(life));
        all.extend(snapshot.subscribers_of(life).into_iter().map(|(subscriber, _)| subscriber));
        all.extend(snapshot.contents(life));
        all
    }

    /// The objects of the plan: doomed ones, dependents that only lose a reference, and ones that are held because they
    /// are protected or not approved. The roots are the objects that the request named.
    pub(crate) fn doomed(&self) -> Scene {
        let lost = self.plan.strips.iter().map(|strip| strip.node);
        let held = self.plan.exclusions.iter().map(|hold| hold.node);
        let asked = |step: &&Step| step.finding.cause == Cause::Requested;
        Scene {
            lives: self.plan.steps().map(|step| step.node).chain(lost).chain(held).collect(),
            more: 0,
            roots: self.plan.steps().filter(asked).map(|step| step.node).collect(),
        }
    }

    /// The picture of a scene.
    pub(crate) fn picture(&self, scene: Scene, title: String) -> Picture {
        let Scene { lives: drawn, more, roots } = scene;
        let roots = roots.into_iter().map(|root| self.snapshot.uid(root).0).collect();
        let mut nodes: Vec<Node> = drawn.iter().map(|life| self.node(*life)).collect();
        nodes.sort_by(|a, b| a.label.cmp(&b.label));
        let mut edges = Vec::new();
        let mut absent: HashMap<Uid, Node> = HashMap::new();
        for life in &drawn {
            self.edges(*life, &drawn, &mut edges, &mut absent);
        }
        for edge in &self.plan.dropped {
            let [from, to] = [edge.first, edge.second].map(|life| self.snapshot.uid(life).0);
            edges.push(Edge { from, to, meaning: Meaning::DiesBefore { dropped: true } });
        }
        let mut absent: Vec<Node> = absent.into_values().collect();
        absent.sort_by(|a, b| a.label.cmp(&b.label));
        nodes.extend(absent);
        edges.sort_by(|a, b| (a.meaning, &a.from, &a.to).cmp(&(b.meaning, &b.from, &b.to)));
        Picture { title, nodes, edges, more, roots }
    }

    fn node(&self, life: NodeId) -> Node {
        let (snapshot, uid) = (self.snapshot, self.snapshot.uid(life));
        let state = match self.plan.wave_of(&uid) {
            _ if snapshot.is_destroyed(life) => State::Destroyed,
            Some(wave) => State::Doomed { order: wave + 1 },
            None if snapshot.is_terminating(life) => State::Marked,
            None if snapshot.protection(life).is_some() => State::Protected,
            None => State::Alive,
        };
        Node {
            label: self.names.of(snapshot, life),
            kind: snapshot.kind(life).to_owned(),
            namespace: snapshot.namespace(life).to_owned(),
            id: uid.0,
            state,
        }
    }

    fn edges(
        &self,
        life: NodeId,
        drawn: &BTreeSet<NodeId>,
        edges: &mut Vec<Edge>,
        absent: &mut HashMap<Uid, Node>,
    ) {
        let snapshot = self.snapshot;
        let own = || snapshot.uid(life).0;
        for (reference, owner) in snapshot.owners(life) {
            if matches!(owner, Ownership::Absent { .. }) {
                absent.entry(reference.uid.clone()).or_insert_with(|| Node {
                    id: reference.uid.0.clone(),
                    label: format!("{}/{}", reference.kind, reference.name),
                    kind: reference.kind.clone(),
                    namespace: String::new(),
                    state: State::Absent,
                });
            } else if !matches!(owner, Ownership::Valid(_)) {
                continue;
            }
            edges.push(Edge { from: reference.uid.0, to: own(), meaning: Meaning::Owns });
        }
        for target in snapshot.targets_of(life).into_iter().filter(|target| *target != life) {
            let meaning = Meaning::DiesBefore { dropped: false };
            edges.push(Edge { from: snapshot.uid(target).0, to: own(), meaning });
        }
        let around = [snapshot.namespace_of(life), snapshot.definition_of(life)];
        for holder in around.into_iter().flatten().filter(|holder| drawn.contains(holder)) {
            edges.push(Edge { from: own(), to: snapshot.uid(holder).0, meaning: Meaning::Inside });
        }
    }
}

/// Whether an object is bookkeeping and not part of what users manage: records, leases, events.
fn is_record(snapshot: &Snapshot, life: NodeId) -> bool {
    matches!(
        (snapshot.group(life), snapshot.kind(life)),
        ("sexton.dev", "Collection" | "Tombstone")
            | ("coordination.k8s.io", "Lease")
            | ("" | "events.k8s.io", "Event")
    )
}
