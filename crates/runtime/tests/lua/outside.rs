//! `exec` and `http`: what is granted works within its limits, what is not granted does not.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use sexton_runtime::lua::{Grants, Host, Limits};

use crate::harness::{Ran, deploy, run, run_with, run_within};

fn granted(exec: &[&str], http: &[&str], body: &str) -> Ran {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let grants = Grants { exec: names(exec), http: names(http) };
    let limits = Limits { answer: 1000, ..Limits::default() };
    run_with(&deploy(body), Host { grants, limits, ..Host::default() })
}

#[test]
fn a_granted_program_is_run() {
    let body = r#"
        local done = exec{ program = "cat", stdin = "hello" }
        log(done.code, done.signal, done.stdout, done.stderr)
        done = exec{ program = "sh", args = { "-c", "echo out $1; echo err >&2; exit 3", "sh", 5 } }
        log(done.code, done.stdout, done.stderr)
        log(exec{ program = "sh", args = { "-c", "kill -9 $$" } }.signal)
        log(exec{ program = "sh", args = { "-c", "env | grep -v -e ^PWD= -e ^SHLVL= -e ^OLDPWD= -e ^_= | sort" } }.stdout)
        log(exec{ program = "echo", args = { "$HOME; `ls` *" } }.stdout)"#;
    let said = granted(&["cat", "sh", "env", "echo"], &[], body).said();
    assert_eq!(
        said.trim_end(),
        "0 nil hello \n3 out 5\n err\n\n9\nLANG=C.UTF-8\nPATH=/usr/local/bin:/usr/bin:/bin\n\n$HOME; `ls` *"
    );
}

#[test]
fn what_is_not_granted_is_refused() {
    let refused = |ran: Ran, words: &str| {
        let error = ran.error();
        assert!(error.starts_with(&format!("test.luau:3: {words}")), "{error}");
    };
    let words = "this program may not start \"cat\" unless it is granted: --allow-exec cat";
    refused(run(&deploy("exec{ program = 'cat' }")), words);
    refused(granted(&["ls", "/bin/cat"], &[], "exec{ program = 'cat' }"), words);
    refused(
        granted(&["cat"], &[], "exec{ program = '/bin/cat' }"),
        "this program may not start \"/bin/cat\"",
    );
    refused(granted(&["cat"], &[], "exec('cat')"), "exec wants a table");
    refused(
        granted(&["cat"], &[], "exec{ program = 'cat', shell = true }"),
        "exec: \"shell\" means nothing here",
    );
    refused(granted(&["cat"], &[], "exec{ program = 'cat', args = { {} } }"), "exec: argument 1 is no text");
    refused(
        granted(&["nothing-like-it"], &[], "exec{ program = 'nothing-like-it' }"),
        "\"nothing-like-it\" cannot be started",
    );
    refused(run(&deploy("http{ url = 'http://127.0.0.1:1/' }")), "this program may not call \"127.0.0.1:1\"");
    let other = granted(&[], &["127.0.0.1"], "http{ url = 'http://127.0.0.1:1/' }");
    refused(other, "this program may not call \"127.0.0.1:1\"");
    let hidden = granted(&[], &["127.0.0.1:1"], "http{ url = 'http://127.0.0.1:1@127.0.0.2:2/' }");
    refused(hidden, "http: credentials do not belong into a url");
    refused(granted(&[], &["x"], "http{ url = 'ftp://x/' }"), "http: the url begins neither with");
    refused(
        granted(&[], &["127.0.0.1:1"], "http{ url = 'http://127.0.0.1:1/' }"),
        "127.0.0.1:1: cannot be reached",
    );
}

#[test]
fn programs_that_hang_or_flood_are_killed() {
    let begun = Instant::now();
    let body = "exec{ program = 'sh', args = { '-c', 'sleep 1000 & sleep 1000' }, timeout = 0.1 }";
    let error = granted(&["sh"], &[], body).error();
    assert!(error.contains("\"sh\" did not end within 0.1 seconds, so it was killed"), "{error}");
    let error = granted(&["yes"], &[], "exec{ program = 'yes' }").error();
    assert!(error.contains("said more than 1000 bytes"), "{error}");
    let limits = Limits { whole_run: Duration::from_millis(100), ..Limits::default() };
    let grants = Grants { exec: vec!["sleep".to_owned()], ..Grants::default() };
    let ran = run_within(&deploy("exec{ program = 'sleep', args = { 1000 } }"), &limits, &grants);
    assert!(ran.error().contains("it ran for 0.1 seconds"), "{}", ran.error());
    assert!(
        begun.elapsed() < Duration::from_secs(300),
        "the run does not wait for the processes that were started"
    );
}

#[test]
fn others_go_on_while_one_waits() {
    let body = r#"
        local slow = spawn(function() exec{ program = "sleep", args = { "0.05" } } log("slow") end)
        log("meanwhile")
        join(slow)"#;
    assert_eq!(granted(&["sleep"], &[], body).said(), "meanwhile\nslow");
}

/// Answers one call, and gives back what was asked.
fn service(answer: &'static str) -> (u16, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        let (mut asked, mut byte) = (Vec::new(), [0]);
        while !asked.ends_with(b"the end") {
            // Unlike a plain read it goes on after a signal, such as that a program of another test has ended.
            stream.read_exact(&mut byte).expect("the call ended early");
            asked.extend(byte);
        }
        stream.write_all(answer.as_bytes()).unwrap();
        String::from_utf8(asked).unwrap()
    });
    (port, served)
}

#[test]
fn a_granted_service_is_called() {
    let (port, served) = service("HTTP/1.1 201 Created\r\nX-Note: yes\r\nContent-Length: 4\r\n\r\nfine");
    let body = format!(
        "local answer = http{{ url = 'http://127.0.0.1:{port}/a?b=c', method = 'POST', headers = {{ ['X-Key'] = 'k' }}, \
        body = 'the end' }}\nlog(answer.status, answer.body, answer.headers['x-note'])"
    );
    let said = granted(&[], &[&format!("127.0.0.1:{port}")], &body).said();
    assert_eq!(said, "201 fine yes");
    let asked = served.join().unwrap();
    assert!(asked.starts_with("POST /a?b=c HTTP/1.1\r\n"), "{asked}");
    assert!(asked.to_lowercase().contains("x-key: k\r\n"), "{asked}");
}

#[test]
fn redirects_are_not_followed_and_floods_are_cut() {
    let (port, served) =
        service("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
    let body = format!("log(http{{ url = 'http://127.0.0.1:{port}/', body = 'the end' }}.status)");
    assert_eq!(granted(&[], &[&format!("127.0.0.1:{port}")], &body).said(), "302");
    served.join().unwrap();
    let (port, served) = service("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nmuch too much");
    let body = format!("http{{ url = 'http://127.0.0.1:{port}/', body = 'the end' }}");
    let error = granted(&[], &[&format!("127.0.0.1:{port}")], &body).error();
    assert!(error.contains(&format!("127.0.0.1:{port}: ")), "{error}");
    served.join().unwrap();
}
