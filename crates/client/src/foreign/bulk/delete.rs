//! Deleting one object, with a policy that Kubernetes may not know.

use http::Method;
use serde_json::{Map, Value, json};
use sexton_model::bulk::{Annotations, Item, Outcome};
use sexton_model::delete_options::QUALIFIED_CASCADE_FINALIZER;
use sexton_model::marks::DESTROY_FINALIZER;
use sexton_model::{FieldError, Policy, Status};

use super::live::{Live, path_of, resource_of};
use super::{Done, Performer, Refusal};
use crate::call::Call;
use crate::kinds::ServedKind;

const EVIDENCE: &str = "absent: owners were asked for by name, before the write";
const MARKED: &str = "marked: not checked, the lists of the caller are all there is";
const UNREFERENCED: &str = "unreferenced: not checked, the lists of the caller are all there is";
const EARLY_NOTES: &str = "annotations: set before the deletion, not with it";
const NO_CASCADE: &str = "policy: it was being deleted already, and Cascade cannot be put on any more";

/// What is weaker here about the conditions of an item.
pub(super) fn weaker_conditions(item: &Item) -> Vec<&'static str> {
    let mut weaker = Vec::new();
    if !item.absent.is_empty() {
        weaker.push(EVIDENCE);
    }
    if !item.marked.is_empty() {
        weaker.push(MARKED);
    }
    if item.unreferenced {
        weaker.push(UNREFERENCED);
    }
    weaker
}

