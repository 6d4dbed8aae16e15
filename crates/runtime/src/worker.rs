//! One call of a stored object's method, in a process of its own: it is told everything it needs, and can ask nobody.
//!
//! It must not know who called, nor what becomes of its answer.

use std::rc::Rc;
use std::time::Duration;

use serde_json::{Value, json};
use sexton_model::hook::{ScriptAnswer, ScriptCall};
use sexton_model::{Uid, class};

use crate::lua::{
    Changed, Grants, Host, Limits, Output, Source, StoredAnswer, StoredCall, StoredMethod, call_stored,
};
use crate::model::Model;
use crate::stored::{Shelf, changes};
use crate::world::ObjectId;

/// Bytes that a script may use in a worker.
const MEMORY: usize = 256 << 20;

/// Makes the call, and says what came of it. Whatever goes wrong is an answer, too.
pub async fn answer(told: &ScriptCall, output: Rc<dyn Output>) -> ScriptAnswer {
    match attempt(told, output).await {
        Ok(answer) => answer,
        Err(reason) => failed(&reason),
    }
}

fn failed(reason: &str) -> ScriptAnswer {
    ScriptAnswer { verdict: json!({"verdict": "failed", "reason": reason}), changed: Vec::new() }
}

async fn attempt(told: &ScriptCall, output: Rc<dyn Output>) -> Result<ScriptAnswer, String> {
    let environment = sexton_client::resources::text(&told.call.object, "/metadata/namespace");
    let all = std::iter::once(&told.call.object).chain(&told.call.subscriber).chain(&told.around);
    let mut seen = std::collections::BTreeSet::new();
    // Who subscribed to itself is told of twice.
    let all = all.filter(|one| seen.insert(one["metadata"]["uid"].as_str())).cloned();
    let mut shelf = Shelf::with_all(environment, all).map_err(|error| error.to_string())?;
    let model = shelf.model(None);
    let call = stored_call(told, &shelf, model.clone())?;
    let pause = Duration::from_secs(told.seconds);
    let limits = Limits { memory: MEMORY, whole_run: pause, without_pause: pause, ..Limits::default() };
    let grants = Grants { exec: told.program.exec.clone(), http: told.program.http.clone() };
    let host = Host { limits, grants, output, ..Host::default() };
    let source = Source { name: told.program.name.clone(), text: told.program.source.clone() };
    let answer = call_stored(&source, host, &call).await.map_err(|error| chain(&error))?;
    if let Some(new) = answer.created.first() {
        let what =
            format!("{} was created by it, and only a run of the program can store new objects", new.class);
        return Err(what);
    }
    let verdict = match &answer.cancelled {
        Some(reason) => json!({"verdict": "veto", "reason": reason}),
        None => json!({"verdict": "done"}),
    };
    Ok(ScriptAnswer { verdict, changed: documents(&shelf, model, answer)? })
}

fn stored_call(told: &ScriptCall, shelf: &Shelf, model: Model) -> Result<StoredCall, String> {
    let id_of = |object: &Value| {
        let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
        shelf.id_of(uid).cloned().ok_or_else(|| format!("the object {uid} is not there"))
    };
    let doomed = told.call.is_doomed.iter().filter(|(_, doomed)| **doomed).map(|(uid, _)| uid.as_str());
    let named = told.call.doomed.iter().map(|one| one.uid.as_str());
    let doomed: Vec<ObjectId> = doomed.chain(named).filter_map(|uid| shelf.id_of(uid).cloned()).collect();
    let about = id_of(&told.call.object)?;
    let (object, method) = match &told.call.subscriber {
        None if told.call.method == class::DESTROY => (about, StoredMethod::Destroy),
        None => return Err(format!("{} is no method of the doomed object", told.call.method)),
        Some(subscriber) => {
            (id_of(subscriber)?, StoredMethod::Handler { name: told.call.method.clone(), about })
        }
    };
    Ok(StoredCall { model, object, method, phase: told.call.phase, doomed })
}

/// The resources of the objects that were changed, as they are to be.
fn documents(shelf: &Shelf, mut model: Model, answer: StoredAnswer) -> Result<Vec<Value>, String> {
    for Changed { id, properties, dependencies } in answer.changed {
        let Some(object) = model.objects.iter_mut().find(|object| object.id == id) else { continue };
        object.properties.extend(properties);
        if let Some(dependencies) = dependencies {
            object.dependencies = dependencies;
        }
    }
    // Nobody is new, so nobody needs a uid.
    let written = changes(shelf, &model.objects, || Uid(String::new())).map_err(|error| error.to_string())?;
    Ok(written.into_iter().map(|change| change.resource).collect())
}

fn chain(error: &dyn std::error::Error) -> String {
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    format!("{error}{cause}")
}
