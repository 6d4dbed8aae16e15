//! What Kubernetes has and this server has not, said in words that somebody at a terminal can use.

use sexton_model::Status;

use crate::kinds::Kind;

/// Why a part of an object is not here.
pub(super) fn part(kind: &Kind, part: &str) -> Status {
    let mut status = Status::no_such_path();
    if let Some(why) = why(&kind.resource.group, &kind.resource.resource, part) {
        status.message = format!("{}/{part} is not served here: {why}", kind.resource.resource);
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
            Some("service accounts are kept as data, tokens are in the file of sexton serve --token-file")
        }
        _ => None,
    }
}
