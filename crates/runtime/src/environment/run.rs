//! One run: what the model dropped is destroyed, `deploy` runs, what is not reached any more is destroyed, and the rest
//! is stored. Whatever happens on the way, what is stored is what was, or what is.

use std::collections::BTreeMap;

use hashbrown::HashSet;
use sexton_model::environment::{EnvironmentPhase, RunRecord};
use sexton_model::{Uid, time};

use super::keeper::Kept;
use super::kinds::{ClassCode, ensure};
use super::open::Opened;
use super::save::save;
use super::{FinishError, RunError, burial};
use crate::gc::{Report, Scope};
use crate::lua::ProgramError;
use crate::model::{Model, ModelObject, export, gather, written};
use crate::stored::{Shelf, changes};
use crate::world::{CodeErrorKind, Handle, ObjectId};

/// What is stored after a run.
#[derive(Debug, Clone, Default)]
pub struct Finished {
    /// What was destroyed after the deployment, or why not.
    pub report: Report,
    /// Objects that are stored now.
    pub objects: usize,
    /// Resources that were written.
    pub written: usize,
    /// The model as JSON.
    pub model: String,
    /// Why too many stored objects were to be destroyed at once, if they were.
    pub fused: Option<String>,
}

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
        Ok(self.program.collect(Scope::Removed(self.removed.clone())).await??)
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

    /// Destroys what is not reached any more, and stores the rest. `failed` says why the run failed, if it did: what it
    /// made is stored nevertheless, so that nothing is lost.
    ///
    /// # Errors
    /// See [`FinishError`]: the model that was stored before is still there.
    pub async fn finish(mut self, failed: Option<&RunError>) -> Result<Finished, FinishError> {
        self.root = None;
        let runs_on = !failed.is_some_and(RunError::is_final);
        let mut finished = Finished::default();
        if runs_on && !self.program.world().roots().is_empty() {
            finished.report = match self.program.collect(Scope::NotPersistable).await {
                Ok(collected) => collected?,
                // No code runs any more; what is garbage is found by the next run.
                Err(_) => Report::default(),
            };
        }
        finished.fused = self.fused();
        let stored = self.store(&mut finished).await;
        let outcome = match (&stored, failed) {
            (Err(error), _) => format!("not stored: {error}"),
            (Ok(()), Some(error)) => format!("failed: {error}"),
            (Ok(()), None) => "done".to_owned(),
        };
        let phase = if outcome == "done" { EnvironmentPhase::Idle } else { EnvironmentPhase::Failed };
        let noted = self.note(phase, &outcome).await;
        self.close().await;
        stored?;
        noted.map_err(FinishError::from)?;
        Ok(finished)
    }

    async fn store(&mut self, finished: &mut Finished) -> Result<(), FinishError> {
        let world = self.program.world().clone();
        let root = world.roots().into_iter().next();
        finished.model = export(&world, root.as_ref())?;
        let mut model = root.as_ref().map(|root| gather(&world, root)).unwrap_or_default();
        drop(root);
        self.add_undestroyed(&mut model);
        let keeping = self.keeping.clone();
        let epoch = keeping.epoch().map_err(FinishError::Keeper)?;
        let mut kept = keeping.kept.lock().await;
        let Kept { shelf, record } = &mut *kept;
        bury_unreferenced(&keeping.tools, epoch, shelf, &model).await?;
        let environment = shelf.environment.clone();
        ensure(&keeping.tools.resources, &environment, &self.classes(&model)).await?;
        let known: HashSet<&ObjectId> = model.ids().collect();
        let besides = shelf.resources().filter(|(id, _)| !known.contains(id)).count();
        finished.objects = model.objects.len() + besides;
        record.spec.program = self.spec.clone();
        record.status.objects = finished.objects;
        record.status.root = model.root.as_ref().map(ObjectId::to_string).unwrap_or_default();
        let writes = changes(shelf, &model.objects, || Uid(uuid::Uuid::new_v4().to_string()));
        finished.written = save(&keeping.tools, epoch, record, writes).await?;
        Ok(())
    }

    /// Whoever should have been destroyed and was not is not lost: it is stored with all that it refers to, and the next
    /// run tries again.
    fn add_undestroyed(&self, model: &mut Model) {
        let world = self.program.world();
        let mut known: HashSet<ObjectId> = model.ids().cloned().collect();
        let alive = |object: &Handle| {
            !object.is_destroyed() && object.is_initialized() && object.class().has_destroy()
        };
        let left = world.objects().into_iter().filter(|id| !known.contains(id));
        let mut open: Vec<Handle> = left.filter_map(|id| world.find(&id)).filter(alive).collect();
        while let Some(object) = open.pop() {
            if known.insert(object.id()) {
                let class = object.class();
                for (name, _) in class.properties().filter(|(_, property)| property.usage.is_persistable()) {
                    open.extend(object.get(name).objects().into_iter().cloned());
                }
                model.objects.push(written(self.program.gc(), &object));
            }
        }
    }

    /// The classes of the objects that are stored, with the methods that their destruction may need.
    fn classes(&self, model: &Model) -> BTreeMap<String, ClassCode> {
        let mut classes: BTreeMap<String, ClassCode> = BTreeMap::new();
        for object in &model.objects {
            let code = classes.entry(object.class.clone()).or_insert_with(|| ClassCode {
                destroys: self.program.world().class(&object.class).is_some_and(|class| class.has_destroy()),
                ..ClassCode::default()
            });
            code.handlers.extend(object.dependencies.iter().filter_map(|one| one.handler.clone()));
        }
        classes
    }

    async fn environment(&self) -> String {
        self.keeping.kept.lock().await.shelf.environment.clone()
    }

    async fn note(&self, phase: EnvironmentPhase, outcome: &str) -> Result<(), RunError> {
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

/// Destroyed objects that nobody refers to any more go away without further ado.
async fn bury_unreferenced(
    tools: &sexton_collector::modules::Tools,
    epoch: &sexton_model::bulk::Epoch,
    shelf: &mut Shelf,
    model: &Model,
) -> Result<(), FinishError> {
    let known: HashSet<&ObjectId> = model.ids().collect();
    let destroyed = |object: &ModelObject| object.destroyed && !known.contains(&object.id);
    let all = shelf.model(None).objects;
    let gone: Vec<ObjectId> = all.into_iter().filter(destroyed).map(|object| object.id).collect();
    Ok(burial::bury(tools, epoch, shelf, &gone, &burial::Reasons::new()).await?)
}

impl RunError {
    /// Whether no code of the program runs any more.
    fn is_final(&self) -> bool {
        let RunError::Program(error) = self else { return false };
        matches!(error.kind(), CodeErrorKind::Deadline | CodeErrorKind::Stopped | CodeErrorKind::Memory)
            || matches!(error, ProgramError::TimeIsUp { .. })
    }
}
