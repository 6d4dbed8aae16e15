//! One file per command: its arguments, whose comments are its help, and what it does.

pub(crate) mod backup;
pub(crate) mod collect;
pub(crate) mod delete;
pub(crate) mod get;
pub(crate) mod kinds;
pub(crate) mod kubeconfig;
pub(crate) mod put;
pub(crate) mod serve;
pub(crate) mod version;
pub(crate) mod watch;
