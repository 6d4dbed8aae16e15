//! Methods that are written in a script: run by a worker, a process that can be killed and has no access to the
//! server.
//!
//! Before the call all objects that the script may read are gathered; after it, what the script changed is written.
//! It must not know any script language.

mod around;
mod changes;
mod turns;

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use sexton_client::resources::text;
use sexton_client::{CallError, Place, Resources, ServedKind};
use sexton_model::class::Method;
use sexton_model::environment::{self, EnvironmentSpec, ProgramSpec};
use sexton_model::hook::{Allowance, Call, ScriptAnswer, ScriptCall, Verdict};

use self::turns::Turns;
use super::exec::{self, Program, Said};
use super::{HookError, Keeper};

/// What a worker answers includes objects, so it may say more than a method that only gives a verdict.
const MAX_ANSWER: usize = 16 << 20;

/// Runs scripts.
#[derive(Debug, Clone)]
pub struct Scripts {
    worker: Vec<String>,
    resources: Resources,
    turns: Turns,
}

impl Scripts {
    /// Scripts that are run by this program, which is told of a call on its standard input and answers on its standard
    /// output. Programs and objects are read, and changes are written, through these resources.
    pub fn new(worker: Vec<String>, resources: Resources) -> Scripts {
        Scripts { worker, resources, turns: Turns::default() }
    }

    /// Makes one call.
    pub(super) async fn call(
        &self,
        source: Option<&str>,
        method: &Method,
        call: &Call,
        budget: Duration,
        (allowance, keeper): (Option<&Allowance>, Option<&Keeper>),
    ) -> Result<Verdict, HookError> {
        let failed = |error: CallError| HookError::Script(error.to_string());
        let callee = call.subscriber.as_ref().unwrap_or(&call.object);
        // Two methods of one object at a time would overwrite what the other changed.
        let turn = self.turns.take(text(callee, "/metadata/uid"));
        let _turn = tokio::time::timeout(budget, turn).await.map_err(|_| HookError::Late)?;
        let call = &self.as_it_is_now(call).await.map_err(failed)?;
        let program = match source {
            Some(source) => {
                let name = format!("class of {}", text(&call.object, "/kind"));
                ProgramSpec { name, source: source.to_owned(), ..ProgramSpec::default() }
            }
            None => self.program_of(&call.object).await?,
        };
        let around = self.around(call).await.map_err(failed)?;
        let (seconds, allowance) = (budget.as_secs().max(1), allowance.cloned());
        let told = ScriptCall { program, call: call.clone(), around, seconds, allowance };
        let document = serde_json::to_vec(&told).map_err(HookError::Unsayable)?;
        let none = BTreeMap::new();
        // The worker is this program itself, not one of a class.
        let key = &call.idempotency_key;
        let worker = Program { argv: &self.worker, dir: None, env: &none, key, real: None, keeper };
        let most = method.max_output.max(MAX_ANSWER);
        let said = match exec::say(&worker, document, budget, most).await? {
            Said::Badly(reason) => return Ok(Verdict::failed(&reason)),
            Said::NotYet(left) => return Ok(Verdict::InProgress { after: Some(left) }),
            Said::Well(said) => said,
        };
        let strange =
            |error: serde_json::Error| HookError::Script(format!("the worker says nonsense: {error}"));
        let answer: ScriptAnswer = serde_json::from_slice(&said).map_err(strange)?;
        let verdict = Verdict::parse(&answer.verdict.to_string())?;
        self.keep(&told, &answer.changed).await?;
        Ok(verdict)
    }

    /// The call with its subscriber as that is by now.
    async fn as_it_is_now(&self, call: &Call) -> Result<Call, CallError> {
        let mut call = call.clone();
        if let Some(subscriber) = &mut call.subscriber {
            let place = place_of(text(subscriber, "/kind"), text(subscriber, "/metadata/namespace"));
            let found = self.resources.find(&place, text(subscriber, "/metadata/name")).await?;
            let same = found.filter(|now| now["metadata"]["uid"] == subscriber["metadata"]["uid"]);
            *subscriber = same.unwrap_or_else(|| subscriber.clone());
        }
        Ok(call)
    }

    /// The program of the environment in which an object is.
    async fn program_of(&self, object: &Value) -> Result<ProgramSpec, HookError> {
        let name = text(object, "/metadata/namespace");
        let place = Place::new(&ServedKind::of_ours(environment::RESOURCE, environment::KIND), None);
        let found = self.resources.find(&place, name).await;
        let record = found.map_err(|error| HookError::Script(error.to_string()))?;
        let Some(record) = record else {
            return Err(HookError::Script(format!("there is no environment {name}, so no program to run")));
        };
        let spec: EnvironmentSpec = serde_json::from_value(record["spec"].clone())
            .map_err(|error| HookError::Script(format!("the environment {name} cannot be read: {error}")))?;
        Ok(spec.program)
    }
}

/// Where the objects of a class are in an environment.
pub fn place_of(class: &str, environment: &str) -> Place {
    let plural = environment::plural_of(class);
    let mut kind = ServedKind::well_known(environment::CLASSES_GROUP, &plural, class, true);
    environment::CLASSES_VERSION.clone_into(&mut kind.version);
    Place::new(&kind, Some(environment))
}
