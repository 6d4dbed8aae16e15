//! Why a call has no verdict. Every variant is a failure of the hook, to be tried again, and never the end of an
//! object.

use std::io;
use std::time::Duration;

use sexton_model::hook::BadVerdict;

use super::allowance::NotAllowed;

/// Why a call has no verdict.
#[derive(Debug, thiserror::Error)]
pub enum HookError {
    /// The operator does not allow it.
    #[error(transparent)]
    NotAllowed(NotAllowed),
    /// The program could not be started.
    #[error("{program:?} cannot be started")]
    NotStarted {
        /// Its path or name.
        program: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It runs, but its exit status cannot be read.
    #[error("the program cannot be waited for")]
    Lost(#[source] io::Error),
    /// A process of an earlier call of the same key still runs, or cannot be looked for. The call was not begun.
    #[error("an earlier call of the same key is not over")]
    Survivor(#[source] io::Error),
    /// The service could not be reached.
    #[error("{address} cannot be reached")]
    Unreachable {
        /// Host and port.
        address: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The connection ended before the answer did, or the answer is not HTTP.
    #[error("the connection ended within the answer")]
    Broken(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// An empty answer without a declared length: it may be half of one.
    #[error("the answer is empty and does not say that it is; send Content-Length: 0, or a verdict")]
    Unannounced,
    /// No verdict in time; what was started was ended.
    #[error("no verdict within {} seconds", .after.as_secs_f64())]
    Deadline {
        /// How long the call waited.
        after: Duration,
    },
    /// The deadline passed while other calls held all slots. The call was not begun.
    #[error("not begun in time, because of other calls")]
    Late,
    /// The output is longer than allowed; what was started was ended.
    #[error("more than {limit} bytes of output")]
    TooMuch {
        /// The limit in bytes.
        limit: usize,
    },
    /// The output is not a verdict.
    #[error(transparent)]
    NoVerdict(#[from] BadVerdict),
    /// The call cannot be serialized.
    #[error("the call cannot be written down")]
    Unsayable(#[source] serde_json::Error),
    /// A script could not be called, or what it changed could not be written.
    #[error("{0}")]
    Script(String),
    /// The address cannot be used.
    #[error("{url:?} cannot be called")]
    BadUrl {
        /// The address.
        url: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl HookError {
    /// Whether it is certain that nothing was run: no program started, no request sent.
    pub fn is_before_anything(&self) -> bool {
        matches!(
            self,
            HookError::NotAllowed(_)
                | HookError::NotStarted { .. }
                | HookError::Unreachable { .. }
                | HookError::Late
                | HookError::Survivor(_)
                | HookError::Unsayable(_)
                | HookError::BadUrl { .. }
        )
    }
}
