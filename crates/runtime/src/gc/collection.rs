//! One session from beginning to end: rounds of detection, warning, planning and execution, until no garbage is left or
//! the number of rounds is reached.

use std::rc::Rc;

use hashbrown::{HashMap, HashSet};
use sexton_lifecycle::destruction::{Event, State};

use super::plan::ObjectPlan;
use super::session::SessionState;
use super::{CollectError, GcState, HeldBack, Permit, Report, Scope, detect, sweep};
use crate::world::{Handle, ObjectKey};

/// A session under way. It identifies objects by key: during detection it must not hold handles, which would make the
/// objects reachable.
pub(super) struct Collection<'a> {
    pub(super) gc: &'a GcState,
    pub(super) shared: Rc<SessionState>,
    pub(super) report: Report,
    /// The destruction journals of objects in this round; an object without one has not begun.
    pub(super) states: HashMap<ObjectKey, State>,
    /// All candidates of this session so far, of all rounds. An object is a candidate at most once per session.
    pub(super) candidates: HashSet<ObjectKey>,
    /// The candidates that are stored.
    pub(super) stored: HashSet<ObjectKey>,
    /// The candidates that the recorder refused to destroy.
    pub(super) refused: HashSet<ObjectKey>,
    /// The candidates for which a handler, a destructor or a write failed. They stay alive.
    pub(super) failed_objects: HashSet<ObjectKey>,
    /// Why no code may run any more, if so.
    pub(super) stopped: Option<String>,
    /// Whether other code ran since the last detection, so that reachability may have changed.
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

    /// Runs the session.
    pub(super) async fn run(mut self) -> Result<Report, CollectError> {
        let alive = self.gc.world.read(|store| store.live_count());
        let result = self.run_rounds(alive).await;
        self.shared.over.set(true);
        self.report.freed = sweep::sweep(&self.gc.world);
        // If objects were destroyed, they have to be reported: the error becomes part of the report.
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

    /// Whether the session was cancelled or stopped.
    pub(super) fn has_ended(&self) -> bool {
        self.report.cancelled.is_some() || self.stopped.is_some()
    }

    /// Garbage that was not a candidate before.
    fn new_garbage(&self) -> Vec<ObjectKey> {
        (self.gc.settings.settle)();
        let found = detect::garbage(&self.gc.world, &self.scope);
        found.into_iter().filter(|key| !self.candidates.contains(key)).collect()
    }

    /// Under [`Scope::Removed`]: objects that are reachable although they were removed from the model. These references
    /// do not rescue them; only references made later do.
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

    /// Asks the recorder which of these candidates are stored, and which of those must not be destroyed.
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

    /// Notes and reports that an object must not be destroyed.
    pub(super) fn refuse(&mut self, object: &Handle, reason: String) {
        self.gc.settings.observer.refused(object, &reason);
        self.refused.insert(object.key());
        let (id, class, name) = (object.id(), object.class().shared_name(), object.name());
        self.report.held.push(HeldBack { id, class, name, reason });
    }

    /// Whether the deletion limit allows this round. In the first round exceeding it is an error (nothing was touched);
    /// later it ends the session and is reported.
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

    /// Warns the subscribers of these candidates, detects again, and does the same for objects that have become garbage
    /// meanwhile. Returns the candidates that are still garbage.
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

    /// Notes new candidates and makes them doomed in the eyes of handlers.
    fn add_candidates(&mut self, found: &[ObjectKey]) {
        self.candidates.extend(found);
        let doomed = found.iter().filter(|key| !self.refused.contains(*key));
        self.shared.doomed.borrow_mut().extend(doomed);
        for object in found.iter().filter_map(|key| self.gc.world.handle(*key)) {
            self.gc.settings.observer.candidate(&object, &self.scope.reason());
        }
    }

    /// Removes and reports the candidates that are no longer garbage; returns the others.
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
