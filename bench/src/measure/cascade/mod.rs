//! Cascades: an owner is deleted, and the time is taken until the last of what hangs on it is gone.
//! Must not know: other measurements, or any one server's way of collecting.

mod course;
mod metadata;
mod namespaces;
mod observe;
mod planting;
mod plot;
mod round;
mod shape;
mod summary;
mod verify;
mod world;

use std::time::Duration;

use self::plot::Plot;
use self::shape::Shape;
use self::summary::Setting;
use self::world::World;
use crate::bench::Bench;
use crate::cli::CascadeArgs;
use crate::error::{Error, Result};
use crate::measure::publish;

/// Measures every policy that was asked for, one line each; true if nothing went wrong.
pub(crate) async fn run(bench: &Bench, flags: &CascadeArgs) -> Result<bool> {
    let shape = Shape::parse(flags.shape, &flags.size)?;
    if flags.world == 0 && (flags.keep_world || flags.world_exists) {
        return Err(Error::BadFlag("--keep-world and --world-exists need --world".to_owned()));
    }
    let mut made = Vec::new();
    let outcome = in_world(bench, flags, shape, &mut made).await;
    // Also after an error: no other code knows the names of what this run has made.
    let time = if flags.world == 0 { bench.max_time() } else { Duration::from_secs(flags.world_seconds) };
    let removed = namespaces::remove(bench, &made, time).await;
    Ok(outcome? && removed)
}

async fn in_world(bench: &Bench, flags: &CascadeArgs, shape: Shape, made: &mut Vec<String>) -> Result<bool> {
    let world = World::new(bench, flags.world);
    let world_time = enter(bench, flags, &world, made).await?;
    let own = bench.own_namespace("cascade");
    namespaces::make(bench, &own, "choose another --tag").await?;
    made.push(own.clone());
    let bench = &bench.inside(&own);
    let mut clean = true;
    for policy in &flags.policies {
        let stem = format!("{}-{}", bench.flags.prefix, summary::name(*policy));
        let plots = (1..=flags.repeat).map(|turn| Plot::new(shape, &own, format!("{stem}-{turn}")));
        let mut setting = Setting {
            shape: shape.to_string(),
            objects: shape.objects(),
            size: 0,
            clients: flags.clients,
            policy: *policy,
            world: flags.world,
            world_time,
        };
        let mut rounds = Vec::new();
        for plot in plots {
            setting.size = planting::size_of(&plot);
            let round = round::run(bench, flags, &plot, *policy).await?;
            let failed = round.tally.errors > 0;
            rounds.push(round);
            // What went wrong once only costs another wait.
            if failed {
                break;
            }
        }
        clean &= publish(&summary::report(bench, &setting, &rounds));
    }
    Ok(clean)
}

/// Makes sure that the world is there, and that it is removed at the end unless it shall stay.
async fn enter(
    bench: &Bench,
    flags: &CascadeArgs,
    world: &World,
    made: &mut Vec<String>,
) -> Result<Option<Duration>> {
    if flags.world == 0 {
        return Ok(None);
    }
    if flags.world_exists {
        world.find(bench).await?;
        if !flags.keep_world {
            made.extend(world.namespaces().iter().cloned());
        }
        return Ok(None);
    }
    let took = world.create(bench, flags, made).await?;
    if flags.keep_world {
        made.clear();
    }
    Ok(Some(took))
}
