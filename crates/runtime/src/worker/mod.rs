//! One call of a stored object's method in a process of its own, the worker. The request contains everything it needs:
//! the program, the object and the objects around it. A worker has no access to a server.
//!
//! It must not know its caller, nor how its answer is used.

mod confinement;

use std::rc::Rc;
use std::time::Duration;

use serde_json::{Value, json};
use sexton_collector::hooks::allowance::{self, NotAllowed};
use sexton_model::class;
use sexton_model::environment::references;
use sexton_model::hook::{MAX_AROUND, ScriptAnswer, ScriptCall};

use crate::lua::{
    Changed, Grants, Host, Limits, Output, Source, StoredAnswer, StoredCall, StoredError, StoredMethod,
    call_stored,
};
use crate::model::Model;
use crate::stored::StoredObjects;
use crate::world::ObjectId;

pub(crate) use confinement::Lifted;
pub use confinement::confine;

/// Bytes that the process of a worker has in memory at most, if it is [confined](confine).
pub const MAX_PROCESS_MEMORY: u64 = 256 << 20;
/// Bytes that a script may use in a worker. The rest is for the call, the objects around it, and the answer.
const SCRIPT_MEMORY: usize = 128 << 20;
/// Bytes that all objects of a call may hold in their properties: they are in the memory of the process, not of the
/// script.
const WORLD_MEMORY: usize = 32 << 20;

/// Makes the call and returns the answer; failures are answers, too.
pub async fn answer(request: &ScriptCall, output: Rc<dyn Output>) -> ScriptAnswer {
    match attempt(request, output).await {
        Ok(answer) => answer,
        Err(reason) => failed(&reason),
    }
}

fn failed(reason: &str) -> ScriptAnswer {
    ScriptAnswer { verdict: json!({"verdict": "failed", "reason": reason}), changed: Vec::new() }
}

/// The answer for something that the operator does not allow. It is no failure: the destruction waits until it is
/// allowed.
fn blocked(refused: &NotAllowed) -> ScriptAnswer {
    let verdict = json!({"verdict": "blocked", "by": allowance::OPERATOR, "reason": refused.to_string()});
    ScriptAnswer { verdict, changed: Vec::new() }
}

async fn attempt(request: &ScriptCall, output: Rc<dyn Output>) -> Result<ScriptAnswer, String> {
    let environment = sexton_client::resources::text(&request.call.object, "/metadata/namespace");
    let all = std::iter::once(&request.call.object).chain(&request.call.subscriber).chain(&request.around);
    let mut seen = std::collections::BTreeSet::new();
    // An object that subscribed to itself is contained twice.
    let all = all.filter(|one| seen.insert(one["metadata"]["uid"].as_str())).cloned();
    let mut stored_objects = StoredObjects::with_all(environment, all).map_err(|error| error.to_string())?;
    let model = stored_objects.model(None);
    let call = stored_call(request, &stored_objects, model)?;
    let pause = Duration::from_secs(request.seconds);
    let limits = Limits {
        memory: SCRIPT_MEMORY,
        world: WORLD_MEMORY,
        whole_run: pause,
        without_pause: pause,
        ..Limits::default()
    };
    let grants = Grants { exec: request.program.exec.clone(), http: request.program.http.clone() };
    let host = Host { limits, grants, allowance: request.allowance.clone(), output, ..Host::default() };
    let source = Source { name: request.program.name.clone(), text: request.program.source.clone() };
    let answer = match call_stored(&source, host, &call).await {
        Ok(answer) => answer,
        Err(StoredError::NotAllowed(refused)) => return Ok(blocked(&refused)),
        Err(error) => return Err(chain(&error)),
    };
    if let Some(new) = answer.created.first() {
        let what =
            format!("{} was created by it, and only a run of the program can store new objects", new.class);
        return Err(what);
    }
    let verdict = match &answer.cancelled {
        Some(reason) => json!({"verdict": "veto", "reason": reason}),
        None => json!({"verdict": "done"}),
    };
    Ok(ScriptAnswer { verdict, changed: documents(request, &stored_objects, answer)? })
}

