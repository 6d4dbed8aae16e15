//! What went wrong, where, and what to type next; and the exit codes.

use std::error::Error;
use std::process::ExitCode;

use sexton_client::call::CallError;
use sexton_client::kinds::{DiscoverError, NoSuchKind};
use sexton_client::resources::{DeleteError, GetError, ListError, PutError, WatchError};
use sexton_collector::approve::ApproveError;
use sexton_collector::preview::PreviewError;
use sexton_model::{Cause, Status};

use crate::commands::apply::MAY_READ_CLASSES;

/// How a command ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All was done, or nothing had to be.
    Done = 0,
    /// It went wrong.
    Error = 1,
    /// Something would change, and a flag such as `--detailed-exitcode` asks for this code then.
    Pending = 2,
    /// Nothing was done: consent is missing, or something blocks it.
    Held = 3,
    /// Some of it was done.
    Partial = 4,
    /// Another process uses the data directory.
    Locked = 5,
    /// Ctrl-C was pressed.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

impl Exit {
    /// What programs read beside the number.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Exit::Done => "done",
            Exit::Error => "error",
            Exit::Pending => "pending",
            Exit::Held => "held",
            Exit::Partial => "partial",
            Exit::Locked => "locked",
            Exit::Interrupted => "interrupted",
        }
    }

    /// How a command ends that failed for some of several things.
    pub(crate) fn of_several(failed: usize, all: usize) -> Exit {
        match failed {
            0 => Exit::Done,
            failed if failed == all => Exit::Error,
            _ => Exit::Partial,
        }
    }
}

/// What helps when a server cannot be reached, by words of the first cause.
const CURES: [(&str, &str, &str); 7] = [
    ("Connection refused", "start a server", "sexton serve"),
    ("UnknownIssuer", "trust its authority", "the same command with --certificate-authority FILE"),
    (
        "NotValidForName",
        "use a name of its certificate",
        "or add one: sexton serve --self-signed --host NAME",
    ),
    ("CaUsedAsEndEntity", "give the server another certificate", "sexton serve --self-signed"),
    ("Expired", "give the server another certificate", "sexton serve --self-signed"),
    ("invalid HTTP version", "if it has TLS", "the same command with https:// in the address"),
    ("InvalidContentType", "if it has no TLS", "the same command with http:// in the address"),
];

/// What went wrong, for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// What happened, and where.
    pub(crate) what: String,
    /// What else is known about it.
    pub(crate) details: Vec<String>,
    /// What can be done about it: for what, and the command to type.
    pub(crate) next: Vec<(String, String)>,
    /// The exit code.
    pub(crate) exit: Exit,
    /// Whether nothing is printed about it: the output was closed, or Ctrl-C says enough.
    pub(crate) quiet: bool,
}

impl Failure {
    pub(crate) fn new(what: impl Into<String>) -> Failure {
        Failure { what: what.into(), details: Vec::new(), next: Vec::new(), exit: Exit::Error, quiet: false }
    }

    /// The reader of our output has gone: an end, not an error.
    pub(crate) fn nobody_listens() -> Failure {
        Failure { exit: Exit::Done, quiet: true, ..Failure::new("the output was closed") }
    }

    /// Ctrl-C was pressed before anything was done.
    pub(crate) fn interrupted() -> Failure {
        Failure { exit: Exit::Interrupted, quiet: true, ..Failure::new("interrupted") }
    }

    /// Whether it is a Ctrl-C.
    pub(crate) fn is_interruption(&self) -> bool {
        self.exit == Exit::Interrupted
    }

    #[must_use]
    pub(crate) fn detail(mut self, detail: impl Into<String>) -> Failure {
        self.details.push(detail.into());
        self
    }

    /// Adds what to type next.
    #[must_use]
    pub(crate) fn next(mut self, aim: impl Into<String>, command: impl Into<String>) -> Failure {
        self.next.push((aim.into(), command.into()));
        self
    }

    #[must_use]
    pub(crate) fn exit(mut self, exit: Exit) -> Failure {
        self.exit = exit;
        self
    }

