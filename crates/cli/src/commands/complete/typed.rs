//! What may stand at the cursor, by what was typed before it. Makes no requests.

use std::ffi::OsString;

use clap::{Arg, Command};

use crate::plugin::{self, Typed};
use crate::settings::Settings;
use crate::targets::is_whole;

/// A word that may stand there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) about: String,
}

impl Word {
    pub(super) fn new(text: impl Into<String>, about: impl ToString) -> Word {
        Word { text: text.into(), about: about.to_string() }
    }
}

/// Something with names that only the target knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Thing {
    /// `configmaps`
    Kind,
    /// `configmaps`, or `configmaps/a` once there is a slash.
    KindOrObject,
    /// `configmaps/a`, behind others of that form.
    Object,
    /// The name of an object of this kind.
    Name(String),
    Module,
    Environment,
    Namespace,
    Context,
    Collection,
}

/// What stands at the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    Words(Vec<Word>),
    Thing(Thing),
    /// A file, a number, a text: the shell knows better.
    Other,
}

/// The forms of `get`, which are read by a parser of their own.
const FORMS: [&str; 6] = ["table", "wide", "json", "yaml", "name", "jsonpath="];

/// What may stand behind these words.
pub(super) fn place(program: &Command, before: &[String], current: &str) -> Place {
    let mut command = program;
    let mut positionals: Vec<&str> = Vec::new();
    let (mut pending, mut only_words) = (None, false);
    for word in before {
        if pending.take().is_some() {
            continue;
        }
        match word.as_str() {
            "--" => only_words = true,
            flag if flag.starts_with('-') && flag.len() > 1 && !only_words => {
                pending = awaits_value(command, flag);
            }
            word => match command.find_subcommand(word).filter(|_| positionals.is_empty()) {
                Some(inner) => command = inner,
                None => positionals.push(word),
            },
        }
    }
    if let Some(flag) = pending {
        return of_flag(command, flag);
    }
    if current.starts_with('-') && !only_words {
        return Place::Words(flags(command));
    }
    let of_command = of_positional(command, &positionals);
    let commands = || {
        let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
        shown.map(|command| Word::new(command.get_name(), command.get_about().cloned().unwrap_or_default()))
    };
    match (command.has_subcommands() && positionals.is_empty(), of_command) {
        (true, Place::Other) => Place::Words(commands().collect()),
        (_, place) => place,
    }
}

/// The flag that the next word is the value of.
fn awaits_value<'a>(command: &'a Command, flag: &str) -> Option<&'a Arg> {
    let needs_value = |arg: &&Arg| {
        arg.get_num_args().is_some_and(|values| values.min_values() > 0 && values.takes_values())
    };
    let known = |is_it: &dyn Fn(&Arg) -> bool| command.get_arguments().find(|arg| is_it(arg));
    match flag.strip_prefix("--") {
        Some(long) => known(&|arg| arg.get_long() == Some(long)).filter(needs_value),
        // Of several in one word, only the last can have its value in the next.
        None => known(&|arg| arg.get_short() == flag.chars().last()).filter(needs_value),
    }
}

fn flags(command: &Command) -> Vec<Word> {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set() && !arg.is_positional());
    let word = |arg: &Arg| {
        Some(Word::new(format!("--{}", arg.get_long()?), arg.get_help().cloned().unwrap_or_default()))
    };
    shown.filter_map(word).collect()
}

fn of_flag(command: &Command, flag: &Arg) -> Place {
    match flag.get_id().as_str() {
        "namespace" => Place::Thing(Thing::Namespace),
        "context" => Place::Thing(Thing::Context),
        "to" | "from" | "manager" => Place::Thing(Thing::Module),
        "kinds" => Place::Thing(Thing::Kind),
        "env" => Place::Thing(Thing::Environment),
        "output" if command.get_name() == "get" => {
            Place::Words(FORMS.into_iter().map(|form| Word::new(form, "")).collect())
        }
        _ => values(flag),
    }
}

