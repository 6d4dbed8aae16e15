//! The full paged list, checked: every object once, and one resource version on all pages.
//! Must not know: other measurements.

use std::collections::HashSet;

use crate::bench::Bench;
use crate::cli::ListArgs;
use crate::conn::Conn;
use crate::error::{Error, Result};
use crate::pages::{self, Listing};
use crate::report::{Detail, ListDetail, Report, Subject};
use crate::tally::{Complaints, Tally};
use crate::usage::Meter;

/// Measures and checks the list.
pub(crate) async fn run(bench: &Bench, flags: &ListArgs) -> Result<Report> {
    let mut conn = bench.within("connecting", Conn::open(&bench.target)).await?;
    let meter = Meter::start(&bench.flags.pids)?;
    let listing = pages::list_all(&mut conn, bench, flags.page).await?;
    let usage = meter.finish()?;
    let mut tally = Tally::new(&Complaints::default());
    let detail = check(bench, flags, &listing, &mut tally);
    tally.ok = listing.names.len() as u64;
    tally.bytes = listing.bytes;
    tally.times.merge(&listing.times);
    let subject = Subject { bench: "list", server: &bench.target.url, clients: 1, size: None };
    let cut_short = matches!(listing.failure, Some(Error::TooSlow(_)));
    Ok(Report::new(&subject, &tally, listing.elapsed, usage).cut_short(cut_short).with(Detail::List(detail)))
}

fn check(bench: &Bench, flags: &ListArgs, listing: &Listing, tally: &mut Tally) -> ListDetail {
    let mut seen = HashSet::with_capacity(listing.names.len());
    let mut duplicates = 0;
    let mut of_prefix = 0;
    for name in &listing.names {
        if !seen.insert(name.as_str()) {
            duplicates += 1;
            tally.fail(format_args!("{name} is listed more than once"));
        } else if bench.is_ours(name) {
            of_prefix += 1;
        }
    }
    if listing.versions.len() > 1 {
        tally.fail(format_args!("pages carry different resourceVersions: {:?}", listing.versions));
    }
    if let Some(failure) = &listing.failure {
        tally.fail(failure);
    }
    if let Some(expected) = flags.expect
        && expected != of_prefix
    {
        tally.fail(format_args!("{of_prefix} objects of the prefix are listed, {expected} were expected"));
    }
    ListDetail {
        page: flags.page,
        pages: listing.pages,
        objects: listing.names.len() as u64,
        objects_of_prefix: of_prefix,
        duplicates,
        resource_versions: listing.versions.len() as u64,
    }
}