    /// Adds what an error was caused by, down to the first cause.
    #[must_use]
    pub(crate) fn because(mut self, error: &(dyn Error + 'static)) -> Failure {
        let mut cause = error.source();
        while let Some(error) = cause {
            let text = error.to_string();
            // Wrappers tend to repeat what they wrap.
            let repeated = error.source().is_some_and(|inner| text.contains(&inner.to_string()));
            if !repeated && !self.details.contains(&text) {
                self.details.push(text);
            }
            cause = error.source();
        }
        self
    }

    /// Adds the places in the document that a status complains about.
    #[must_use]
    pub(crate) fn causes(mut self, status: &Status) -> Failure {
        let causes = status.details.as_ref().map_or(&[][..], |details| &details.causes);
        // One cause stands in the message already. Several do, too, but can be read only on lines of their own.
        let written = |cause: &Cause| match cause.field.as_str() {
            "" => cause.message.clone(),
            field => format!("{field}: {}", cause.message),
        };
        let places: Vec<String> = causes.iter().filter(|_| causes.len() > 1).map(written).collect();
        if let Some((heading, list)) = self.what.split_once(": [")
            && !places.is_empty()
            && places.iter().all(|place| list.contains(place))
        {
            self.what = heading.to_owned();
        }
        self.details.extend(places);
        self
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        match &error {
            CallError::Refused(status) if status.code == 401 => {
                Failure::new("the server does not know who you are")
                    .next("say who", "--token-file FILE, or the variable SEXTON_TOKEN")
                    .next("or, where its data directory is", "--data DIR instead of --server URL")
            }
            CallError::Refused(status) => Failure::new(status.message.clone()).causes(status),
            CallError::Unreachable(source) => {
                let cause = root(source);
                let failure = Failure::new(error.to_string());
                match CURES.iter().find(|(words, ..)| cause.contains(words)) {
                    Some((_, aim, command)) => failure.detail(cause).next(*aim, *command),
                    None => failure.detail(cause),
                }
            }
            _ => Failure::new(error.to_string()).because(&error),
        }
    }
}

/// The first cause, which says more than everything that was wrapped around it.
fn root(error: &(dyn Error + 'static)) -> String {
    let mut deepest = error;
    while let Some(inner) = deepest.source() {
        deepest = inner;
    }
    deepest.to_string()
}

fn refused(status: &Status) -> Failure {
    Failure::new(status.message.clone()).causes(status)
}

impl From<GetError> for Failure {
    fn from(error: GetError) -> Self {
        match error {
            GetError::NotFound(status) => refused(&status),
            GetError::Call(error) => error.into(),
        }
    }
}

impl From<ListError> for Failure {
    fn from(error: ListError) -> Self {
        match error {
            ListError::Expired(status) => refused(&status),
            ListError::Call(error) => error.into(),
        }
    }
}

impl From<PutError> for Failure {
    fn from(error: PutError) -> Self {
        match error {
            PutError::Conflict(status) | PutError::Invalid(status) => refused(&status),
            PutError::Call(error) => error.into(),
        }
    }
}

impl From<DeleteError> for Failure {
    fn from(error: DeleteError) -> Self {
        match error {
            DeleteError::NotFound(status) => refused(&status),
            DeleteError::Changed(status) => refused(&status).next("look again", "the same command once more"),
            DeleteError::Call(error) => error.into(),
        }
    }
}

impl From<PreviewError> for Failure {
    fn from(error: PreviewError) -> Self {
        let failure = Failure::new(error.to_string()).because(&error);
        match error {
            PreviewError::HiddenClasses(_) => failure
                .detail("a class can run code at the end of its objects, which would be skipped")
                .next("ask for the right", MAY_READ_CLASSES)
                .exit(Exit::Held),
            PreviewError::BrokenClass(_) => {
                failure.detail("marked, it would wait until the class is mended or deleted").exit(Exit::Held)
            }
            PreviewError::NotAllowed { .. } => failure
                .detail("a class says so that is stored there, where others can write classes, too")
                .exit(Exit::Held),
            _ => failure,
        }
    }
}

impl From<ApproveError> for Failure {
    fn from(error: ApproveError) -> Self {
        let failure = Failure::new(error.to_string()).because(&error);
        failure.detail("what is marked stays marked").next("see what is under way", "sexton collections")
    }
}

impl From<WatchError> for Failure {
    fn from(error: WatchError) -> Self {
        match error {
            WatchError::List(error) => error.into(),
            WatchError::Refused(status) => refused(&status),
            WatchError::Call(error) => error.into(),
        }
    }
}

impl From<DiscoverError> for Failure {
    fn from(error: DiscoverError) -> Self {
        error.0.into()
    }
}

impl From<NoSuchKind> for Failure {
    fn from(error: NoSuchKind) -> Self {
        let failure = Failure::new(error.to_string());
        match error {
            NoSuchKind::Unknown { near, unread, .. } => {
                let failure = match near.is_empty() {
                    true => failure,
                    false => failure.detail(format!("did you mean {}?", near.join(" or "))),
                };
                let failure = match unread.is_empty() {
                    true => failure,
                    false => failure.detail(format!("these groups did not answer: {}", unread.join(", "))),
                };
                failure.next("see all kinds", "sexton kinds")
            }
            NoSuchKind::Ambiguous { meanings, .. } => {
                failure.detail(format!("say which: {}", meanings.join(", ")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is wrong in several places is said once for each.
    #[test]
    fn several_causes_stand_on_lines_of_their_own() {
        let mut status = Status::bad_request("a \"x\" is invalid: [f: one, g: two]");
        let cause = |field: &str, message: &str| Cause {
            field: field.into(),
            message: message.into(),
            ..Cause::default()
        };
        let mut told = |causes: Vec<Cause>| {
            status.details = Some(sexton_model::Details { causes, ..Default::default() });
            let failure = refused(&status);
            (failure.what, failure.details)
        };
        let (what, details) = told(vec![cause("f", "one"), cause("g", "two")]);
        assert_eq!(what, "a \"x\" is invalid");
        assert_eq!(details, ["f: one", "g: two"]);
        let (what, details) = told(vec![cause("f", "one"), cause("g", "three")]);
        assert!(what.ends_with("g: two]"), "nothing that is not told otherwise is left out: {what}");
        assert_eq!(details.len(), 2);
        assert!(told(vec![cause("f", "one")]).1.is_empty());
    }
}
