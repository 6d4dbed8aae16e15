//! The last steps that all writes share: rules, field ownership, and the commit itself.

use sexton_model::fields::{self, Writer};
use sexton_model::{Document, time};
use sexton_store::{CommitError, Guard, Object};

use super::{Api, Outcome, Part, Result, Target, WriteOptions, Written, terminating};
use crate::admission::{self, Change};
use crate::kinds::Special;

/// How a write decides which manager owns which fields.
pub(super) enum Ownership {
    /// The writer gets what it changed.
    Track,
    /// Already decided, by apply.
    Decided,
}

/// An attempt to commit: done, or lost a race and has to be decided again.
pub(super) enum Attempt {
    Done(Box<Written>),
    Lost,
}

impl Api {
    /// Records in a document which manager owns which fields.
    pub(super) fn track(
        &self,
        target: &Target,
        part: Part,
        old: Option<&Document>,
        new: &mut Document,
        options: &WriteOptions,
    ) {
        self.as_writer(target, part, options, |writer| {
            fields::track_update(old.map(Document::value), new.value_mut(), writer, target.kind.schema());
        });
    }

    /// Calls `act` with the writer of this request: its field manager, version, subresource, and the time.
    pub(super) fn as_writer<T>(
        &self,
        target: &Target,
        part: Part,
        options: &WriteOptions,
        act: impl FnOnce(&Writer<'_>) -> T,
    ) -> T {
        act(&Writer {
            manager: &options.field_manager,
            api_version: &target.kind.api_version(),
            subresource: part.subresource(),
            time: &time::format(self.now()),
        })
    }

    /// Stores a new version of an object, or removes it if that was the last thing that held it.
    pub(super) async fn replace(
        &self,
        target: &Target,
        part: Part,
        (current, old): (&Object, &Document),
        mut new: Document,
        ownership: Ownership,
        options: &WriteOptions,
    ) -> Result<Attempt> {
        let _turn = self.own_turn(target).await;
        admission::fill(target, &mut new)?;
        admission::prepare_update(target, part, old, &mut new, !self.kinds.is_plain())?;
        if let Ownership::Track = ownership {
            self.track(target, part, Some(old), &mut new, options);
        }
        let warnings = self.admit(target, Change { old: Some(old), new: &mut new }).await?;
        let mut guards = vec![current.unchanged()];
        if !self.kinds.is_plain() {
            guards.extend(terminating::check_holds(target, old, &new)?);
        }
        let fence = self.fence_record(target, Some(old), &new).await?;
        if options.dry_run && guards.len() > 1 && self.is_owner(old.uid()).await? {
            return Err(self.still_referenced(target, old.name(), old.uid()).await?.into());
        }
        let done = |mut written: Written| {
            written.warnings = warnings;
            Ok(Attempt::Done(Box::new(written)))
        };
        if new.is_terminating() && !is_held(target, &new) {
            return match self.remove_last(target, current, new, guards, options.dry_run).await? {
                Some(written) => done(written),
                None => Ok(Attempt::Lost),
            };
        }
        let stored = target.encode(&new);
        admission::check_size(Some(&current.stored), &stored)?;
        if stored == current.stored {
            return done(Written::stored(current.clone()));
        }
        if options.dry_run {
            return done(Written::document(new));
        }
        // Last, so that its conflict is told from those of the others: the lease is looked at again then.
        let fenced = fence.is_some().then_some(guards.len());
        guards.extend(fence);
        match self.store.put(current.key.clone(), stored, guards).await {
            Ok(object) => {
                self.wrote(target).await?;
                done(Written::stored(object))
            }
            Err(CommitError::Conflict { guard }) if guard == 0 || Some(guard) == fenced => Ok(Attempt::Lost),
            Err(CommitError::Conflict { .. }) => {
                Err(self.still_referenced(target, old.name(), old.uid()).await?.into())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Nothing holds a terminating object any more: the update that says so removes it.
    async fn remove_last(
        &self,
        target: &Target,
        current: &Object,
        mut last_word: Document,
        mut guards: Vec<Guard>,
        dry_run: bool,
    ) -> Result<Option<Written>> {
        let others = guards.len();
        guards.extend(self.without_contents(target, &last_word).await?);
        if dry_run {
            return Ok(Some(Written::document(last_word)));
        }
        match self.store.remove(current.key.clone(), guards).await {
            Ok(committed) => {
                self.wrote(target).await?;
                last_word.set_resource_version(committed.revision);
                Ok(Some(Written::document(last_word)))
            }
            Err(CommitError::Conflict { guard }) if guard == 0 || guard >= others => Ok(None),
            Err(CommitError::Conflict { .. }) => {
                Err(self.still_referenced(target, last_word.name(), last_word.uid()).await?.into())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// What must happen before the writer hears of its success: a definition is served at once, a class counts.
    pub(super) async fn wrote(&self, target: &Target) -> Result<()> {
        if target.kind.is_about_kinds() {
            self.kinds.reload(&self.store).await?;
        }
        if target.kind.special == Special::Definition {
            self.settle_definitions().await?;
        }
        Ok(())
    }

    /// Removes an object if all guards hold; `None` means that a race was lost.
    pub(super) async fn remove(
        &self,
        target: &Target,
        current: &Object,
        guards: Vec<Guard>,
    ) -> Result<Option<Outcome>> {
        let removal = self.store.remove(current.key.clone(), guards).await;
        match removal {
            Ok(committed) => {
                self.wrote(target).await?;
                let (_, name) = current.place();
                let uid = current.facts()?.uid.to_owned();
                if !target.kind.returns_deleted {
                    return Ok(Some(Outcome::Removed { name: name.to_owned(), uid }));
                }
                let mut document = current.document()?;
                document.set_resource_version(committed.revision);
                Ok(Some(Outcome::Document(Box::new(document))))
            }
            Err(CommitError::Conflict { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// Whether anything keeps a terminating object from being removed.
pub(super) fn is_held(target: &Target, document: &Document) -> bool {
    !document.finalizers().is_empty()
        || (target.kind.special == Special::Namespace && admission::has_spec_finalizers(document))
}
