//! The graph of a plan: doomed objects as vertices, and an edge for each reason why one is destroyed before another.
//!
//! | relation | edge, from first to second | strength |
//! |---|---|---|
//! | subscription | target → subscriber | hard |
//! | class | object → the class of its kind | hard |
//! | owner | dependent → owner | soft |
//! | namespace, definition | content → container | soft |
//! | background | owner → dependent that is deleted after it | weakest |
//!
//! Survivors have no vertex. But a subscription counts through them: if the survivor `s` subscribes to `a` and `b`
//! subscribes to `s`, then `a` is destroyed before `b`.

use hashbrown::{HashMap, HashSet};

use super::Relation;
use crate::detect::Detection;
use crate::graph::Vertex;
use crate::snapshot::{NodeId, Ownership, Snapshot};

/// For each survivor that was examined, the doomed objects that it subscribes to, directly or through other survivors.
type IndirectTargets = HashMap<NodeId, Vec<Vertex>>;

/// The doomed objects, numbered by their keys, and the edges between them.
pub(super) struct DoomedGraph<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) detection: &'a Detection,
    /// The object of each vertex. By key.
    pub(super) nodes: Vec<NodeId>,
    vertices: HashMap<NodeId, Vertex>,
    /// The first is to be destroyed before the second, for this reason.
    pub(super) edges: Vec<(Vertex, Vertex, Relation)>,
}

impl<'a> DoomedGraph<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, detection: &'a Detection) -> DoomedGraph<'a> {
        let existing = detection.doomed.keys().copied().filter(|node| snapshot.contains(*node));
        let mut nodes: Vec<NodeId> = existing.collect();
        nodes.sort_by(|a, b| snapshot.compare_keys(*a, *b));
        let vertices = (0..).zip(&nodes).map(|(vertex, node)| (*node, vertex)).collect();
        let mut graph = DoomedGraph { snapshot, detection, nodes, vertices, edges: Vec::new() };
        graph.edges = graph.find_edges();
        graph
    }

    fn find_edges(&self) -> Vec<(Vertex, Vertex, Relation)> {
        let is_container =
            |node: &NodeId| self.snapshot.is_namespace(*node) || self.snapshot.is_definition(*node);
        let has_containers = self.nodes.iter().any(is_container);
        let (mut edges, mut indirect) = (Vec::new(), HashMap::new());
        for (vertex, node) in (0..).zip(&self.nodes) {
            self.add_hard(vertex, *node, &mut indirect, &mut edges);
            self.add_owners(vertex, *node, &mut edges);
            if has_containers {
                self.add_containers(vertex, *node, &mut edges);
            }
        }
        edges
    }

    fn vertex_of(&self, node: NodeId) -> Option<Vertex> {
        self.vertices.get(&node).copied()
    }

    /// Adds the edges from the targets of an object's subscriptions to it, and from it to its class.
    fn add_hard(
        &self,
        vertex: Vertex,
        node: NodeId,
        indirect: &mut IndirectTargets,
        edges: &mut Vec<(Vertex, Vertex, Relation)>,
    ) {
        if !self.snapshot.subscriptions(node).is_empty() {
            let mut add = |target: Vertex| {
                if target != vertex {
                    edges.push((target, vertex, Relation::Subscription));
                }
            };
            for target in self.snapshot.targets_of(node) {
                match self.vertex_of(target) {
                    Some(target) => add(target),
                    None => {
                        let behind = indirect.entry(target).or_insert_with(|| self.targets_behind(target));
                        behind.iter().copied().for_each(&mut add);
                    }
                }
            }
        }
        let class = self.snapshot.class_of(node).filter(|class| *class != node);
        let class = class.and_then(|class| self.vertex_of(class));
        edges.extend(class.map(|class| (vertex, class, Relation::Class)));
    }

    /// The doomed objects that a survivor subscribes to, directly or through other survivors.
    fn targets_behind(&self, survivor: NodeId) -> Vec<Vertex> {
        let mut found = Vec::new();
        let (mut seen, mut left): (HashSet<NodeId>, _) = (HashSet::new(), vec![survivor]);
        seen.insert(survivor);
        while let Some(next) = left.pop() {
            for target in self.snapshot.targets_of(next) {
                match self.vertex_of(target) {
                    Some(target) => found.push(target),
                    None if seen.insert(target) => left.push(target),
                    None => {}
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Adds the edges between an object and its doomed owners.
    fn add_owners(&self, vertex: Vertex, node: NodeId, edges: &mut Vec<(Vertex, Vertex, Relation)>) {
        let dependent = self.snapshot.node(node);
        for reference in &dependent.owners {
            let Ownership::Valid(owner) = self.snapshot.ownership(dependent, reference) else { continue };
            let Some(above) = self.vertex_of(owner).filter(|above| *above != vertex) else { continue };
            if self.detection.is_nonblocking(self.snapshot, owner, node) {
                continue;
            }
            edges.push(match self.detection.follows_owner(self.snapshot, node, owner) {
                true => (above, vertex, Relation::Background),
                false => (vertex, above, Relation::Owner),
            });
        }
    }

    /// Adds the edges from an object to its doomed namespace and definition.
    fn add_containers(&self, vertex: Vertex, node: NodeId, edges: &mut Vec<(Vertex, Vertex, Relation)>) {
        let namespace = self.snapshot.namespace_of(node).and_then(|namespace| self.vertex_of(namespace));
        edges.extend(namespace.map(|namespace| (vertex, namespace, Relation::Namespace)));
        let definition = self.snapshot.definition_of(node).and_then(|definition| self.vertex_of(definition));
        let definition = definition.filter(|definition| *definition != vertex);
        edges.extend(definition.map(|definition| (vertex, definition, Relation::Definition)));
    }
}
