//! A small module on an embedded store.

use super::Play;

/// The settings of that module.
pub(crate) const SETTINGS: &str = "manager: shop\n";

/// A ConfigMap as a document.
pub(crate) fn map(name: &str, more: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n{more}")
}

/// A module `shop` in the directory shop: maps named m-1, m-2, …
pub(crate) fn shop(count: usize) -> Play {
    let play = Play::new();
    play.file("shop/sexton.yaml", SETTINGS);
    for number in 1..=count {
        play.file(&format!("shop/m-{number}.yaml"), &map(&format!("m-{number}"), "data: {a: one}\n"));
    }
    play
}

/// Everything that the store has of a module, as text.
pub(crate) fn state(play: &Play) -> String {
    let mut all = String::new();
    for kind in ["cm", "modules", "leases", "collections"] {
        all.push_str(&play.run(&format!("get {kind} -o yaml --show-managed-fields")).out);
    }
    all
}
