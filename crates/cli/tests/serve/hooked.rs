//! A server whose ConfigMaps have a destroy method and a handler: the same shell script.

use std::path::Path;

use serde_json::{Value, json};

use crate::raw::ask;

pub(crate) const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
/// The hook is run by a shell.
pub(crate) const ALLOWED: [&str; 2] = ["--allow-exec", "/bin"];

/// Writes the script into a directory and makes the class that calls it, with this environment; its handler is `gone`.
pub(crate) fn define_class(address: &str, dir: &Path, script: &str, env: Value) {
    let hook = dir.join("hook.sh");
    std::fs::write(&hook, script).unwrap();
    // Read by a shell: a file that was just written may still be open for writing in a process that is being born.
    let run = json!({"exec": {"argv": ["/bin/sh", hook], "env": env}, "deadlineSeconds": 120});
    let spec = json!({"for": {"kind": "ConfigMap"}, "destroy": run, "handlers": {"gone": run}});
    ask(address, "POST", "/apis/sexton.dev/v1/classes", &json!({"metadata": {"name": "cm"}, "spec": spec}));
}
