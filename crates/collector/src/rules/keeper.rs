//! The task that applies the rules: reads them, searches when a rule is due or a hint came, accuses, and writes the
//! status.
//!
//! Only the holder of the collector's lease applies rules: every accusation carries its epoch. Per rule two kinds of
//! search: a complete one by interval, and after a hint one for a single owner's name, with a result that is merged
//! into the last complete one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sexton_client::resources::{ListAsk, ListError, StatusError, text};
use sexton_client::{CallError, Place, ServedKind};
use sexton_lifecycle::DeletionLimit;
use sexton_model::accusation::Accuser;
use sexton_model::bulk::Epoch;
use sexton_model::rule::{Detector, Mode, Rule, Targets};
use tokio::sync::{mpsc, watch};

use super::accuse::{Charge, accuse};
use super::condition::Teller;
use super::found::{Ask, Found};
use super::look::scan;
use super::status::{Told, command, status};
use super::{Hint, Watched};
use crate::settings::Means;

/// The pause before rules that could not be read are read again.
const PAUSE: Duration = Duration::from_secs(2);
/// How many characters of a rule's name are in the names of its collections.
const NAME: usize = 40;

/// A rule, and the result of its last search.
#[derive(Debug)]
struct Standing {
    name: String,
    generation: i64,
    rule: Rule,
    /// When the next complete search is due, in seconds since 1970.
    next: i64,
    last: i64,
    told: Told,
}

#[derive(Debug)]
pub(super) struct Keeper {
    means: Means,
    turn: watch::Receiver<Option<Epoch>>,
    hints: mpsc::Receiver<Hint>,
    missed: Arc<AtomicBool>,
    tell: watch::Sender<Arc<Vec<Watched>>>,
    epoch: Option<Epoch>,
    /// By uid.
    standing: BTreeMap<String, Standing>,
    stale: bool,
    /// Rule, namespace and name of owners with a hint.
    names: BTreeSet<(String, String, String)>,
}

impl Keeper {
    pub(super) fn new(
        means: Means,
        turn: watch::Receiver<Option<Epoch>>,
        hints: mpsc::Receiver<Hint>,
        missed: Arc<AtomicBool>,
        tell: watch::Sender<Arc<Vec<Watched>>>,
    ) -> Keeper {
        let (standing, names) = (BTreeMap::new(), BTreeSet::new());
        Keeper { means, turn, hints, missed, tell, epoch: None, standing, stale: true, names }
    }

    /// Runs until the collector drops its end.
    pub(super) async fn run(mut self) {
        loop {
            let epoch = self.turn.borrow_and_update().clone();
            if epoch != self.epoch {
                // The former holder of the lease may have stopped half-way: everything is searched at once.
                self.standing.clear();
                (self.epoch, self.stale) = (epoch, true);
            }
            let mut wake = PAUSE;
            if self.epoch.is_some() {
                self.work().await;
                wake = if self.stale { PAUSE } else { self.until_next() };
            }
            tokio::select! {
                biased;
                changed = self.turn.changed() => if changed.is_err() { return },
                hint = self.hints.recv() => match hint {
                    Some(hint) => self.take_in(hint),
                    None => return,
                },
                () = tokio::time::sleep(wake), if self.epoch.is_some() => {}
            }
        }
    }

    fn take_in(&mut self, first: Hint) {
        let mut next = Some(first);
        while let Some(hint) = next {
            match hint {
                Hint::Rules => self.stale = true,
                Hint::Name { rule, namespace, name } => _ = self.names.insert((rule, namespace, name)),
            }
            next = self.hints.try_recv().ok();
        }
    }

    fn until_next(&self) -> Duration {
        const DAY: Duration = Duration::from_secs(86_400);
        let Some(next) = self.standing.values().map(|rule| rule.next).min() else { return DAY };
        let left = next.saturating_sub(self.means.clock.now()).max(0);
        Duration::from_secs(left.cast_unsigned()).min(DAY)
    }

