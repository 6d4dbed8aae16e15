//! The journal as text: compact JSON with a version. Text that cannot be understood is an error, never guessed at.

use serde::{Deserialize, Serialize};

use super::state::{Callee, Stage, State};

/// Longer texts are refused: no state encodes to more.
pub const MAX_JOURNAL_BYTES: usize = 256 << 10;

/// The name of the blocker "unreadable journal": forcing it restarts the destruction.
pub const UNREADABLE: &str = "journal";

/// The version that is written.
const VERSION: u32 = 1;

/// Why a text is not a journal.
#[derive(Debug, thiserror::Error)]
pub enum BadJournal {
    /// It has another version.
    #[error("the journal has version {0}, and this program knows version {VERSION}")]
    Version(u32),
    /// It is not valid JSON of that form.
    #[error("the journal cannot be read")]
    Form(#[source] serde_json::Error),
    /// It is readable, but no sequence of steps leads to it.
    #[error("the journal contradicts itself: {0}")]
    Contradiction(&'static str),
    /// It is too long.
    #[error("the journal is longer than {MAX_JOURNAL_BYTES} bytes")]
    TooLong,
}

#[derive(Deserialize)]
struct Version {
    v: u32,
}

#[derive(Serialize, Deserialize)]
struct Versioned<S> {
    v: u32,
    state: S,
}

impl State {
    /// The text of the journal.
    ///
    /// # Errors
    /// If JSON cannot be written, which no state causes.
    pub fn encode(&self) -> Result<String, BadJournal> {
        serde_json::to_string(&Versioned { v: VERSION, state: self }).map_err(BadJournal::Form)
    }

    /// Reads the journal back.
    ///
    /// # Errors
    /// If it is of another version, no journal at all, or impossible.
    pub fn decode(text: &str) -> Result<State, BadJournal> {
        if text.len() > MAX_JOURNAL_BYTES {
            return Err(BadJournal::TooLong);
        }
        let Version { v } = serde_json::from_str(text).map_err(BadJournal::Form)?;
        if v != VERSION {
            return Err(BadJournal::Version(v));
        }
        let Versioned { state, .. } =
            serde_json::from_str::<Versioned<State>>(text).map_err(BadJournal::Form)?;
        state.contradiction().map_or(Ok(state), |what| Err(BadJournal::Contradiction(what)))
    }

    /// Why no sequence of steps leads to this state, if none does.
    fn contradiction(&self) -> Option<&'static str> {
        let calling = matches!(self.stage, Stage::Warning | Stage::Notifying | Stage::Destroyed);
        let known = |callee: &Callee| match callee {
            Callee::Destroy => self.stage == Stage::Destroying && self.has_destroy,
            Callee::Subscriber(uid) => calling && self.subscribers.contains(uid),
        };
        let past = matches!(self.stage, Stage::Destroyed | Stage::Releasing | Stage::Released);
        if !self.open.keys().all(known) {
            Some("a call is open that this step does not make")
        } else if self.open.is_empty() && (calling || self.stage == Stage::Destroying) {
            Some("nothing is open, and the step is not over")
        } else if self.outcome.is_some() != past {
            Some("destroyed and not destroyed")
        } else if !self.is_terminating && (past || self.stage == Stage::Destroying) {
            Some("destroyed without being marked")
        } else {
            None
        }
    }
}
