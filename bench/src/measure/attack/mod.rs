//! Creates of an honest client, first alone and then while others hold on to all that a server lets them have.
//! Must not know: how a server defends itself.

mod holding;

use std::convert::Infallible;
use std::time::Duration;

use crate::bench::Bench;
use crate::cli::AttackArgs;
use crate::drive::{self, Bounds, Driven};
use crate::error::{Error, Result};
use crate::measure::create;
use crate::report::{AttackDetail, Detail, Report, Subject};
use crate::template::Template;
use crate::usage::{Meter, Usage, round};
use holding::Held;

/// Measures creates alone, and the same creates under attack, which is kept up until the last of them. The line is of the
/// latter.
pub(crate) async fn run(bench: &Bench, flags: &AttackArgs) -> Result<Report> {
    if bench.target.tls.is_some() {
        return Err(Error::BadFlag("attack needs a server without TLS".to_owned()));
    }
    let (alone, _) = creates(bench, flags, "a").await?;
    bench.within("the program that adds to the attack", begin(&flags.command)).await?;
    let mut held = bench.within("beginning the attack", holding::hold(bench, flags)).await?;
    let settled_creates = async {
        tokio::time::sleep(Duration::from_millis(flags.settle_ms)).await;
        creates(bench, flags, "b").await
    };
    let (attacked, usage) = tokio::select! {
        measured = settled_creates => measured?,
        never = again(bench, flags, &mut held) => match never {},
    };
    let rate = |driven: &Driven| driven.tally.ok as f64 / driven.elapsed.as_secs_f64().max(1e-9);
    let p99 = |driven: &Driven| driven.tally.times.quantile_us(0.99);
    let detail = AttackDetail {
        lists: flags.lists,
        bodies: flags.bodies,
        connections: flags.connections,
        streams: flags.streams,
        held: held.count(),
        refused: held.refused,
        alone_rate: round(rate(&alone)),
        alone_p99_us: p99(&alone),
        alone_errors: alone.tally.errors,
        rate_ratio: round(rate(&attacked) / rate(&alone).max(1e-9)),
        p99_ratio: round(p99(&attacked) / p99(&alone).max(1e-9)),
        peak_mib: round(usage.pids.iter().map(|pid| pid.rss_peak_mib).sum()),
    };
    let subject = Subject {
        bench: "attack",
        server: &bench.target.url,
        clients: flags.clients,
        size: Some(flags.size),
    };
    Ok(Report::new(&subject, &attacked.tally, attacked.elapsed, usage)
        .cut_short(attacked.cut_short)
        .with(Detail::Attack(Box::new(detail))))
}

/// Runs the program that adds to the attack, if there is one.
async fn begin(command: &[String]) -> Result<()> {
    let Some((program, arguments)) = command.split_first() else { return Ok(()) };
    let status = tokio::process::Command::new(program).args(arguments).kill_on_drop(true).status().await;
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Error::BadFlag(format!("{program} ended with {status}"))),
        Err(error) => Err(Error::BadFlag(format!("{program} cannot be run: {error}"))),
    }
}

/// Keeps the attack up: attackers that were cut off or refused come again, before the others let go.
async fn again(bench: &Bench, flags: &AttackArgs, held: &mut Held) -> Infallible {
    loop {
        tokio::time::sleep(Duration::from_millis(flags.again_ms)).await;
        // A server that accepts no connection any more is attacked all the same.
        if let Ok(next) = holding::hold(bench, flags).await {
            *held = held.followed_by(next);
        }
    }
}

async fn creates(bench: &Bench, flags: &AttackArgs, kind: &str) -> Result<(Driven, Usage)> {
    let template = Template::new(&bench.flags.namespace, &bench.stem(kind), flags.size, None);
    let maker = create::maker(bench, template)?;
    let bounds = Bounds { count: flags.count, time: bench.max_time() };
    let conns = bench.within("connecting", drive::open_all(&bench.target, flags.clients)).await?;
    let meter = Meter::start(&bench.flags.pids)?;
    let driven = drive::drive(conns, bounds, maker).await?;
    Ok((driven, meter.finish()?))
}
