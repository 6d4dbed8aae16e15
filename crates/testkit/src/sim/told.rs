//! Changes as text, for the story of a failure.

use sexton_model::marks;

use super::life::Life;

/// What a change did.
pub(super) fn told(before: Option<&Life>, after: Option<&Life>) -> String {
    let owners =
        |life: &Life| life.owners.iter().map(|owner| owner.uid.clone()).collect::<Vec<_>>().join(",");
    let all = |life: &Life| {
        let stage = life.journal().map_or(String::new(), |state| format!(" journal {state}"));
        let request =
            life.annotations.get(marks::REQUEST).map_or(String::new(), |text| format!(" request {text}"));
        let marked = if life.marked.is_some() { " marked" } else { "" };
        let dependencies = life.annotations.get(marks::DEPENDENCIES);
        let dependencies = dependencies.map_or(String::new(), |text| format!(" hears {text}"));
        let protected = if life.protected() { " protected" } else { "" };
        format!(
            "owners [{}] {:?}{marked}{protected}{dependencies}{stage}{request}",
            owners(life),
            life.finalizers
        )
    };
    match (before, after) {
        (None, Some(after)) => format!("made {}", all(after)),
        (Some(before), None) => format!("removed {}", all(before)),
        (_, Some(after)) => format!("changed {}", all(after)),
        (None, None) => String::new(),
    }
}
