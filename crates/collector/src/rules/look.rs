//! Searches for garbage: lists the candidates, then the kinds of their owners, then judges.
//!
//! Owners are listed after the candidates, so an owner that a candidate names and that exists is seen. A kind that
//! cannot be listed completely proves no absence: candidates that name it get no verdict of garbage. The error is in
//! the result, and the other kinds are judged nevertheless. Nothing is written.

use sexton_client::kinds::DiscoverError;
use sexton_client::resources::{Identity, ListAsk};
use sexton_client::{Kinds, Place, Resources, ServedKind};
use sexton_lifecycle::rules::{
    Candidate, OwnerKey, Owners, Verdict, classify_leftover, classify_orphan, evidence, leftover_evidence,
};
use sexton_model::rule::{KindName, Targets};

use super::candidates::{Candidates, Seen};
use super::found::{Ask, Found, Scan};

/// Searches once.
///
/// # Errors
/// The server does not say which kinds it has. Every other error is in the result.
pub async fn scan(resources: &Resources, ask: &Ask, now: i64) -> Result<Scan, DiscoverError> {
    scan_counting(resources, ask, now, &|_| {}).await
}

/// The same, and reports how many objects have been read.
///
/// # Errors
/// As of [`scan`].
pub async fn scan_counting(
    resources: &Resources,
    ask: &Ask,
    now: i64,
    tell: &(dyn Fn(usize) + Sync),
) -> Result<Scan, DiscoverError> {
    let kinds = resources.kinds().await?;
    let mut scan = Scan::default();
    let mut candidates = Candidates::default();
    // The kind that was listed last, if it was listed completely: no owner that a candidate names can be newer than
    // that list.
    let mut last = None;
    for kind in wanted(&kinds, ask, &mut scan.troubles) {
        let whose = if ask.namespaces.is_empty() || !kind.namespaced { &[][..] } else { &ask.namespaces };
        if !ask.namespaces.is_empty() && !kind.namespaced {
            continue;
        }
        let places = match whose {
            [] => vec![Place::new(&kind, None)],
            some => some.iter().map(|namespace| Place::new(&kind, Some(namespace))).collect(),
        };
        for place in places {
            let listed = ListAsk { labels: ask.labels(), ..ListAsk::default() };
            let before = candidates.mark();
            last = (whose.is_empty() && listed.labels.is_empty()).then(|| kind.clone());
            let read = resources.each_slim(&place, &listed, |page| match page {
                Some(slim) => {
                    candidates.add(&place.kind, slim, ask);
                    tell(candidates.mark());
                }
                None => candidates.reset(before),
            });
            if let Err(error) = read.await {
                // Half a list is no list.
                candidates.reset(before);
                last = None;
                scan.troubles.push(format!("{} cannot be listed: {error}", kind.resource));
            }
        }
    }
    let owners = look_for_owners(resources, &kinds, &candidates, last.as_ref()).await;
    judge(&candidates, &owners, ask, now, &mut scan);
    Ok(scan)
}

/// The wanted kinds, each in the version that the server prefers.
fn wanted(kinds: &Kinds, ask: &Ask, troubles: &mut Vec<String>) -> Vec<ServedKind> {
    match &ask.kinds {
        Targets::All => {
            for (group, why) in &kinds.unread {
                troubles.push(format!("the kinds of {group} cannot be asked for: {}", why.message));
            }
            // Events refer to objects, but belong to none; our own kinds are records and rules. What cannot be
            // deleted is no garbage: some of it, such as component statuses, has not even a uid.
            let meant = |kind: &&ServedKind| {
                let can = ["list", "watch", "delete"].iter().all(|verb| kind.can(verb));
                can && kind.kind != "Event" && kind.resource.group != "sexton.dev"
            };
            kinds.preferred().filter(meant).cloned().collect()
        }
        Targets::These(names) => {
            let mut found = Vec::new();
            for name in names {
                match served(kinds, name) {
                    Ok(kind) => found.push(kind.clone()),
                    Err(why) => troubles.push(why),
                }
            }
            found
        }
    }
}

/// The kind of this name, or why there is none.
fn served<'k>(kinds: &'k Kinds, name: &KindName) -> Result<&'k ServedKind, String> {
    let same = |kind: &&ServedKind| kind.resource.group == name.group && kind.kind == name.kind;
    if let Some(kind) = kinds.preferred().find(same) {
        return Ok(kind);
    }
    match kinds.unread.iter().find(|(group, _)| group.split('/').next() == Some(name.group.as_str())) {
        Some((group, why)) => Err(format!("the kinds of {group} cannot be asked for: {}", why.message)),
        None => Err(format!("the server does not serve {name}")),
    }
}

