//! What the program tells about its work, on stderr.

use tracing_subscriber::EnvFilter;

use crate::settings::Settings;

/// How a command logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Logs {
    /// Only when asked to.
    Quiet,
    /// What matters, as lines for people.
    Text,
    /// What matters, as a JSON object a line.
    Json,
}

/// Starts telling. The variable SEXTON_LOG chooses exactly.
pub(crate) fn start(settings: &Settings, logs: Logs, colours: bool) {
    let level = match (settings.verbose, logs) {
        (0, Logs::Quiet) => "off",
        (0, _) | (1, Logs::Quiet) => "info",
        _ => "debug,h2=info,hyper=info,hyper_util=info,tower=info,rustls=info",
    };
    let filter = EnvFilter::try_from_env("SEXTON_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    let builder =
        tracing_subscriber::fmt().with_env_filter(filter).with_ansi(colours).with_writer(std::io::stderr);
    // A second start can only be that of a test; the first one holds.
    let _ = match logs {
        Logs::Json => builder.json().flatten_event(true).try_init(),
        Logs::Quiet | Logs::Text => builder.try_init(),
    };
}
