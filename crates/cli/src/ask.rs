//! Asking a person, if there is one.

use std::io::IsTerminal;

use crate::failure::Failure;
use crate::output::Output;
use crate::output::screen::Stream;

/// Whether a question can be asked: stdin and stderr are terminals.
pub(crate) fn somebody_is_there() -> bool {
    std::io::stdin().is_terminal() && Stream::Talk.is_terminal()
}

/// Asks for a line, without the spaces around it.
pub(crate) async fn answer(prompt: &str, output: &Output) -> Result<String, Failure> {
    output.prompt(prompt);
    // On a blocking thread: the read may never return, and Ctrl-C must still be handled.
    let read = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).map(|_| line)
    });
    match read.await {
        Ok(Ok(line)) => Ok(line.trim().to_owned()),
        _ => Err(Failure::new("cannot read the answer")),
    }
}
