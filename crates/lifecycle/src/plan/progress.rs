//! How far a plan has come: whose turn it is, given who is gone. It leaves no choice, and it deletes nothing.

use hashbrown::{HashMap, HashSet};

use super::{Group, Plan};
use crate::snapshot::LifeId;

/// Where a plan stands. A group's turn comes when everybody who must go before any of its members is gone; so what
/// does not depend on a life that is stuck goes on.
#[derive(Debug, Clone)]
pub struct Progress<'a> {
    groups: Vec<&'a Group>,
    /// Of each group, and then of each barrier, how many it waits for.
    waits: Vec<u32>,
    /// Whom it opens the way for: by life, groups and barriers.
    opens: HashMap<LifeId, Vec<usize>>,
    /// The groups behind each barrier.
    behind: Vec<Vec<usize>>,
    gone: HashSet<LifeId>,
}

impl<'a> Progress<'a> {
    /// At the beginning.
    pub fn new(plan: &'a Plan) -> Progress<'a> {
        let groups: Vec<&Group> = plan.groups().collect();
        let mut waits = vec![0; groups.len() + plan.barriers.len()];
        let mut opens: HashMap<LifeId, Vec<usize>> = HashMap::new();
        let mut at = HashMap::new();
        for (number, group) in groups.iter().enumerate() {
            for step in &group.members {
                at.insert(step.life, number);
                for before in &step.after {
                    waits[number] += 1;
                    opens.entry(*before).or_default().push(number);
                }
            }
        }
        let mut behind = Vec::new();
        for (barrier, number) in plan.barriers.iter().zip(groups.len()..) {
            for before in &barrier.before {
                waits[number] += 1;
                opens.entry(*before).or_default().push(number);
            }
            let mut after: Vec<usize> =
                barrier.after.iter().filter_map(|life| at.get(life).copied()).collect();
            after.sort_unstable();
            after.dedup();
            // A barrier without anybody before it holds nobody up.
            if barrier.before.is_empty() {
                after.clear();
            }
            after.iter().for_each(|group| waits[*group] += 1);
            behind.push(after);
        }
        Progress { groups, waits, opens, behind, gone: HashSet::new() }
    }

    /// The groups that wait for nobody and are not completely gone, in the order of the plan.
    pub fn ready(&self) -> impl Iterator<Item = &'a Group> + '_ {
        let waiting = |(number, group): &(usize, &&Group)| {
            self.waits[*number] == 0 && !group.members.iter().all(|step| self.gone.contains(&step.life))
        };
        self.groups.iter().enumerate().filter(waiting).map(|(_, group)| *group)
    }

    /// Notes that a life is gone, and names the groups whose turn comes by that. Saying it twice changes nothing.
    pub fn gone(&mut self, life: LifeId) -> Vec<&'a Group> {
        if !self.gone.insert(life) {
            return Vec::new();
        }
        let mut turns: Vec<usize> = Vec::new();
        for opened in self.opens.get(&life).into_iter().flatten() {
            self.waits[*opened] -= 1;
            if self.waits[*opened] > 0 {
                continue;
            }
            match opened.checked_sub(self.groups.len()) {
                None => turns.push(*opened),
                Some(barrier) => {
                    for group in &self.behind[barrier] {
                        self.waits[*group] -= 1;
                        turns.extend((self.waits[*group] == 0).then_some(*group));
                    }
                }
            }
        }
        turns.sort_unstable();
        turns.into_iter().map(|group| self.groups[group]).collect()
    }

    /// Whether everybody is gone.
    pub fn is_done(&self) -> bool {
        self.groups.iter().all(|group| group.members.iter().all(|step| self.gone.contains(&step.life)))
    }
}