    async fn work(&mut self) {
        if self.missed.swap(false, Ordering::SeqCst) {
            self.stale = true;
            self.standing.values_mut().for_each(|rule| rule.next = i64::MIN);
        }
        if self.stale {
            self.read_rules().await;
        }
        let now = self.means.clock.now();
        let due: Vec<String> =
            self.standing.iter().filter(|(_, rule)| rule.next <= now).map(|(uid, _)| uid.clone()).collect();
        for uid in due {
            self.names.retain(|(rule, _, _)| *rule != uid);
            self.look(&uid, None).await;
        }
        for (uid, namespace, name) in std::mem::take(&mut self.names) {
            self.look(&uid, Some((&namespace, &name))).await;
        }
    }

    /// Reads all rules. A new or changed one is due at once.
    async fn read_rules(&mut self) {
        let listed = match self.means.resources.list(&place(), &ListAsk::default()).await {
            Ok(listed) => listed.found,
            // A server of another make without a definition of rules.
            Err(ListError::Call(CallError::Refused(status))) if status.code == 404 => Vec::new(),
            Err(error) => {
                tracing::warn!(%error, "the rules cannot be read");
                return;
            }
        };
        self.stale = false;
        let mut before = std::mem::take(&mut self.standing);
        for document in &listed {
            let (uid, name) = (text(document, "/metadata/uid"), text(document, "/metadata/name"));
            let generation = document.pointer("/metadata/generation").and_then(serde_json::Value::as_i64);
            let generation = generation.unwrap_or(0);
            if document.pointer("/metadata/deletionTimestamp").is_some_and(|mark| !mark.is_null()) {
                continue;
            }
            let known = before.remove(uid).filter(|known| known.generation == generation);
            let standing = known.or_else(|| match Rule::parse(document) {
                Ok(rule) => {
                    let name = name.to_owned();
                    let told = Told::default();
                    Some(Standing { name, generation, rule, next: i64::MIN, last: 0, told })
                }
                Err(errors) => {
                    let why: Vec<String> = errors.iter().map(ToString::to_string).collect();
                    tracing::warn!(name, why = why.join("; "), "a rule cannot be understood");
                    None
                }
            });
            if let Some(standing) = standing {
                self.standing.insert(uid.to_owned(), standing);
            }
        }
        let watched = self.standing.iter().filter_map(|(uid, standing)| watched(uid, &standing.rule));
        self.tell.send_replace(Arc::new(watched.collect()));
    }

    /// Searches by a rule: everything, or for one owner's name.
    async fn look(&mut self, uid: &str, one: Option<(&str, &str)>) {
        let now = self.means.clock.now();
        let Some(mut standing) = self.standing.remove(uid) else { return };
        let mut ask = Ask::of(&standing.rule);
        if let Some((namespace, name)) = one {
            let inside = ask.namespaces.is_empty() || ask.namespaces.iter().any(|meant| meant == namespace);
            if !inside && !namespace.is_empty() {
                self.standing.insert(uid.to_owned(), standing);
                return;
            }
            ask.name = Some(name.to_owned());
            if !namespace.is_empty() {
                ask.namespaces = vec![namespace.to_owned()];
            }
        }
        let mut told = Told::default();
        // Definitions of kinds may have changed.
        let looked = match self.means.resources.kinds_anew().await {
            Ok(_) => scan(&self.means.resources, &ask, now).await,
            Err(error) => Err(error),
        };
        match looked {
            Ok(scan) => told.scan = scan,
            Err(error) => told.error = Some(format!("the server cannot be asked for its kinds: {error}")),
        }
        let scope = told.scan.scope.max(standing.told.scan.scope);
        self.take(&standing, &mut told, scope, now).await;
        if let Err(error) = self.tell_owners(&standing, one, &mut told, now).await {
            told.error.get_or_insert(format!("the owners cannot be told: {error}"));
        }
        match one {
            None => {
                let interval = i64::try_from(standing.rule.interval.as_secs()).unwrap_or(i64::MAX);
                (standing.last, standing.next) = (now, now.saturating_add(interval));
                standing.told = told;
            }
            Some((namespace, name)) => {
                // The last complete search tells about all other names.
                let before = &mut standing.told;
                before.waiting.remove(&(namespace.to_owned(), name.to_owned()));
                before.waiting.append(&mut told.waiting);
                before.held = told.held.or(before.held.take());
                before.error = told.error.or(before.error.take());
                before.collection = told.collection.or(before.collection.take());
            }
        }
        let written = status(&standing.told, standing.generation, standing.last, standing.next);
        match self.means.resources.patch_status(&place(), &standing.name, Some(uid), &written).await {
            Ok(_) => {}
            Err(StatusError::NotFound(_)) => self.stale = true,
            Err(error) => {
                tracing::warn!(%error, rule = standing.name, "the status of a rule was not written")
            }
        }
        self.standing.insert(uid.to_owned(), standing);
    }

