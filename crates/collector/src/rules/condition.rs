//! Sets a condition on owners that says whether leftovers of an earlier owner of the same name still exist, so that a
//! controller can wait for their end before it starts.
//!
//! It must not know how leftovers are found.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sexton_client::resources::{ListAsk, PutError, text};
use sexton_client::{CallError, Gateway, Place, Resources, ServedKind};
use sexton_lifecycle::rules::Verdict;
use sexton_model::bulk::{Action, Bulk, Epoch, Item};
use sexton_model::marks::{LEFTOVERS, LEFTOVERS_GONE};
use sexton_model::rule::KindName;
use sexton_model::text::cut;
use sexton_model::{Key, time};

use super::found::{Found, Scan};

/// The most leftovers that are named.
const NAMED: usize = 5;

/// Leftovers by namespace and name of the owner.
type Waiting<'a> = BTreeMap<(&'a str, &'a str), Vec<&'a Found>>;

/// Writes the conditions.
pub(super) struct Teller<'a> {
    pub(super) resources: &'a Resources,
    pub(super) gateway: &'a dyn Gateway,
    pub(super) epoch: Option<&'a Epoch>,
    pub(super) now: i64,
}

impl Teller<'_> {
    /// Sets the condition on all owners of a kind, or on the one of this namespace and name. Returns those that wait,
    /// and what for.
    pub(super) async fn tell(
        &self,
        owner: &KindName,
        one: Option<(&str, &str)>,
        namespaces: &[String],
        scan: &Scan,
    ) -> Result<BTreeMap<(String, String), String>, CallError> {
        let kinds = self.resources.kinds().await;
        let kinds = kinds.map_err(|error| CallError::Strange(error.to_string()))?;
        let same = |kind: &&ServedKind| kind.resource.group == owner.group && kind.kind == owner.kind;
        let Some(kind) = kinds.preferred().find(same) else { return Ok(BTreeMap::new()) };
        let owners = self.owners(kind, one).await?;
        let waiting = waiting(scan);
        let mut told = BTreeMap::new();
        for owner in &owners {
            let (namespace, name) = (text(owner, "/metadata/namespace"), text(owner, "/metadata/name"));
            let meant = namespaces.is_empty() || namespaces.iter().any(|one| one == namespace);
            let outside = !meant && !namespace.is_empty();
            if outside || owner.pointer("/metadata/deletionTimestamp").is_some_and(|mark| !mark.is_null()) {
                continue;
            }
            let mut left: Vec<&Found> = waiting.get(&(namespace, name)).cloned().unwrap_or_default();
            if namespace.is_empty() {
                left = waiting
                    .iter()
                    .filter(|((_, of), _)| *of == name)
                    .flat_map(|(_, left)| left.clone())
                    .collect();
            }
            let slot = (namespace.to_owned(), name.to_owned());
            if !left.is_empty() {
                told.insert(slot.clone(), format!("{} waits for {}", kind.label(name), names(&left)));
            }
            if let Err(error) = self.tell_one(kind, owner, &left).await {
                // Another writer was faster, or the owner is gone: the next search writes it again.
                tracing::debug!(%error, name, "an owner was not told about its leftovers");
                told.insert(slot, format!("{} was not told: {error}", kind.label(name)));
            }
        }
        Ok(told)
    }

    async fn owners(&self, kind: &ServedKind, one: Option<(&str, &str)>) -> Result<Vec<Value>, CallError> {
        match one {
            Some((namespace, name)) => {
                let found = self.resources.find(&Place::new(kind, Some(namespace)), name).await?;
                Ok(found.into_iter().collect())
            }
            None => {
                let listed = self.resources.list(&Place::new(kind, None), &ListAsk::default()).await;
                Ok(listed.map_err(|error| CallError::Strange(error.to_string()))?.found)
            }
        }
    }

    async fn tell_one(&self, kind: &ServedKind, owner: &Value, left: &[&Found]) -> Result<(), CallError> {
        let condition = condition(left, self.now);
        let Some(changed) = with_condition(owner, condition) else { return Ok(()) };
        let place = Place::new(kind, Some(text(owner, "/metadata/namespace")));
        match self.resources.replace_status(&place, text(owner, "/metadata/name"), &changed).await {
            Ok(_) => Ok(()),
            // A kind without a status of its own.
            Err(PutError::Call(error))
                if error.status().is_some_and(|status| matches!(status.code, 404 | 405)) =>
            {
                self.annotate(kind, owner, left.is_empty()).await
            }
            Err(PutError::Invalid(status) | PutError::Conflict(status)) => Err(CallError::Refused(status)),
            Err(PutError::Call(error)) => Err(error),
        }
    }

    async fn annotate(&self, kind: &ServedKind, owner: &Value, gone: bool) -> Result<(), CallError> {
        let word = if gone { "gone" } else { "waiting" };
        if owner.pointer("/metadata/annotations").and_then(|all| all.get(LEFTOVERS)) == Some(&json!(word)) {
            return Ok(());
        }
        let key = Key {
            kind: kind.resource.clone(),
            namespace: text(owner, "/metadata/namespace").to_owned(),
            name: text(owner, "/metadata/name").to_owned(),
        };
        let action = Action::annotate([(LEFTOVERS.to_owned(), Some(word.to_owned()))].into());
        let item = Item { unmarked: true, ..Item::new(key, text(owner, "/metadata/uid"), action) };
        let bulk = Bulk { epoch: self.epoch.cloned(), items: vec![item] };
        let done = self.gateway.bulk(&bulk).await.map_err(|error| CallError::Strange(error.to_string()))?;
        let refused = done.items.into_iter().find(|result| result.code >= 400 && result.code != 404);
        match refused.and_then(|result| result.status) {
            Some(status) => Err(CallError::Refused(status)),
            None => Ok(()),
        }
    }
}