fn stored_call(
    request: &ScriptCall,
    stored_objects: &StoredObjects,
    model: Model,
) -> Result<StoredCall, String> {
    let id_of = |object: &Value| {
        let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
        stored_objects.id_of(uid).cloned().ok_or_else(|| format!("the object {uid} is not there"))
    };
    let doomed = request.call.is_doomed.iter().filter(|(_, doomed)| **doomed).map(|(uid, _)| uid.as_str());
    let named = request.call.doomed.iter().map(|one| one.uid.as_str());
    let doomed: Vec<ObjectId> =
        doomed.chain(named).filter_map(|uid| stored_objects.id_of(uid).cloned()).collect();
    let about = id_of(&request.call.object)?;
    let (object, method) = match &request.call.subscriber {
        None if request.call.method == class::DESTROY => (about, StoredMethod::Destroy),
        None => return Err(format!("{} is no method of the doomed object", request.call.method)),
        Some(subscriber) => {
            (id_of(subscriber)?, StoredMethod::Handler { name: request.call.method.clone(), about })
        }
    };
    Ok(StoredCall { model, object, method, phase: request.call.phase, doomed })
}

/// The resources of changed objects, updated. Unchanged properties keep their stored form, also with references to
/// objects that are not part of the request.
fn documents(
    request: &ScriptCall,
    stored_objects: &StoredObjects,
    answer: StoredAnswer,
) -> Result<Vec<Value>, String> {
    let complete = request.around.len() < MAX_AROUND;
    let mut written = Vec::new();
    for Changed { id, properties, dependencies } in answer.changed {
        let Some(mut resource) = stored_objects.get(&id).cloned() else { continue };
        for (name, value) in &properties {
            let lost = references(&resource["spec"][name])
                .iter()
                .any(|one| stored_objects.id_of(&one.uid).is_none());
            if lost && !complete {
                return Err(format!(
                    "{name} refers to more objects than a call can be given, so it cannot be changed here"
                ));
            }
            resource["spec"][name] = stored_objects.value(value);
        }
        if let Some(dependencies) = dependencies {
            stored_objects
                .set_dependencies(&mut resource, &id, &dependencies)
                .map_err(|error| error.to_string())?;
        }
        written.push(resource);
    }
    Ok(written)
}

fn chain(error: &dyn std::error::Error) -> String {
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    format!("{error}{cause}")
}

#[cfg(test)]
mod tests {
    use sexton_model::environment::ProgramSpec;
    use sexton_model::hook::{Allowance, Call, Phase};

    use super::*;
    use crate::lua::Silent;

    const PROGRAM: &str = r#"
        format "1.4"
        class("Net", {
            properties = { lost = { usage = "Out", type = "number", default = 0 }, peer = { usage = "InOut" } },
            gone = function(self, gc, machine)
                if gc.phase == "destroyed" then self.lost = self.lost + 1 end
                if gc.phase == "warning" then gc:cancel("not now") end
            end,
            leave = function(self, gc, machine) GC.unsubscribe(machine) end,
        })
        class("Vm", { destroy = function(self) error("no cloud") end })
        class("Pod", { destroy = function(self) exec{ program = "sh", args = { "-c", "exit 0" } } end })
        class("Job", { destroy = function(self) http{ url = "http://127.0.0.1:1/" } end })
    "#;

    fn resource(kind: &str, name: &str, spec: Value, dependencies: &str) -> Value {
        json!({
            "apiVersion": "classes.sexton.dev/v1", "kind": kind, "spec": spec,
            "metadata": {
                "name": name, "namespace": "prod", "uid": format!("u-{name}"),
                "annotations": {"sexton.dev/destruction-dependencies": dependencies},
            },
        })
    }

