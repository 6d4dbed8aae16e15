//! Creates objects that own each other, level by level, with many clients.
//! Must not know: why they are created.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::future::try_join_all;
use http::Method;
use serde::Deserialize;

use crate::bench::Bench;
use crate::conn::Conn;
use crate::drive;
use crate::error::{Error, Result};
use crate::template::filler;

/// Bytes of the one value that each object carries.
const DATA_BYTES: usize = 64;

/// Objects to create, numbered so that owners come before what they own.
pub(crate) trait Planting {
    /// The numbers of each level; all of one level can be created at once.
    fn levels(&self) -> Vec<Range<u64>>;
    /// The number of an object's owner, if it has one.
    fn owner(&self, number: u64) -> Option<u64>;
    /// Only objects with numbers below this one own something.
    fn owners(&self) -> u64;
    /// The namespace of the object with this number.
    fn namespace(&self, number: u64) -> &str;
    /// An object's name.
    fn name(&self, number: u64) -> String;
}

#[derive(Deserialize)]
struct Created<'a> {
    #[serde(borrow)]
    metadata: CreatedMeta<'a>,
}

#[derive(Deserialize)]
struct CreatedMeta<'a> {
    #[serde(borrow)]
    uid: Cow<'a, str>,
}

/// How the creating is done, and for how long.
pub(crate) struct Order {
    /// What is created, for messages.
    pub(crate) what: &'static str,
    /// Connections.
    pub(crate) clients: u32,
    /// The bound in time.
    pub(crate) time: Duration,
    /// The flag that sets it.
    pub(crate) flag: &'static str,
}

/// What the clients share.
struct Work<'a, P> {
    bench: &'a Bench,
    planting: &'a P,
    uids: Vec<OnceLock<String>>,
    data: String,
    next: Cell<u64>,
    made: Cell<u64>,
}

/// Creates all objects; how long it took.
pub(crate) async fn plant<P: Planting>(bench: &Bench, order: &Order, planting: &P) -> Result<Duration> {
    let mut conns = bench.within("connecting", drive::open_all(&bench.target, order.clients)).await?;
    let work = Work {
        bench,
        planting,
        uids: (0..planting.owners()).map(|_| OnceLock::new()).collect(),
        data: filler().take(DATA_BYTES).collect(),
        next: Cell::new(0),
        made: Cell::new(0),
    };
    let levels = planting.levels();
    let count = levels.last().map_or(0, |level| level.end);
    let start = Instant::now();
    let all = async {
        for level in levels {
            work.next.set(level.start);
            let busy = usize::try_from(level.end - level.start).unwrap_or(usize::MAX).min(conns.len());
            try_join_all(conns[..busy].iter_mut().map(|conn| work.client(conn, level.end))).await?;
        }
        Ok(())
    };
    match tokio::time::timeout(order.time, all).await {
        Ok(result) => result.map(|()| start.elapsed()),
        Err(_) => {
            let (what, made, flag) = (order.what, work.made.get(), order.flag);
            Err(Error::Unfinished { what, made, count, flag })
        }
    }
}

impl<P: Planting> Work<'_, P> {
    async fn client(&self, conn: &mut Conn, end: u64) -> Result<()> {
        loop {
            let number = self.next.get();
            if number >= end {
                return Ok(());
            }
            self.next.set(number + 1);
            self.create(conn, number).await?;
            self.made.set(self.made.get() + 1);
        }
    }

    async fn create(&self, conn: &mut Conn, number: u64) -> Result<()> {
        let (namespace, name) = (self.planting.namespace(number), self.planting.name(number));
        let owner = self.planting.owner(number).map(|owner| {
            let uid = self.uids.get(owner as usize).and_then(OnceLock::get);
            (self.planting.name(owner), uid.map_or("", String::as_str))
        });
        let owner = owner.as_ref().map(|(name, uid)| (name.as_str(), *uid));
        let body = body(namespace, &name, owner, &self.data);
        let target = &self.bench.target;
        let uri = target.uri(&format!("/api/v1/namespaces/{namespace}/configmaps"))?;
        let request = target.request(Method::POST, uri, Bytes::from(body));
        let answer = conn.fetch_ok("creating an object", request).await?;
        if let Some(uid) = self.uids.get(number as usize) {
            let created: Created<'_> = serde_json::from_slice(&answer)
                .map_err(|source| Error::Unreadable { what: "creating an object".to_owned(), source })?;
            // Each number is created once, so the place is free.
            let _ = uid.set(created.metadata.uid.into_owned());
        }
        Ok(())
    }
}

/// Bytes of one owned object as sent, for the report.
pub(crate) fn size_of<P: Planting>(planting: &P) -> usize {
    const UID: &str = "00000000-0000-0000-0000-000000000000";
    let data: String = filler().take(DATA_BYTES).collect();
    let name = planting.name(0);
    body(planting.namespace(0), &name, Some((&name, UID)), &data).len()
}

fn body(namespace: &str, name: &str, owner: Option<(&str, &str)>, data: &str) -> String {
    let owner = owner.map_or_else(String::new, |(name, uid)| {
        format!(
            r#","ownerReferences":[{{"apiVersion":"v1","kind":"ConfigMap","name":"{name}","uid":"{uid}","blockOwnerDeletion":true}}]"#
        )
    });
    format!(
        r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{name}","namespace":"{namespace}"{owner}}},"data":{{"payload":"{data}"}}}}"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_objects_with_and_without_an_owner() {
        let parse = |text: String| serde_json::from_str::<serde_json::Value>(&text).unwrap();
        let alone = parse(body("ns", "a", None, "x"));
        assert!(alone["metadata"]["ownerReferences"].is_null());
        let owned = parse(body("ns", "b", Some(("a", "u-1")), "x"));
        let reference = &owned["metadata"]["ownerReferences"][0];
        assert_eq!((&reference["name"], &reference["uid"]), (&"a".into(), &"u-1".into()));
        assert_eq!(reference["blockOwnerDeletion"], true);
    }
}