fn of_positional(command: &Command, typed: &[&str]) -> Place {
    let Some(arg) = command.get_positionals().nth(typed.len()).or_else(|| command.get_positionals().last())
    else {
        return Place::Other;
    };
    match (arg.get_id().as_str(), typed.first()) {
        ("words", None) => Place::Thing(Thing::KindOrObject),
        ("words", Some(first)) if first.contains('/') => Place::Thing(Thing::Object),
        ("words", Some(first)) => Place::Thing(Thing::Name((*first).to_owned())),
        ("object", _) => nth_object(typed, 1),
        ("objects", _) if is_about_two(command) => nth_object(typed, 2),
        ("objects", None) => Place::Thing(Thing::KindOrObject),
        ("objects", Some(first)) if first.contains('/') => Place::Thing(Thing::Object),
        ("objects", Some(first)) => Place::Thing(Thing::Name((*first).to_owned())),
        ("module", None) => Place::Thing(Thing::Module),
        ("environment", None) => Place::Thing(Thing::Environment),
        ("name", None) if command.get_name() == "collections" => Place::Thing(Thing::Collection),
        _ => values(arg),
    }
}

fn is_about_two(command: &Command) -> bool {
    ["subscribe", "unsubscribe"].contains(&command.get_name())
}

/// Behind some words of a command that is about so many objects, each `KIND/NAME` or `KIND NAME`.
fn nth_object(typed: &[&str], objects: usize) -> Place {
    let (mut found, mut kind) = (0, None);
    for word in typed {
        match kind.take() {
            None if !is_whole(word) => kind = Some(*word),
            _ => found += 1,
        }
    }
    match kind {
        _ if found >= objects => Place::Other,
        Some(kind) => Place::Thing(Thing::Name(kind.to_owned())),
        None => Place::Thing(Thing::KindOrObject),
    }
}

fn values(arg: &Arg) -> Place {
    let values = arg.get_possible_values();
    let shown = values.iter().filter(|value| !value.is_hide_set());
    let words: Vec<Word> = shown
        .map(|value| Word::new(value.get_name(), value.get_help().cloned().unwrap_or_default()))
        .collect();
    if words.is_empty() { Place::Other } else { Place::Words(words) }
}

