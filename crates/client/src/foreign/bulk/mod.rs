//! Many writes on a server that only knows single ones.
//!
//! One after the other, each on its own evidence. What a server of ours checks in the committing transaction is
//! looked at right before the write here; each result says which promise is weaker because of that. What cannot be
//! looked at fails: an answer that leaves something open never lets a write through.
//!
//! It must not know why anything is written.

mod absent;
mod delete;
mod live;
mod patch;
mod tombstone;

use std::time::Duration;

use futures::future::join_all;
use sexton_model::bulk::{Action, Bulk, BulkResult, Epoch, Item, ItemResult, Outcome, reason};
use sexton_model::{GroupResource, Status};
use tokio::sync::OnceCell;
use tokio::time::Instant;

use super::read::find;
use crate::call::CallError;
use crate::kinds::{Kinds, ServedKind};
use crate::resources::text;

/// How to write.
#[derive(Debug, Clone)]
pub struct BulkOptions {
    /// How many items may be under way at a time: consecutive ones of the same action, without conditions. 1 keeps
    /// the order strictly.
    pub parallel: usize,
    /// How often an item that lost a race is evaluated again.
    pub attempts: u32,
    /// How long one try of an item may take.
    pub patience: Duration,
}

impl Default for BulkOptions {
    fn default() -> Self {
        BulkOptions { parallel: 1, attempts: 5, patience: Duration::from_secs(60) }
    }
}

/// Why an item was not carried out.
#[derive(Debug)]
enum Refusal {
    /// Lost a race; what is there has to be looked at again.
    Raced(Box<Status>),
    /// The end of it.
    Final(Box<Status>),
}

impl From<Status> for Refusal {
    fn from(status: Status) -> Self {
        Refusal::Final(Box::new(status))
    }
}

impl From<CallError> for Refusal {
    fn from(error: CallError) -> Self {
        match error {
            // A path that does not exist says nothing about the object, and 404 would.
            CallError::Refused(status) if status.code == 404 => {
                Status::unavailable(format!("not answered: {}", status.message)).into()
            }
            CallError::Refused(status) if status.code < 400 => {
                Status::internal(format!("strange refusal: {}", status.message)).into()
            }
            CallError::Refused(status) => Refusal::Final(status),
            error => Status::unavailable(error.with_sources()).into(),
        }
    }
}

/// What came of an item.
struct Done {
    outcome: Outcome,
    version: Option<String>,
    weaker: Vec<&'static str>,
}

/// Carries out items.
struct Performer<'a> {
    client: &'a kube::Client,
    kinds: &'a Kinds,
    options: &'a BulkOptions,
    /// Whether a deletion in the background leaves our cascade finalizer alone, as soon as one was tried.
    keeps_cascade: OnceCell<bool>,
}

/// A lease that was looked at so recently is not looked at again: it lasts many times as long.
const EPOCH_FRESH: Duration = Duration::from_millis(500);

/// Carries out all items of a bulk, in its order. A kind that is not among `kinds` is not written to.
pub async fn bulk(client: &kube::Client, kinds: &Kinds, bulk: &Bulk, options: &BulkOptions) -> BulkResult {
    let performer = Performer { client, kinds, options, keeps_cascade: OnceCell::new() };
    let mut results = Vec::with_capacity(bulk.count());
    let singles: Vec<Item> = bulk.items.iter().flat_map(Item::singles).collect();
    let mut items = singles.as_slice();
    let mut checked: Option<Instant> = None;
    while !items.is_empty() {
        let (run, rest) = items.split_at(run_length(items, options.parallel));
        items = rest;
        let is_fresh = checked.is_some_and(|at| at.elapsed() < EPOCH_FRESH);
        if let Some(epoch) = bulk.epoch.as_ref().filter(|_| !is_fresh)
            && let Err(refusal) = performer.in_time(performer.check_epoch(epoch)).await
        {
            // The lease is not confirmed: nothing that is left may be written, neither these nor the rest.
            let left = run.len() + rest.len();
            results.extend(std::iter::repeat_n(refused(refusal), left));
            break;
        }
        if !is_fresh {
            checked = Some(Instant::now());
        }
        let mut todo = Vec::with_capacity(run.len());
        for item in run {
            todo.push(performer.item(item, bulk.epoch.is_some()));
        }
        // A run is no longer than what may be under way at a time.
        results.extend(join_all(todo).await);
    }
    BulkResult { items: results }
}

/// How many of the first items may be under way together.
fn run_length(items: &[Item], most: usize) -> usize {
    let free = |item: &&Item| item.absent.is_empty() && !item.unreferenced;
    let Some(first) = items.first().filter(free) else { return 1.min(items.len()) };
    let same = |item: &&Item| {
        std::mem::discriminant(&item.action) == std::mem::discriminant(&first.action) && free(item)
    };
    items.iter().take(most.max(1)).take_while(same).count()
}

