//! Starts the program and reads its lines.
//! Must not know: what is expected of them.

use std::process::Command;

use serde_json::Value;

/// What a run left behind.
pub(crate) struct Run {
    /// One value per line of stdout.
    pub(crate) lines: Vec<Value>,
    pub(crate) talk: String,
    pub(crate) code: i32,
}

impl Run {
    /// The only line, of a run that went well.
    pub(crate) fn clean_line(&self) -> &Value {
        assert_eq!(self.code, 0, "{}", self.talk);
        assert_eq!(self.lines.len(), 1);
        assert_eq!(self.lines[0]["errors"], 0);
        &self.lines[0]
    }

    /// The only line, of a run that found something wrong.
    pub(crate) fn faulty_line(&self) -> &Value {
        assert_eq!(self.code, 1, "{}", self.talk);
        assert_eq!(self.lines.len(), 1);
        assert!(self.lines[0]["errors"].as_u64().unwrap() > 0);
        &self.lines[0]
    }
}

/// Runs the program on a server. Every line has to be JSON.
pub(crate) fn run(server: &str, flags: &[&str]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_sexton-bench"))
        .args(["--server", server, "--max-seconds", "60"])
        .args(flags)
        .output()
        .unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    Run {
        lines: stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
        talk: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code().unwrap(),
    }
}
