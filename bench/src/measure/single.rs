//! One client creating one object after the other, next to what the disk itself takes for a sync.
//! Must not know: other measurements, apart from how a create is built.

use crate::bench::Bench;
use crate::cli::SingleArgs;
use crate::drive::{self, Bounds};
use crate::error::Result;
use crate::histogram::Histogram;
use crate::measure::create;
use crate::measure::fsync::{self, FsyncTimes};
use crate::report::{Detail, FsyncFigures, Report, SingleDetail, Subject};
use crate::template::Template;
use crate::usage::Meter;

/// Measures sequential creates and the disk.
pub(crate) async fn run(bench: &Bench, flags: &SingleArgs) -> Result<Report> {
    let template = Template::new(&bench.flags.namespace, &bench.stem("s"), flags.size, None);
    let maker = create::maker(bench, template)?;
    let bounds = Bounds { count: flags.count, time: bench.max_time() };
    // Half before and half after, so that a disk whose mood changes is not held against the server.
    let mut disk = disk_times(bench, flags).await?;
    let conns = bench.within("connecting", drive::open_all(&bench.target, 1)).await?;
    let meter = Meter::start(&bench.flags.pids)?;
    let driven = drive::drive(conns, bounds, maker).await?;
    let usage = meter.finish()?;
    if let (Some(disk), Some(later)) = (&mut disk, disk_times(bench, flags).await?) {
        disk.merge(&later);
    }
    let subject = Subject { bench: "single", server: &bench.target.url, clients: 1, size: Some(flags.size) };
    let detail = detail(&driven.tally.times, disk.as_ref());
    Ok(Report::new(&subject, &driven.tally, driven.elapsed, usage)
        .cut_short(driven.cut_short)
        .with(Detail::Single(Box::new(detail))))
}

async fn disk_times(bench: &Bench, flags: &SingleArgs) -> Result<Option<FsyncTimes>> {
    let Some(dir) = flags.fsync_dir.clone() else { return Ok(None) };
    let (count, time) = (flags.fsync_count.div_ceil(2), bench.max_time() / 2);
    tokio::task::spawn_blocking(move || fsync::measure(&dir, count, time)).await?.map(Some)
}

fn detail(creates: &Histogram, disk: Option<&FsyncTimes>) -> SingleDetail {
    let append = disk.map(|disk| figures(&disk.append));
    let prealloc = disk.map(|disk| figures(&disk.prealloc));
    let above = |fraction: f64, own: Option<f64>| {
        own.map(|own| ((creates.quantile_us(fraction) - own) * 10.0).round() / 10.0)
    };
    SingleDetail {
        histogram_us: creates.doublings(),
        fsync_append: append,
        fsync_prealloc: prealloc,
        p50_above_fsync_append_us: above(0.5, append.map(|own| own.p50_us)),
        p99_above_fsync_append_us: above(0.99, append.map(|own| own.p99_us)),
        p50_above_fsync_prealloc_us: above(0.5, prealloc.map(|own| own.p50_us)),
        p99_above_fsync_prealloc_us: above(0.99, prealloc.map(|own| own.p99_us)),
    }
}

fn figures(times: &Histogram) -> FsyncFigures {
    FsyncFigures {
        count: times.count(),
        p50_us: times.quantile_us(0.5),
        p99_us: times.quantile_us(0.99),
        max_us: times.max_us(),
    }
}