/// All leftovers of former owners, whether they may be deleted or not: the condition says that they are gone.
fn waiting(scan: &Scan) -> Waiting<'_> {
    let mut waiting = Waiting::new();
    for found in &scan.found {
        let in_the_way = !matches!(found.verdict, Verdict::Owned | Verdict::Ownerless);
        if let Some(of) = found.of.as_deref().filter(|_| in_the_way) {
            waiting.entry((found.namespace.as_str(), of)).or_default().push(found);
        }
    }
    waiting
}

fn names(left: &[&Found]) -> String {
    let mut text = left.iter().take(NAMED).map(|found| found.label()).collect::<Vec<_>>().join(", ");
    if left.len() > NAMED {
        text.push_str(&format!(" and {} more", left.len() - NAMED));
    }
    text
}

fn condition(left: &[&Found], now: i64) -> Value {
    let (status, reason, message) = match left {
        [] => ("True", "Gone", "there are no leftovers of a former life of this name".to_owned()),
        [first, ..] => {
            ("False", "Waiting", cut(&format!("{} are still there: {}", names(left), first.evidence), 1_024))
        }
    };
    json!({"type": LEFTOVERS_GONE, "status": status, "reason": reason, "message": message,
        "lastTransitionTime": time::format(now)})
}

/// The object with the condition in its status; nothing if it says the same already.
fn with_condition(owner: &Value, mut condition: Value) -> Option<Value> {
    let mut changed = owner.clone();
    let status = changed.as_object_mut()?.entry("status").or_insert_with(|| json!({}));
    if !status.is_object() {
        *status = json!({});
    }
    let conditions = status.as_object_mut()?.entry("conditions").or_insert_with(|| json!([]));
    let list = conditions.as_array_mut()?;
    match list.iter_mut().find(|one| one["type"] == LEFTOVERS_GONE) {
        Some(old) => {
            let same = |field: &str| old[field] == condition[field];
            if same("status") && same("message") {
                return None;
            }
            if same("status") {
                condition["lastTransitionTime"] = old["lastTransitionTime"].clone();
            }
            *old = condition;
        }
        None => list.push(condition),
    }
    Some(changed)
}
