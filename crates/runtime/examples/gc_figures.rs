//! Figures of the object world and its collector: how long, how much. Run it with optimization; it prints, and asserts
//! nothing.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "it prints figures, and may end so")]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use futures::future::LocalBoxFuture;
use sexton_runtime::gc::{Gc, Settings};
use sexton_runtime::model::{Model, export};
use sexton_runtime::world::{
    Behavior, Call, ClassSpec, CodeError, Contract, Handle, NewObject, Property, Usage, Value, World,
};

/// As in the program itself.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Counts how often it is destroyed.
struct Counting(Rc<Cell<usize>>);

impl Behavior for Counting {
    fn has(&self, method: &str) -> bool {
        matches!(method, "destroy" | "hear")
    }

    fn call<'a>(&'a self, _: Call) -> LocalBoxFuture<'a, Result<Value, CodeError>> {
        self.0.set(self.0.get() + 1);
        Box::pin(std::future::ready(Ok(Value::Null)))
    }
}

fn world() -> (World, Gc, Rc<Cell<usize>>) {
    let (world, calls) = (World::new(), Rc::new(Cell::new(0)));
    let property = |name: &str| (name.to_owned(), Property::new(Usage::InOut, Contract::Any));
    let spec = ClassSpec {
        name: "Node".into(),
        extends: None,
        properties: BTreeMap::from(["a", "b", "c"].map(property)),
        behavior: Rc::new(Counting(calls.clone())),
    };
    world.declare(spec).unwrap();
    let gc = Gc::new(&world, Settings::default());
    (world, gc, calls)
}

/// How long this process has been working, whatever else the machine does. In steps of ten milliseconds.
fn worked() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = text.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok());
    Duration::from_millis(ticks.sum::<u64>() * 10)
}

/// A watch: the time, and the time that was worked.
struct Watch(Instant, Duration);

impl Watch {
    fn start() -> Watch {
        Watch(Instant::now(), worked())
    }

    fn rate(&self, count: usize) -> String {
        let (passed, worked) = (self.0.elapsed(), worked() - self.1);
        let per_second = count as f64 / worked.as_secs_f64();
        format!("{passed:.2?}, of which {worked:.2?} working: {per_second:.0}/s")
    }
}

fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or_default() * 4096
}

fn node(world: &World) -> Handle {
    world.create("Node", NewObject::default()).unwrap()
}

async fn alive(count: usize) {
    let before = resident();
    let (world, gc, _) = world();
    let watch = Watch::start();
    let nodes: Vec<Handle> = (0..count).map(|_| node(&world)).collect();
    for (at, from) in nodes.iter().enumerate() {
        from.set("a", Value::from(&nodes[(at + 1) % count])).unwrap();
        from.set("b", Value::from(&nodes[(at * 7919 + 13) % count])).unwrap();
        from.set("c", Value::from(&nodes[(at * 104_729 + 7) % count])).unwrap();
    }
    world.set_root(&nodes[0]);
    let handles = count * size_of::<Handle>();
    let memory = resident().saturating_sub(before + handles) / count;
    drop(nodes);
    println!("{count} objects with 3 references each, {memory} bytes each, made in {}", watch.rate(count));
    for _ in 0..3 {
        let watch = Watch::start();
        let report = gc.collect().await.unwrap();
        println!("  collect, destroyed {}, in {}", report.destroyed.len(), watch.rate(count));
    }
}

async fn garbage(count: usize) {
    let (world, gc, calls) = world();
    (0..count).for_each(|_| drop(node(&world)));
    let watch = Watch::start();
    let report = gc.collect().await.unwrap();
    let destroyed = report.destroyed.len();
    println!("{destroyed} single objects destroyed, {} calls, in {}", calls.get(), watch.rate(count));
}

async fn families(count: usize) {
    let (world, gc, _) = world();
    for _ in 0..count / 10 {
        let owner = node(&world);
        for _ in 0..9 {
            let new = NewObject { owner: Some(owner.clone()), ..NewObject::default() };
            world.create("Node", new).unwrap();
        }
    }
    let watch = Watch::start();
    let report = gc.collect().await.unwrap();
    let destroyed = report.destroyed.len();
    println!("{destroyed} objects in families of ten destroyed in {}", watch.rate(count));
}

async fn fan(count: usize) {
    let (world, gc, calls) = world();
    let network = node(&world);
    for _ in 0..count {
        gc.subscribe(&network, &node(&world), Some("hear")).unwrap();
    }
    drop(network);
    let watch = Watch::start();
    let report = gc.collect().await.unwrap();
    let destroyed = report.destroyed.len();
    let calls = calls.get();
    println!(
        "{destroyed} objects, one of which hears of all others, {calls} calls, in {}",
        watch.rate(count)
    );
}

async fn chain(count: usize) {
    let (world, gc, _) = world();
    let root = node(&world);
    let mut last: Option<Handle> = Some(root.clone());
    for _ in 1..count {
        let new = NewObject { owner: last.clone(), ..NewObject::default() };
        let next = world.create("Node", new).unwrap();
        if let Some(last) = &last {
            last.set("a", Value::from(&next)).unwrap();
        }
        last = Some(next);
    }
    let watch = Watch::start();
    let text = export(&world, Some(&root)).unwrap();
    println!("a chain of {count} owners exported, {} MB, in {}", text.len() >> 20, watch.rate(count));
    if count <= 100_000 {
        let watch = Watch::start();
        let (other, _, _) = self::world();
        let imported = Model::parse(&text).unwrap().import(&other).unwrap();
        println!("  imported {} in {}", imported.objects.len(), watch.rate(count));
    }
    drop((root, last, text));
    let watch = Watch::start();
    let report = gc.collect().await.unwrap();
    println!("a chain of {} owners destroyed in {}", report.destroyed.len(), watch.rate(count));
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    // With a word behind the command only what has it in its name.
    let only = std::env::args().nth(1);
    let wanted = |name: &str| only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    if wanted("alive") {
        alive(1_000_000).await;
    }
    if wanted("garbage") {
        destroyed().await;
    }
    if wanted("chain") {
        chain(100_000).await;
        chain(1_000_000).await;
    }
}

async fn destroyed() {
    for _ in 0..3 {
        garbage(100_000).await;
    }
    families(100_000).await;
    fan(20_000).await;
    fan(100_000).await;
}
