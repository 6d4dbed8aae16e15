//! The first two steps of a run: what the model dropped is destroyed, then `deploy` runs. [`Opened::finish`] is the
//! third.

use sexton_model::environment::{EnvironmentPhase, RunRecord};
use sexton_model::time;

use super::RunError;
use super::changes::{Baseline, baseline};
use super::open::Opened;
use crate::gc::{CollectError, Report, Scope};
use crate::lua::ProgramError;
use crate::world::CodeErrorKind;

impl Opened {
    /// Notes that a run begins. Then destroys what the model does not have any more.
    ///
    /// # Errors
    /// See [`RunError`].
    pub async fn remove(&mut self) -> Result<Report, RunError> {
        self.note(EnvironmentPhase::Running, "").await?;
        if self.removed.is_empty() {
            return Ok(Report::default());
        }
        self.incomplete = true;
        self.note_baseline().await;
        let mut report = self.collect_noting(Scope::Removed(self.removed.clone())).await??;
        self.incomplete = !report.is_complete();
        report.destroyed.iter_mut().for_each(|one| self.why.say(&one.id, &mut one.reasons));
        Ok(report)
    }

    /// Notes what the stored objects are by the incoming model, so that what handlers change in them is known.
    async fn note_baseline(&self) {
        let baseline = match &self.survivors {
            Some(model) => model.objects.iter().map(|object| (object.id.clone(), object.clone())).collect(),
            None if self.has_model => {
                let kept = self.keeping.kept.lock().await;
                baseline(self.program.world(), kept.shelf.resources().map(|(id, _)| id.clone()))
            }
            None => Baseline::new(),
        };
        self.keeping.baseline.replace(baseline);
    }

    /// A collection before or after the deployment: what its handlers change is stored as it goes.
    pub(super) async fn collect_noting(
        &self,
        scope: Scope,
    ) -> Result<Result<Report, CollectError>, ProgramError> {
        let world = self.program.world();
        world.write(|store| store.note_changes(true));
        let collected = self.program.collect(scope).await;
        world.write(|store| store.note_changes(false));
        self.keeping.baseline.take();
        collected
    }

    /// Runs `deploy`. Objects that are new with the model are initialized before.
    ///
    /// # Errors
    /// What the program did wrong.
    pub async fn deploy(&mut self) -> Result<(), RunError> {
        let world = self.program.world().clone();
        for object in self.fresh.iter().filter_map(|id| world.find(id)) {
            self.program.drive(world.initialize(&object)).await??;
        }
        let root = match self.root.take() {
            Some(root) => root,
            None => self.program.new_environment(&self.environment().await).await?,
        };
        // From here on the world keeps it, and no handle of ours.
        world.set_root(&root);
        let ran = self.program.run(&root).await;
        Ok(ran?)
    }

    /// What the collections came to that the program asked for.
    pub fn collections(&self) -> Vec<Report> {
        self.program.take_reports()
    }

    async fn environment(&self) -> String {
        self.keeping.kept.lock().await.shelf.environment.clone()
    }

    pub(super) async fn note(&self, phase: EnvironmentPhase, outcome: &str) -> Result<(), RunError> {
        let mut kept = self.keeping.kept.lock().await;
        let tools = &self.keeping.tools;
        let status = &mut kept.record.status;
        status.phase = phase;
        let run = status.run.get_or_insert_default();
        if phase == EnvironmentPhase::Running {
            *run = RunRecord {
                at: time::format(tools.clock.now()),
                by: tools.by.clone(),
                outcome: String::new(),
            };
        }
        outcome.clone_into(&mut run.outcome);
        kept.record.write(&tools.resources).await.map_err(RunError::Record)
    }
}

impl RunError {
    /// Whether no code of the program runs any more.
    pub(super) fn is_final(&self) -> bool {
        let RunError::Program(error) = self else { return false };
        matches!(error.kind(), CodeErrorKind::Deadline | CodeErrorKind::Stopped | CodeErrorKind::Memory)
            || matches!(error, ProgramError::TimeIsUp { .. })
    }
}
