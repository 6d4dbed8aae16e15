//! One session from beginning to end: rounds of detecting, warning, planning and destroying, until nothing is left.

use std::rc::Rc;

use hashbrown::{HashMap, HashSet};
use sexton_lifecycle::destruction::{Event, State};

use super::plan::ObjectPlan;
use super::session::SessionState;
use super::{CollectError, GcState, HeldBack, Permit, Report, Scope, detect, sweep};
use crate::world::{Handle, ObjectKey};

/// A session under way. Between two looks at what is reachable it holds no handles.
pub(super) struct Collection<'a> {
    pub(super) gc: &'a GcState,
    pub(super) shared: Rc<SessionState>,
    pub(super) report: Report,
    pub(super) states: HashMap<ObjectKey, State>,
    /// Everybody who was accused in this collection. Nobody is twice.
    pub(super) candidates: HashSet<ObjectKey>,
    /// Those of them who are stored.
    pub(super) stored: HashSet<ObjectKey>,
    /// Those who must not die.
    pub(super) refused: HashSet<ObjectKey>,
    /// Those of whom a call failed.
    pub(super) failed_objects: HashSet<ObjectKey>,
    /// No code may run any more, for this reason.
    pub(super) stopped: Option<String>,
    /// Whether anybody else had a chance to change something since the last look.
    pub(super) code_ran: bool,
    scope: Scope,
}