/// Lists all kinds that are named as owners, completely. Only objects that are named are kept.
async fn look_for_owners(
    resources: &Resources,
    kinds: &Kinds,
    candidates: &Candidates,
    listed: Option<&ServedKind>,
) -> Owners {
    let mut owners = Owners::default();
    let named = candidates.named();
    for name in &named.kinds {
        let kind = match served(kinds, name) {
            Ok(kind) => kind,
            Err(why) => {
                owners.set_not_listed(name.clone(), why);
                continue;
            }
        };
        if listed.is_some_and(|listed| listed.resource == kind.resource) {
            for (seen, _) in candidates.all().filter(|(_, of)| of.resource == kind.resource) {
                if named.uids.contains(&*seen.uid) || named.names.contains(&*seen.name) {
                    let (namespace, life) = (candidates.namespace(seen).to_owned(), (*seen.name).to_owned());
                    owners.insert(&seen.uid, OwnerKey { kind: name.clone(), namespace, name: life });
                }
            }
            owners.set_listed(name.clone(), kind.namespaced);
            continue;
        }
        let mut lives = Vec::new();
        let (place, all) = (Place::new(kind, None), ListAsk::default());
        let read = resources.each_slim(&place, &all, |page: Option<Identity>| match page {
            Some(slim) if named.uids.contains(&*slim.uid) || named.names.contains(&*slim.name) => {
                lives.push((slim.uid, slim.namespace, slim.name));
            }
            Some(_) => {}
            None => lives.clear(),
        });
        match read.await {
            Ok(()) => {
                for (uid, namespace, life) in lives {
                    owners.insert(&uid, OwnerKey { kind: name.clone(), namespace, name: life });
                }
                owners.set_listed(name.clone(), kind.namespaced);
            }
            Err(error) => {
                owners.set_not_listed(name.clone(), format!("{} cannot be listed: {error}", kind.resource))
            }
        }
    }
    // An object of another kind than its dependents say is not their owner, and no evidence of its absence either.
    for (seen, kind) in candidates.all().filter(|(seen, _)| named.uids.contains(&*seen.uid)) {
        let name = KindName { group: kind.resource.group.clone(), kind: kind.kind.clone() };
        if !owners.has_kind(&name) {
            let at = OwnerKey {
                kind: name,
                namespace: candidates.namespace(seen).into(),
                name: (*seen.name).into(),
            };
            owners.insert(&seen.uid, at);
        }
    }
    owners
}

fn judge(candidates: &Candidates, owners: &Owners, ask: &Ask, now: i64, scan: &mut Scan) {
    for (seen, kind) in candidates.all() {
        let candidate = Candidate {
            namespace: candidates.namespace(seen),
            owners: candidates.owners(seen),
            age: now.saturating_sub(seen.created),
            protect: seen.protect(),
        };
        let of = seen.rare.as_ref().and_then(|rare| rare.of.clone());
        let verdict = match (&ask.leftover, &of) {
            (Some(leftover), Some(name)) => {
                classify_leftover(leftover, name, &candidate, owners, ask.min_age)
            }
            _ => classify_orphan(&candidate, owners, ask.min_age),
        };
        if !seen.dying() {
            scan.scope += 1;
            *scan.counts.entry(verdict).or_default() += 1;
        }
        let plain = matches!(verdict, Verdict::Owned | Verdict::Ownerless);
        if plain && !ask.all || seen.dying() && ask.leftover.is_none() {
            continue;
        }
        let evidence = match (&ask.leftover, &of) {
            (Some(leftover), Some(name)) => {
                leftover_evidence(leftover, name, &candidate, owners, ask.min_age)
            }
            _ => evidence(&candidate, owners, ask.min_age),
        };
        scan.found.push(found(candidates, seen, kind, (verdict, evidence, of)));
    }
    let place = |found: &Found| {
        (found.verdict, found.kind.resource.clone(), found.namespace.clone(), found.name.clone())
    };
    scan.found.sort_by_cached_key(place);
}

fn found(
    candidates: &Candidates,
    seen: &Seen,
    kind: &ServedKind,
    (verdict, evidence, of): (Verdict, String, Option<String>),
) -> Found {
    let rare = seen.rare.as_deref();
    Found {
        kind: kind.clone(),
        namespace: candidates.namespace(seen).to_owned(),
        name: (*seen.name).into(),
        uid: (*seen.uid).into(),
        owners: candidates.owners(seen).to_vec(),
        deployment: rare.and_then(|rare| rare.deployment.clone()),
        accused: rare.and_then(|rare| rare.accused.clone()),
        dying: seen.dying(),
        of,
        verdict,
        evidence,
    }
}
