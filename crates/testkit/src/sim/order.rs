//! The order of subscribers: each goes after its target, as far as that could be known when its turn came.

use super::judge::Judge;
use super::life::Life;

impl Judge {
    /// The turn of an object has come: what is not known by now to go before it comes too late.
    pub(super) fn turn_came(&mut self, number: usize, life: &Life, at: u64) {
        if self.turn_at.contains_key(&life.uid) {
            return;
        }
        let known = self.known.get(&number).copied().unwrap_or_default();
        let seen = if known.blind { 0 } else { known.revision.min(at) };
        self.turn_at.insert(life.uid.clone(), seen);
        let others = self.model.lives.values().filter(|other| other.uid != life.uid);
        let together =
            others.filter(|other| self.model.waits(other, life, true) && self.model.waits(life, other, true));
        let together = together.map(|other| other.uid.clone()).collect();
        self.together.insert(life.uid.clone(), together);
    }

    /// A subscriber goes after everything that it wants to outlive, as far as the collector could know.
    pub(super) fn order(&mut self, number: usize, life: &Life, at: u64) {
        let known = self.known.get(&number).copied().unwrap_or_default();
        if known.blind {
            return;
        }
        let turn = self.turn_at.get(&life.uid).copied().unwrap_or(u64::MAX).min(known.revision);
        if self.subscribed_at.get(&life.uid).is_some_and(|subscribed| *subscribed > turn) {
            // A subscription that was made when the turn had come already is too late.
            return;
        }
        let mut early = Vec::new();
        for target in self.model.lives.values().filter(|target| target.uid != life.uid) {
            let surely = self.marked_at.get(&target.uid).is_some_and(|marked| *marked <= turn);
            let subscribes = self.model.subscribers(target).any(|(other, _)| other.uid == life.uid);
            let together = self.together.get(&life.uid).is_some_and(|all| all.contains(&target.uid));
            if surely && subscribes && !together && !self.model.waits(target, life, true) {
                early.push(target.named());
            }
        }
        if !early.is_empty() {
            let name = life.named();
            self.accuse(format!("{at}: {name} went before {}, to which it subscribes", early.join(", ")));
        }
    }
}
