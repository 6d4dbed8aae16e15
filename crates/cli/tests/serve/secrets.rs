//! Values of Secrets on a server: refusals, records, events, metrics, plans and the log tell none, at whatever length methods
//! print them and in whatever encoding.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::process::Server;
use crate::raw::{Answer, Connection};

/// Much longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(120);
const CANARY: &str = "canary-Zx81-4711-of-a-secret";
/// So much of a value is of no use.
const HARMLESS_BYTES: usize = 12;
const SECRETS: &str = "/api/v1/namespaces/default/secrets";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// Prints what it was told and the value in many ways, as a program does that is debugged.
const LOUD: &str = r#"#!/bin/sh
told=$(cat)
value=$(echo "$told" | tr ',{' '\n\n' | sed -n 's/.*"password":"\([A-Za-z0-9=]*\)".*/\1/p' | head -n 1 | base64 -d)
echo "$told" >&2
for user in "" u: us: user:
do printf '%s' "$user$value" | base64 -w 0 >&2; echo >&2
done
printf '%s' "$value" | od -An -tx1 | tr -d ' \n' >&2
echo "and so $value" >&2
[ -e DIR/mended ] || exit 3
printf '{"verdict":"done","output":"revoked %s"}\n' "$(echo "$value" | tr '\n' ' ')"
"#;

/// A server, and everything that was heard of it.
struct Play {
    server: Server,
    dir: PathBuf,
    token: String,
    heard: Vec<(String, String)>,
}

impl Play {
    fn start(dir: &Path) -> Play {
        let hooks = dir.join("hooks");
        std::fs::create_dir(&hooks).unwrap();
        let script = LOUD.replace("DIR", &dir.display().to_string());
        // Another process writes it: what this one has open for writing cannot be run for a moment.
        let mut writing = Command::new("sh");
        let writing = writing.args(["-c", r#"printf '%s' "$1" > "$0" && chmod 755 "$0""#]);
        assert!(writing.arg(hooks.join("loud")).arg(script).status().unwrap().success());
        let log = std::fs::File::create(dir.join("log")).unwrap();
        let allowed = ["--allow-exec", hooks.to_str().unwrap()];
        let server = Server::start_talkative(&dir.join("data"), &allowed, Stdio::from(log));
        let token = std::fs::read_to_string(dir.join("data/tls/token")).unwrap().trim().to_owned();
        Play { server, dir: dir.to_owned(), token, heard: Vec::new() }
    }

    /// A request, whose answer is not listened to.
    fn ask(&self, method: &str, path: &str, kind: &str, body: &str) -> Answer {
        let mut connection = Connection::open(&self.server.address).unwrap();
        let (token, length) = (&self.token, body.len());
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\nContent-Type: {kind}\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        );
        connection.send(head.as_bytes()).unwrap();
        connection.answer().unwrap()
    }

    fn make(&self, path: &str, document: &Value) {
        let answer = self.ask("POST", path, "application/json", &document.to_string());
        assert_eq!(answer.code, 201, "{answer:?}");
    }

    fn listen(&mut self, path: &str) -> Value {
        let answer = self.ask("GET", path, "application/json", "");
        assert_eq!(answer.code, 200, "{path}: {answer:?}");
        self.heard.push((path.to_owned(), answer.body.to_string()));
        answer.body
    }

    fn run(&mut self, arguments: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sexton"));
        let data = self.dir.join("data");
        let ran =
            command.arg("--data").arg(data).args(arguments).current_dir(&self.dir).env("SEXTON_LOG", "trace");
        let ran = ran.stdin(Stdio::null()).output().unwrap();
        let out = String::from_utf8_lossy(&ran.stdout).into_owned();
        self.heard.push((arguments.join(" "), format!("{out}{}", String::from_utf8_lossy(&ran.stderr))));
        out
    }

    /// Everything that tells of objects, but for the Secrets themselves.
    fn listen_to_records(&mut self) {
        for kind in ["collections", "tombstones", "modules", "classes"] {
            self.listen(&format!("/apis/sexton.dev/v1/{kind}"));
        }
        for path in ["/api/v1/events", "/metrics", MAPS] {
            self.listen(path);
        }
    }

    fn listen_to_commands(&mut self) {
        for arguments in
            ["why secret/a", "collections", "graph -o json", "plan delete secret/b", "plan -f shop -o json"]
        {
            self.run(&arguments.split(' ').collect::<Vec<_>>());
        }
    }

    /// That nothing said a value, as it is or in base64, whatever stood before it; nor a token.
    fn tells_no_value(&mut self, values: &[&str]) {
        let log = std::fs::read(self.dir.join("log")).unwrap();
        self.heard.push(("the log".to_owned(), String::from_utf8_lossy(&log).into_owned()));
        let mut looked_for = vec![self.token.clone()];
        for value in values {
            for before in ["", "1", "12"] {
                let encoded = STANDARD.encode(format!("{before}{value}"));
                looked_for.push(encoded[4 * before.len().div_ceil(3)..encoded.len() - 4].to_owned());
            }
            looked_for.push((*value).to_owned());
        }
        for (what, said) in &self.heard {
            for value in &looked_for {
                let runs = value.as_bytes().windows(HARMLESS_BYTES.min(value.len()));
                for run in runs.map(|run| std::str::from_utf8(run).unwrap()) {
                    let Some(at) = said.find(run) else { continue };
                    let around: String = said[..at].chars().rev().take(200).collect();
                    panic!(
                        "{what} says {run:?} of {value:?} after {:?}",
                        around.chars().rev().collect::<String>()
                    );
                }
            }
        }
    }
}

fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begin.elapsed() < PATIENCE, "{what}: it did not happen");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn secret(name: &str, value: &str) -> Value {
    let applied = json!({"stringData": {"password": value}}).to_string();
    let annotations = json!({"kubectl.kubernetes.io/last-applied-configuration": applied});
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "annotations": annotations},
        "stringData": {"password": value}})
}

