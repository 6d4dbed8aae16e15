//! One file per command: its arguments, whose comments are its help, and what it does.

pub(crate) mod apply;
pub(crate) mod backup;
pub(crate) mod collect;
pub(crate) mod collections;
pub(crate) mod delete;
pub(crate) mod demo;
pub(crate) mod destroy;
pub(crate) mod force;
pub(crate) mod get;
pub(crate) mod graph;
pub(crate) mod install_crds;
pub(crate) mod kinds;
pub(crate) mod kubeconfig;
pub(crate) mod modules;
pub(crate) mod orphans;
pub(crate) mod plan;
pub(crate) mod protect;
pub(crate) mod put;
pub(crate) mod resume;
pub(crate) mod serve;
pub(crate) mod subscribe;
pub(crate) mod transfer;
pub(crate) mod version;
pub(crate) mod watch;
pub(crate) mod why;
