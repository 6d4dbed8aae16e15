//! A store on a disk that loses power, or fails: everything acknowledged is there, and nothing in part.
//!
//! The disk is a file system of the test's own under SQLite, so what is tried is what really reaches a disk.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::print_stdout)]
#![cfg(target_os = "linux")]

mod disk;
mod record;
mod recorder;
#[path = "../embedded/script.rs"]
#[allow(dead_code)]
mod script;

use sexton_store::embedded::{backup, restore};
use sexton_store::{CommitError, Engine, Retention, Revision};

use disk::Disk;
use record::{Image, Op, Unsynced, after_power_cut};
use script::{LITTLE, block_on, fast_dir, long, open, verify};

/// How many commits a store holds that was left so.
fn served(image: &Image, what: &str) -> u64 {
    let dir = fast_dir();
    image.iter().for_each(|(name, bytes)| std::fs::write(dir.path().join(name), bytes).unwrap());
    let engine = open(dir.path(), Retention::default()).unwrap_or_else(|error| panic!("{what}: {error}"));
    block_on(verify(&engine))
}

/// Tries power cuts after things that happened, all of them or some. Gives how many states were opened.
fn cut_power(ops: &[Op], cuts: usize) -> usize {
    let step = (ops.len() / cuts).max(1);
    let mut states = 0;
    for cut in (0..=ops.len()).step_by(step).chain([ops.len()]) {
        let chances = if long() { 4 } else { 1 };
        let by_chance = (0..chances).map(|chance| Unsynced::ByChance(cut as u64 * 31 + chance));
        for unsynced in [Unsynced::Lost, Unsynced::Kept].into_iter().chain(by_chance) {
            let (image, acknowledged) = after_power_cut(&ops[..cut], unsynced);
            let what = format!("cut after {cut} of {} ({unsynced:?})", ops.len());
            let done = served(&image, &what);
            assert!(done >= acknowledged, "{what}: {acknowledged} were acknowledged, {done} are there");
            states += 1;
        }
    }
    states
}

async fn commit(
    disk: &Disk,
    engine: &sexton_store::local::LocalEngine,
    numbers: std::ops::RangeInclusive<u64>,
) {
    for number in numbers {
        engine.commit(script::commit(number)).await.unwrap();
        disk.acknowledge(number);
    }
}

/// From the making of the store on, with folding, checkpoints, a clean end and a start again.
#[test]
fn nothing_acknowledged_is_lost() {
    let Some(disk) = Disk::mount() else { return };
    // Each moment is tried in the long form, which takes time with the square of them.
    let many = if long() { 40 } else { 30 };
    block_on(async {
        let engine = open(&disk.path(), LITTLE).unwrap();
        commit(&disk, &engine, 1..=many).await;
        engine.compact(engine.head().await.unwrap()).await.unwrap();
        commit(&disk, &engine, many + 1..=many + 5).await;
        engine.close().await;
        let engine = open(&disk.path(), LITTLE).unwrap();
        commit(&disk, &engine, many + 6..=2 * many).await;
        engine.compact(Revision::new(many)).await.unwrap();
        engine.close().await;
    });
    let ops = disk.ops();
    let cuts = if long() { ops.len() } else { 40 };
    let states = cut_power(&ops, cuts);
    println!("{} things happened, {states} states were opened", ops.len());
}

/// What is made by giving a finished file its name is there when its maker says so.
#[test]
fn names_are_durable() {
    let Some(disk) = Disk::mount() else { return };
    let source = fast_dir();
    block_on(async {
        let engine = open(source.path(), Retention::default()).unwrap();
        script::run(&engine, 0, 20).await;
        engine.close().await;
    });
    let copy = disk.path().join("copy.db");
    backup(source.path(), &copy).unwrap();
    let (mut image, _) = after_power_cut(&disk.ops(), Unsynced::Lost);
    let bytes = image.remove("copy.db").expect("the backup has its name");
    assert_eq!(served(&Image::from([("store.db".into(), bytes)]), "a backup"), 20);
    drop(disk);
    let Some(disk) = Disk::mount() else { return };
    restore(disk.path(), &mut std::fs::File::open(source.path().join("store.db")).unwrap()).unwrap();
    let (image, _) = after_power_cut(&disk.ops(), Unsynced::Lost);
    assert_eq!(served(&image, "restored"), 20);
    let engine = open(&disk.path(), Retention::default()).unwrap();
    let (image, _) = after_power_cut(&disk.ops(), Unsynced::Lost);
    assert!(image.contains_key("head"), "the note of how far the store has come has its name");
    block_on(engine.close());
}

/// After a sync that failed no later success proves anything: the store is read-only until it is opened again.
#[test]
fn a_failed_sync_ends_all_writing() {
    let Some(disk) = Disk::mount() else { return };
    block_on(async {
        let engine = open(&disk.path(), Retention::default()).unwrap();
        commit(&disk, &engine, 1..=3).await;
        disk.fail_syncs(1);
        for _ in 0..3 {
            let refused = engine.commit(script::commit(4)).await;
            assert!(matches!(refused, Err(CommitError::ReadOnly(_))), "{refused:?}");
        }
        assert_eq!(verify(&engine).await, 3);
        engine.close().await;
        disk.fail_syncs(0);
        let engine = open(&disk.path(), Retention::default()).unwrap();
        let done = verify(&engine).await;
        assert!((3..=4).contains(&done), "{done}");
        commit(&disk, &engine, done + 1..=6).await;
        engine.close().await;
    });
    let (image, _) = after_power_cut(&disk.ops(), Unsynced::Lost);
    assert_eq!(served(&image, "after the fault"), 6);
}

/// Without space a write is refused and leaves nothing; with space it works again, without a restart.
#[test]
fn a_full_disk_is_no_fault() {
    let Some(disk) = Disk::mount() else { return };
    block_on(async {
        let engine = open(&disk.path(), Retention::default()).unwrap();
        commit(&disk, &engine, 1..=3).await;
        disk.fill(true);
        let refused = engine.commit(script::commit(4)).await;
        assert!(matches!(refused, Err(CommitError::Full(_))), "{refused:?}");
        disk.fill(false);
        commit(&disk, &engine, 4..=6).await;
        engine.close().await;
    });
    let (image, _) = after_power_cut(&disk.ops(), Unsynced::Lost);
    assert_eq!(served(&image, "after the fault"), 6);
}
