//! `sexton script-worker` as the process it is: hostile programs are told what was wrong, and the memory of the whole
//! process keeps below what is promised.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may end so")]

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

/// What docs/gc.md promises of a process.
const MAX_PROCESS_KIB: u64 = 256 << 10;

/// How a worker ended.
#[derive(Debug)]
struct Ended {
    status: ExitStatus,
    out: String,
    err: String,
    /// The most that the process ever had in memory.
    peak: u64,
}

impl Ended {
    /// What was wrong, in words: the answer's, or the last ones of the process.
    fn reason(&self) -> String {
        let answer: Value = serde_json::from_str(&self.out).unwrap_or_default();
        match answer["verdict"]["verdict"].as_str() {
            Some("failed") => answer["verdict"]["reason"].as_str().unwrap().to_owned(),
            Some(_) => String::new(),
            None => self.err.clone(),
        }
    }
}

/// A call of `destroy` of an object whose class has this body.
fn call(body: &str, spec: &Value) -> Value {
    let source = format!(
        "format \"1.4\"\nclass(\"Vm\", {{ properties = {{ data = {{ usage = \"InOut\" }} }},\n\
         destroy = function(self)\n{body}\nend }})\n"
    );
    let object = json!({
        "apiVersion": "classes.sexton.dev/v1", "kind": "Vm", "spec": spec,
        "metadata": {"name": "web", "namespace": "prod", "uid": "u-web"},
    });
    json!({
        "program": {"name": "p.luau", "source": source, "exec": ["sh"]},
        "call": {
            "method": "destroy", "phase": "destroying", "session": "", "epoch": 1, "idempotencyKey": "", "attempt": 1,
            "deadline": "", "object": object, "doomed": [], "doomedCount": 0, "isDoomed": {}, "isDestroyed": {},
        },
        "around": [], "seconds": 5,
    })
}

/// Makes the call in a worker.
fn work(call: &Value) -> Ended {
    let [mut stdin, mut out, mut err] = [(); 3].map(|()| tempfile::tempfile().unwrap());
    stdin.write_all(call.to_string().as_bytes()).unwrap();
    stdin.rewind().unwrap();
    let copy = |file: &File| Stdio::from(file.try_clone().unwrap());
    let mut worker = Command::new(env!("CARGO_BIN_EXE_sexton"))
        .arg("script-worker")
        .env_clear()
        .stdin(stdin)
        .stdout(copy(&out))
        .stderr(copy(&err))
        .spawn()
        .unwrap();
    let mut peak = 0;
    // The system has no event for the memory of a process, and forgets it with the process.
    let status = loop {
        peak = peak.max(high_water(worker.id()));
        match worker.try_wait().unwrap() {
            Some(status) => break status,
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    Ended { status, out: text(&mut out), err: text(&mut err), peak }
}

fn text(file: &mut File) -> String {
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The KiB that a process had in memory at most; none if it has ended.
fn high_water(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or(0, |line| line.trim().trim_end_matches(" kB").parse().unwrap())
}

const HOSTILE: [&str; 17] = [
    "local t = {} for i = 1, 1e9 do t[i] = {i} end",
    "local t = {} for i = 1, 1e9 do t['k' .. i] = i end",
    "local s = 'x' while true do s = s .. s end",
    "local t = {} while true do t[#t + 1] = string.rep('x', 1000) .. #t end",
    "local t = {} while true do t[#t + 1] = buffer.create(1e6) end",
    "local t = {} while true do t[#t + 1] = table.create(1e5, 0) end",
    "local t = {} while true do t[#t + 1] = spawn(function(x) sleep(60) end, string.rep('x', 1e6) .. #t) end",
    "local t = {} while true do pcall(function() t[#t + 1] = spawn(function(x) sleep(60) end, {}) end) end",
    "return string.gsub(string.rep('a', 1e6), 'a', string.rep('b', 1e4))",
    "local s = string.rep('x', 3e7) local t = {} while true do t[#t + 1] = string.gsub(s, 'x', 'y') .. #t end",
    "local s = string.rep('x', 1e6) local t = {} for i = 1, 1000 do t[i] = s end return table.concat(t)",
    "local t = {} while true do pcall(function() while true do t[#t + 1] = {} end end) end",
    "local s = string.rep('x', 5e7) local all = {} while true do all[#all + 1] = pcall(error, s .. #all) end",
    "error(string.rep('x', 1e8))",
    "exec{ program = string.rep('\\1', 1e8) }",
    "local t = {} for i = 1, 1000 do t[i] = string.rep('\\1', 1e5) end exec{ program = 'sh', args = t }",
    "local all = {} while true do all[#all + 1] = new('Vm', { data = string.rep('x', 1e6) .. #all }, self) end",
];

/// Whatever a program does, its process has no more memory than is promised, and there are words for what was wrong.
#[test]
fn hostile_programs_keep_to_the_memory_of_a_worker() {
    for body in HOSTILE {
        let ended = work(&call(body, &json!({})));
        let reason = ended.reason();
        let told =
            ["memory", "stopped", "too large", "too many", "threads", "bytes", "overflow", "xxxx", "cannot"];
        let shown: String = reason.chars().take(300).collect();
        eprintln!("{:>4} MiB {:?} {body}\n         {shown}", ended.peak >> 10, ended.status);
        assert!(ended.peak > 0 && ended.peak <= MAX_PROCESS_KIB, "{body}: {} KiB", ended.peak);
        assert!(told.iter().any(|word| reason.contains(word)), "{body}: {:?} {shown:?}", ended.status);
    }
}

/// Values that need much more memory than their text: the object may be too large for a worker, but not for the machine.
#[test]
fn large_objects_keep_to_the_memory_of_a_worker() {
    let list = |times: usize| json!({"data": vec![0; times]});
    let ended = work(&call("local n = #self.data", &list(20_000)));
    assert_eq!(ended.out, r#"{"verdict":{"verdict":"done"},"changed":[]}"#, "{ended:?}");
    for spec in [list(1_500_000), json!({"data": vec![json!({}); 1_000_000]})] {
        let ended = work(&call("self.data = nil", &spec));
        eprintln!("{:>4} MiB {:?}", ended.peak >> 10, ended.status);
        assert!(ended.peak > 0 && ended.peak <= MAX_PROCESS_KIB, "{} KiB", ended.peak);
        assert!(!ended.out.is_empty() || ended.err.contains("memory"), "{}", ended.err);
    }
}

/// The bound is the worker's own: what a script starts has the limits of the server.
#[test]
fn programs_do_not_inherit_the_bound() {
    let ulimit = Command::new("sh").args(["-c", "ulimit -S -d; ulimit -H -d"]).output().unwrap();
    let body = "error(exec{ program = 'sh', args = { '-c', 'ulimit -S -d; ulimit -H -d' } }.stdout)";
    let reason = work(&call(body, &json!({}))).reason();
    assert!(reason.contains(String::from_utf8(ulimit.stdout).unwrap().trim()), "{reason}");
}
