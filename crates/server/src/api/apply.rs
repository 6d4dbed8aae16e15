//! Server-side apply: the fields that a manager wants, merged into what is there.

use serde_json::Value;
use sexton_model::fields::{self, ApplyError};
use sexton_model::{Document, FieldError, Status};
use sexton_store::{At, CommitError, Object};

use super::commit::{Attempt, Ownership};
use super::update::{modified, uid_mismatch};
use super::{Api, Failure, Part, RACES, Result, Target, WriteOptions, Written};
use crate::admission;

impl Api {
    /// Applies a configuration: creates the object if there is none.
    pub(super) async fn apply(
        &self,
        target: &Target,
        name: &str,
        part: Part,
        config: Value,
        options: &WriteOptions,
    ) -> Result<Written> {
        if !options.manager_named {
            let error = FieldError::required("fieldManager", "is required for apply patch");
            return Err(Status::invalid("meta.k8s.io", "PatchOptions", "", &[error]).into());
        }
        let mut config = Document::from_value(config)?;
        // What a manager no longer applies is taken away: an empty document by mistake would be all it has.
        for (field, is) in [("Kind", config.kind()), ("apiVersion", config.api_version())] {
            if is.is_empty() {
                return Err(
                    Status::bad_request(format!("Object '{field}' is missing in the apply patch")).into()
                );
            }
        }
        admission::match_target(target, &mut config, Some(name))?;
        admission::refuse_mistyped(target, &config)?;
        let told = admission::take_out_unknown(target, &mut config, options);
        admission::refuse_strictly(target, &told, options)?;
        for _ in 0..RACES {
            let current = self.store.get(&target.key(name), At::Latest).await?;
            let attempt = match current {
                Some(current) => self.apply_to(target, part, &current, &config, options).await?,
                None if part == Part::Main => self.apply_new(target, &config, options).await?,
                None => return Err(Status::not_found(&target.kind.resource, name).into()),
            };
            match attempt {
                Attempt::Done(written) => return Ok(written.warned(told)),
                Attempt::Lost => {}
            }
        }
        Err(CommitError::Conflict { guard: 0 }.into())
    }

    async fn apply_new(&self, target: &Target, config: &Document, options: &WriteOptions) -> Result<Attempt> {
        if !config.uid().is_empty() {
            return Err(uid_mismatch(target, config.name(), config.uid(), "").into());
        }
        if !matches!(config.resource_version(), "" | "0") {
            return Err(modified(target, config.name()).into());
        }
        let value = self.applied(target, Part::Main, None, config, options)?;
        let mut document = Document::from_value(value)?;
        self.stamp(target, &mut document);
        admission::prepare_create(target, &mut document)?;
        admission::fill(target, &mut document)?;
        match self.create_ready(target, document, options, Ownership::Decided).await {
            Ok(written) => Ok(Attempt::Done(Box::new(written))),
            // Another client created it: apply to that.
            Err(failure) if failure.0.reason == "AlreadyExists" => Ok(Attempt::Lost),
            Err(failure) => Err(failure),
        }
    }

    async fn apply_to(
        &self,
        target: &Target,
        part: Part,
        current: &Object,
        config: &Document,
        options: &WriteOptions,
    ) -> Result<Attempt> {
        let old = target.read(current)?;
        if !config.uid().is_empty() && config.uid() != old.uid() {
            return Err(uid_mismatch(target, old.name(), config.uid(), old.uid()).into());
        }
        if !matches!(config.resource_version(), "" | "0")
            && config.resource_version() != old.resource_version()
        {
            return Err(modified(target, old.name()).into());
        }
        let value = self.applied(target, part, Some(&old), config, options)?;
        let new = Document::from_value(value)?;
        self.replace(target, part, (current, &old), new, Ownership::Decided, options).await
    }

    fn applied(
        &self,
        target: &Target,
        part: Part,
        live: Option<&Document>,
        config: &Document,
        options: &WriteOptions,
    ) -> Result<Value> {
        let live = live.map(Document::value);
        self.as_writer(target, part, options, |writer| {
            fields::apply(live, config.value(), writer, options.force, target.kind.schema())
                .map_err(|error| refused(target, config.name(), error))
        })
    }
}

fn refused(target: &Target, name: &str, error: ApplyError) -> Failure {
    match error {
        ApplyError::NotAnObject | ApplyError::ManagedFieldsSet => {
            Status::bad_request(error.to_string()).into()
        }
        ApplyError::Merge(error) => {
            let error = FieldError::invalid("", Value::Null, error.to_string());
            Status::invalid(&target.kind.resource.group, &target.kind.kind, name, &[error]).into()
        }
        ApplyError::Conflicts(conflicts) => {
            let mut status = Status::apply_conflict(conflicts.to_string());
            for cause in conflicts.causes() {
                status = status.because(cause.reason, cause.message, cause.field);
            }
            status.into()
        }
    }
}
