//! What a detection says of objects that were examined and survive: lost, unresolved and invalid references,
//! exclusions.

use std::collections::{BTreeMap, BTreeSet};

use sexton_model::Policy;

use super::effect::{DeletionEffect, OwnerSummary};
use super::propagation::Propagation;
use super::{Detection, Exclusion, Finding, InvalidReference, Strip, UnresolvedReference, WhyExcluded};
use crate::snapshot::{NodeId, Ownership};

/// Completes a detection, of which the doomed objects are known. All lists are sorted by the keys of the objects.
pub(super) fn complete(propagation: &Propagation<'_>, doomed: BTreeMap<NodeId, Finding>) -> Detection {
    let mut detection = Detection { doomed, ..Detection::default() };
    // Most examined objects are doomed, and only their invalid references are reported.
    let is_reported = |(node, summary): &(&NodeId, &OwnerSummary)| {
        summary.has_invalid_reference || !propagation.doomed.contains_key(*node)
    };
    let examined = propagation.summaries.iter().filter(is_reported).map(|(node, _)| node);
    let others = propagation.with_invalid_references.iter().chain(propagation.excluded.keys());
    let reported: BTreeSet<NodeId> = examined.chain(others).copied().collect();
    for node in reported {
        let survives = !detection.doomed.contains_key(&node);
        let summary = propagation.summaries.get(&node).copied();
        let is_concerned = summary.is_some_and(|summary| summary.is_concerned());
        references(propagation, node, survives && is_concerned, &mut detection);
        if survives {
            exclusions(propagation, node, summary.unwrap_or_default(), &mut detection.exclusions);
            detection.strips.extend(strip(propagation, node));
        }
    }
    let snapshot = propagation.snapshot;
    detection.strips.sort_by(|a, b| snapshot.compare_keys(a.node, b.node));
    detection.unresolved.sort_by(|a, b| snapshot.compare_keys(a.node, b.node));
    detection.invalid.sort_by(|a, b| snapshot.compare_keys(a.node, b.node));
    detection.exclusions.sort_by(|a, b| snapshot.compare_keys(a.node, b.node));
    detection
}

/// Reports the invalid references of an object, and the unresolved ones if these may be why it survives.
fn references(
    propagation: &Propagation<'_>,
    node: NodeId,
    report_unresolved: bool,
    detection: &mut Detection,
) {
    for (reference, owner) in propagation.snapshot.resolved_references(node) {
        let reference = || propagation.snapshot.owner_ref(reference);
        match owner {
            Ownership::Invalid(why) => {
                detection.invalid.push(InvalidReference { node, reference: reference(), why });
            }
            Ownership::Unknown(why) if report_unresolved => {
                detection.unresolved.push(UnresolvedReference { node, reference: reference(), why });
            }
            _ => {}
        }
    }
}

/// The references that a survivor loses: those to owners deleted with the policy `orphan`, and, if it has a solid
/// owner, also those to owners that are doomed or absent.
fn strip(propagation: &Propagation<'_>, node: NodeId) -> Option<Strip> {
    let (snapshot, survivor) = (propagation.snapshot, propagation.snapshot.node(node));
    let (mut lost, mut to_deleted) = (Vec::new(), Vec::new());
    let (mut is_kept, mut is_ready) = (false, true);
    let (mut has_deleted_owner, mut has_cascade_owner) = (false, false);
    for reference in &survivor.owners {
        let uid = || snapshot.uid_of(reference.uid);
        match snapshot.ownership(survivor, reference) {
            Ownership::Valid(owner) => match propagation.effect_of(owner) {
                DeletionEffect::None => is_kept = true,
                effect => {
                    let orphans = effect == DeletionEffect::Orphan;
                    is_ready &= snapshot.is_terminating(owner);
                    is_kept |= orphans;
                    has_deleted_owner |= effect.dooms_dependents();
                    has_cascade_owner |= effect == DeletionEffect::Cascade;
                    if orphans { lost.push(uid()) } else { to_deleted.push(uid()) }
                }
            },
            Ownership::Absent { seen } => match snapshot.seen_removal(survivor, reference) {
                Some(removed) if removed.policy == Policy::Orphan => {
                    is_kept = true;
                    lost.push(uid());
                }
                _ => {
                    has_deleted_owner |= seen;
                    to_deleted.push(uid());
                }
            },
            Ownership::Invalid(_) | Ownership::Unknown(_) => {}
        }
    }
    // Without a deleted owner an absent one is left to `find_orphans`; and no owner keeps an object from a cascade.
    if is_kept && has_deleted_owner && !has_cascade_owner {
        lost.append(&mut to_deleted);
    }
    lost.retain(|uid| propagation.may_strip(uid));
    lost.sort_unstable();
    lost.dedup();
    (!lost.is_empty()).then_some(Strip { node, owners: lost, is_ready })
}

/// The exclusions of a survivor: one for each doomed owner or container that it blocks.
fn exclusions(
    propagation: &Propagation<'_>,
    node: NodeId,
    summary: OwnerSummary,
    exclusions: &mut Vec<Exclusion>,
) {
    let (snapshot, excluded) = (propagation.snapshot, propagation.excluded.get(&node));
    if excluded.is_none() && !summary.is_unapproved {
        return;
    }
    let mut blocked: Vec<NodeId> = Vec::new();
    for owner in snapshot.valid_owners(node) {
        let effect = propagation.effect_of(owner);
        if effect == DeletionEffect::Cascade || (effect.dooms_dependents() && summary.solid_owners == 0) {
            blocked.push(owner);
        }
    }
    let containers = [snapshot.namespace_of(node), snapshot.definition_of(node)];
    let is_doomed = |one: &NodeId| propagation.doomed.contains_key(one);
    blocked.extend(containers.into_iter().flatten().filter(is_doomed));
    let terminating = snapshot.terminating_containers_of(node);
    blocked.extend(terminating.into_iter().flatten().filter(|one| !is_doomed(one)));
    blocked.sort_by(|a, b| snapshot.compare_keys(*a, *b));
    blocked.dedup();
    // Protection is the stronger reason of an object that was not approved either.
    let protection = || propagation.protection.of(snapshot, node).map(WhyExcluded::Protected);
    let why = |blocked: NodeId| match excluded {
        Some(why) => Some(why.clone()),
        None => {
            let digest = propagation.approvals.of(snapshot, blocked)?;
            Some(protection().unwrap_or_else(|| WhyExcluded::NotApproved(digest.to_owned())))
        }
    };
    let before = exclusions.len();
    for blocked in blocked {
        exclusions.extend(why(blocked).map(|why| Exclusion { node, blocks: Some(blocked), why }));
    }
    if let (Some(why @ WhyExcluded::Protected(_)), true) = (excluded, exclusions.len() == before) {
        exclusions.push(Exclusion { node, blocks: None, why: why.clone() });
    }
}