    /// Accuses the objects found, unless the rule only reports, or the deletion limit is exceeded.
    async fn take(&self, standing: &Standing, told: &mut Told, scope: usize, now: i64) {
        let condemned: Vec<&Found> = told.scan.condemned().collect();
        if standing.rule.mode == Mode::Report || condemned.is_empty() {
            return;
        }
        let limits = standing.rule.max_delete.as_deref().and_then(|text| text.parse().ok());
        let limits: DeletionLimit = limits.unwrap_or_default();
        if let Err(held) = told.scan.fuse(&limits, scope) {
            told.held =
                Some(format!("{held}; to take them nevertheless: {}", command(&standing.rule, &told.scan)));
            return;
        }
        let (accuser, trigger) = match standing.rule.detector {
            Detector::Orphaned => (Accuser::Orphaned, "orphans"),
            Detector::Leftover(_) => (Accuser::Leftover, "leftovers"),
        };
        let name: String = standing.name.chars().take(NAME).collect();
        let collection = format!("{trigger}-{}-{now}", name.trim_end_matches(['-', '.']));
        let by = format!("Rule/{}", standing.name);
        let charge = Charge { accuser, by, collection: collection.clone(), initiator: None };
        match accuse(&*self.means.gateway, self.epoch.as_ref(), &condemned, &charge).await {
            Ok(accused) => {
                if !accused.accused.is_empty() {
                    tracing::info!(
                        rule = standing.name,
                        accused = accused.accused.len(),
                        "garbage was found"
                    );
                    told.collection = Some(collection);
                }
                told.accused = Some(accused);
            }
            Err(error) => told.error = Some(format!("nobody was accused: {error}")),
        }
    }

    async fn tell_owners(
        &self,
        standing: &Standing,
        one: Option<(&str, &str)>,
        told: &mut Told,
        now: i64,
    ) -> Result<(), CallError> {
        let Detector::Leftover(leftover) = &standing.rule.detector else { return Ok(()) };
        // A search with errors does not know whether leftovers exist, and must not say that there are none.
        if !leftover.on_create || told.error.is_some() || !told.scan.troubles.is_empty() {
            return Ok(());
        }
        let (resources, gateway) = (&self.means.resources, &*self.means.gateway);
        let teller = Teller { resources, gateway, epoch: self.epoch.as_ref(), now };
        let namespaces = &standing.rule.namespaces;
        told.waiting = teller.tell(&leftover.owner, one, namespaces, &told.scan).await?;
        Ok(())
    }
}

fn watched(uid: &str, rule: &Rule) -> Option<Watched> {
    let (Detector::Leftover(leftover), Targets::These(kinds)) = (&rule.detector, &rule.kinds) else {
        return None;
    };
    Some(Watched { uid: uid.to_owned(), leftover: leftover.clone(), kinds: kinds.clone() })
}

/// The place of the rules.
fn place() -> Place {
    Place::new(&ServedKind::of_ours("rules", "Rule"), None)
}
