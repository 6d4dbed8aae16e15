//! How far a plan has come: whose turn it is, given who is gone. It leaves no choice, and it deletes nothing.

use hashbrown::{HashMap, HashSet};

use super::{Group, Plan};
use crate::snapshot::LifeId;

/// Where a plan stands. A group's turn comes when every group that must go before it is gone; so what does not depend
/// on a life that is stuck goes on. Groups are gone as a whole.
#[derive(Debug, Clone)]
pub struct Progress<'a> {
    groups: Vec<&'a Group>,
    group_of: HashMap<LifeId, usize>,
    /// How many of each group are left.
    left: Vec<usize>,
    /// Of each group, and then of each barrier, how many it waits for.
    waits: Vec<u32>,
    /// What waits for each group, and then for each barrier: groups and barriers.
    opens: Vec<Vec<usize>>,
    gone: HashSet<LifeId>,
}

impl<'a> Progress<'a> {
    /// At the beginning.
    pub fn new(plan: &'a Plan) -> Progress<'a> {
        let groups: Vec<&Group> = plan.groups().collect();
        let members = groups.iter().enumerate();
        let group_of: HashMap<LifeId, usize> =
            members.flat_map(|(at, group)| group.members.iter().map(move |step| (step.life, at))).collect();
        let at = |life: &LifeId| group_of.get(life).copied();
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
        let mut waits = vec![0; groups.len() + plan.barriers.len()];
        let mut opens = vec![Vec::new(); waits.len()];
        for (from, to) in edges.into_iter().filter(|(from, to)| from != to) {
            waits[to] += 1;
            opens[from].push(to);
        }
        let left = groups.iter().map(|group| group.members.len()).collect();
        let mut progress = Progress { groups, group_of, left, waits, opens, gone: HashSet::new() };
        // A barrier without anybody before it is open from the beginning.
        let barriers = progress.groups.len()..progress.waits.len();
        let free: Vec<usize> = barriers.filter(|number| progress.waits[*number] == 0).collect();
        free.into_iter().for_each(|barrier| _ = progress.pass(barrier));
        progress
    }

    /// A group is gone, or a barrier open: goes on through barriers, and names the groups whose turn has come.
    fn pass(&mut self, from: usize) -> Vec<usize> {
        let (mut turns, mut open) = (Vec::new(), vec![from]);
        while let Some(number) = open.pop() {
            for next in &self.opens[number] {
                self.waits[*next] -= 1;
                if self.waits[*next] == 0 {
                    let list = if *next < self.groups.len() { &mut turns } else { &mut open };
                    list.push(*next);
                }
            }
        }
        turns
    }

    /// The groups that wait for nobody and are not completely gone, in the order of the plan.
    pub fn ready(&self) -> impl Iterator<Item = &'a Group> + '_ {
        let numbered = self.groups.iter().enumerate();
        numbered
            .filter(|(number, _)| self.waits[*number] == 0 && self.left[*number] > 0)
            .map(|(_, group)| *group)
    }

    /// Notes that a life is gone, and names the groups whose turn comes by that. Saying it twice changes nothing.
    pub fn gone(&mut self, life: LifeId) -> Vec<&'a Group> {
        let Some(group) = self.group_of.get(&life).copied() else { return Vec::new() };
        if !self.gone.insert(life) {
            return Vec::new();
        }
        self.left[group] -= 1;
        if self.left[group] > 0 {
            return Vec::new();
        }
        let mut turns = self.pass(group);
        turns.sort_unstable();
        turns.into_iter().map(|group| self.groups[group]).collect()
    }

    /// Whether everybody is gone.
    pub fn is_done(&self) -> bool {
        self.left.iter().all(|left| *left == 0)
    }
}
