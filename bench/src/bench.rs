//! What every measurement starts from: the server, the flags, the names, and a namespace to work in.
//! Must not know: any single measurement.

use std::future::Future;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{Method, StatusCode};
use serde::Deserialize;

use crate::cli::Common;
use crate::conn::Conn;
use crate::error::{Error, Result, excerpt};
use crate::target::{SharedTarget, Target};
use crate::template::{Owner, Template};

/// The surroundings of a measurement.
pub(crate) struct Bench {
    /// The server.
    pub(crate) target: SharedTarget,
    /// The flags that every measurement shares.
    pub(crate) flags: Common,
    /// Tells this run's names from those of other runs.
    tag: String,
}

#[derive(Deserialize)]
struct Created {
    metadata: CreatedMeta,
}

#[derive(Deserialize)]
struct CreatedMeta {
    uid: String,
}

impl Bench {
    /// Reads the flags; the server is not asked anything yet.
    pub(crate) fn new(flags: Common) -> Result<Self> {
        let target = SharedTarget::new(Target::new(&flags)?);
        let tag = flags.tag.clone().unwrap_or_else(clock_tag);
        Ok(Self { target, flags, tag })
    }

    /// Reaches the server and makes sure that the namespace is there.
    pub(crate) async fn prepare(&self) -> Result<()> {
        self.within("making the namespace", self.make_namespace()).await
    }

    /// The same server and namespace, with all names under a prefix of this run alone.
    pub(crate) fn apart(&self) -> Self {
        let mut flags = self.flags.clone();
        flags.prefix = format!("{}-{}", self.flags.prefix, self.tag);
        Self { target: SharedTarget::clone(&self.target), flags, tag: String::new() }
    }

    /// The same server, with another namespace to work in.
    pub(crate) fn inside(&self, namespace: &str) -> Self {
        let flags = Common { namespace: namespace.to_owned(), ..self.flags.clone() };
        Self { target: SharedTarget::clone(&self.target), flags, tag: self.tag.clone() }
    }

    /// A namespace of this run alone.
    pub(crate) fn own_namespace(&self, kind: &str) -> String {
        format!("{}-{kind}-{}", self.flags.namespace, self.tag)
    }

    /// The start of the names that one kind of measurement makes in this run.
    pub(crate) fn stem(&self, kind: &str) -> String {
        format!("{}-{}{kind}", self.flags.prefix, self.tag)
    }

    /// True for names that `stem` and a number make, under any tag; an owner's name is not one of them.
    pub(crate) fn is_ours(&self, name: &str) -> bool {
        let Some(rest) = name.strip_prefix(&self.flags.prefix).and_then(|rest| rest.strip_prefix('-')) else {
            return false;
        };
        !rest.contains("-owner-")
            && rest
                .rsplit_once('-')
                .is_some_and(|(_, number)| number.bytes().all(|byte| byte.is_ascii_digit()))
    }

    /// The path of the collection.
    pub(crate) fn collection(&self) -> String {
        format!("/api/v1/namespaces/{}/configmaps", self.flags.namespace)
    }

    /// The bound in time of one measurement.
    pub(crate) fn max_time(&self) -> Duration {
        Duration::from_secs(self.flags.max_seconds)
    }

    /// Bounds a step that has no partial result.
    pub(crate) async fn within<T>(&self, what: &str, step: impl Future<Output = Result<T>>) -> Result<T> {
        match tokio::time::timeout(self.max_time(), step).await {
            Ok(result) => result,
            Err(_) => Err(Error::TooSlow(what.to_owned())),
        }
    }

    /// Creates the one object that others will name as their owner.
    pub(crate) async fn make_owner(&self) -> Result<Owner> {
        let template = Template::new(&self.flags.namespace, &format!("{}-owner", self.stem("c")), 0, None);
        let uri = self.target.uri(&self.collection())?;
        let request = self.target.request(Method::POST, uri, template.body(0));
        let mut conn = Conn::open(&self.target).await?;
        let body = conn.fetch_ok("creating the owner", request).await?;
        let created: Created = serde_json::from_slice(&body)
            .map_err(|source| Error::Unreadable { what: "creating the owner".to_owned(), source })?;
        Ok(Owner { name: template.name(0), uid: created.metadata.uid })
    }

    async fn make_namespace(&self) -> Result<()> {
        let name = &self.flags.namespace;
        let mut conn = Conn::open(&self.target).await?;
        let request = self.target.get(&format!("/api/v1/namespaces/{name}"))?;
        let (status, body) = conn.fetch(request).await?;
        if status.is_success() {
            return Ok(());
        }
        if status != StatusCode::NOT_FOUND {
            return Err(Error::Refused {
                what: format!("getting namespace {name}"),
                status,
                body: excerpt(&body),
            });
        }
        let body = serde_json::json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        let uri = self.target.uri("/api/v1/namespaces")?;
        let request = self.target.request(Method::POST, uri, Bytes::from(body.to_string()));
        conn.fetch_ok(&format!("creating namespace {name}"), request).await?;
        Ok(())
    }
}

/// Milliseconds of the wall clock: two runs by hand never share them.
fn clock_tag() -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    format!("{:x}", now.as_millis())
}
