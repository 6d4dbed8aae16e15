//! A program that works on the server, run once: how long it takes, and how much memory it ever had per object.
//! Must not know: what the program does, or other measurements.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::bench::Bench;
use crate::cli::RunArgs;
use crate::error::{Error, Result};
use crate::report::{Detail, Report, RunDetail, Subject};
use crate::tally::{Complaints, Tally};
use crate::usage::{self, Meter};

/// How often its memory is looked at. The kernel keeps the highest figure, so only the last moment can be missed.
const LOOK: Duration = Duration::from_millis(1);

/// What is known of a run.
struct Ran {
    code: Option<i32>,
    elapsed: Duration,
    peak_mib: f64,
    cut_short: bool,
}

/// Runs the program and measures it.
pub(crate) async fn run(bench: &Bench, flags: &RunArgs) -> Result<Report> {
    let Some((program, arguments)) = flags.command.split_first() else {
        return Err(Error::BadFlag("name a program to run".to_owned()));
    };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let most = bench.max_time();
    let meter = Meter::start(&bench.flags.pids)?;
    let ran = tokio::task::spawn_blocking(move || watch(command, most)).await??;
    let usage = meter.finish()?;
    let mut tally = Tally::new(&Complaints::default());
    if ran.code == Some(0) {
        tally.ok = flags.objects;
    } else {
        tally.fail(format_args!("{program} ended with {:?}", ran.code));
    }
    let per_object = ran.peak_mib * 1024.0 * 1024.0 / flags.objects.max(1) as f64;
    let detail = RunDetail {
        program: program.clone(),
        exit_code: ran.code,
        peak_mib: usage::round(ran.peak_mib),
        peak_bytes_per_object: usage::round(per_object),
    };
    let subject = Subject { bench: "run", server: &bench.target.url, clients: 1, size: None };
    Ok(Report::new(&subject, &tally, ran.elapsed, usage).cut_short(ran.cut_short).with(Detail::Run(detail)))
}

fn watch(mut command: Command, most: Duration) -> Result<Ran> {
    let started = Instant::now();
    let failed = |source: std::io::Error| Error::BadFlag(format!("the program cannot be run: {source}"));
    let mut child = command.spawn().map_err(failed)?;
    let mut peak_mib = 0.0_f64;
    loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            let elapsed = started.elapsed();
            return Ok(Ran { code: status.code(), elapsed, peak_mib, cut_short: false });
        }
        if let Ok(peak) = usage::peak_mib(child.id()) {
            peak_mib = peak_mib.max(peak);
        }
        if started.elapsed() >= most {
            child.kill().map_err(failed)?;
            child.wait().map_err(failed)?;
            return Ok(Ran { code: None, elapsed: started.elapsed(), peak_mib, cut_short: true });
        }
        std::thread::sleep(LOOK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_watched_to_its_end() {
        let mut command = Command::new("sleep");
        command.arg("0.05");
        let ran = watch(command, Duration::from_secs(10)).unwrap();
        assert_eq!((ran.code, ran.cut_short), (Some(0), false));
        assert!(ran.peak_mib > 0.0 && ran.elapsed >= Duration::from_millis(50));
        let mut command = Command::new("sleep");
        command.arg("60");
        assert!(watch(command, Duration::from_millis(20)).unwrap().cut_short);
        assert!(watch(Command::new("/does/not/exist"), Duration::from_secs(1)).is_err());
    }
}
