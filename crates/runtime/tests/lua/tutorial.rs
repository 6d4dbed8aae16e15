//! The tutorial program, run as a newcomer would.

use std::path::Path;

use sexton_runtime::lua::Host;
use sexton_runtime::world::Value;

use crate::harness::{block_on, run_with};

/// REQ-MUR-12, REQ-MUR-76: the segment goes after all machines though it does not own them, and all of it goes when the
/// application does.
#[test]
fn the_cafe_opens_shrinks_and_closes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/programs/cafe.luau");
    let text = std::fs::read_to_string(path).unwrap();
    let ran = run_with(&text, Host::default());
    assert_eq!(
        ran.said(),
        "rent the machine web\nrent the machine db\nrent the machine extra\nthe opening day is over\n\
        unplug extra from cafe-net\ngive back the machine extra\ncafe-net: extra is gone, 2 left\ncollected 1"
    );
    assert_eq!(ran.loaded.world.len(), 5, "the environment, the cafe, its segment and two machines");
    ran.environment.set("applications", Value::List(Vec::new())).unwrap();
    let program = &ran.loaded.program;
    let report = block_on(program.drive(program.gc().collect_persistable())).unwrap().unwrap();
    assert!(report.is_complete(), "{report:?}");
    assert_eq!(
        ran.loaded.lines.take().join("\n"),
        "give back the machine web\ncafe-net: web is gone, 1 left\ngive back the machine db\n\
        cafe-net: db is gone, 0 left\ngive back the segment cafe-net\nclose the cafe cafe"
    );
    program.settle();
    assert_eq!(ran.loaded.world.len(), 1, "only the environment is left");
}
