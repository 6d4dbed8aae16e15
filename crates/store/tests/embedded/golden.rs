//! Stores written by earlier versions can be read: one small file per format is kept.

use std::path::PathBuf;

use sexton_store::Retention;

use crate::script::{block_on, open, run, verify};

fn golden() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/format-1.db")
}

#[test]
fn format_1() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::copy(golden(), dir.path().join("store.db")).unwrap();
    block_on(async {
        let engine = open(dir.path(), Retention::default()).unwrap();
        assert_eq!(verify(&engine).await, 120);
        run(&engine, 120, 150).await;
        drop(engine);
        assert_eq!(verify(&open(dir.path(), Retention::default()).unwrap()).await, 150);
    });
}

/// Writes the file, for a new format only: `cargo test -p sexton-store --test embedded -- --ignored make_golden`.
#[test]
#[ignore = "makes the golden file"]
fn make_golden() {
    assert!(!golden().exists(), "a golden file is never replaced");
    std::fs::create_dir_all(golden().parent().unwrap()).unwrap();
    std::fs::write(golden(), crate::damage::healthy()).unwrap();
}
