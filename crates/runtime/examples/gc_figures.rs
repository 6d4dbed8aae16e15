//! Figures of the object world and its collector: how long, how much. Run it with optimization; it prints, and asserts
//! nothing.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "it prints figures, and may end so")]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Instant;

use futures::future::LocalBoxFuture;
use sexton_runtime::gc::{Gc, Settings};
use sexton_runtime::world::{
    Behavior, Call, ClassSpec, CodeError, Contract, Handle, NewObject, Property, Usage, Value, World,
};

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
    let started = Instant::now();
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
    println!("{count} objects with 3 references each: made in {:?}, {memory} bytes each", started.elapsed());
    for _ in 0..3 {
        let started = Instant::now();
        let report = gc.collect().await.unwrap();
        println!("  collect: {:?}, destroyed {}", started.elapsed(), report.destroyed.len());
    }
}

async fn garbage(count: usize) {
    let (world, gc, calls) = world();
    (0..count).for_each(|_| drop(node(&world)));
    let started = Instant::now();
    let report = gc.collect().await.unwrap();
    let took = started.elapsed();
    let rate = count as f64 / took.as_secs_f64();
    println!(
        "{} single objects destroyed in {took:?}: {rate:.0}/s; {} calls",
        report.destroyed.len(),
        calls.get()
    );
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
    let started = Instant::now();
    let report = gc.collect().await.unwrap();
    let took = started.elapsed();
    let rate = count as f64 / took.as_secs_f64();
    println!("{} objects in families of ten destroyed in {took:?}: {rate:.0}/s", report.destroyed.len());
}

async fn fan(count: usize) {
    let (world, gc, calls) = world();
    let network = node(&world);
    for _ in 0..count {
        gc.subscribe(&network, &node(&world), Some("hear")).unwrap();
    }
    drop(network);
    let started = Instant::now();
    let report = gc.collect().await.unwrap();
    let took = started.elapsed();
    let destroyed = report.destroyed.len();
    println!(
        "{destroyed} objects, one of which hears of all others, destroyed in {took:?}; {} calls",
        calls.get()
    );
}

async fn chain(count: usize) {
    let (world, gc, _) = world();
    let mut last: Option<Handle> = None;
    for _ in 0..count {
        let new = NewObject { owner: last.clone(), ..NewObject::default() };
        let next = world.create("Node", new).unwrap();
        if let Some(last) = &last {
            last.set("a", Value::from(&next)).unwrap();
        }
        last = Some(next);
    }
    drop(last);
    let started = Instant::now();
    let report = gc.collect().await.unwrap();
    println!("a chain of {} owners destroyed in {:?}", report.destroyed.len(), started.elapsed());
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    alive(1_000_000).await;
    for _ in 0..3 {
        garbage(100_000).await;
    }
    families(100_000).await;
    fan(20_000).await;
    chain(1_000_000).await;
}
