//! The limits and permissions of a program, as data. How they are enforced is elsewhere in [`crate::lua`].

use std::time::Duration;

/// The limits of one program.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Bytes that its script may use; a sixteenth of them is a reserve of the host.
    pub memory: usize,
    /// How long it may compute without a pause, that is without waiting for anything.
    pub without_pause: Duration,
    /// How long one run may take, pauses included.
    pub whole_run: Duration,
    /// The number of objects in its world.
    pub objects: usize,
    /// Bytes that all objects together may hold in their properties.
    pub world: usize,
    /// Bytes that one property may hold, texts and structure together.
    pub property: usize,
    /// The number of green threads at the same time.
    pub threads: usize,
    /// Bytes that it may write with `log` and `print`.
    pub output: usize,
    /// Bytes that one program of the host may print, or one answer of a service may have.
    pub answer: usize,
    /// Bytes of its source text.
    pub source: usize,
}

impl Default for Limits {
    /// Enough for programs that manage hundreds of thousands of objects; runaway programs are stopped.
    fn default() -> Limits {
        Limits {
            memory: 512 << 20,
            without_pause: Duration::from_secs(10),
            whole_run: Duration::from_secs(3600),
            objects: 2_000_000,
            world: 1 << 30,
            property: 1 << 20,
            threads: 10_000,
            output: 16 << 20,
            answer: 1 << 20,
            source: 4 << 20,
        }
    }
}

/// What a program may use outside of its sandbox, by name. Nothing by default.
#[derive(Debug, Clone, Default)]
pub struct Grants {
    /// Programs of the host that `exec` may start: bare names, or paths that begin with `/`.
    pub exec: Vec<String>,
    /// Hosts that `http` may call: `name`, or `name:port` for other ports than 80.
    pub http: Vec<String>,
}
