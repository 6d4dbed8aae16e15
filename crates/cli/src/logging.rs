//! What the program tells about its work, on stderr.

use tracing_subscriber::EnvFilter;

/// Starts telling, if asked to. The variable SEXTON_LOG chooses exactly.
pub(crate) fn start(verbose: u8, colours: bool) {
    let level = match verbose {
        0 => "off",
        1 => "info",
        _ => "debug,hyper_util=info,tower=info,rustls=info",
    };
    let filter = EnvFilter::try_from_env("SEXTON_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    // A second start can only be that of a test; the first one holds.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(colours)
        .with_writer(std::io::stderr)
        .try_init();
}
