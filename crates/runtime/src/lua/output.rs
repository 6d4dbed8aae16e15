//! Where a program's words go.
//!
//! It must not know whether anybody reads them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Hears what a program says and what happens to its objects.
pub trait Output {
    /// A line that the program wrote.
    fn log(&self, line: &str);
    /// A line about an object: birth, reference, warning, and so on. Only if it is traced.
    fn trace(&self, _line: &str) {}
}

/// Hears nothing.
#[derive(Debug, Default)]
pub struct Silent;

impl Output for Silent {
    fn log(&self, _: &str) {}
}

/// Keeps all lines in the order in which they came.
#[derive(Debug, Default)]
pub struct Lines(RefCell<Vec<String>>);

impl Lines {
    /// What was said, and forgets it.
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

/// An output that ends after so many bytes.
pub(super) struct BoundedOutput {
    to: Rc<dyn Output>,
    left: Cell<usize>,
}

impl BoundedOutput {
    pub(super) fn new(to: Rc<dyn Output>, limit: usize) -> BoundedOutput {
        BoundedOutput { to, left: Cell::new(limit) }
    }

    /// Writes a line; false if there is no room for it.
    pub(super) fn log(&self, line: &str) -> bool {
        let Some(left) = self.left.get().checked_sub(line.len() + 1) else { return false };
        self.left.set(left);
        // Terminals take some characters for orders.
        let order = |c: char| c.is_control() && c != '\n' && c != '\t';
        if line.contains(order) {
            self.to.log(&line.replace(order, "\u{fffd}"));
        } else {
            self.to.log(line);
        }
        true
    }
}
