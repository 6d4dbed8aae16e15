//! In which order objects die: destruction dependencies before ownership, ownership before nothing.

use crate::kit::{Stage, expect};

/// REQ-MUR-5, REQ-MUR-69, REQ-MUR-71, REQ-MUR-22, REQ-MUR-25: without dependencies the owned go before their owners.
#[tokio::test]
async fn owned_before_owners() {
    let script = "
        new top
        new middle in top
        new low in middle
        new other
        top.in = other
        drop all
        collect";
    expect(script, "destroy low\ndestroy other\ndestroy middle\ndestroy top").await;
}

/// REQ-MUR-86, EXT-24, REQ-MUR-16: a child that depends on its parent outlives it, and the report says what gave way.
#[tokio::test]
async fn parents_before_dependent_children() {
    let script = "new parent\nnew child in parent\nsubscribe child parent\ndrop all\ncollect";
    expect(script, "destroy parent\ndestroy child\ndropped child before parent").await;
}
