//! Runs programs and compares their output with the expected output.

use std::future::Future;
use std::path::Path;
use std::rc::Rc;

use sexton_runtime::lua::{Grants, Host, Limits, Lines, Program, ProgramError, Source};
use sexton_runtime::world::{CodeErrorKind, Handle, NewError, World};

/// A machine that is not broken begins something within its time in one of so many tries.
const TRIES: usize = 100;

/// A program that was loaded, with all that it says.
pub(crate) struct Loaded {
    pub(crate) program: Program,
    pub(crate) world: World,
    pub(crate) lines: Rc<Lines>,
}

/// How it went.
pub(crate) struct Ran {
    pub(crate) loaded: Loaded,
    pub(crate) environment: Handle,
    pub(crate) result: Result<(), ProgramError>,
    pub(crate) said: Vec<String>,
}

impl Ran {
    /// The error that the program was expected to end with.
    pub(crate) fn error(&self) -> String {
        self.result.as_ref().expect_err("the program ended well").to_string()
    }

    /// What it said, one line each.
    pub(crate) fn said(&self) -> String {
        if let Err(error) = &self.result {
            panic!("{error}\nsaid before:\n{}", self.said.join("\n"));
        }
        self.said.join("\n")
    }
}

/// Runs a future on this thread, as a program is run.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(work)
}

/// Loads a text.
pub(crate) fn load(world: &World, text: &str, host: Host) -> Result<Loaded, ProgramError> {
    let lines = Rc::new(Lines::default());
    let host = Host { output: lines.clone(), ..host };
    let source = Source { name: "test.luau".to_owned(), text: text.to_owned() };
    let program = Program::load(world, &source, host)?;
    Ok(Loaded { program, world: world.clone(), lines })
}

/// Runs a text in a world of its own, with counted ids; the environment has the id 1.
pub(crate) fn run_with(text: &str, host: Host) -> Ran {
    run_in(&World::numbered(), text, host)
}

/// Runs a text with little time. If the machine was too busy to begin the run in time, it is tried again.
pub(crate) fn run_within(text: &str, limits: &Limits, grants: &Grants) -> Ran {
    let host = || Host { limits: limits.clone(), grants: grants.clone(), ..Host::default() };
    let mut tries = (0..TRIES).filter_map(|_| block_on(run_here(&World::numbered(), text, host())));
    tries.next().expect("it begins in time")
}

/// Runs a text in a prepared world.
pub(crate) fn run_in(world: &World, text: &str, host: Host) -> Ran {
    block_on(run_here(world, text, host)).expect("it begins in time")
}

/// Runs a text with a clock that stands still while anything can go on, so that no other work of the machine counts.
pub(crate) fn run_timeless(text: &str) -> Ran {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().start_paused(true).build().unwrap();
    let ran = runtime.block_on(run_here(&World::numbered(), text, Host::default()));
    ran.expect("it begins in time")
}

/// `None` if the time was up before `deploy` began.
async fn run_here(world: &World, text: &str, host: Host) -> Option<Ran> {
    let loaded = match load(world, text, host) {
        Err(error) if error.kind() == CodeErrorKind::Deadline => return None,
        loaded => loaded.unwrap_or_else(|error| panic!("{error}")),
    };
    let environment = match loaded.program.new_environment("test").await {
        Err(NewError::Init { error, .. }) if error.kind == CodeErrorKind::Deadline => return None,
        made => made.unwrap(),
    };
    loaded.lines.take();
    let result = loaded.program.run(&environment).await;
    let said = loaded.lines.take();
    Some(Ran { loaded, environment, result, said })
}

/// Runs a text with the usual limits and all the time.
pub(crate) fn run(text: &str) -> Ran {
    run_with(text, Host { limits: patient(), ..Host::default() })
}

/// The body of `deploy`, as a whole program.
pub(crate) fn deploy(body: &str) -> String {
    format!("format \"1.4\"\nfunction deploy(env)\n{body}\nend\n")
}

/// Limits that end soon.
pub(crate) fn short() -> Limits {
    Limits { memory: 16 << 20, without_pause: std::time::Duration::from_millis(200), ..Limits::default() }
}

/// As much time as it takes on the busiest machine, for programs that end for another reason.
pub(crate) fn patient() -> Limits {
    Limits { without_pause: std::time::Duration::from_secs(300), ..Limits::default() }
}

/// Little memory, and all the time.
pub(crate) fn tight() -> Limits {
    Limits { memory: 16 << 20, ..patient() }
}

/// Why a text cannot be loaded.
pub(crate) fn refused(text: &str) -> String {
    match load(&World::numbered(), text, Host::default()) {
        Ok(_) => panic!("it was loaded"),
        Err(error) => error.to_string(),
    }
}

/// A program of `programs/`, traced or not: it says what its comments say that it says.
pub(crate) fn check(name: &str, trace: bool) -> Ran {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lua/programs").join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    let ran = run_with(&text, Host { trace, ..Host::default() });
    let expected: Vec<&str> = text.lines().filter_map(|line| line.trim().strip_prefix("--> ")).collect();
    assert_eq!(ran.said(), expected.join("\n"), "{name}");
    ran
}
