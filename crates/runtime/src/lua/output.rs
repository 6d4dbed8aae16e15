//! The output of programs: lines of `log` and `print`, and traces.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Receives the lines that a program prints and, if it is traced, what happens to its objects.
pub trait Output {
    /// Takes a line that the program printed.
    fn log(&self, line: &str);
    /// Takes a line about an object: birth, reference, warning, and so on. Called for traced programs only.
    fn trace(&self, _line: &str) {}
}

/// Discards all lines.
#[derive(Debug, Default)]
pub struct Silent;

impl Output for Silent {
    fn log(&self, _: &str) {}
}

/// Collects all lines in order, for tests.
#[derive(Debug, Default)]
pub struct Lines(RefCell<Vec<String>>);

impl Lines {
    /// The lines so far; removes them.
    pub fn take(&self) -> Vec<String> {
        self.0.take()
    }
}

impl Output for Lines {
    fn log(&self, line: &str) {
        self.0.borrow_mut().push(line.to_owned());
    }

    fn trace(&self, line: &str) {
        self.0.borrow_mut().push(line.to_owned());
    }
}

/// An output with a limit of bytes.
pub(super) struct BoundedOutput {
    to: Rc<dyn Output>,
    left: Cell<usize>,
}

impl BoundedOutput {
    pub(super) fn new(to: Rc<dyn Output>, limit: usize) -> BoundedOutput {
        BoundedOutput { to, left: Cell::new(limit) }
    }

    /// Writes a line. Returns false, and writes nothing, if it would exceed the limit.
    pub(super) fn log(&self, line: &str) -> bool {
        let Some(left) = self.left.get().checked_sub(line.len() + 1) else { return false };
        self.left.set(left);
        // Control characters could be commands to a terminal.
        let is_control = |c: char| c.is_control() && c != '\n' && c != '\t';
        if line.contains(is_control) {
            self.to.log(&line.replace(is_control, "\u{fffd}"));
        } else {
            self.to.log(line);
        }
        true
    }
}