fn refused(refusal: Refusal) -> ItemResult {
    let (Refusal::Raced(status) | Refusal::Final(status)) = refusal;
    ItemResult {
        code: status.code,
        outcome: None,
        resource_version: None,
        status: Some(status),
        weaker: None,
    }
}

impl Performer<'_> {
    async fn item(&self, item: &Item, epoch: bool) -> ItemResult {
        let mut tries = 1;
        let done = loop {
            match self.in_time(self.attempt(item)).await {
                Err(Refusal::Raced(_)) if tries < self.options.attempts => tries += 1,
                done => break done,
            }
        };
        match done {
            Ok(mut done) => {
                if epoch {
                    done.weaker.push("epoch: the lease was looked at before the write");
                }
                let weaker = (!done.weaker.is_empty()).then(|| done.weaker.join("; "));
                let (outcome, resource_version) = (Some(done.outcome), done.version);
                ItemResult { code: 200, outcome, resource_version, status: None, weaker }
            }
            Err(refusal) => refused(refusal),
        }
    }

    /// What a server that fell silent did is not known; the next look will tell.
    async fn in_time<T>(&self, doing: impl Future<Output = Result<T, Refusal>>) -> Result<T, Refusal> {
        let patience = self.options.patience;
        tokio::time::timeout(patience, doing).await.unwrap_or_else(|_| {
            let message = format!("no answer within {} s; it may have been done", patience.as_secs_f32());
            Err(Status::timeout(message).into())
        })
    }

    async fn attempt(&self, item: &Item) -> Result<Done, Refusal> {
        let kind = self.kind_of(item)?;
        let last = self.last_document(item, kind).await;
        let mut done = self.act(item, kind).await?;
        done.weaker.extend(self.bury(item, done.outcome, last).await);
        Ok(done)
    }

    async fn act(&self, item: &Item, kind: &ServedKind) -> Result<Done, Refusal> {
        match &item.action {
            Action::Delete { policy, annotations, hold } => {
                self.delete(item, kind, policy.as_deref(), (annotations, *hold)).await
            }
            Action::Patch { .. } => self.patch(item, kind).await,
            Action::Put { .. } => {
                let message = "this server cannot store objects under uids of their writer; Sexton's own can";
                Err(Status::bad_request(message).into())
            }
        }
    }

    /// A kind that is not served says nothing about its objects, so this is not "not found".
    fn kind_of(&self, item: &Item) -> Result<&ServedKind, Refusal> {
        let wanted = GroupResource::new(item.group.as_str(), item.resource.as_str());
        let found = self.kinds.preferred().find(|kind| kind.resource == wanted);
        found.ok_or_else(|| Status::unavailable(format!("the server does not serve {wanted} now")).into())
    }

    async fn check_epoch(&self, epoch: &Epoch) -> Result<(), Refusal> {
        let resource = GroupResource::new("coordination.k8s.io", "leases");
        let Some(kind) = self.kinds.preferred().find(|kind| kind.resource == resource) else {
            return Err(Status::unavailable("the server does not serve leases now").into());
        };
        let lease = find(self.client, kind, Some(&epoch.namespace), &epoch.name, true).await?;
        let says = |lease: &serde_json::Value| {
            text(lease, "/spec/holderIdentity") == epoch.holder
                && lease.pointer("/spec/leaseTransitions").and_then(serde_json::Value::as_i64).unwrap_or(0)
                    == epoch.transitions
        };
        if lease.as_ref().is_some_and(says) {
            return Ok(());
        }
        let mut status = Status::conflict(&resource, &epoch.name, "somebody else may act now");
        status.reason = reason::STALE_EPOCH.into();
        Err(status.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sexton_model::bulk::Annotations;

    fn item(name: &str, unreferenced: bool) -> Item {
        Item {
            group: String::new(),
            resource: "configmaps".into(),
            namespace: "default".into(),
            name: name.into(),
            uid: "u".into(),
            also: Vec::new(),
            resource_version: None,
            absent: Vec::new(),
            unreferenced,
            except: Vec::new(),
            owners: None,
            marked: Vec::new(),
            unchanged: Vec::new(),
            subscribers: None,
            unprotected: false,
            annotated: Annotations::new(),
            labelled: Annotations::new(),
            unmarked: false,
            action: Action::Delete { policy: None, annotations: Annotations::new(), hold: false },
            tombstone: None,
        }
    }

    #[test]
    fn only_equal_actions_without_conditions_run_together() {
        let mut items = vec![item("a", false), item("b", false), item("c", true), item("d", false)];
        assert_eq!(run_length(&items, 16), 2);
        assert_eq!(run_length(&items, 1), 1);
        assert_eq!(run_length(&items[2..], 16), 1);
        items[1].action = Action::Patch {
            remove_finalizers: Vec::new(),
            add_finalizers: Vec::new(),
            remove_owners: Vec::new(),
            annotations: Annotations::new(),
        };
        assert_eq!(run_length(&items, 16), 1);
        assert_eq!(run_length(&[], 16), 0);
    }
}
