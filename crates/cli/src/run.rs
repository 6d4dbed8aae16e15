//! Runs the command that was typed, and returns its exit code.

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use sexton_collector::hooks::keeper::keep;

use crate::arguments::{Arguments, Command};
use crate::collecting;
use crate::commands::{
    apply, backup, collect, collections, complete, completions, delete, demo, destroy, environments, force,
    get, graph, install_crds, kinds, kubeconfig, modules, orphans, plan, protect, put, restore, resume,
    run as run_program, script_worker, serve, subscribe, transfer, version, watch, why,
};
use crate::failure::{Exit, Failure};
use crate::logging;
use crate::output::ndjson::{self, Stream};
use crate::output::{Output, Paint, screen};
use crate::plugin::{self, Typed};
use crate::settings::{self, Settings};
use crate::suggest;

/// Long enough for a store to be closed; it is safe either way.
const CLOSING: Duration = Duration::from_millis(500);

/// Runs the command that was typed.
pub(crate) fn run() -> ExitCode {
    screen::tell_panics();
    // Before anything else is started in this process: a keeper has one child and no threads.
    if let Some(words) = collecting::keeper_words() {
        return ExitCode::from(keep(words));
    }
    plugin::remember(std::env::args_os().next());
    let server = std::env::var(settings::SERVER_VARIABLE).ok();
    let Typed { arguments, called_by_kubectl, stream } = match plugin::parse(std::env::args_os(), server) {
        Ok(typed) => typed,
        Err(error) => return misread(&error),
    };
    let Arguments { mut settings, command } = arguments;
    let context = match called_by_kubectl {
        true => plugin::take_current_context(&mut settings, &command),
        false => Ok(()),
    };
    let output =
        Output::new(settings.no_color).streaming(stream.map(|command| Stream::new(command, Some(&settings))));
    if let Err(failure) = output.begin().and(context) {
        return output.fail(&failure);
    }
    settings.allowing = command.allowing();
    suggest::remember(&settings);
    logging::start(&settings, serve::logs(&command), output.talk_style());
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return output.fail(&Failure::new(format!("cannot start: {error}"))),
    };
    let result = runtime.block_on(async {
        match command {
            // These handle signals themselves, and finish what is under way first.
            Command::Serve(args) => return serve::run(args, &settings, &output).await,
            Command::Collect(args) => return collect::run(args, &settings, &output).await,
            Command::Apply(_)
            | Command::Run(_)
            | Command::ScriptWorker(_)
            | Command::Destroy(_)
            | Command::Delete(_)
            | Command::Orphans(_)
            | Command::Resume(_)
            | Command::Force(_)
            | Command::Retry(_) => {
                return dispatch(command, &settings, &output).await;
            }
            _ => {}
        }
        tokio::select! {
            result = dispatch(command, &settings, &output) => result,
            _ = tokio::signal::ctrl_c() => Ok(Exit::Interrupted),
        }
    });
    runtime.shutdown_timeout(CLOSING);
    match result {
        Ok(exit) => {
            output.end(exit);
            exit.into()
        }
        Err(failure) => output.fail(&failure),
    }
}

async fn dispatch(command: Command, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    match command {
        Command::Get(args) => get::run(args, settings, output).await,
        Command::Put(args) => put::run(args, settings, output).await,
        Command::InstallCrds(args) => install_crds::run(args, settings, output).await,
        Command::Demo(args) => demo::run(args, output).await,
        Command::Apply(args) => apply::run(*args, settings, output).await,
        Command::Plan(args) => plan::run(*args, settings, output).await,
        Command::Destroy(args) => destroy::run(args, settings, output).await,
        Command::Modules(args) => modules::run(args, settings, output).await,
        Command::Transfer(args) => transfer::run(args, settings, output).await,
        Command::Delete(args) => delete::run(args, settings, output).await,
        Command::Orphans(args) => orphans::run(args, settings, output).await,
        Command::Environments(args) => environments::run(args, settings, output).await,
        Command::Run(args) => run_program::run(*args, settings, output).await,
        Command::ScriptWorker(args) => script_worker::run(args, output).await,
        Command::Resume(args) => resume::run(args, settings, output).await,
        Command::Why(args) => why::run(args, settings, output).await,
        Command::Graph(args) => graph::run(args, settings, output).await,
        Command::Collections(args) => collections::run(args, settings, output).await,
        Command::Force(args) => force::run(args, settings, output).await,
        Command::Retry(args) => force::retry(args, settings, output).await,
        Command::Protect(args) => protect::run(args, settings, output).await,
        Command::Unprotect(args) => protect::undo(args, settings, output).await,
        Command::Subscribe(args) => subscribe::run(args, settings, output).await,
        Command::Unsubscribe(args) => subscribe::undo(args, settings, output).await,
        Command::Watch(args) => watch::run(args, settings, output).await,
        Command::Kinds(args) => kinds::run(&args, settings, output).await,
        Command::Backup(args) => backup::run(args, settings, output).await,
        Command::Restore(args) => restore::run(args, settings, output).await,
        Command::Kubeconfig(args) => kubeconfig::run(&args, settings, output),
        Command::Complete(args) => complete::run(args, output).await,
        Command::Completions(args) => completions::run(args, output),
        Command::Serve(args) => serve::run(args, settings, output).await,
        Command::Collect(args) => collect::run(args, settings, output).await,
        Command::Version(_) => version::run(output),
    }
}

/// Help and version are data; everything else that is wrong with what was typed is an error like any other. Clap would
/// exit with 2, which here means something else.
fn misread(error: &clap::Error) -> ExitCode {
    let output = Output::new(false);
    if !error.use_stderr() {
        let help = error.render();
        // The words of help are all ours, so its colours are, too.
        let _ = match output.data_style().colours {
            true => output.data(&screen::own(&help.ansi().to_string())),
            false => output.data(&help.to_string()),
        };
        return ExitCode::SUCCESS;
    }
    let text = error.render().to_string();
    output.talk_text(&text.replacen("error", &output.talk_style().paint("error", Paint::Bad), 1));
    let typed: Vec<OsString> = std::env::args_os().collect();
    if ndjson::asked_in_vain(&typed) {
        let output = output.streaming(Some(Stream::new(String::new(), None)));
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let what = lines.next().unwrap_or_default().trim_start_matches("error: ");
        let failure = lines.fold(Failure::new(what), |failure, line| failure.detail(line.trim()));
        let _ = output.begin();
        output.error_event(&failure);
        output.end(failure.exit);
    }
    Exit::Error.into()
}
