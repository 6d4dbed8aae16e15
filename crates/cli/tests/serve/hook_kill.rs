//! `kill -9` of the server while hooks are under way, again and again: of one idempotency key there is never more than
//! one process, as a ledger shows that the hooks write themselves.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::hooked::{ALLOWED, CONFIG_MAPS, define_class};
use crate::process::Server;
use crate::raw::ask;

const OBJECTS: usize = 6;
/// Nothing takes longer unless it is broken.
const PATIENCE: Duration = Duration::from_secs(120);

/// A hook that writes down its key, process number and start time when it begins and ends, and looks for earlier ones of its
/// key. A second process of it, in a session of its own and without its environment, does the same until it is ended. Numbers
/// are given to other processes after a while: only together with the start time they mean the same process.
const HOOK: &str = r#"key=$SEXTON_IDEMPOTENCY_KEY
cat > /dev/null
grep "^start $key " "$LEDGER" 2>/dev/null | while read -r _ _ pid began; do
    read -r stat 2>/dev/null < "/proc/$pid/stat" || continue
    set -- ${stat##*) }
    case "$1" in
        Z | X) ;;
        *) if [ "${20}" = "$began" ]; then echo "overlap $key $pid $$" >> "$LEDGER"; fi ;;
    esac
done
begin='read -r stat < /proc/$$/stat; set -- "$1" "$2" "$3" ${stat##*) }; echo "start $1 $$ ${23}" >> "$2"'
(env -i setsid sh -c "$begin"'; sleep 60; echo "end $1 $$" >> "$2"' stray "$key" "$LEDGER" 60 &)
exec sh -c "$begin"'; sleep "$3"; echo "end $1 $$" >> "$2"' hook "$key" "$LEDGER" "$SECONDS_TO_RUN"
"#;

fn furnish(dir: &Path, ledger: &Path, seconds: &str, address: &str) {
    define_class(address, dir, HOOK, json!({"LEDGER": ledger, "SECONDS_TO_RUN": seconds}));
    for number in 0..OBJECTS {
        let name = format!("object-{number}");
        ask(address, "POST", CONFIG_MAPS, &json!({"metadata": {"name": name}}));
        ask(address, "DELETE", &format!("{CONFIG_MAPS}/{name}"), &json!({}));
    }
}

fn count(ledger: &Path, word: &str) -> usize {
    let text = std::fs::read_to_string(ledger).unwrap_or_default();
    text.lines().filter(|line| line.starts_with(word)).count()
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The server is killed twice; `SEXTON_HOOK_KILLS=100` says how often instead.
#[test]
fn no_key_has_two_processes_however_often_the_server_is_killed() {
    let kills = std::env::var("SEXTON_HOOK_KILLS").ok().map_or(2, |text| text.parse().unwrap());
    let dir = tempfile::tempdir().unwrap();
    let (data, ledger) = (dir.path().join("data"), dir.path().join("ledger"));
    let mut server = Server::start(&data, &ALLOWED);
    // With many kills they run so long that none ends before the last one.
    let seconds = if kills > 2 { "20" } else { "3" };
    furnish(dir.path(), &ledger, seconds, &server.address);
    for kill in 0..kills {
        // Not always in the same moment: after the first of them has begun, or the last.
        let more = 1 + kill % (2 * OBJECTS);
        let before = count(&ledger, "start ");
        wait_until("hooks begin", || count(&ledger, "start ") >= before + more || count(&ledger, "end ") > 0);
        server.kill();
        server = Server::start(&data, &ALLOWED);
    }
    wait_until("all objects go", || {
        ask(&server.address, "GET", CONFIG_MAPS, &Value::Null)["items"].as_array().unwrap().is_empty()
    });
    let text = std::fs::read_to_string(&ledger).unwrap();
    let overlaps: Vec<&str> = text.lines().filter(|line| line.starts_with("overlap ")).collect();
    let (starts, ends) = (count(&ledger, "start "), count(&ledger, "end "));
    assert!(overlaps.is_empty(), "{kills} kills, {starts} starts: {overlaps:#?}");
    assert!(starts > OBJECTS, "no call was repeated");
    println!("{kills} kills, {starts} starts, {ends} ends, {} overlaps", overlaps.len());
}
