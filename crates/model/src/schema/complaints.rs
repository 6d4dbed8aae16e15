//! What is found wrong on a walk, where, and how far the walk may go on.

use serde_json::Value;

use crate::invalid::FieldError;

/// Errors that are reported at most: with that many mistakes the rest of them teach nothing new.
pub(super) const MOST: usize = 64;
/// So many values are looked at for one document. The largest document has fewer; a schema that looks at each of them
/// again and again has more.
const MOST_STEPS: usize = 4_000_000;

/// A place in a document, written as it is shown.
#[derive(Debug, Default)]
pub(super) struct Place(String);

impl Place {
    /// A place to begin at.
    pub(super) fn at(text: &str) -> Place {
        Place(text.to_owned())
    }

    /// As it is shown.
    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// The text of a field below.
    pub(super) fn child(&self, name: &str) -> String {
        match self.0.as_str() {
            "" => name.to_owned(),
            above => format!("{above}.{name}"),
        }
    }

    /// Does something at a field.
    pub(super) fn in_field<T>(&mut self, name: &str, act: impl FnOnce(&mut Place) -> T) -> T {
        let above = self.0.len();
        if above > 0 {
            self.0.push('.');
        }
        self.0.push_str(name);
        let done = act(self);
        self.0.truncate(above);
        done
    }

    /// Does something at an item, or at a named part of a schema.
    pub(super) fn in_item<T>(
        &mut self,
        item: impl std::fmt::Display,
        act: impl FnOnce(&mut Place) -> T,
    ) -> T {
        let above = self.0.len();
        self.0.push_str(&format!("[{item}]"));
        let done = act(self);
        self.0.truncate(above);
        done
    }
}

/// What was found so far.
#[derive(Debug)]
pub(super) struct Complaints {
    pub(super) errors: Vec<FieldError>,
    steps: usize,
}

impl Default for Complaints {
    fn default() -> Self {
        Complaints { errors: Vec::new(), steps: MOST_STEPS }
    }
}

impl Complaints {
    /// Notes an error.
    pub(super) fn add(&mut self, error: FieldError) {
        if self.errors.len() < MOST {
            self.errors.push(error);
        }
    }

    /// Takes so many steps; false if there is no point in going on.
    pub(super) fn step(&mut self, steps: usize) -> bool {
        self.steps = self.steps.saturating_sub(steps);
        self.steps > 0 && self.errors.len() < MOST
    }

    /// How much was looked at since another moment.
    pub(super) fn steps_left(&self) -> usize {
        self.steps
    }

    /// Looks at something without noting what is wrong with it: what is found is handed back.
    pub(super) fn aside(&mut self, look: impl FnOnce(&mut Complaints)) -> Vec<FieldError> {
        let mut other = Complaints { errors: Vec::new(), steps: self.steps };
        look(&mut other);
        self.steps = other.steps;
        other.errors
    }

    /// All that was found. A walk that was cut short has shown nothing.
    pub(super) fn finish(mut self) -> Vec<FieldError> {
        if self.steps == 0 {
            let detail = "to compare it with its schema takes too much work";
            self.errors.push(FieldError::invalid(NOWHERE, Value::from(""), detail));
        }
        self.errors
    }
}

/// How Kubernetes shows the place of an error that is about no field.
pub(super) const NOWHERE: &str = "<nil>";