    fn script_call(method: &str, phase: Phase, subscriber: bool) -> ScriptCall {
        let to = |name: &str| json!({"target": format!("Vm.classes.sexton.dev/{name}"), "uid": format!("u-{name}"), "handler": "gone"});
        let dependencies = json!([to("web"), to("far")]).to_string();
        let far = json!({"$ref": {"kind": "Net", "name": "far", "uid": "u-far-net"}});
        let net = resource("Net", "net", json!({"lost": 1, "peer": far}), &dependencies);
        ScriptCall {
            program: ProgramSpec { name: "p.luau".into(), source: PROGRAM.into(), ..ProgramSpec::default() },
            call: Call {
                method: method.into(),
                phase,
                session: String::new(),
                epoch: 1,
                idempotency_key: String::new(),
                attempt: 1,
                deadline: String::new(),
                object: resource("Vm", "web", json!({}), "[]"),
                subscriber: subscriber.then_some(net),
                doomed: Vec::new(),
                doomed_count: 0,
                is_doomed: Default::default(),
                is_destroyed: Default::default(),
            },
            around: Vec::new(),
            seconds: 10,
            allowance: None,
        }
    }

    async fn ask(method: &str, phase: Phase, subscriber: bool) -> ScriptAnswer {
        answer(&script_call(method, phase, subscriber), Rc::new(Silent)).await
    }

    /// Only what a method changed is changed: references and dependencies that lead to objects which were not handed
    /// over are as they were.
    #[tokio::test]
    async fn only_what_was_changed_is_changed() {
        let said = ask("gone", Phase::Destroyed, true).await;
        assert_eq!(said.verdict, json!({"verdict": "done"}));
        let before = script_call("gone", Phase::Destroyed, true).call.subscriber.unwrap();
        let mut expected = before.clone();
        expected["spec"]["lost"] = json!(2);
        assert_eq!(said.changed, [expected]);
        let left = ask("leave", Phase::Notifying, true).await;
        let dependencies =
            left.changed[0]["metadata"]["annotations"]["sexton.dev/destruction-dependencies"].as_str();
        assert!(
            dependencies.unwrap().contains("u-far") && !dependencies.unwrap().contains("u-web"),
            "{left:?}"
        );
    }

    /// REQ-MUR-92: a handler can cancel; a destructor that fails says why and where.
    #[tokio::test]
    async fn verdicts() {
        let vetoed = ask("gone", Phase::Warning, true).await;
        assert_eq!(vetoed.verdict, json!({"verdict": "veto", "reason": "not now"}));
        let failed = ask("destroy", Phase::Destroying, false).await;
        let reason = failed.verdict["reason"].as_str().unwrap();
        assert!(reason.contains("no cloud") && reason.contains("p.luau:11"), "{reason}");
        let missing = ask("nowhere", Phase::Warning, true).await;
        assert_eq!(missing.verdict["verdict"], "failed");
    }

    /// What a run granted is bounded by what the operator of the collector allows: it waits, and is no failure.
    #[tokio::test]
    async fn an_operator_bounds_what_was_granted() {
        let asked = async |kind: &str, allowance: Option<Allowance>| {
            let mut script_call = script_call("destroy", Phase::Destroying, false);
            script_call.call.object = resource(kind, "web", json!({}), "[]");
            (script_call.program.exec, script_call.program.http) =
                (vec!["sh".into()], vec!["127.0.0.1:1".into()]);
            script_call.allowance = allowance;
            answer(&script_call, Rc::new(Silent)).await.verdict
        };
        assert_eq!(asked("Pod", None).await, json!({"verdict": "done"}));
        for (kind, flag) in [("Pod", "--allow-exec /etc/sexton/hooks"), ("Job", "--allow-http 127.0.0.1:1")] {
            let held = asked(kind, Some(Allowance::default())).await;
            assert_eq!(
                (&held["verdict"], &held["by"]),
                (&json!("blocked"), &json!("the operator's settings"))
            );
            assert!(held["reason"].as_str().unwrap().ends_with(&format!("add {flag}")), "{held}");
        }
        let exec = vec!["/bin".into()];
        let allowed = asked("Pod", Some(Allowance { exec, ..Allowance::default() })).await;
        assert_eq!(allowed, json!({"verdict": "done"}));
    }
}
