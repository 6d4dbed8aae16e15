//! The errors that stop the program, as opposed to failed requests, which are counted.
//! Must not know: any measurement or how errors are printed.

use std::path::PathBuf;

use http::StatusCode;

/// A reason to give up a measurement.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The `--server` flag is not an address this program can reach.
    #[error("bad --server {url}: {reason}")]
    BadServer {
        /// What was given.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A flag or a pair of flags makes no sense.
    #[error("{0}")]
    BadFlag(String),
    /// A file named by a flag could not be used.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why it is of no use.
        reason: String,
    },
    /// The server could not be reached.
    #[error("cannot connect to {address}: {source}")]
    Connect {
        /// Host and port.
        address: String,
        /// The system's word on it.
        source: std::io::Error,
    },
    /// TLS is set up wrongly.
    #[error("tls: {0}")]
    Tls(#[from] rustls::Error),
    /// The connection broke during an exchange.
    #[error("http: {0}")]
    Http(#[from] hyper::Error),
    /// A path or header could not be built from the flags.
    #[error("cannot build request: {0}")]
    Request(#[from] http::Error),
    /// A request that the measurement depends on was refused.
    #[error("{what}: {status}: {body}")]
    Refused {
        /// What was asked.
        what: String,
        /// The answer's status.
        status: StatusCode,
        /// The start of the answer's body.
        body: String,
    },
    /// An answer that has to be understood was not.
    #[error("{what}: unreadable answer: {source}")]
    Unreadable {
        /// What was asked.
        what: String,
        /// Where the parser stopped.
        source: serde_json::Error,
    },
    /// A bound in time was reached where no partial result makes sense.
    #[error("{0} took longer than --max-seconds")]
    TooSlow(String),
    /// A bound in time was reached while things were being created.
    #[error("creating {what}: {made} of {count} were made when {flag} were over")]
    Unfinished {
        /// What was created.
        what: &'static str,
        /// How many there are.
        made: u64,
        /// How many there should be.
        count: u64,
        /// The flag that sets the bound.
        flag: &'static str,
    },
    /// A file operation of the program itself failed.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// The system's word on it.
        source: std::io::Error,
    },
    /// A worker task died.
    #[error("worker task failed: {0}")]
    Worker(#[from] tokio::task::JoinError),
}

/// The result of everything that may stop the program.
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// The printable start of a body: enough for a Status message, never a whole page.
pub(crate) fn excerpt(body: &[u8]) -> String {
    const LONGEST: usize = 400;
    let start = &body[..body.len().min(LONGEST)];
    String::from_utf8_lossy(start).trim_end().to_owned()
}
