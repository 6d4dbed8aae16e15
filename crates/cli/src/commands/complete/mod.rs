//! `sexton complete`: the words that may stand at the cursor, for the scripts of `sexton completions`. Errors are not
//! shown, because the user has not run a command yet.

mod lookup;
mod typed;

use std::time::Duration;

use clap::CommandFactory;

use crate::arguments::Arguments;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::{plugin, settings};
use typed::{Place, Word};

/// Time limit for looking up words: the user waits for them after a key.
const PATIENCE: Duration = Duration::from_millis(1500);

/// Print the words that may stand at the cursor, with a tab between a word and what it is
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What was typed behind the name of the program, up to the cursor; the last one may be empty
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

pub(crate) async fn run(args: Args, output: &Output) -> Result<Exit, Failure> {
    let mut program = Arguments::command();
    program.build();
    // Bash takes the sign between a flag and its value for a word.
    let mut before: Vec<String> = args.words.into_iter().collect();
    let current = before.pop().filter(|word| word != "=").unwrap_or_default();
    before.retain(|word| word != "=");
    let found = match typed::place(&program, &before, &current) {
        Place::Words(words) => words,
        Place::Thing(thing) => {
            let server = std::env::var(settings::SERVER_VARIABLE).ok();
            let target = typed::settings(&program, &before, plugin::program_name(), server);
            let looked = lookup::find(&thing, &current, target);
            tokio::time::timeout(PATIENCE, looked).await.ok().flatten().unwrap_or_default()
        }
        Place::Other => Vec::new(),
    };
    let fitting: Vec<Word> = found.into_iter().filter(|word| word.text.starts_with(&current)).collect();
    let end = if plugin::is_called_by_kubectl() { directive(&fitting) } else { "" };
    output.data(&(fitting.into_iter().map(line).collect::<String>() + end))?;
    Ok(Exit::Done)
}

/// The last line that kubectl reads, in the numbers of its library: 2 puts no space behind the word, 4 offers no files.
fn directive(fitting: &[Word]) -> &'static str {
    match fitting {
        [] => ":0\n",
        [only] if only.text.ends_with(['/', '=']) => ":6\n",
        _ => ":4\n",
    }
}

fn line(word: Word) -> String {
    let about = word.about.lines().next().unwrap_or_default();
    // A word with control characters could give orders to the terminal: it is left out.
    match word.text.contains(char::is_control) {
        true => String::new(),
        false if about.is_empty() => format!("{}\n", word.text),
        false => format!("{}\t{about}\n", word.text),
    }
}