/// The target that these words name, or else the one that the program means by itself: a command that is completed is
/// about the same target as the command that is run.
///
/// `program_name` is how the program was called, `server` what the variable SEXTON_SERVER says.
pub(super) fn settings(
    program: &Command,
    before: &[String],
    program_name: &str,
    server: Option<String>,
) -> Option<Settings> {
    // Any command with a target and without words of its own.
    let mut typed = vec![program_name.to_owned(), "kinds".to_owned()];
    for (at, word) in before.iter().enumerate() {
        let flag = word.split('=').next().unwrap_or_default();
        let is_target = program.get_arguments().any(|arg| {
            arg.is_global_set()
                && (arg.get_long().is_some_and(|long| flag.strip_prefix("--") == Some(long)) || flag == "-n")
        });
        let awaits_value = awaits_value(program, word).is_some();
        match before.get(at + 1) {
            Some(value) if is_target && awaits_value => typed.extend([word.clone(), value.clone()]),
            _ if is_target && !awaits_value => typed.push(word.clone()),
            // Its value is being typed just now.
            _ => {}
        }
    }
    let Typed { mut arguments, called_by_kubectl, .. } =
        plugin::parse(typed.into_iter().map(OsString::from), server).ok()?;
    if called_by_kubectl {
        plugin::take_current_context(&mut arguments.settings, &arguments.command).ok()?;
    }
    Some(arguments.settings)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::arguments::Arguments;

    fn at(typed: &str) -> Place {
        let mut program = Arguments::command();
        program.build();
        let mut before: Vec<String> = typed.split(' ').map(str::to_owned).collect();
        let current = before.pop().unwrap();
        place(&program, &before, &current)
    }

    #[test]
    fn what_may_stand_there() {
        let thing = |typed: &str| match at(typed) {
            Place::Thing(thing) => Some(thing),
            _ => None,
        };
        assert_eq!(thing("get c"), Some(Thing::KindOrObject));
        assert_eq!(thing("get -n shop cm "), Some(Thing::Name("cm".into())));
        assert_eq!(thing("get cm/a cm/"), Some(Thing::Object));
        assert_eq!(thing("plan delete "), Some(Thing::KindOrObject));
        for command in ["why", "force", "retry", "transfer", "graph", "protect", "subscribe"] {
            assert_eq!(
                thing(&format!("{command} --server http://x ")),
                Some(Thing::KindOrObject),
                "{command}"
            );
            assert_eq!(thing(&format!("{command} cm ")), Some(Thing::Name("cm".into())), "{command}");
        }
        for several in ["graph", "protect", "unprotect"] {
            assert_eq!(thing(&format!("{several} cm a ")), Some(Thing::Name("cm".into())), "{several}");
            assert_eq!(thing(&format!("{several} cm/a ")), Some(Thing::Object), "{several}");
        }
        for first in ["cm/a", "cm a"] {
            assert_eq!(thing(&format!("why {first} ")), None, "{first}");
            assert_eq!(thing(&format!("subscribe {first} ")), Some(Thing::KindOrObject), "{first}");
            assert_eq!(thing(&format!("subscribe {first} vm ")), Some(Thing::Name("vm".into())), "{first}");
            assert_eq!(thing(&format!("subscribe {first} vm/b ")), None, "{first}");
        }
        assert_eq!(thing("transfer cm/a --to s"), Some(Thing::Module));
        assert_eq!(thing("destroy "), Some(Thing::Module));
        assert_eq!(thing("modules unlock "), Some(Thing::Module));
        assert_eq!(thing("get cm -An "), Some(Thing::Namespace));
        assert_eq!(thing("get cm --context "), Some(Thing::Context));
        assert_eq!(thing("orphans --kinds "), Some(Thing::Kind));
        assert_eq!(thing("collections "), Some(Thing::Collection));
        assert_eq!(thing("run a.luau --env "), Some(Thing::Environment));
        assert_eq!(thing("environments retry "), Some(Thing::Environment));
        for other in ["apply -f ", "backup ", "run ", "get cm --limit ", "nonsense -x y"] {
            assert!(!matches!(at(other), Place::Thing(_)), "{other}");
        }
    }

    #[test]
    fn commands_flags_and_their_values() {
        let words = |typed: &str| match at(typed) {
            Place::Words(words) => words.into_iter().map(|word| word.text).collect(),
            _ => Vec::new(),
        };
        assert!(words("").contains(&"why".to_owned()) && !words("").contains(&"script-worker".to_owned()));
        assert!(words("get --n").contains(&"--no-headers".to_owned()));
        assert!(words("get cm --s").contains(&"--server".to_owned()));
        assert_eq!(words("why cm/a -o "), ["text", "json"]);
        assert!(words("get cm -o ").contains(&"jsonpath=".to_owned()));
        assert!(words("completions ").contains(&"bash".to_owned()));
        assert!(words("get -- --n").is_empty());
    }

    #[test]
    fn the_target_is_the_one_that_was_typed() {
        let mut program = Arguments::command();
        program.build();
        let typed = ["get", "cm", "-n", "shop", "--data", "x", "--server=http://y", "-l", "a=b"];
        let settings = settings(&program, &typed.map(str::to_owned), "sexton", None).unwrap();
        assert_eq!(settings.namespace.as_deref(), Some("shop"));
        assert_eq!(settings.server.as_deref(), Some("http://y"));
        assert_eq!(settings.data, std::path::Path::new("x"));
    }

    /// What is completed is about the target that the command would be about.
    #[test]
    fn else_it_is_the_one_that_the_command_would_have() {
        let mut program = Arguments::command();
        program.build();
        let of = |name: &str, typed: &[&str]| {
            let typed: Vec<String> = typed.iter().map(|word| (*word).to_owned()).collect();
            settings(&program, &typed, name, Some("http://variable".into())).unwrap()
        };
        assert_eq!(of("sexton", &["why"]).server.as_deref(), Some("http://variable"));
        assert_eq!(of("sexton", &["why", "--data", "x"]).server, None);
        assert_eq!(of("sexton", &["why", "--context", "c"]).server, None);
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config");
        std::fs::write(&file, "current-context: here\n").unwrap();
        let by_kubectl = of("kubectl-sexton", &["why", "--kubeconfig", file.to_str().unwrap()]);
        assert_eq!((by_kubectl.server, by_kubectl.context.as_deref()), (None, Some("here")));
    }
}
