//! What Kubernetes has and this server has not, said in words that are of use at a terminal.

use sexton_model::{Details, Status};

use crate::kinds::Kind;

/// Why a part of an object is not here. It says of which kind: there are clients that look at that without asking
/// whether it is said.
pub(super) fn part(kind: &Kind, part: &str) -> Status {
    let (group, plural) = (&kind.resource.group, &kind.resource.resource);
    let mut status = Status::no_such_path();
    if let Some(why) = why(group, plural, part) {
        status.message = format!("{plural}/{part} is not served here: {why}");
        status.details = Some(Details { group: group.clone(), kind: plural.clone(), ..Details::default() });
    }
    status
}

fn why(group: &str, plural: &str, part: &str) -> Option<&'static str> {
    match (group, plural, part) {
        (
            "",
            "pods",
            "log"
            | "exec"
            | "attach"
            | "portforward"
            | "proxy"
            | "eviction"
            | "binding"
            | "resize"
            | "ephemeralcontainers",
        ) => Some("pods are kept as data, nothing runs them"),
        ("", "services", "proxy") => Some("services are kept as data, nothing stands behind them"),
        ("", "serviceaccounts", "token") => {
            Some("service accounts are kept as data, tokens are in the file of sexton serve --tokens")
        }
        _ => None,
    }
}
