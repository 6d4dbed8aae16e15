//! The set of measurements behind docs/performance.md, in order, one line each.
//! Must not know: how any of them is made.

use crate::bench::Bench;
use crate::cli::{AllArgs, CreateArgs, DeleteArgs, GetArgs, ListArgs, SingleArgs, WatchArgs};
use crate::error::Result;
use crate::measure::{create, delete, get, list, publish, single, watch};

/// Runs them all on objects of this run alone; true if nothing went wrong in any.
pub(crate) async fn run(bench: &Bench, flags: &AllArgs) -> Result<bool> {
    let bench = &bench.apart();
    let AllArgs { count, clients, size, owner, page, .. } = *flags;
    let created = create::run(bench, &CreateArgs { count, clients, size, owner }).await?;
    let mut clean = publish(&created);
    clean &= publish(&get::run(bench, &GetArgs { count: flags.gets, clients }).await?);
    let expect = Some(created.count());
    clean &= publish(&list::run(bench, &ListArgs { page, expect }).await?);
    clean &= publish(&watch::run(bench, &watch_flags(flags)).await?);
    let single = SingleArgs {
        count: flags.singles,
        size,
        fsync_dir: flags.fsync_dir.clone(),
        fsync_count: flags.fsync_count,
    };
    clean &= publish(&single::run(bench, &single).await?);
    clean &= publish(&delete::run(bench, &DeleteArgs { count: None, clients }).await?);
    Ok(clean)
}

fn watch_flags(flags: &AllArgs) -> WatchArgs {
    WatchArgs {
        watchers: flags.watchers,
        rate: flags.rate,
        seconds: flags.seconds,
        clients: flags.watch_clients,
        size: flags.size,
        updates: 1,
        drain_seconds: flags.drain_seconds,
    }
}
