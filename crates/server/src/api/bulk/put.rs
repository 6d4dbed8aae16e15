//! The put of an item: a whole object with the uid that its writer chose, so that many can refer to one another before
//! any of them is stored.
//!
//! It must not know what the objects are good for.

use sexton_model::bulk::Outcome;
use sexton_model::{Document, Revision, Status, Term};
use sexton_store::{At, Guard, Object, Op};

use super::epoch::Turn;
use super::item::{Asked, Condition, Decided, Write, check_life};
use crate::admission::{self, Change};
use crate::api::fencing::check_record;
use crate::api::{Api, FieldValidation, Part, Result, Target, WriteOptions, terminating};

impl Api {
    /// What a put comes to: a new object under a uid that is free, or another version of the object with that uid.
    pub(super) async fn decide_put(
        &self,
        asked: Asked<'_>,
        turn: &Turn,
        target: Target,
        text: &str,
        manager: &str,
    ) -> Result<Decided> {
        if target.kind.holds_others() || target.kind.is_about_kinds() {
            let why = "namespaces, definitions and classes are written one by one";
            return Err(Status::forbidden(&target.kind.resource, asked.name, why).into());
        }
        let value = serde_json::from_str(text).map_err(|error| Status::bad_request(error.to_string()))?;
        let document = Document::from_value(value);
        let mut document = document.map_err(|error| Status::bad_request(error.to_string()))?;
        admission::match_target(&target, &mut document, Some(asked.name))?;
        admission::refuse_mistyped(&target, &document)?;
        let field_manager = manager.to_owned();
        let field_validation = FieldValidation::Ignore;
        let options =
            WriteOptions { field_manager, manager_named: true, field_validation, ..WriteOptions::default() };
        admission::take_out_unknown(&target, &mut document, &options);
        match self.store.get(&target.key(asked.name), At::Latest).await? {
            None => self.decide_new(asked, turn, target, document, &options).await,
            Some(current) => self.decide_over(asked, turn, target, &current, document, &options).await,
        }
    }

    async fn decide_new(
        &self,
        asked: Asked<'_>,
        turn: &Turn,
        target: Target,
        mut document: Document,
        options: &WriteOptions,
    ) -> Result<Decided> {
        if asked.item.resource_version.is_some() {
            return Err(Status::not_found(&target.kind.resource, asked.name).into());
        }
        if uuid::Uuid::try_parse(asked.uid).is_err() {
            let message = format!("{:?} cannot be a uid: a UUID is wanted", asked.uid);
            return Err(Status::bad_request(message).into());
        }
        self.stamp(&target, &mut document);
        document.set_or_remove("uid", Some(asked.uid.into()));
        admission::prepare_create(&target, &mut document)?;
        admission::fill(&target, &mut document)?;
        self.track(&target, Part::Main, None, &mut document, options);
        self.admit(&target, Change { old: None, new: &mut document }).await?;
        check_record(&target, None, &document, &turn.rights)?;
        let stored = target.encode(&document);
        admission::check_size(None, &stored)?;
        let key: sexton_store::engine::RawKey = target.key(asked.name).encode().into();
        let mut guards = vec![Guard::At { key: key.clone(), revision: Revision::NONE }];
        guards.extend(self.room_for(&target, asked.name).await?);
        guards.extend(turn.guard());
        let mut decided = Decided::new(target, guards, Outcome::Created, Revision::NONE);
        decided.add(Condition::UidFree, Guard::Unused { term: Term::uid(asked.uid) });
        decided.writes = true;
        decided.ops.push(Op::Put { key, value: stored.bytes().clone() });
        Ok(decided)
    }

    async fn decide_over(
        &self,
        asked: Asked<'_>,
        turn: &Turn,
        target: Target,
        current: &Object,
        mut new: Document,
        options: &WriteOptions,
    ) -> Result<Decided> {
        let facts = current.facts()?;
        if facts.uid != asked.uid {
            return Err(Status::already_exists(&target.kind.resource, asked.name, false).into());
        }
        check_life(&target, asked, current, &facts)?;
        let old = target.read(current)?;
        admission::fill(&target, &mut new)?;
        admission::prepare_update(&target, Part::Main, &old, &mut new, !self.kinds.is_plain())?;
        self.track(&target, Part::Main, Some(&old), &mut new, options);
        self.admit(&target, Change { old: Some(&old), new: &mut new }).await?;
        if new.is_terminating() && new.finalizers().is_empty() {
            let why = "it is being deleted, and a put does not take its last hold off";
            return Err(Status::conflict(&target.kind.resource, asked.name, why).into());
        }
        check_record(&target, Some(&old), &new, &turn.rights)?;
        let mut guards = vec![current.unchanged()];
        guards.extend(terminating::check_holds(&target, &old, &new)?);
        let stored = target.encode(&new);
        admission::check_size(Some(&current.stored), &stored)?;
        let write = match stored == current.stored {
            true => (Write::Nothing, Outcome::Unchanged),
            false => (Write::Put(stored), Outcome::Patched),
        };
        self.completed(asked, turn, target, current, guards, write).await
    }
}
