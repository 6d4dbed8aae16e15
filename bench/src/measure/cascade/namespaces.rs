//! Namespaces of one run: made, emptied, deleted and seen to go.
//! Must not know: what is in them.

use std::cell::Cell;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::future::join_all;
use http::{Method, StatusCode};

use crate::bench::Bench;
use crate::conn::Conn;
use crate::drive;
use crate::error::{Error, Result, excerpt};
use crate::output;

/// Connections that empty namespaces.
const CLIENTS: u32 = 8;
/// Cleaning up gets this much even when a measurement was given less.
const AT_LEAST: Duration = Duration::from_secs(60);
/// How long namespaces are waited for; a server without anything that ends them is no error.
const WAIT_FOR_END: Duration = Duration::from_secs(30);
/// How often it is looked whether a namespace is gone.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Creates a namespace that must not be there yet; `hint` says what to do if it is.
pub(crate) async fn make(bench: &Bench, name: &str, hint: &str) -> Result<()> {
    let body = serde_json::json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
    let uri = bench.target.uri("/api/v1/namespaces")?;
    let request = bench.target.request(Method::POST, uri, Bytes::from(body.to_string()));
    let mut conn = bench.within("connecting", Conn::open(&bench.target)).await?;
    let (status, body) = bench.within("making a namespace", conn.fetch(request)).await?;
    match status {
        _ if status.is_success() => Ok(()),
        StatusCode::CONFLICT => Err(Error::BadFlag(format!("namespace {name} is there already: {hint}"))),
        _ => Err(Error::Refused { what: format!("creating namespace {name}"), status, body: excerpt(&body) }),
    }
}

/// Empties and deletes namespaces, in about this time; true if the server took all of it.
pub(crate) async fn remove(bench: &Bench, names: &[String], time: Duration) -> bool {
    let clients = u32::try_from(names.len()).unwrap_or(CLIENTS).min(CLIENTS);
    let mut conns = match bench.within("connecting", drive::open_all(&bench.target, clients)).await {
        Ok(conns) => conns,
        Err(error) => {
            output::talk(format_args!("cannot clean up: {error}"));
            return false;
        }
    };
    let (next, clean) = (Cell::new(0), Cell::new(true));
    let all = join_all(conns.iter_mut().map(|conn| client(bench, conn, names, &next, &clean)));
    if tokio::time::timeout(time.max(AT_LEAST), all).await.is_err() {
        output::talk("cleaning up took too long; what is left has to be deleted by hand");
        return false;
    }
    if let Some(conn) = conns.first_mut()
        && let Err(error) = await_end(bench, conn, names).await
    {
        output::talk(format_args!("cannot see whether the namespaces are gone: {error}"));
        return false;
    }
    clean.get()
}

async fn client(bench: &Bench, conn: &mut Conn, names: &[String], next: &Cell<usize>, clean: &Cell<bool>) {
    while let Some(name) = names.get(next.get()) {
        next.set(next.get() + 1);
        for path in [format!("/api/v1/namespaces/{name}/configmaps"), format!("/api/v1/namespaces/{name}")] {
            if let Err(error) = delete(bench, conn, &path).await {
                output::talk(format_args!("cleaning up {path}: {error}"));
                clean.set(false);
            }
        }
    }
}

async fn delete(bench: &Bench, conn: &mut Conn, path: &str) -> Result<()> {
    // Background everywhere: whatever hangs on these objects is in the same namespace.
    let options = Bytes::from_static(br#"{"propagationPolicy":"Background"}"#);
    let request = bench.target.request(Method::DELETE, bench.target.uri(path)?, options);
    conn.fetch_ok("deleting", request).await.map(|_| ())
}

/// Waits for the namespaces to go, so that their end does not fall into what is measured next.
async fn await_end(bench: &Bench, conn: &mut Conn, names: &[String]) -> Result<()> {
    let start = Instant::now();
    for name in names {
        loop {
            let request = bench.target.get(&format!("/api/v1/namespaces/{name}"))?;
            let answer = bench.within("looking at a namespace", conn.fetch(request)).await?;
            if answer.0 == StatusCode::NOT_FOUND {
                break;
            }
            if start.elapsed() >= WAIT_FOR_END {
                output::talk(format_args!("namespace {name} is deleted but still there"));
                return Ok(());
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
    Ok(())
}
