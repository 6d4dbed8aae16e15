//! POST: a new object.

use sexton_model::{Document, FieldError, Status, time};
use sexton_store::{At, CommitError, Guard, Object};
use tokio::sync::OwnedMutexGuard;

use super::{Api, Part, RACES, Result, Target, WriteOptions, Written};
use crate::admission::{self, Change};
use crate::kinds::Special;

/// How often another random name is tried.
const NAMES: usize = 8;

impl Api {
    /// Creates an object.
    pub async fn create(&self, target: &Target, body: Document, options: &WriteOptions) -> Result<Written> {
        if !body.resource_version().is_empty() {
            let message = "resourceVersion should not be set on objects to be created";
            return Err(Status::bad_request(message).into());
        }
        let mut document = body;
        admission::match_target(target, &mut document, None)?;
        admission::refuse_mistyped(target, &document)?;
        let told = admission::take_out_unknown(target, &mut document, options);
        admission::refuse_strictly(target, &told, options)?;
        self.stamp(target, &mut document);
        admission::prepare_create(target, &mut document)?;
        admission::fill(target, &mut document)?;
        let written = self.create_named(target, document, options).await?;
        Ok(written.warned(told))
    }

    async fn create_named(
        &self,
        target: &Target,
        document: Document,
        options: &WriteOptions,
    ) -> Result<Written> {
        let generate = document.metadata().get("generateName").and_then(|name| name.as_str());
        let prefix =
            generate.filter(|prefix| document.name().is_empty() && !prefix.is_empty()).map(str::to_owned);
        let Some(prefix) = prefix else {
            if document.name().is_empty() {
                let error = FieldError::required("metadata.name", "name or generateName is required");
                return Err(
                    Status::invalid(&target.kind.resource.group, &target.kind.kind, "", &[error]).into()
                );
            }
            return self.create_ready(target, document, options, Ownership::Track).await;
        };
        for _ in 1..NAMES {
            let mut named = document.clone();
            named.set_or_remove("name", Some(generated(&prefix, &self.nature.suffix()).into()));
            admission::label_with_name(target, &mut named);
            match self.create_ready(target, named, options, Ownership::Track).await {
                Err(failure) if failure.0.reason == "AlreadyExists" => {}
                other => return other,
            }
        }
        let message = format!("no free name was found for generateName {prefix:?}, try again");
        Err(Status::timeout(message).retry_after(1).into())
    }

    /// Sets the fields of a new object that only the server decides.
    pub(super) fn stamp(&self, target: &Target, document: &mut Document) {
        let now = time::format(self.now());
        for field in
            ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "resourceVersion", "generation"]
        {
            document.set_or_remove(field, None);
        }
        document.set_or_remove("uid", Some(self.nature.uid().into()));
        document.set_or_remove("creationTimestamp", Some(now.into()));
        if target.kind.generation {
            document.set_or_remove("generation", Some(1.into()));
        }
    }

    /// Creates a document that is complete but for its field ownership.
    pub(super) async fn create_ready(
        &self,
        target: &Target,
        mut document: Document,
        options: &WriteOptions,
        ownership: Ownership,
    ) -> Result<Written> {
        let _turn = self.own_turn(target).await;
        if let Ownership::Track = ownership {
            self.track(target, Part::Main, None, &mut document, options);
        }
        let warnings = self.admit(target, Change { old: None, new: &mut document }).await?;
        let stored = target.encode(&document);
        admission::check_size(None, &stored)?;
        let key = target.key(document.name());
        let slot: sexton_store::engine::RawKey = key.encode().into();
        for _ in 0..RACES {
            let mut guards = vec![Guard::At { key: slot.clone(), revision: sexton_model::Revision::NONE }];
            guards.extend(self.room_for(target, document.name()).await?);
            guards.extend(self.fence_record(target, None, &document).await?);
            if options.dry_run {
                self.refuse_taken(target, &document).await?;
                return Ok(Written { created: true, warnings, ..Written::document(document) });
            }
            match self.store.put(slot.clone(), stored.clone(), guards).await {
                Ok(object) => {
                    self.wrote(target).await?;
                    return Ok(Written { created: true, warnings, ..Written::stored(object) });
                }
                Err(CommitError::Conflict { guard: 0 }) => self.refuse_taken(target, &document).await?,
                // The definition changed, and the request that changed it may not have reloaded the kinds yet.
                Err(CommitError::Conflict { .. }) if target.kind.is_custom() => {
                    self.kinds.reload(&self.store).await?
                }
                Err(CommitError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(CommitError::Conflict { guard: 0 }.into())
    }

    /// New classes come one after the other: that there is no other for the same kind is asked before the commit. So do
    /// writes of definitions, which are given names that others do not have.
    pub(super) async fn own_turn(&self, target: &Target) -> Option<OwnedMutexGuard<()>> {
        match target.kind.special {
            Special::Class | Special::Definition => Some(self.class_turns.clone().lock_owned().await),
            _ => None,
        }
    }

    async fn refuse_taken(&self, target: &Target, document: &Document) -> Result<()> {
        let name = document.name();
        let existing: Option<Object> = self.store.get(&target.key(name), At::Latest).await?;
        match existing {
            Some(object) => {
                let terminating = object.facts()?.deleted.is_some();
                Err(Status::already_exists(&target.kind.resource, name, terminating).into())
            }
            None => Ok(()),
        }
    }
}

pub(super) use super::commit::Ownership;

/// A generated name keeps within the length that every naming rule allows.
fn generated(prefix: &str, suffix: &str) -> String {
    const MOST: usize = 63;
    let cut =
        prefix.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end + suffix.len() <= MOST);
    format!("{}{suffix}", &prefix[..cut.last().unwrap_or(0)])
}
