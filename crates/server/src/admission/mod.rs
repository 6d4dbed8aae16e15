//! What a document must be like to be stored: a literal list of checks, each with a reason.
//!
//! Preparing fills in what the server owns; checking refuses what breaks a rule. Neither writes anything.

mod classes;
mod holds;
mod limits;
mod metadata;
mod modules;
mod owners;
mod prepare;
mod rules;
mod schema;
mod typed;
mod update;

pub(crate) use classes::class_for;
pub use holds::{has_spec_finalizers, hold_contents, release_contents};
pub use limits::{Limits, check_size};
pub(crate) use prepare::label_with_name;
pub use prepare::{match_target, prepare_create, prepare_update};
pub(crate) use schema::{conform, fill, refuse_patch_strictly, refuse_strictly, take_out_unknown};
pub(crate) use typed::{refuse_mistyped, refuse_patch_mistyped};
pub(crate) use update::taken_off;

use sexton_model::{Document, FieldError, Status, time};

use crate::api::{Api, Result, Target};
use crate::kinds::{Registry, Special, check_definition, check_redefinition, settle_names};

/// A write: what is there, and what shall be there.
pub struct Change<'a> {
    /// What is stored now; `None` for a new object.
    pub old: Option<&'a Document>,
    /// What shall be stored.
    pub new: &'a mut Document,
}

/// How many complaints one refusal holds.
const MOST_ERRORS: usize = 64;

/// A check that needs nothing but the two documents.
type Check = fn(&Target, &Change<'_>, &mut Vec<FieldError>);

/// In this order, all of them, so that the writer hears of everything at once.
const CHECKS: &[Check] = &[
    // A name becomes part of keys and paths: nothing else may look at it before.
    metadata::names,
    // Labels are selected by, annotations are read by tools: both have a grammar.
    metadata::labels_and_annotations,
    // Finalizers decide over removal; two policies at once would contradict each other.
    metadata::finalizers,
    // References carry identity, or they are no evidence of anything.
    metadata::owner_references,
    // What never changes once it is set: the uid and the times of creation and deletion.
    update::immutable_fields,
    // A terminating object can only lose what holds it.
    update::no_new_finalizers,
    // Nor can it get other owners, which would change what may keep it or take it along.
    update::no_new_owners,
    // Code that cannot be run is refused now, not found out when an object has to end.
    classes::class,
    // A scope without its own manager would sweep what belongs to others.
    modules::module,
    // A rule that makes no sense is refused now: later it would find nothing, and that would not be noticed.
    rules::rule,
    // What a definition says of its objects is what others rely on.
    schema::fits,
];

/// What a verb of ours puts on an object, which is otherwise as it was, must be such as any client may put on.
pub fn check_marks(target: &Target, document: &mut Document) -> Result<()> {
    let change = Change { old: None, new: document };
    let mut errors = Vec::new();
    let checks: [Check; 3] = [limits::counts, metadata::labels_and_annotations, metadata::finalizers];
    checks.iter().for_each(|check| check(target, &change, &mut errors));
    if errors.is_empty() {
        return Ok(());
    }
    errors.truncate(MOST_ERRORS);
    let kind = &target.kind;
    Err(Status::invalid(&kind.resource.group, &kind.kind, change.new.name(), &errors).into())
}

/// A definition that cannot be served is refused, not stored and ignored.
fn definition(target: &Target, registry: &Registry, change: &Change<'_>, errors: &mut Vec<FieldError>) {
    if target.kind.special == Special::Definition {
        errors.extend(check_definition(change.new, change.old, registry));
        errors.extend(change.old.into_iter().flat_map(|old| check_redefinition(old, change.new)));
    }
}

impl Api {
    /// Gives a definition the names that are free in its group.
    pub(crate) fn give_names(&self, definition: &mut Document) {
        let registry = self.kinds().current();
        let group = definition.value().pointer("/spec/group").and_then(|group| group.as_str()).unwrap_or("");
        let taken = registry.taken(group);
        settle_names(definition, taken, &time::format(self.now()));
    }

    /// Runs all checks. Returns warnings.
    pub(crate) async fn admit(&self, target: &Target, change: Change<'_>) -> Result<Vec<String>> {
        let mut errors = Vec::new();
        // First and alone: what is counted here bounds what all the others do.
        limits::counts(target, &change, &mut errors);
        let mut warnings = Vec::new();
        if errors.is_empty() {
            warnings = owners::remove_duplicates(change.new);
            CHECKS.iter().for_each(|check| check(target, &change, &mut errors));
            definition(target, &self.kinds().current(), &change, &mut errors);
            if !self.kinds().is_plain() {
                // What was done to an object is written by the collector that did it, with a verb that others do not
                // have.
                update::marks_of_the_collector(target, &change, &mut errors);
            }
        }
        if errors.is_empty() {
            self.check_subscriptions(target, &change, &mut errors);
            self.check_only_class(target, &change, &mut errors).await?;
            warnings.extend(self.check_owners(target, &change, &mut errors).await?);
        }
        if errors.is_empty() {
            self.check_name_is_clean(target, &change).await?;
            if target.kind.special == Special::Lease {
                self.check_lease(target, change.old, Some(change.new))?;
            }
            if target.kind.special == Special::Definition {
                self.give_names(change.new);
            }
            return Ok(warnings);
        }
        // With that many mistakes the rest of them teach nothing new.
        errors.truncate(MOST_ERRORS);
        let kind = &target.kind;
        Err(Status::invalid(&kind.resource.group, &kind.kind, change.new.name(), &errors).into())
    }
}
