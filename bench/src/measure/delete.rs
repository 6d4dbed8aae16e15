//! Deletes: many clients deleting existing objects one by one.
//! Must not know: other measurements.

use std::sync::Arc;

use bytes::Bytes;
use http::Method;

use crate::bench::Bench;
use crate::cli::DeleteArgs;
use crate::drive::{self, Bounds, Maker};
use crate::error::{Error, Result};
use crate::pages;
use crate::report::{Report, Subject};
use crate::target::SharedTarget;
use crate::usage::Meter;

/// Dependents are left to the server's garbage collector, as most clients do.
const OPTIONS: &[u8] = br#"{"propagationPolicy":"Background"}"#;

/// Measures deletes.
pub(crate) async fn run(bench: &Bench, flags: &DeleteArgs) -> Result<Report> {
    let names = pages::existing(bench).await?;
    if names.is_empty() {
        return Err(Error::BadFlag("nothing to delete: run create first".to_owned()));
    }
    let count = flags.count.unwrap_or(u64::MAX).min(names.len() as u64);
    let bounds = Bounds { count, time: bench.max_time() };
    let target = SharedTarget::clone(&bench.target);
    let collection = bench.collection();
    let maker: Maker = Arc::new(move |index| {
        let uri = target.uri(&format!("{collection}/{}", names[index as usize]))?;
        Ok(target.request(Method::DELETE, uri, Bytes::from_static(OPTIONS)))
    });
    let conns = bench.within("connecting", drive::open_all(&bench.target, flags.clients)).await?;
    let meter = Meter::start(&bench.flags.pids)?;
    let driven = drive::drive(conns, bounds, maker).await?;
    let usage = meter.finish()?;
    let subject = Subject { bench: "delete", server: &bench.target.url, clients: flags.clients, size: None };
    Ok(Report::new(&subject, &driven.tally, driven.elapsed, usage).cut_short(driven.cut_short))
}
