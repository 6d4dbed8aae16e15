//! Processor time and memory of processes, read from `/proc` before and after a measurement.
//! Must not know: the server, requests or the form of the report's line.

use std::fs;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::output;

/// The kernel counts processor time for user space in these units on every architecture we run on.
const TICKS_PER_SECOND: f64 = 100.0;

/// What one process used.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PidUsage {
    /// The process.
    pub(crate) pid: u32,
    /// Its name as the kernel has it.
    pub(crate) name: String,
    /// Processor seconds (user and system) during the measurement.
    pub(crate) cpu_seconds: f64,
    /// Resident memory at the start.
    pub(crate) rss_before_mib: f64,
    /// Resident memory at the end.
    pub(crate) rss_mib: f64,
    /// The most it ever had resident.
    pub(crate) rss_peak_mib: f64,
}

/// What all watched processes and this program used.
pub(crate) struct Usage {
    /// One entry per `--pid`, in that order; empty when none was given or one of them died.
    pub(crate) pids: Vec<PidUsage>,
    /// Processor seconds of this program itself.
    pub(crate) client_cpu_seconds: f64,
    /// Processes that were there at the start and gone at the end.
    pub(crate) died: u64,
}

/// A reading taken at the start.
pub(crate) struct Meter {
    before: Vec<(u32, Reading)>,
    client_before: f64,
}

struct Reading {
    name: String,
    cpu_seconds: f64,
    rss_mib: f64,
    peak_mib: f64,
}

impl Meter {
    /// Reads the counters of `pids` and of this program.
    pub(crate) fn start(pids: &[u32]) -> Result<Self> {
        let before = pids
            .iter()
            .map(|pid| Ok((*pid, read(&pid.to_string())?)))
            .collect::<Result<Vec<(u32, Reading)>>>()?;
        Ok(Self { before, client_before: read("self")?.cpu_seconds })
    }

    /// Reads again and takes the difference.
    pub(crate) fn finish(self) -> Result<Usage> {
        let client_cpu_seconds = read("self")?.cpu_seconds - self.client_before;
        let mut usage = Usage { pids: Vec::new(), client_cpu_seconds, died: 0 };
        for (pid, before) in self.before {
            match read(&pid.to_string()) {
                Ok(after) => usage.pids.push(PidUsage {
                    pid,
                    name: before.name,
                    cpu_seconds: round(after.cpu_seconds - before.cpu_seconds),
                    rss_before_mib: round(before.rss_mib),
                    rss_mib: round(after.rss_mib),
                    rss_peak_mib: round(after.peak_mib),
                }),
                // A dead server is a result worth a line of its own, not a reason to lose the figures.
                Err(error) => {
                    usage.died += 1;
                    output::talk(format_args!("process {pid} is gone: {error}"));
                }
            }
        }
        Ok(usage)
    }
}

/// The most that a process ever had resident, in MiB.
pub(crate) fn peak_mib(pid: u32) -> Result<f64> {
    Ok(status_mib(&slurp(&format!("/proc/{pid}/status"))?, "VmHWM:"))
}

fn read(process: &str) -> Result<Reading> {
    let stat = slurp(&format!("/proc/{process}/stat"))?;
    let status = slurp(&format!("/proc/{process}/status"))?;
    let (name, cpu_seconds) = parse_stat(&stat)
        .ok_or_else(|| Error::BadFlag(format!("/proc/{process}/stat has an unknown form")))?;
    Ok(Reading {
        name,
        cpu_seconds,
        rss_mib: status_mib(&status, "VmRSS:"),
        peak_mib: status_mib(&status, "VmHWM:"),
    })
}

fn slurp(path: &str) -> Result<String> {
    fs::read_to_string(path).map_err(|source| Error::Io { what: path.to_owned(), source })
}

/// Name and processor seconds. The name may hold blanks and parentheses, so it ends at the last one.
fn parse_stat(stat: &str) -> Option<(String, f64)> {
    let open = stat.find('(')?;
    let close = stat.rfind(')')?;
    let name = stat.get(open + 1..close)?.to_owned();
    // Fields after the name start with the third; utime and stime are the 14th and the 15th.
    let mut times = stat.get(close + 1..)?.split_ascii_whitespace().skip(11);
    let user: f64 = times.next()?.parse().ok()?;
    let system: f64 = times.next()?.parse().ok()?;
    Some((name, (user + system) / TICKS_PER_SECOND))
}

/// A `kB` line of `/proc/PID/status` in MiB; a process without memory of its own has none.
fn status_mib(status: &str, key: &str) -> f64 {
    let value = status.lines().find_map(|line| line.strip_prefix(key));
    let kib = value.and_then(|text| text.split_ascii_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or(0.0) / 1024.0
}

/// Two digits: the counters are no finer.
pub(crate) fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_with_an_awkward_name() {
        let stat = "12 (a (b) c) S 1 2 3 4 5 6 7 8 9 10 150 50 0 0 20 0 1 0 5 6 7";
        assert_eq!(parse_stat(stat), Some(("a (b) c".to_owned(), 2.0)));
    }

    #[test]
    fn own_process_is_measured() {
        let meter = Meter::start(&[std::process::id()]).unwrap();
        let usage = meter.finish().unwrap();
        assert_eq!(usage.pids.len(), 1);
        assert!(usage.pids[0].rss_mib > 0.0);
        assert_eq!(usage.died, 0);
    }

    #[test]
    fn an_unknown_process_is_an_error() {
        assert!(Meter::start(&[u32::MAX]).is_err());
    }
}
