//! The rounds of one measurement put together: medians, and the line.
//! Must not know: how a round is made.

use std::time::Duration;

use super::round::Round;
use crate::bench::Bench;
use crate::cli::Policy;
use crate::report::{CascadeDetail, Detail, Report, Subject};
use crate::tally::{Complaints, Tally};
use crate::usage::{PidUsage, Usage, round};

/// What all rounds have in common.
pub(crate) struct Setting {
    /// The shape in words.
    pub(crate) shape: String,
    /// Objects of one round.
    pub(crate) objects: u64,
    /// Bytes of one of them as sent.
    pub(crate) size: usize,
    /// Connections that created them.
    pub(crate) clients: u32,
    /// What the DELETE said.
    pub(crate) policy: Policy,
    /// Unrelated objects.
    pub(crate) world: u64,
    /// What creating those took, if this run did.
    pub(crate) world_time: Option<Duration>,
}

/// Puts the line together. There is at least one round.
pub(crate) fn report(bench: &Bench, setting: &Setting, rounds: &[Round]) -> Report {
    let mut tally = Tally::new(&Complaints::default());
    rounds.iter().for_each(|round| tally.merge(&round.tally));
    // Rounds without errors all have the same count.
    tally.ok = rounds.iter().map(|round| round.tally.ok).min().unwrap_or(0);
    let subject = Subject {
        bench: "cascade",
        server: &bench.target.url,
        clients: setting.clients,
        size: Some(setting.size),
    };
    let seconds = |time: fn(&Round) -> Duration| -> Vec<f64> {
        rounds.iter().map(|round| time(round).as_micros() as f64 / 1e6).collect()
    };
    let round_seconds = seconds(|round| round.elapsed);
    let elapsed = Duration::from_secs_f64(median(&round_seconds));
    let measured = |round: &&Round| !round.usage.pids.is_empty();
    let cpu = |round: &Round| round.usage.pids.iter().map(|pid| pid.cpu_seconds).sum();
    let detail = CascadeDetail {
        shape: setting.shape.clone(),
        policy: name(setting.policy),
        objects: setting.objects,
        world: setting.world,
        repeat: rounds.len() as u64,
        order_required: rounds.iter().any(|round| round.order_required),
        owners_first: rounds.iter().map(|round| round.owners_first).sum(),
        left: rounds.iter().map(|round| round.left).sum(),
        create_seconds: median(&seconds(|round| round.create)),
        world_seconds: setting.world_time.map(|time| time.as_micros() as f64 / 1e6),
        round_cpu_seconds: rounds.iter().filter(measured).map(|each| round(cpu(each))).collect(),
        round_seconds,
    };
    let cut_short = rounds.iter().any(|round| round.cut_short);
    Report::new(&subject, &tally, elapsed, middle(rounds))
        .cut_short(cut_short)
        .with(Detail::Cascade(Box::new(detail)))
}

/// The word of the command line.
pub(crate) fn name(policy: Policy) -> &'static str {
    match policy {
        Policy::Background => "background",
        Policy::Foreground => "foreground",
        Policy::Orphan => "orphan",
        Policy::Default => "default",
    }
}

/// Each figure's median over the rounds, process by process. A round in which one died has no figures.
fn middle(rounds: &[Round]) -> Usage {
    let whole: Vec<&Usage> =
        rounds.iter().map(|round| &round.usage).filter(|usage| usage.died == 0).collect();
    let count = whole.iter().map(|usage| usage.pids.len()).min().unwrap_or(0);
    let pids = (0..count)
        .map(|index| {
            let of = |field: fn(&PidUsage) -> f64| {
                round(median(&whole.iter().map(|usage| field(&usage.pids[index])).collect::<Vec<_>>()))
            };
            PidUsage {
                pid: whole[0].pids[index].pid,
                name: whole[0].pids[index].name.clone(),
                cpu_seconds: of(|pid| pid.cpu_seconds),
                rss_before_mib: of(|pid| pid.rss_before_mib),
                rss_mib: of(|pid| pid.rss_mib),
                rss_peak_mib: of(|pid| pid.rss_peak_mib),
            }
        })
        .collect();
    let client: Vec<f64> = rounds.iter().map(|round| round.usage.client_cpu_seconds).collect();
    let died = rounds.iter().map(|round| round.usage.died).sum();
    Usage { pids, client_cpu_seconds: median(&client), died }
}

/// The middle value, or the mean of the two in the middle; zero of nothing.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => 0.0,
        count if count % 2 == 1 => sorted[half],
        _ => f64::midpoint(sorted[half - 1], sorted[half]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[]), 0.0);
        assert_eq!(median(&[3.0]), 3.0);
        assert_eq!(median(&[9.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 100.0]), 3.0);
    }
}
