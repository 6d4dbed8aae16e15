//! Creates: many clients posting ConfigMaps, with or without an owner.
//! Must not know: other measurements.

use std::sync::Arc;

use http::Method;

use crate::bench::Bench;
use crate::cli::CreateArgs;
use crate::drive::{self, Bounds, Maker};
use crate::error::Result;
use crate::report::{Report, Subject};
use crate::target::SharedTarget;
use crate::template::Template;
use crate::usage::Meter;

/// Measures creates.
pub(crate) async fn run(bench: &Bench, flags: &CreateArgs) -> Result<Report> {
    let owner = match flags.owner {
        true => Some(bench.within("creating the owner", bench.make_owner()).await?),
        false => None,
    };
    let template = Template::new(&bench.flags.namespace, &bench.stem("c"), flags.size, owner.as_ref());
    let bounds = Bounds { count: flags.count, time: bench.max_time() };
    let maker = maker(bench, template)?;
    let conns = bench.within("connecting", drive::open_all(&bench.target, flags.clients)).await?;
    let meter = Meter::start(&bench.flags.pids)?;
    let driven = drive::drive(conns, bounds, maker).await?;
    let usage = meter.finish()?;
    let subject = Subject {
        bench: "create",
        server: &bench.target.url,
        clients: flags.clients,
        size: Some(flags.size),
    };
    Ok(Report::new(&subject, &driven.tally, driven.elapsed, usage).cut_short(driven.cut_short))
}

/// Builds the create of each index.
pub(crate) fn maker(bench: &Bench, template: Template) -> Result<Maker> {
    let target = SharedTarget::clone(&bench.target);
    let uri = target.uri(&bench.collection())?;
    Ok(Arc::new(move |index| Ok(target.request(Method::POST, uri.clone(), template.body(index)))))
}
