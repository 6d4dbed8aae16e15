//! Processes as `/proc` shows them: parents, groups and start times, and signals to many of them.
//!
//! A number alone does not name a process, since it is given to another one later; a number and a start time do, until
//! the machine is booted again.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde::{Deserialize, Serialize};

/// One process, whatever becomes of its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct ProcessRef {
    pub(super) pid: i32,
    /// Ticks between the start of the machine and that of the process.
    pub(super) start: u64,
}

/// A process at the moment of a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) this: ProcessRef,
    pub(super) parent: i32,
    pub(super) group: i32,
    /// Ended, and only its parent does not know it yet.
    pub(super) is_zombie: bool,
}

impl Process {
    /// The process of a number, if there is one.
    pub(super) fn find(pid: i32) -> Option<Process> {
        parse(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// All processes that can be seen.
    pub(super) fn all() -> Vec<Process> {
        let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
        let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter_map(Process::find).collect()
    }

    /// Whether its environment says that it was started for a call with this record.
    pub(super) fn is_marked(&self, variable: &str, record: &Path) -> bool {
        let wanted = format!("{variable}={}", record.display());
        let environment = fs::read(format!("/proc/{}/environ", self.this.pid)).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes())
    }

    /// Whether it has the file open, and so holds its lock. Processes of other users cannot be inspected.
    pub(super) fn has_locked(&self, file: &Path) -> bool {
        let Ok(open) = fs::read_dir(format!("/proc/{}/fd", self.this.pid)) else { return false };
        let same = open.flatten().filter(|entry| fs::read_link(entry.path()).is_ok_and(|to| to == file));
        same.into_iter().any(|entry| {
            let about = format!("/proc/{}/fdinfo/{}", self.this.pid, entry.file_name().to_string_lossy());
            fs::read_to_string(about).is_ok_and(|text| text.lines().any(|line| line.starts_with("lock:")))
        })
    }
}

impl ProcessRef {
    /// This process.
    pub(super) fn own() -> Option<ProcessRef> {
        Process::find(rustix::process::getpid().as_raw_nonzero().get()).map(|own| own.this)
    }

    /// Whether it still runs.
    pub(super) fn is_alive(&self) -> bool {
        Process::find(self.pid).is_some_and(|found| found.this == *self && !found.is_zombie)
    }

    /// Sends it a signal, if it is still the same process.
    pub(super) fn signal(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.pid).filter(|_| self.is_alive()) {
            // A process that ended meanwhile needs no signal.
            let _ = kill_process(pid, signal);
        }
    }
}

/// Reads a line of `/proc/PID/stat`. The name of the program is in brackets and may contain anything, brackets
/// included.
fn parse(pid: i32, stat: &str) -> Option<Process> {
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    // Field 3 of the manual page is the first one after the name.
    let field = |number: usize| fields.get(number - 3).copied();
    Some(Process {
        this: ProcessRef { pid, start: field(22)?.parse().ok()? },
        parent: field(4)?.parse().ok()?,
        group: field(5)?.parse().ok()?,
        is_zombie: matches!(field(3)?, "Z" | "X"),
    })
}

/// All that the processes of these numbers started, and what that started, and so on; not the processes themselves.
pub(super) fn descendants(of: &BTreeSet<i32>, all: &[Process]) -> Vec<Process> {
    let mut children: HashMap<i32, Vec<&Process>> = HashMap::new();
    for process in all {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found: Vec<Process> = Vec::new();
    let mut known = of.clone();
    let mut next: Vec<i32> = of.iter().copied().collect();
    while let Some(parent) = next.pop() {
        for child in children.get(&parent).into_iter().flatten() {
            if known.insert(child.this.pid) {
                found.push(**child);
                next.push(child.this.pid);
            }
        }
    }
    found
}

/// Sends a signal to processes and to the groups that these lead or are in, so that what starts further processes at
/// this moment does not escape. The caller knows that no other process is in these groups.
pub(super) fn signal_with_groups(processes: &[Process], spared: &BTreeSet<i32>, signal: Signal) {
    let groups: BTreeSet<i32> = processes.iter().map(|process| process.group).collect();
    for group in groups.difference(spared).filter_map(|group| Pid::from_raw(*group)) {
        let _ = kill_process_group(group, signal);
    }
    processes.iter().for_each(|process| process.this.signal(signal));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_stat_is_read_whatever_the_program_is_called() {
        let stat = "42 (a) b (c) S 7 41 40 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456 1 2";
        let process = parse(42, stat).unwrap();
        assert_eq!(process.this, ProcessRef { pid: 42, start: 123_456 });
        assert_eq!((process.parent, process.group, process.is_zombie), (7, 41, false));
        assert_eq!(parse(42, "42 (a"), None);
    }

    #[test]
    fn descendants_are_found_through_all_generations_and_once() {
        let process = |pid, parent| Process {
            this: ProcessRef { pid, start: 0 },
            parent,
            group: pid,
            is_zombie: false,
        };
        let all = [process(2, 1), process(3, 2), process(4, 3), process(5, 1), process(6, 6)];
        let pids = |of: &[i32]| {
            let mut found: Vec<i32> =
                descendants(&of.iter().copied().collect(), &all).iter().map(|one| one.this.pid).collect();
            found.sort_unstable();
            found
        };
        assert_eq!(pids(&[2]), [3, 4]);
        assert_eq!(pids(&[1]), [2, 3, 4, 5]);
        assert_eq!(pids(&[3, 4]), [] as [i32; 0]);
        assert_eq!(pids(&[6]), [] as [i32; 0], "no process is its own descendant");
    }

    #[test]
    fn this_process_is_found() {
        let own = ProcessRef::own().unwrap();
        assert!(own.is_alive());
        assert!(!ProcessRef { start: own.start + 1, ..own }.is_alive(), "another process of the same number");
    }
}
