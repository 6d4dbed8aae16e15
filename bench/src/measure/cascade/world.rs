//! Objects that have nothing to do with a cascade: small families spread over namespaces of their own.
//! Must not know: the cascade.

use std::ops::Range;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, StatusCode};

use super::namespaces;
use super::planting::{self, Order, Planting};
use crate::bench::Bench;
use crate::cli::CascadeArgs;
use crate::conn::Conn;
use crate::error::{Error, Result, excerpt};
use crate::output;

/// One owner and what it owns.
const FAMILY: u64 = 10;
/// Few enough that a namespace can be emptied with one request.
const FAMILIES_PER_NAMESPACE: u64 = 500;

/// A world, there or not.
pub(crate) struct World {
    objects: u64,
    owners: u64,
    namespaces: Vec<String>,
}

impl World {
    /// The world of this size, which has the same names in every run.
    pub(crate) fn new(bench: &Bench, objects: u64) -> Self {
        let owners = objects.div_ceil(FAMILY);
        let namespaces = (0..owners.div_ceil(FAMILIES_PER_NAMESPACE))
            .map(|index| format!("{}-world-{index}", bench.flags.namespace))
            .collect();
        Self { objects, owners, namespaces }
    }

    /// Where it is.
    pub(crate) fn namespaces(&self) -> &[String] {
        &self.namespaces
    }

    /// Creates it. Namespaces are added to `made` as they come to be.
    pub(crate) async fn create(
        &self,
        bench: &Bench,
        flags: &CascadeArgs,
        made: &mut Vec<String>,
    ) -> Result<Duration> {
        output::talk(format_args!("creating a world of {} objects", self.objects));
        for name in &self.namespaces {
            let hint = "if it is an earlier run's world, use it with --world-exists or delete it";
            namespaces::make(bench, name, hint).await?;
            made.push(name.clone());
        }
        let order = Order {
            what: "the world",
            clients: flags.clients,
            time: Duration::from_secs(flags.world_seconds),
            flag: "--world-seconds",
        };
        let took = planting::plant(bench, &order, self).await?;
        self.mark(bench).await?;
        Ok(took)
    }

    /// Makes sure that an earlier run created it to the end and left it.
    pub(crate) async fn find(&self, bench: &Bench) -> Result<()> {
        let Some((collection, name)) = self.marker() else { return Ok(()) };
        let mut conn = bench.within("connecting", Conn::open(&bench.target)).await?;
        let request = bench.target.get(&format!("{collection}/{name}"))?;
        let (status, body) = bench.within("looking for the world", conn.fetch(request)).await?;
        match status {
            StatusCode::OK => Ok(()),
            StatusCode::NOT_FOUND => Err(Error::BadFlag(format!(
                "there is no world of {}: create it with --world {} --keep-world",
                self.objects, self.objects
            ))),
            _ => {
                let what = "looking for the world".to_owned();
                Err(Error::Refused { what, status, body: excerpt(&body) })
            }
        }
    }

    /// Leaves an object behind that says the world is complete.
    async fn mark(&self, bench: &Bench) -> Result<()> {
        let Some((collection, name)) = self.marker() else { return Ok(()) };
        let body = serde_json::json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": self.namespaces[0]},
        });
        let uri = bench.target.uri(&collection)?;
        let request = bench.target.request(Method::POST, uri, Bytes::from(body.to_string()));
        let mut conn = bench.within("connecting", Conn::open(&bench.target)).await?;
        bench.within("marking the world", conn.fetch_ok("marking the world", request)).await?;
        Ok(())
    }

    fn marker(&self) -> Option<(String, String)> {
        let namespace = self.namespaces.first()?;
        Some((format!("/api/v1/namespaces/{namespace}/configmaps"), format!("world-of-{}", self.objects)))
    }
}

impl Planting for World {
    fn levels(&self) -> Vec<Range<u64>> {
        vec![0..self.owners, self.owners..self.objects]
    }

    fn owner(&self, number: u64) -> Option<u64> {
        number.checked_sub(self.owners).map(|dependent| dependent / (FAMILY - 1))
    }

    fn owners(&self) -> u64 {
        self.owners
    }

    fn namespace(&self, number: u64) -> &str {
        let owner = self.owner(number).unwrap_or(number);
        &self.namespaces[(owner / FAMILIES_PER_NAMESPACE) as usize]
    }

    fn name(&self, number: u64) -> String {
        format!("world-{number:08}")
    }
}
