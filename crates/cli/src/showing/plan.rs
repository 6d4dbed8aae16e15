//! A plan as it is shown: the doomed objects in the order of destruction, each with its reason, and what is not
//! destroyed although a reader may expect it.
//!
//! The parent of an entry is the object because of which it is doomed, so that output can draw a tree.

use std::collections::{BTreeSet, HashMap};

use sexton_collector::preview::World;
use sexton_lifecycle::plan::{Plan, Relation, Step};
use sexton_lifecycle::{Cause, Detection, Finding, NodeId, Ownership, WhyExcluded, WhyInvalid, WhyUnknown};
use sexton_model::{Policy, marks};

use crate::naming::Names;
use crate::output::tree::{Beside, Death, DeathPlan};

/// Subscribers named behind an object; the rest is counted. The same limit holds for the targets that outlive it.
const TOLD_SHOWN: usize = 2;

/// A plan with everything that is needed to put it into words.
pub(crate) struct Shown<'a> {
    pub(crate) world: &'a World,
    pub(crate) judgement: &'a Detection,
    pub(crate) plan: &'a Plan,
    pub(crate) names: &'a Names,
}

impl Shown<'_> {
    /// The plan in words. The caller fills in target, title and commands.
    pub(crate) fn death_plan(&self) -> DeathPlan {
        let steps = || self.plan.steps();
        let places: HashMap<NodeId, usize> = steps().enumerate().map(|(at, step)| (step.node, at)).collect();
        let mut entries = Vec::with_capacity(self.plan.len());
        for (wave, in_wave) in self.plan.waves.iter().enumerate() {
            for (group, in_group) in in_wave.groups.iter().enumerate() {
                let group = (in_group.members.len() > 1).then_some(group);
                for step in &in_group.members {
                    let parent = cause(&step.finding).and_then(|cause| places.get(&cause).copied());
                    entries.push(Death { order: wave + 1, group, parent, ..self.death(step) });
                }
            }
        }
        DeathPlan {
            entries,
            loses: self
                .judgement
                .strips
                .iter()
                .map(|strip| self.beside(strip.node, self.lost(strip)))
                .collect(),
            holds: self.held(),
            unknown: self.unknown(),
            dropped: self.dropped(),
            digest: self.plan.digest.clone(),
            ..DeathPlan::default()
        }
    }

    fn name(&self, life: NodeId) -> String {
        match self.world.snapshot().contains(life) {
            true => self.names.of(self.world.snapshot(), life),
            false => "something that is gone".to_owned(),
        }
    }

    fn beside(&self, life: NodeId, why: String) -> Beside {
        Beside { label: self.name(life), why }
    }

    fn death(&self, step: &Step) -> Death {
        Death {
            label: self.name(step.node),
            uid: step.uid.0.clone(),
            reason: self.reason(&step.finding),
            marks: self.marks(step),
            ..Death::default()
        }
    }

    fn reason(&self, finding: &Finding) -> String {
        match &finding.cause {
            Cause::Requested if finding.is_terminating => "is being destroyed already".to_owned(),
            Cause::Requested => "asked for".to_owned(),
            Cause::OwnerDoomed { owner } => {
                let first = self.judgement.doomed.get(owner);
                let goes_first = first
                    .is_some_and(|one| one.cause == Cause::Requested && one.policy == Policy::Background);
                let then = if goes_first { ", which is gone then" } else { "" };
                format!("owned by {}{then}", self.name(*owner))
            }
            Cause::OwnersGone { .. } => "its owners do not exist any more".to_owned(),
            Cause::Candidate { record: accused } => accused.accusation.because.clone(),
            Cause::Unreachable => "nothing alive refers to it".to_owned(),
            Cause::Removed => "not in the model any more".to_owned(),
            Cause::InNamespace { namespace } => format!("in {}", self.name(*namespace)),
            Cause::OfDefinition { definition } => format!("defined by {}", self.name(*definition)),
        }
    }

    fn marks(&self, step: &Step) -> Vec<String> {
        let snapshot = self.world.snapshot();
        let mut marks = Vec::new();
        if step.finding.is_terminating && step.finding.cause != Cause::Requested {
            marks.push("marked already".to_owned());
        }
        marks.extend(self.other_owners(&step.finding));
        marks.extend(self.lives_on(step.node));
        marks.extend(self.world.destroy_method(step.node).map(|method| format!("destroy {method}")));
        let others = snapshot.subscribers_of(step.node).into_iter().filter(|(other, _)| *other != step.node);
        let told: Vec<NodeId> = others
            .filter(|(_, subscription)| subscription.handler.is_some())
            .map(|(subscriber, _)| subscriber)
            .collect();
        if !told.is_empty() {
            let shown: Vec<String> = told.iter().take(TOLD_SHOWN).map(|one| self.name(*one)).collect();
            let more = match told.len() - shown.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            marks.push(format!("warns {}{more}", shown.join(", ")));
        }
        // Each handler's command is shown once, also those of subscribers that are only counted above.
        let called = |subscriber: &NodeId| self.world.handler_method(step.node, *subscriber);
        let commands: BTreeSet<String> = told.iter().filter_map(called).collect();
        marks.extend(commands.into_iter().map(|command| format!("handler {command}")));
        marks
    }

    /// A remark if the object subscribes to objects that are not doomed. A subscription orders destructions and nothing
    /// else: here the subscriber is destroyed although its target still exists.
    fn lives_on(&self, life: NodeId) -> Option<String> {
        let targets = self.world.snapshot().targets_of(life).into_iter();
        let alive: Vec<String> = targets
            .filter(|target| *target != life && !self.judgement.is_doomed(*target))
            .map(|target| self.name(target))
            .collect();
        match alive.as_slice() {
            [] => None,
            [one] => Some(format!("subscribed to {one}, which lives on")),
            [first, rest @ ..] if rest.len() < TOLD_SHOWN => {
                Some(format!("subscribed to {first} and {}, which live on", rest.join(", ")))
            }
            [first, rest @ ..] => {
                Some(format!("subscribed to {first} and {} more, which live on", rest.len()))
            }
        }
    }

    /// A remark if the object is doomed because of one owner although other owners are not doomed: cascade allows that.
    fn other_owners(&self, finding: &Finding) -> Option<String> {
        if !matches!(finding.cause, Cause::OwnerDoomed { .. }) {
            return None;
        }
        let owners = self.world.snapshot().valid_owners(finding.node);
        let alive: Vec<String> =
            owners.filter(|owner| !self.judgement.is_doomed(*owner)).map(|owner| self.name(owner)).collect();
        match alive.as_slice() {
            [] => None,
            [one] => Some(format!("although {one} owns it, too")),
            [first, rest @ ..] => Some(format!("although {first} and {} more own it, too", rest.len())),
        }
    }

    fn lost(&self, strip: &sexton_lifecycle::Strip) -> String {
        let owners = self.world.snapshot().owners(strip.node);
        let lost: Vec<String> = owners
            .iter()
            .filter(|(reference, _)| strip.owners.contains(&reference.uid))
            .map(|(reference, _)| format!("{}/{}", reference.kind, reference.name))
            .collect();
        let keepers = owners.iter().filter_map(|(_, owner)| match owner {
            Ownership::Valid(owner) if !self.judgement.is_doomed(*owner) => Some(self.name(*owner)),
            _ => None,
        });
        let keepers: Vec<String> = keepers.collect();
        let lives = match keepers.is_empty() {
            true => "lives on".to_owned(),
            false => format!("lives on with {}", keepers.join(", ")),
        };
        format!("{lives}, without its reference to {}", lost.join(", "))
    }

    fn held(&self) -> Vec<Beside> {
        let mut held: Vec<Beside> = Vec::new();
        for hold in &self.judgement.exclusions {
            let why = match &hold.why {
                WhyExcluded::Protected(text) if text == "true" => "is protected".to_owned(),
                WhyExcluded::Protected(text) => format!("is protected: {text}"),
                WhyExcluded::NotApproved(digest) => format!("was not in the approved plan {digest}"),
                WhyExcluded::NotInPlan => "is not in the plan that is carried out".to_owned(),
            };
            let waits = hold.blocks.map(|keeps| format!("; {} waits for it", self.name(keeps)));
            held.push(self.beside(hold.node, format!("{why}{}", waits.unwrap_or_default())));
        }
        let snapshot = self.world.snapshot();
        for step in self.plan.steps() {
            let foreign = snapshot.finalizers(step.node).filter(|finalizer| !is_ours(finalizer));
            let foreign: Vec<&str> = foreign.collect();
            if !foreign.is_empty() {
                held.push(self.beside(step.node, format!("waits for the finalizer {}", foreign.join(", "))));
            }
        }
        held
    }

    fn unknown(&self) -> Vec<Beside> {
        let mut all = Vec::new();
        for unknown in &self.judgement.unresolved {
            let owner = format!("{}/{}", unknown.reference.kind, unknown.reference.name);
            let why = match &unknown.why {
                WhyUnknown::KindUnknown => format!("its owner {owner} is of a kind that nobody serves"),
                WhyUnknown::Incomplete(reason) => format!("whether {owner} exists is not known: {reason}"),
                WhyUnknown::Starting => format!("whether {owner} exists is not known yet"),
            };
            all.push(self.beside(unknown.node, format!("{why}; left alone")));
        }
        for invalid in &self.judgement.invalid {
            let owner = format!("{}/{}", invalid.reference.kind, invalid.reference.name);
            let why = match &invalid.why {
                WhyInvalid::Name => "has another name",
                WhyInvalid::Kind => "is of another kind",
                WhyInvalid::Namespace => "is in another namespace",
                WhyInvalid::NotInNamespace => "is in a namespace",
            };
            all.push(
                self.beside(invalid.node, format!("names {owner} as its owner, which {why}; not heeded")),
            );
        }
        all
    }

    fn dropped(&self) -> Vec<String> {
        let dropped = self.plan.dropped.iter().map(|edge| {
            let because = match edge.relation {
                Relation::Subscription => "that subscribes to it",
                Relation::Class => "that is its class",
                Relation::Owner => "its owner",
                Relation::Background => "that follows it",
                Relation::Namespace => "its namespace",
                Relation::Definition => "its definition",
            };
            format!("{} before {}, {because}", self.name(edge.first), self.name(edge.second))
        });
        dropped.collect()
    }
}

/// The object that is the cause of a finding: its doomed owner, its namespace or its definition.
fn cause(finding: &Finding) -> Option<NodeId> {
    match finding.cause {
        Cause::OwnerDoomed { owner } => Some(owner),
        Cause::InNamespace { namespace } => Some(namespace),
        Cause::OfDefinition { definition } => Some(definition),
        Cause::Requested
        | Cause::OwnersGone { .. }
        | Cause::Candidate { .. }
        | Cause::Unreachable
        | Cause::Removed => None,
    }
}

/// Whether a finalizer is one that a collector of ours removes by itself.
fn is_ours(finalizer: &str) -> bool {
    Policy::recorded_by(finalizer).is_some()
        || [marks::DESTROY_FINALIZER, marks::IN_USE_FINALIZER, marks::DEFINITION_HOLD].contains(&finalizer)
}
