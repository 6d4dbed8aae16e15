//! Gets: many clients reading random existing objects.
//! Must not know: other measurements.

use std::sync::Arc;

use crate::bench::Bench;
use crate::cli::GetArgs;
use crate::drive::{self, Bounds, Maker};
use crate::error::{Error, Result};
use crate::pages;
use crate::random::mix;
use crate::report::{Report, Subject};
use crate::target::SharedTarget;
use crate::usage::Meter;

/// Measures gets.
pub(crate) async fn run(bench: &Bench, flags: &GetArgs) -> Result<Report> {
    let names = pages::existing(bench).await?;
    if names.is_empty() {
        return Err(Error::BadFlag("nothing to get: run create first".to_owned()));
    }
    let bounds = Bounds { count: flags.count, time: bench.max_time() };
    let target = SharedTarget::clone(&bench.target);
    let collection = bench.collection();
    let maker: Maker = Arc::new(move |index| {
        // The index mixed is as good as random and needs no state that clients would share.
        let choice = (mix(index) % names.len() as u64) as usize;
        target.get(&format!("{collection}/{}", names[choice]))
    });
    let conns = bench.within("connecting", drive::open_all(&bench.target, flags.clients)).await?;
    let meter = Meter::start(&bench.flags.pids)?;
    let driven = drive::drive(conns, bounds, maker).await?;
    let usage = meter.finish()?;
    let subject = Subject { bench: "get", server: &bench.target.url, clients: flags.clients, size: None };
    Ok(Report::new(&subject, &driven.tally, driven.elapsed, usage).cut_short(driven.cut_short))
}
