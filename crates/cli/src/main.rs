//! The `sexton` command: the only place that prints or reads the environment.
//!
//! - [`arguments`]: what can be typed. [`commands`]: one file per command.
//! - [`world`]: the store or server that is meant. [`lock`]: the process that uses a data directory.
//! - [`input`]: files of documents. [`output`]: everything that is printed. [`failure`]: what went wrong, and what now.
//!
//! It must not know how anything is destroyed: it asks the API.

mod allowing;
mod arguments;
mod ask;
mod collecting;
mod commands;
mod failure;
mod following;
mod input;
mod interrupt;
mod lock;
mod logging;
mod naming;
mod one;
mod output;
mod plugin;
#[cfg(test)]
mod reference;
mod run;
mod settings;
mod showing;
mod suggest;
mod targets;
mod world;

/// The system's allocator costs twice as much processor time under the load of many small documents.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    run::run()
}
