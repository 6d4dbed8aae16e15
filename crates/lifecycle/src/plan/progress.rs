//! How far the execution of a plan is: which groups are ready, given the objects that are gone. Deletes nothing itself.

use hashbrown::{HashMap, HashSet};

use super::{Group, Plan};
use crate::snapshot::NodeId;

/// The state of a plan's execution. A group is ready when all groups and barriers before it are done; so an object that
/// is stuck blocks only what must follow it. A group is done when all its members are gone.
#[derive(Debug, Clone)]
pub struct PlanProgress<'a> {
    groups: Vec<&'a Group>,
    group_of: HashMap<NodeId, usize>,
    /// The number of members of each group that are not gone.
    left: Vec<usize>,
    /// The number of predecessors of each group that are not done; after the groups come the barriers.
    waiting: Vec<u32>,
    /// The successors of each group and, after them, of each barrier.
    successors: Vec<Vec<usize>>,
    gone: HashSet<NodeId>,
}

impl<'a> PlanProgress<'a> {
    /// No object of the plan is gone yet.
    pub fn new(plan: &'a Plan) -> PlanProgress<'a> {
        let groups: Vec<&Group> = plan.groups().collect();
        let members = groups.iter().enumerate();
        let group_of: HashMap<NodeId, usize> =
            members.flat_map(|(at, group)| group.members.iter().map(move |step| (step.node, at))).collect();
        let at = |node: &NodeId| group_of.get(node).copied();
        let mut edges: Vec<(usize, usize)> = Vec::new();
        for (number, group) in groups.iter().enumerate() {
            let before = group.members.iter().flat_map(|step| &step.after);
            edges.extend(before.filter_map(at).map(|before| (before, number)));
        }
        for (barrier, number) in plan.barriers.iter().zip(groups.len()..) {
            edges.extend(barrier.before.iter().filter_map(at).map(|before| (before, number)));
            edges.extend(barrier.after.iter().filter_map(at).map(|after| (number, after)));
            let follows = barrier.follows.iter().filter(|above| **above < plan.barriers.len());
            edges.extend(follows.map(|above| (above + groups.len(), number)));
        }
        edges.sort_unstable();
        edges.dedup();
        let mut waiting = vec![0; groups.len() + plan.barriers.len()];
        let mut successors = vec![Vec::new(); waiting.len()];
        for (from, to) in edges.into_iter().filter(|(from, to)| from != to) {
            waiting[to] += 1;
            successors[from].push(to);
        }
        let left = groups.iter().map(|group| group.members.len()).collect();
        let mut progress = PlanProgress { groups, group_of, left, waiting, successors, gone: HashSet::new() };
        // A barrier without predecessors is open from the beginning.
        let barriers = progress.groups.len()..progress.waiting.len();
        let free: Vec<usize> = barriers.filter(|number| progress.waiting[*number] == 0).collect();
        free.into_iter().for_each(|barrier| _ = progress.complete(barrier));
        progress
    }

    /// Marks a group or barrier as done, opens the barriers that waited for nothing else, and returns the groups that
    /// became ready.
    fn complete(&mut self, from: usize) -> Vec<usize> {
        let (mut ready, mut open) = (Vec::new(), vec![from]);
        while let Some(number) = open.pop() {
            for next in &self.successors[number] {
                self.waiting[*next] -= 1;
                if self.waiting[*next] == 0 {
                    let list = if *next < self.groups.len() { &mut ready } else { &mut open };
                    list.push(*next);
                }
            }
        }
        ready
    }

    /// The groups that are ready and not done, in the order of the plan.
    pub fn ready(&self) -> impl Iterator<Item = &'a Group> + '_ {
        let numbered = self.groups.iter().enumerate();
        numbered
            .filter(|(number, _)| self.waiting[*number] == 0 && self.left[*number] > 0)
            .map(|(_, group)| *group)
    }

    /// Records that an object is gone; returns the groups that became ready by it. Idempotent.
    pub fn set_gone(&mut self, node: NodeId) -> Vec<&'a Group> {
        let Some(group) = self.group_of.get(&node).copied() else { return Vec::new() };
        if !self.gone.insert(node) {
            return Vec::new();
        }
        self.left[group] -= 1;
        if self.left[group] > 0 {
            return Vec::new();
        }
        let mut ready = self.complete(group);
        ready.sort_unstable();
        ready.into_iter().map(|group| self.groups[group]).collect()
    }

    /// Whether all objects of the plan are gone.
    pub fn is_done(&self) -> bool {
        self.left.iter().all(|left| *left == 0)
    }
}
