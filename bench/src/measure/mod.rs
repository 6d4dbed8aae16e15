//! The measurements, one per file, and the choice between them.
//! Must not know: how requests travel.

mod all;
mod attack;
mod cascade;
mod create;
mod delete;
mod fsync;
mod get;
mod list;
mod run;
mod single;
mod watch;

use crate::bench::Bench;
use crate::cli::Measurement;
use crate::error::Result;
use crate::output;
use crate::report::Report;

/// Runs what was asked for; true if nothing went wrong.
pub(crate) async fn run(bench: &Bench, measurement: &Measurement) -> Result<bool> {
    // A cascade works in namespaces of its own and leaves none behind.
    if !matches!(measurement, Measurement::Cascade(_)) {
        bench.prepare().await?;
    }
    let report = match measurement {
        Measurement::Create(flags) => create::run(bench, flags).await?,
        Measurement::Get(flags) => get::run(bench, flags).await?,
        Measurement::List(flags) => list::run(bench, flags).await?,
        Measurement::Watch(flags) => watch::run(bench, flags).await?,
        Measurement::Delete(flags) => delete::run(bench, flags).await?,
        Measurement::Attack(flags) => attack::run(bench, flags).await?,
        Measurement::Run(flags) => run::run(bench, flags).await?,
        Measurement::Single(flags) => single::run(bench, flags).await?,
        Measurement::Cascade(flags) => return cascade::run(bench, flags).await,
        Measurement::All(flags) => return all::run(bench, flags).await,
    };
    Ok(publish(&report))
}

/// Prints a measurement; true if nothing went wrong in it.
fn publish(report: &Report) -> bool {
    output::line(report);
    report.clean()
}