impl Performer<'_> {
    pub(super) async fn delete(
        &self,
        item: &Item,
        kind: &ServedKind,
        asked: Option<&str>,
        marks: (&Annotations, bool),
    ) -> Result<Done, Refusal> {
        let live = self.live(item, kind, false).await?;
        live.check_marks(item)?;
        if item.unprotected && live.is_protected() {
            return Err(Status::protected(&resource_of(item), &item.name).into());
        }
        let mut weaker = weaker_conditions(item);
        if item.unmarked && live.is_marked() {
            let version = Some(live.version().to_owned());
            return Ok(Done { outcome: Outcome::Unchanged, version, weaker });
        }
        self.check_absent(item, kind, &live).await?;
        let policy = match asked {
            Some(name) => named(item, name)?,
            None => recorded(item, &live),
        };
        let cascades = policy == Policy::Cascade;
        if cascades && live.is_marked() && !has_cascade(&live) {
            // No finalizer can be put on what is being deleted.
            weaker.push(NO_CASCADE);
            let version = Some(live.version().to_owned());
            return Ok(Done { outcome: Outcome::Unchanged, version, weaker });
        }
        let prepared = self.prepare(item, kind, &live, policy, marks).await?;
        if prepared.annotated {
            weaker.push(EARLY_NOTES);
        }
        let ready = prepared.live.as_ref().unwrap_or(&live);
        let policy = if cascades { self.cascade_as(item, kind, ready).await? } else { Some(policy) };
        let answer = self.ask_for_end(item, kind, ready, policy, false).await?;
        let (outcome, version) = self.ending(item, kind, &live, &Live(answer)).await?;
        Ok(Done { outcome, version, weaker })
    }

    /// What has to be on the object before it is deleted: the finalizer that records the cascade, and annotations if
    /// something will hold it.
    async fn prepare(
        &self,
        item: &Item,
        kind: &ServedKind,
        live: &Live,
        policy: Policy,
        (annotations, hold): (&Annotations, bool),
    ) -> Result<Prepared, Refusal> {
        let mut metadata = Map::new();
        let mut finalizers = live.finalizers();
        let hold = hold && !live.is_marked() && !finalizers.iter().any(|one| one == DESTROY_FINALIZER);
        if hold {
            // Nothing else on this server keeps the object from being removed before it is destroyed.
            finalizers.push(DESTROY_FINALIZER.to_owned());
            metadata.insert("finalizers".into(), json!(finalizers));
        }
        let held = !finalizers.is_empty() || policy.finalizer().is_some() || live.is_marked();
        if policy == Policy::Cascade && !has_cascade(live) {
            finalizers.push(QUALIFIED_CASCADE_FINALIZER.to_owned());
            metadata.insert("finalizers".into(), json!(finalizers));
        }
        let notes = live.annotations_to_change(annotations);
        let annotated = held && !notes.is_empty();
        if annotated {
            metadata.insert("annotations".into(), Value::Object(notes));
        }
        if metadata.is_empty() {
            return Ok(Prepared { live: None, annotated });
        }
        let live = Some(self.merge(item, kind, live, metadata).await?);
        Ok(Prepared { live, annotated })
    }

    /// The policy under which our finalizer survives. A Kubernetes leaves finalizers that it does not know alone, and
    /// kinds differ in what they do without a policy, so one is named. A server of ours knows the finalizer: there a
    /// named policy would replace it, and none keeps it. Which of the two it is, a dry run tells.
    async fn cascade_as(
        &self,
        item: &Item,
        kind: &ServedKind,
        live: &Live,
    ) -> Result<Option<Policy>, Refusal> {
        let background = Some(Policy::Background);
        let keeps = || async {
            let after = Live(self.ask_for_end(item, kind, live, background, true).await?);
            Ok::<bool, Refusal>(after.is_marked() && has_cascade(&after))
        };
        let keeps = *self.keeps_cascade.get_or_try_init(keeps).await?;
        Ok(background.filter(|_| keeps))
    }

    /// The DELETE itself, of exactly this uid and version.
    async fn ask_for_end(
        &self,
        item: &Item,
        kind: &ServedKind,
        live: &Live,
        policy: Option<Policy>,
        dry_run: bool,
    ) -> Result<Value, Refusal> {
        let mut body = json!({
            "kind": "DeleteOptions", "apiVersion": "v1",
            "preconditions": {"uid": item.uid, "resourceVersion": live.version()},
        });
        match policy {
            Some(Policy::Background) => body["propagationPolicy"] = "Background".into(),
            Some(Policy::Foreground) => body["propagationPolicy"] = "Foreground".into(),
            Some(Policy::Orphan) => body["propagationPolicy"] = "Orphan".into(),
            Some(Policy::Cascade) | None => {}
        }
        if dry_run {
            body["dryRun"] = json!(["All"]);
        }
        let call = Call::new(Method::DELETE, path_of(item, kind)).body("application/json", &body);
        self.write(item, call).await
    }

    /// Some kinds answer a deletion with the last document although the object is gone, so a terminating object is read
    /// again.
    pub(super) async fn ending(
        &self,
        item: &Item,
        kind: &ServedKind,
        before: &Live,
        answer: &Live,
    ) -> Result<(Outcome, Option<String>), Refusal> {
        let told = Some(answer.version().to_owned()).filter(|version| !version.is_empty());
        if answer.0["kind"] == "Status" || !answer.is_marked() {
            return Ok((Outcome::Removed, told));
        }
        Ok(match self.same_life(item, kind, false).await? {
            None => (Outcome::Removed, told),
            Some(now) if now.version() == before.version() => {
                (Outcome::Unchanged, Some(now.version().to_owned()))
            }
            Some(now) => (Outcome::Marked, Some(now.version().to_owned())),
        })
    }
}

struct Prepared {
    /// The object after it, if anything had to be written.
    live: Option<Live>,
    annotated: bool,
}

fn has_cascade(live: &Live) -> bool {
    live.finalizers().iter().any(|finalizer| Policy::recorded_by(finalizer) == Some(Policy::Cascade))
}

fn named(item: &Item, name: &str) -> Result<Policy, Refusal> {
    match name {
        "Cascade" => Ok(Policy::Cascade),
        "Foreground" => Ok(Policy::Foreground),
        "Background" => Ok(Policy::Background),
        "Orphan" => Ok(Policy::Orphan),
        other => {
            let offered = ["Cascade", "Foreground", "Background", "Orphan"];
            let error = FieldError::not_supported("policy", other, &offered);
            Err(Status::invalid(&item.group, &item.resource, &item.name, &[error]).into())
        }
    }
}

/// What an earlier deletion asked for. Contents of namespaces and definitions have holds of their own.
fn recorded(item: &Item, live: &Live) -> Policy {
    let holds_others = matches!(
        resource_of(item).to_string().as_str(),
        "namespaces" | "customresourcedefinitions.apiextensions.k8s.io"
    );
    let default = if holds_others { Policy::Background } else { Policy::Cascade };
    live.finalizers().iter().find_map(|finalizer| Policy::recorded_by(finalizer)).unwrap_or(default)
}