/// Lines of different letters, more than a reason or an output may be long: what is told of it is cut somewhere.
fn long_value() -> String {
    let line = |number: usize| -> String {
        (0..64).map(|at| char::from(b'A' + ((number * 7 + at * at + at / 5) % 26) as u8)).collect()
    };
    (0..90).map(line).collect::<Vec<_>>().join("\n")
}

/// Requests that are refused, with a value in them or about an object that has one.
fn refused_requests() -> Vec<(&'static str, String, &'static str, String)> {
    const JSON: &str = "application/json";
    const YAML: &str = "application/yaml";
    let one = format!("{SECRETS}/a");
    let post = |body: Value| ("POST", SECRETS.to_owned(), JSON, body.to_string());
    let text = |kind, body: String| ("POST", SECRETS.to_owned(), kind, body);
    let patch = |kind, body: Value| ("PATCH", one.clone(), kind, body.to_string());
    let name = json!({"name": "z"});
    vec![
        post(json!({"metadata": name, "data": {"p": CANARY}})),
        post(json!({"metadata": name, "data": CANARY})),
        post(json!({"metadata": name, "stringData": CANARY})),
        post(json!({"metadata": name, "stringData": {"p": [CANARY]}})),
        post(json!({"metadata": name, "type": 5, "stringData": {"p": CANARY}})),
        post(json!({"metadata": {"name": "NO NAME"}, "stringData": {"p": CANARY}})),
        post(secret("a", CANARY)),
        text(JSON, format!(r#"{{"metadata":{{"name":"z"}},"stringData":{{"p":"{CANARY}""#)),
        text(JSON, format!(r#"{{"metadata":{{"name":"z"}},"stringData":{{"p":"{CANARY}"}}}}x"#)),
        text(YAML, format!("metadata: {{name: z}}\nstringData: {{p: \"{CANARY}\"\n  x: [")),
        text("application/vnd.kubernetes.protobuf", format!("k8s\0{CANARY}")),
        text("text/plain", CANARY.to_owned()),
        (
            "PUT",
            one.clone(),
            JSON,
            json!({"metadata": {"name": "a"}, "data": {"p": format!("{CANARY}!")}}).to_string(),
        ),
        patch(
            "application/json-patch+json",
            json!([{"op": "test", "path": "/data/password", "value": "other"}]),
        ),
        patch(
            "application/json-patch+json",
            json!([{"op": "add", "path": "/data/password/x", "value": CANARY}]),
        ),
        patch("application/merge-patch+json", json!({"data": {"password": {"x": CANARY}}})),
        patch("application/merge-patch+json", json!({"data": {"password": format!("{CANARY} ")}})),
        patch("application/strategic-merge-patch+json", json!({"data": {"password": format!("{CANARY} ")}})),
    ]
}

#[test]
fn a_server_tells_no_value_of_a_secret() {
    let dir = tempfile::tempdir().unwrap();
    let long = long_value();
    let mut play = Play::start(dir.path());
    let run = json!({"exec": {"argv": [dir.path().join("hooks/loud")]}, "deadlineSeconds": 60});
    let spec = json!({"for": {"kind": "Secret"}, "destroy": run, "handlers": {"gone": run},
        "retry": {"limit": 0, "backoffSeconds": 1}});
    play.make("/apis/sexton.dev/v1/classes", &json!({"metadata": {"name": "secret"}, "spec": spec}));
    play.make(SECRETS, &secret("a", CANARY));
    play.make(SECRETS, &secret("b", &long));
    // A Secret that hears of another object: its handler is told its own values.
    play.make(MAPS, &json!({"metadata": {"name": "m"}}));
    let mut hearing = secret("hears", CANARY);
    hearing["metadata"]["annotations"]["sexton.dev/destruction-dependencies"] =
        json!(r#"[{"target": "ConfigMap/m", "handler": "gone"}]"#);
    play.make(SECRETS, &hearing);
    for (method, path, kind, body) in refused_requests() {
        let answer = play.ask(method, &path, kind, &body);
        assert!(answer.code >= 400, "{method} {path} {body}: {answer:?}");
        play.heard.push((format!("{} to {method} {path} {body}", answer.code), answer.body.to_string()));
    }
    // A module on the server, with drift.
    std::fs::create_dir(dir.path().join("shop")).unwrap();
    std::fs::write(dir.path().join("shop/sexton.yaml"), "manager: shop\n").unwrap();
    std::fs::write(dir.path().join("shop/s.yaml"), secret("shop", CANARY).to_string()).unwrap();
    play.run(&["apply", "-f", "shop", "--yes"]);
    let drifted = json!({"data": {"password": STANDARD.encode(&long)}}).to_string();
    let answer = play.ask("PATCH", &format!("{SECRETS}/shop"), "application/merge-patch+json", &drifted);
    assert_eq!(answer.code, 200, "{answer:?}");
    assert!(play.run(&["plan", "-f", "shop"]).contains("(redacted)"));
    // Destroyed by a method that tells everything: first it fails, then it is mended.
    for path in [format!("{SECRETS}/a"), format!("{SECRETS}/b"), format!("{MAPS}/m")] {
        assert_eq!(play.ask("DELETE", &path, "application/json", "").code, 200);
    }
    let failed = until("all have failed", || {
        let all = play.ask("GET", "/apis/sexton.dev/v1/collections", "application/json", "").body.to_string();
        (all.matches("exit code 3").count() >= 3).then_some(all)
    });
    assert!(failed.contains("and so (redacted)"), "{failed}");
    until("an event", || {
        let events = play.ask("GET", "/api/v1/events", "application/json", "").body.to_string();
        events.contains("and so (redacted)").then_some(())
    });
    play.listen_to_records();
    play.listen_to_commands();
    std::fs::write(dir.path().join("mended"), "").unwrap();
    for object in ["secret/a", "secret/b", "cm/m"] {
        play.run(&["retry", object]);
    }
    until("they are gone", || {
        let gone = |path: &str| play.ask("GET", path, "application/json", "").code == 404;
        [format!("{SECRETS}/a"), format!("{SECRETS}/b"), format!("{MAPS}/m")]
            .iter()
            .all(|path| gone(path))
            .then_some(())
    });
    let tombstones = play.listen("/apis/sexton.dev/v1/tombstones").to_string();
    assert!(tombstones.contains("revoked (redacted)"), "{tombstones}");
    play.listen_to_records();
    play.tells_no_value(&[CANARY, &long]);
}