impl<'a> Collection<'a> {
    pub(super) fn new(gc: &'a GcState, scope: Scope) -> Collection<'a> {
        Collection {
            gc,
            shared: Rc::default(),
            report: Report::default(),
            states: HashMap::new(),
            candidates: HashSet::new(),
            stored: HashSet::new(),
            refused: HashSet::new(),
            failed_objects: HashSet::new(),
            stopped: None,
            code_ran: false,
            scope,
        }
    }

    /// All of it.
    pub(super) async fn run(mut self) -> Result<Report, CollectError> {
        let alive = self.gc.world.read(|store| store.live_count());
        let result = self.run_rounds(alive).await;
        self.shared.over.set(true);
        self.report.freed = sweep::sweep(&self.gc.world);
        // What was destroyed is reported, whatever came after it.
        if let Err(error) = result {
            if self.report.destroyed.is_empty() {
                return Err(error);
            }
            self.stopped.get_or_insert(error.to_string());
        }
        self.report.stopped = self.stopped.take();
        Ok(self.report)
    }

    async fn run_rounds(&mut self, alive: usize) -> Result<(), CollectError> {
        let before = self.removed_but_referenced();
        loop {
            let found = self.new_garbage();
            if found.is_empty() || self.has_ended() {
                return Ok(());
            }
            if self.report.rounds >= self.gc.settings.max_rounds.max(1) {
                self.report.left = found.len();
                return Ok(());
            }
            self.code_ran = false;
            self.ask_recorder(&found).await?;
            if !self.within_limit(&found, alive)? {
                self.report.left = found.len();
                return Ok(());
            }
            self.report.rounds += 1;
            let candidates = self.warn_all(found, &before).await;
            if self.has_ended() {
                return Ok(());
            }
            let plan = ObjectPlan::new(&self.gc.world, &candidates, &self.scope)?;
            self.report.dropped.extend(plan.dropped(&self.gc.world));
            self.execute(&plan).await;
            self.states.clear();
            if matches!(self.scope, Scope::Removed(_)) {
                return Ok(());
            }
        }
    }

    /// Whether nothing more is done.
    pub(super) fn has_ended(&self) -> bool {
        self.report.cancelled.is_some() || self.stopped.is_some()
    }

    /// What is garbage now and was not accused before.
    fn new_garbage(&self) -> Vec<ObjectKey> {
        (self.gc.settings.settle)();
        let found = detect::garbage(&self.gc.world, &self.scope);
        found.into_iter().filter(|key| !self.candidates.contains(key)).collect()
    }

    /// What was removed and is referred to all the same: that does not save it.
    fn removed_but_referenced(&self) -> HashSet<ObjectKey> {
        match &self.scope {
            Scope::Removed(_) => {
                let found = detect::garbage(&self.gc.world, &self.scope);
                let reached = detect::reachable_without_handles(&self.gc.world);
                found.into_iter().filter(|key| reached.contains(key.slot)).collect()
            }
            _ => HashSet::new(),
        }
    }

    /// Who of the accused is stored, and who of those must not die.
    async fn ask_recorder(&mut self, found: &[ObjectKey]) -> Result<(), CollectError> {
        let recorder = self.gc.settings.recorder.clone();
        let handles = found.iter().filter_map(|key| self.gc.world.handle(*key));
        let kept: Vec<Handle> = handles.filter(|object| recorder.is_stored(object)).collect();
        if kept.is_empty() {
            return Ok(());
        }
        self.code_ran = true;
        let permits = recorder.permits(&kept).await?;
        self.stored.extend(kept.iter().map(Handle::key));
        for (object, permit) in kept.iter().zip(permits) {
            if let Permit::Refused(reason) = permit {
                self.refuse(object, reason);
            }
        }
        Ok(())
    }

    pub(super) fn refuse(&mut self, object: &Handle, reason: String) {
        self.gc.settings.observer.refused(object, &reason);
        self.refused.insert(object.key());
        let (id, class, name) = (object.id(), object.class().shared_name(), object.name());
        self.report.held.push(HeldBack { id, class, name, reason });
    }

    /// Whether so many may be destroyed. The first time, nothing was touched if not.
    fn within_limit(&mut self, found: &[ObjectKey], alive: usize) -> Result<bool, CollectError> {
        let Some(limit) = &self.gc.settings.limit else { return Ok(true) };
        let mut doomed = found.len();
        if !self.refused.is_empty() {
            let plan = ObjectPlan::new(&self.gc.world, found, &self.scope)?;
            doomed = plan.destroyable(&self.gc.world, &self.refused).len();
        }
        let doomed = doomed + self.report.destroyed.len();
        match limit(doomed, alive) {
            Ok(()) => Ok(true),
            Err(reason) if self.report.rounds == 0 => {
                Err(CollectError::Held { doomed, scope: alive, reason })
            }
            Err(reason) => {
                self.report.limited = Some(reason);
                Ok(false)
            }
        }
    }

    /// Warns of all that were found, and of those who become garbage by that. Gives back who is still garbage then.
    async fn warn_all(&mut self, found: Vec<ObjectKey>, before: &HashSet<ObjectKey>) -> Vec<ObjectKey> {
        let mut candidates: Vec<ObjectKey> = Vec::with_capacity(found.len());
        let mut new = found;
        for _ in 0..self.gc.settings.max_rounds.max(1) {
            self.add_candidates(&new);
            for key in &new {
                if !self.refused.contains(key)
                    && let Some(object) = self.gc.world.handle(*key)
                {
                    self.warn(&object).await;
                }
                if self.has_ended() {
                    return Vec::new();
                }
            }
            candidates.append(&mut new);
            if !std::mem::take(&mut self.code_ran) {
                break;
            }
            (self.gc.settings.settle)();
            let garbage = detect::garbage(&self.gc.world, &self.scope);
            candidates = self.rescue(candidates, &garbage, before);
            new = garbage.into_iter().filter(|key| !self.candidates.contains(key)).collect();
            if new.is_empty() || matches!(self.scope, Scope::Removed(_)) {
                break;
            }
            if let Err(error) = self.ask_recorder(&new).await {
                self.stopped = Some(error.to_string());
                return Vec::new();
            }
        }
        candidates
    }

    fn add_candidates(&mut self, found: &[ObjectKey]) {
        self.candidates.extend(found);
        let doomed = found.iter().filter(|key| !self.refused.contains(*key));
        self.shared.doomed.borrow_mut().extend(doomed);
        for object in found.iter().filter_map(|key| self.gc.world.handle(*key)) {
            self.gc.settings.observer.candidate(&object, &self.scope.reason());
        }
    }

    /// Lets go of those who are no garbage any more; gives back the others.
    fn rescue(
        &mut self,
        candidates: Vec<ObjectKey>,
        garbage: &[ObjectKey],
        before: &HashSet<ObjectKey>,
    ) -> Vec<ObjectKey> {
        let still: HashSet<ObjectKey> = match &self.scope {
            Scope::Removed(_) => {
                let reached = detect::reachable_without_handles(&self.gc.world);
                let begun = |key: &ObjectKey| {
                    let object = self.gc.world.handle(*key);
                    object.is_some_and(|object| self.gc.settings.recorder.was_begun(&object))
                };
                let saved =
                    |key: &ObjectKey| reached.contains(key.slot) && !before.contains(key) && !begun(key);
                garbage.iter().copied().filter(|key| !saved(key)).collect()
            }
            _ => garbage.iter().copied().collect(),
        };
        let (still, saved): (Vec<ObjectKey>, Vec<ObjectKey>) =
            candidates.into_iter().partition(|key| still.contains(key));
        for object in saved.iter().filter_map(|key| self.gc.world.handle(*key)) {
            self.shared.doomed.borrow_mut().remove(&object.key());
            self.feed(&object, &Event::Rescued);
            self.gc.settings.observer.rescued(&object);
            self.report.rescued.push(object.id());
        }
        still
    }
}
