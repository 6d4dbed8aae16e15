//! Real kubectl with this program as its plugin, and the events that it shows; against our own server and one that
//! looks like any other.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::kubectl::kubectls_or_skip;
use crate::process::Server;

/// A shell in which `kubectl` is the one under test and `kubectl sexton` is this program.
struct Shell<'a> {
    home: &'a Path,
}

impl Shell<'_> {
    /// What a command prints, and whether it went well.
    fn run(&self, command: &str) -> (String, bool) {
        let path = format!("{}:{}", self.home.display(), std::env::var("PATH").unwrap_or_default());
        let output = Command::new("sh")
            .args(["-c", &format!("exec 2>&1; {command}")])
            .current_dir(self.home)
            .env("PATH", path)
            .env("HOME", self.home)
            .env("KUBECONFIG", self.home.join("config"))
            .output()
            .unwrap();
        (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.success())
    }

    /// The first lines of something that does not end by itself.
    fn begins(&self, arguments: &str, lines: usize, parts: &[&str]) {
        let mut child = Command::new(self.home.join("kubectl"))
            .args(arguments.split(' '))
            .env("HOME", self.home)
            .env("KUBECONFIG", self.home.join("config"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stdout.take().unwrap()).lines().take(lines);
        let text: Vec<String> = said.map(Result::unwrap).collect();
        child.kill().unwrap();
        child.wait().unwrap();
        let text = text.join("\n");
        for part in parts {
            assert!(text.contains(part), "kubectl {arguments}: {part:?} is not in\n{text}");
        }
    }

    /// Runs a command that goes well and prints all of this.
    fn says(&self, command: &str, parts: &[&str]) -> String {
        let (text, good) = self.run(command);
        assert!(good, "{command}\n{text}");
        for part in parts {
            assert!(text.contains(part), "{command}: {part:?} is not in\n{text}");
        }
        text
    }
}

/// Everything for each kubectl that there is.
fn with_each_kubectl(arguments: &[&str], test: impl Fn(&Shell<'_>)) {
    for kubectl in kubectls_or_skip() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        let _server = Server::start(&data, arguments);
        let sexton = env!("CARGO_BIN_EXE_sexton");
        std::os::unix::fs::symlink(&kubectl, dir.path().join("kubectl")).unwrap();
        std::os::unix::fs::symlink(sexton, dir.path().join("kubectl-sexton")).unwrap();
        let others = "clusters: [{name: prod, cluster: {server: 'https://prod.invalid'}}]\nkeeps: this\n";
        std::fs::write(dir.path().join("config"), others).unwrap();
        let shell = Shell { home: dir.path() };
        shell.says(&format!("{sexton} kubeconfig --data {} --merge --name here", data.display()), &["here"]);
        shell.says("kubectl config get-clusters", &["here", "prod"]);
        assert!(std::fs::read_to_string(dir.path().join("config")).unwrap().contains("keeps: this"));
        let held = r#"{"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "held", "finalizers": ["a.example.com/f"]}}"#;
        shell.says(&format!("echo '{held}' | kubectl create -f -"), &["created"]);
        test(&shell);
    }
}

/// What the plugin says of an object that cannot go, on a server of whatever make.
fn looks_at_what_is_held(shell: &Shell<'_>) {
    shell.says("kubectl delete cm held --wait=false", &[]);
    shell.says(
        "kubectl sexton why cm/held",
        &["ConfigMap/held is being destroyed", "finalizer a.example.com/f"],
    );
    shell.says("kubectl sexton why cm/held --context here -n default", &["is being destroyed"]);
    shell.says("kubectl sexton graph cm/held", &["digraph", "ConfigMap/held"]);
    shell.says("kubectl sexton orphans", &["no orphans", "context here"]);
    shell.says("kubectl sexton plan delete cm/held", &["context here", "Nothing was written"]);
    shell.says("kubectl sexton why --help", &["Usage: kubectl sexton why"]);
    let (text, good) = shell.run("kubectl sexton why cm/held --context nowhere");
    assert!(!good && text.contains("there are: here"), "{text}");
    let (text, good) = shell.run("kubectl sexton kinds --kubeconfig nothing");
    assert!(!good && text.contains("there is no current context"), "{text}");
}

