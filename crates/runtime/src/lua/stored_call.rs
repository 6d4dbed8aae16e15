//! One call of a method of a stored object, outside of any run of its program:
//!
//! 1. load the program from its stored text,
//! 2. import the objects that the method may see into a new world,
//! 3. call `destroy` or a handler,
//! 4. compare the objects before and after, and return the differences.
//!
//! The rest of the collection runs in another process. It must not know where objects are stored or how answers
//! travel.

use std::collections::{BTreeMap, BTreeSet};

use sexton_collector::hooks::allowance::NotAllowed;

use super::context::{CallContext, InContext};
use super::engine::ProgramStage;
use super::error::ProgramError;
use super::program::{Host, Program, Source};
use crate::gc::{Gc, Phase, Session};
use crate::model::{Dangling, Dependency, ImportError, Model, ModelObject, ModelValue, model_object};
use crate::world::{Args, CallError, CodeError, Handle, ObjectId, World};

/// The method to call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredMethod {
    /// `destroy` of every class of the object, its own first.
    Destroy,
    /// A handler.
    Handler {
        /// Its name.
        name: String,
        /// The object that is destroyed. It is in the model.
        about: ObjectId,
    },
}

/// One call of a stored object.
#[derive(Debug, Clone)]
pub struct StoredCall {
    /// The object and all objects that the method may see.
    pub model: Model,
    /// The object with the method.
    pub object: ObjectId,
    /// The method.
    pub method: StoredMethod,
    /// The phase of the collection.
    pub phase: Phase,
    /// The doomed objects of the collection that are in the model.
    pub doomed: Vec<ObjectId>,
}

/// The changes of one object by a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    /// The id of the object.
    pub id: ObjectId,
    /// The persistable properties with new values.
    pub properties: BTreeMap<String, ModelValue>,
    /// Its dependencies, if they are different now. Without dependencies on objects that are not in the model.
    pub dependencies: Option<Vec<Dependency>>,
}

/// The result of a call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StoredAnswer {
    /// Changed objects, in the order of the model.
    pub changed: Vec<Changed>,
    /// New objects to which objects of the model refer now, in creation order.
    pub created: Vec<ModelObject>,
    /// The reason, if the method cancelled the collection.
    pub cancelled: Option<String>,
    /// References in the model to missing objects; they were left out.
    pub dangling: Vec<Dangling>,
}

/// Why a call failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoredError {
    /// The program cannot be loaded, or reached a time limit.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The objects do not fit their classes.
    #[error("the stored objects do not fit the program")]
    Import(#[source] ImportError),
    /// An object named by the call is not in the model.
    #[error("{0} is not among the stored objects")]
    Missing(ObjectId),
    /// The method cannot be called.
    #[error(transparent)]
    Call(CallError),
    /// The code failed.
    #[error("{0}")]
    Code(CodeError),
    /// The code failed after it wanted something that the operator does not allow.
    #[error(transparent)]
    NotAllowed(NotAllowed),
}

/// Makes one call.
///
/// # Errors
/// See [`StoredError`]. Effects of the code outside of its objects are not undone.
pub async fn call_stored(
    source: &Source,
    host: Host,
    call: &StoredCall,
) -> Result<StoredAnswer, StoredError> {
    let world = World::new();
    let program = Program::load(&world, source, host)?;
    program.engine.stage.set(ProgramStage::SingleCall);
    let imported = call.model.import(&world).map_err(StoredError::Import)?;
    imported.objects.iter().for_each(|object| world.assume_initialized(object));
    let find = |id: &ObjectId| world.find(id).ok_or_else(|| StoredError::Missing(id.clone()));
    let object = find(&call.object)?;
    let doomed: Vec<Handle> = call.doomed.iter().filter_map(|id| world.find(id)).collect();
    let session = Session::alone(call.phase, doomed.iter().map(Handle::key));
    let about = match &call.method {
        StoredMethod::Destroy => None,
        StoredMethod::Handler { name, about } => Some((name.as_str(), find(about)?)),
    };
    let before: Vec<ModelObject> =
        imported.objects.iter().map(|one| model_object(program.gc(), one)).collect();
    let work = call_method(&object, about, session.clone());
    let in_context = InContext::new(program.engine.clone(), CallContext::default(), work);
    let done = program.drive(in_context).await.map_err(StoredError::from).and_then(|done| done);
    done.map_err(|error| program.engine.refused.take().map_or(error, StoredError::NotAllowed))?;
    let after = imported.objects.iter().map(|one| model_object(program.gc(), one));
    let changed = before.iter().zip(after).filter_map(|(before, after)| difference(before, after)).collect();
    let answer = StoredAnswer {
        changed,
        created: created(program.gc(), &imported.objects),
        cancelled: session.cancelled(),
        dangling: imported.dangling,
    };
    world.close();
    Ok(answer)
}

async fn call_method(object: &Handle, about: Option<(&str, Handle)>, gc: Session) -> Result<(), StoredError> {
    let Some((name, about)) = about else {
        let class = object.class();
        for class in class.ancestry().filter(|class| class.behavior().has("destroy")) {
            let args = Args::Destroy { gc: gc.clone() };
            object.run(class, "destroy", args).await.map_err(StoredError::Code)?;
        }
        return Ok(());
    };
    let class = object.callable(name).map_err(StoredError::Call)?;
    let done = object.run(&class, name, Args::Event { gc, object: about }).await;
    done.map(|_| ()).map_err(StoredError::Code)
}

/// The changes of one object, if there are any.
fn difference(before: &ModelObject, after: ModelObject) -> Option<Changed> {
    let dependencies = (before.dependencies != after.dependencies).then_some(after.dependencies);
    let other = |(name, value): &(String, ModelValue)| before.properties.get(name) != Some(value);
    let properties: BTreeMap<String, ModelValue> = after.properties.into_iter().filter(other).collect();
    let nothing = properties.is_empty() && dependencies.is_none();
    (!nothing).then_some(Changed { id: after.id, properties, dependencies })
}

/// The new objects that are reachable from known ones over persistable properties.
fn created(gc: &Gc, known: &[Handle]) -> Vec<ModelObject> {
    let mut seen: BTreeSet<_> = known.iter().map(Handle::key).collect();
    let (mut left, mut found): (Vec<Handle>, Vec<Handle>) = (known.to_vec(), Vec::new());
    while let Some(object) = left.pop() {
        let class = object.class();
        for (name, _) in class.properties().filter(|(_, property)| property.usage.is_persistable()) {
            let value = object.get(name);
            for other in value.objects() {
                if seen.insert(other.key()) {
                    left.push(other.clone());
                    found.push(other.clone());
                }
            }
        }
    }
    found.sort_by_key(|object| object.read(|object| object.sequence));
    found.iter().map(|object| model_object(gc, object)).collect()
}
