//! DELETE: makes an object terminating, or removes it if nothing holds it. Which of the two is decided and done in one
//! transaction, so a finalizer can never be lost to a removal that did not see it.
//!
//! Without a policy this is the whole cascade: the object becomes terminating with the `cascade_deletion` finalizer and
//! goes last, after everything that depends on it.

use sexton_model::bulk::Annotations;
use sexton_model::{DeleteOptions, Document, Status};
use sexton_store::{CommitError, Guard, Object};

use super::deletion::{Deletion, Effect};
use super::update::uid_mismatch;
use super::{Api, Outcome, RACES, Result, Target, Written};

impl Api {
    /// Deletes an object.
    pub async fn delete(&self, target: &Target, name: &str, options: &DeleteOptions) -> Result<Written> {
        check_options(options)?;
        for _ in 0..RACES {
            let current = self.find(target, name).await?;
            check_preconditions(target, name, options, &current)?;
            if let Some(written) = self.delete_version(target, &current, options).await? {
                return Ok(written);
            }
        }
        Err(CommitError::Conflict { guard: 0 }.into())
    }

    /// Deletes exactly this version; `None` means that a race was lost.
    async fn delete_version(
        &self,
        target: &Target,
        current: &Object,
        options: &DeleteOptions,
    ) -> Result<Option<Written>> {
        let _turn = self.own_turn(target).await;
        let Deletion { guards, effect } = self
            .decide_deletion(target, current, &current.facts()?, options.policy(), &Annotations::new())
            .await?;
        match effect {
            Effect::Remove { marked } => {
                let removed = self.remove_now(target, current, guards, options).await?;
                Ok(removed.map(|removed| shown_marked(removed, marked)))
            }
            Effect::Nothing => {
                self.wrote(target).await?;
                Ok(Some(Written::stored(current.clone())))
            }
            Effect::Mark { stored } if options.is_dry_run() => {
                Ok(Some(Written::document(stored.document(current.revision)?)))
            }
            Effect::Mark { stored } => match self.store.put(current.key.clone(), stored, guards).await {
                Ok(object) => {
                    self.wrote(target).await?;
                    Ok(Some(Written::stored(object)))
                }
                Err(CommitError::Conflict { .. }) => Ok(None),
                Err(error) => Err(error.into()),
            },
        }
    }

    async fn remove_now(
        &self,
        target: &Target,
        current: &Object,
        guards: Vec<Guard>,
        options: &DeleteOptions,
    ) -> Result<Option<Written>> {
        let outcome = if options.is_dry_run() {
            let document = current.document()?;
            let (name, uid) = (document.name().to_owned(), document.uid().to_owned());
            match target.kind.returns_deleted {
                true => Some(Outcome::Document(Box::new(document))),
                false => Some(Outcome::Removed { name, uid }),
            }
        } else {
            self.sign_removal(current.facts()?.uid);
            self.remove(target, current, guards).await?
        };
        Ok(outcome.map(|outcome| Written { outcome, created: false, warnings: Vec::new() }))
    }
}

/// What held others and is gone at once is shown as it was in between: terminating, and about to go.
fn shown_marked(mut removed: Written, marked: Option<Box<Document>>) -> Written {
    if let (Outcome::Document(last), Some(mut marked)) = (&mut removed.outcome, marked) {
        marked.set_or_remove("resourceVersion", last.metadata().get("resourceVersion").cloned());
        *last = marked;
    }
    removed
}

/// Whether the options make sense by themselves, whatever they are used on.
pub(super) fn check_options(options: &DeleteOptions) -> Result<()> {
    match options.errors().as_slice() {
        [] => Ok(()),
        errors => Err(Status::invalid("meta.k8s.io", "DeleteOptions", "", errors).into()),
    }
}

fn check_preconditions(target: &Target, name: &str, options: &DeleteOptions, current: &Object) -> Result<()> {
    let Some(conditions) = &options.preconditions else { return Ok(()) };
    if let Some(uid) = &conditions.uid {
        let found = current.facts()?.uid.to_owned();
        if *uid != found {
            return Err(uid_mismatch(target, name, uid, &found).into());
        }
    }
    match &conditions.resource_version {
        Some(version) if *version != current.revision.to_string() => {
            let why = format!(
                "Precondition failed: ResourceVersion in precondition: {version}, ResourceVersion in object meta: {}",
                current.revision
            );
            Err(Status::conflict(&target.kind.resource, name, why).into())
        }
        _ => Ok(()),
    }
}