/// `kubectl sexton` on our own server; and the events of the collector in everything by which kubectl shows them.
#[test]
fn kubectl_shows_events_and_has_a_plugin() {
    with_each_kubectl(&[], |shell| {
        looks_at_what_is_held(shell);
        // The header and the first: it waits until that is told.
        let first = "get events --watch --field-selector involvedObject.name=held,reason=Blocked";
        shell.begins(first, 2, &["LAST SEEN", "Warning", "Blocked", "configmap/held"]);
        let described = shell.says("kubectl describe cm held", &["Events:", "Blocked", "sexton-collector"]);
        assert!(!described.contains("<invalid>"), "{described}");
        let columns =
            ["LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE", "held by the finalizer a.example.com/f"];
        shell.says("kubectl get events", &columns);
        shell.says("kubectl get events --sort-by=.lastTimestamp", &columns);
        shell.says("kubectl events", &columns);
        shell.says("kubectl events --for cm/held --types=Warning", &columns);
        shell.begins("events --watch", 2, &["LAST SEEN", "ConfigMap/held"]);
        let uid = shell.says("kubectl get cm held -o 'jsonpath={.metadata.uid}'", &[]);
        let of = |uid: &str| {
            format!("kubectl get events --field-selector involvedObject.name=held,involvedObject.uid={uid}")
        };
        shell.says(&of(&uid), &columns);
        shell.says(&of("other"), &["No resources found"]);
    });
}

/// `kubectl sexton` on a server that is not ours.
#[test]
fn the_plugin_works_elsewhere() {
    with_each_kubectl(&["--plain"], looks_at_what_is_held);
}

/// In whatever shell, kubectl asks `kubectl_complete-sexton` for the words behind `kubectl sexton`; what answers is about
/// kubectl's context, also where a variable names another server.
#[test]
fn kubectl_completes_the_plugin() {
    with_each_kubectl(&[], |shell| {
        shell.says("kubectl sexton completions kubectl >kubectl_complete-sexton", &[]);
        shell.says("chmod +x kubectl_complete-sexton", &[]);
        for (typed, expected) in [
            ("wh", "why\tExplain why an object exists, is being deleted, or is gone\n:4\n"),
            ("why cm he", "held\n:4\n"),
            ("force cm/", "cm/held\n:4\n"),
            ("graph cm ''", "held\n:4\n"),
            ("get cm -n defa", "default\n:4\n"),
            ("why cm --context nowhere ''", ":0\n"),
            ("put -f ''", ":0\n"),
        ] {
            let asked =
                format!("SEXTON_SERVER=http://127.0.0.1:1 kubectl __complete sexton {typed} 2>/dev/null");
            assert_eq!(shell.says(&asked, &[]), expected, "{typed}");
        }
    });
}

/// A kubeconfig that cannot be understood, or has the name for something else, is left as it is.
#[test]
fn merging_leaves_alone_what_it_must() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("config");
    let merge = |more: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_sexton"))
            .args(["kubeconfig", "--server", "http://127.0.0.1:1", "--merge"])
            .args(more)
            .env("KUBECONFIG", format!("{}:/nonexistent/second", file.display()))
            .output()
            .unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let taken = "clusters: [{name: sexton, cluster: {server: 'http://127.0.0.1:2'}}] # mine\n";
    for (text, told) in
        [("a: [", "cannot be understood"), ("kind: Pod", "not a kubeconfig"), (taken, "--force")]
    {
        std::fs::write(&file, text).unwrap();
        let (good, said) = merge(&[]);
        assert!(!good && said.contains(told), "{said}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }
    let (good, said) = merge(&["--name", "two"]);
    assert!(good, "{said}");
    let (good, said) = merge(&["--force", "--use"]);
    assert!(good && said.contains("current context"), "{said}");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(!text.contains("127.0.0.1:2") && text.contains("current-context: sexton"), "{text}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}
