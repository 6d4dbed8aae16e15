//! Ctrl-C, once and again.

use std::future::Future;

use tokio::sync::mpsc;

use crate::failure::Failure;

/// Every Ctrl-C from now on.
#[derive(Debug)]
pub(crate) struct Interrupts(mpsc::UnboundedReceiver<()>);

impl Interrupts {
    /// Begins to listen: from now on Ctrl-C does not end the program by itself.
    pub(crate) fn listen() -> Interrupts {
        let (tell, heard) = mpsc::unbounded_channel();
        tokio::spawn(async move { while tokio::signal::ctrl_c().await.is_ok() && tell.send(()).is_ok() {} });
        Interrupts(heard)
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) {
        if self.0.recv().await.is_none() {
            // Signals are not available: wait for ever, because no Ctrl-C will be reported.
            std::future::pending::<()>().await;
        }
    }
}

/// Does something that may simply be broken off, because nothing is written by it.
pub(crate) async fn breakable<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::select! {
        result = work => result,
        _ = tokio::signal::ctrl_c() => Err(Failure::interrupted()),
    }
}
