//! Why an environment cannot be opened or a model cannot be stored, and what to type about it.

use std::path::Path;

use sexton_collector::modules::LeaseError;
use sexton_runtime::environment::{FinishError, OpenError, SaveError};
use sexton_runtime::gc::Cancelled;

use crate::failure::{Exit, Failure};
use crate::settings::quoted;

/// The failure for an environment that cannot be opened. `command` is the one that was typed.
pub(crate) fn cannot_open(error: OpenError, environment: &str, command: &str) -> Failure {
    let failure = Failure::new(error.to_string()).because(&error);
    match &error {
        OpenError::Lease(LeaseError::Held { .. }) => failure.exit(Exit::Locked).next(
            "if that one is dead",
            format!("wait 15 seconds: the lease of {environment} expires by itself"),
        ),
        OpenError::Import(_) => failure.next(
            "either",
            "give the program the classes and properties that the objects have, or say --model with one without them",
        ),
        OpenError::EmptyModel { .. } | OpenError::NothingKept { .. } => failure
            .exit(Exit::Held)
            .detail("Nothing was run.")
            .next("it is meant", format!("{command} --allow-empty")),
        OpenError::Contradicts { .. } => failure.detail("Nothing was run."),
        OpenError::Class { .. } | OpenError::Program(_) => failure.detail("Nothing was run."),
        OpenError::TakenKind { definition, .. } | OpenError::UnfitKind { definition, .. } => failure
            .detail("All environments share their kinds. Nothing was run.")
            .next("see who has objects of it", format!("sexton get {definition} -A"))
            .next("if no environment needs it", format!("sexton delete crd/{definition}")),
        OpenError::NamespaceTerminates(name) => {
            failure.detail("Nothing was run.").next("see what it waits for", format!("sexton why ns/{name}"))
        }
        OpenError::Save(error) if error.is_lasting() => pending(failure, environment),
        OpenError::HalfStored(_) => pending(failure, environment),
        _ => failure,
    }
}

/// Why what a run made is not stored.
pub(crate) fn not_stored(error: &FinishError, environment: &str) -> Failure {
    let failure = Failure::new(error.to_string()).because(error);
    match error {
        FinishError::Save(SaveError::Unwritable(_)) | FinishError::Kinds(_) => failure
            .detail("What was stored before is there still, and nothing was destroyed after deploy.")
            .detail("What this run made is not stored: the environment does not know of it."),
        FinishError::Save(error) if error.is_lasting() => pending(failure, environment),
        _ => failure,
    }
}

/// The failure for a collection before the deployment that a handler cancelled.
pub(super) fn stopped(cancelled: &Cancelled, command: &str) -> Failure {
    let who = canceller(cancelled);
    Failure::new(format!("{who} cancelled the collection before the deployment: {}", cancelled.reason))
        .exit(Exit::Held)
        .detail("deploy did not run. What was still to be destroyed lives on, and all objects are stored.")
        .next("when it may go", command.to_owned())
}

/// The class and name of the object that cancelled a collection by its handler.
pub(super) fn canceller(cancelled: &Cancelled) -> String {
    format!("{} {}", cancelled.class, cancelled.name.as_deref().unwrap_or(cancelled.by.as_str()))
}

/// The failure for objects that the stored program rescued or made, of classes that the new program does not declare.
pub(super) fn still_unknown(program: &Path) -> Failure {
    let program = program.display();
    Failure::new(format!("objects were rescued, or made, whose classes {program} does not know"))
        .exit(Exit::Partial)
        .detail("deploy did not run. All objects are stored.")
        .next("either", format!("declare these classes in {program}, and keep the objects in the model"))
        .next("or", "make the stored program let go of them")
}

/// What can be done about a model that is written down and not completely stored.
fn pending(failure: Failure, environment: &str) -> Failure {
    let name = quoted(environment);
    failure
        .detail("The model of the last run is written down, and not completely stored.")
        .next("look at it", format!("sexton environments {name}"))
        .next(
            "try again, perhaps without an object",
            format!("sexton environments retry {name} --without KIND/NAME"),
        )
        .next("give it up", format!("sexton environments give-up {name}"))
}
