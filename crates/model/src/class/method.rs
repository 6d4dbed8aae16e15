//! One method of a class: a program, an address or a script, with a deadline and a limit.
//!
//! It must not know whether the program or the address exists.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};

use super::read::{Errors, number, object, text, within};
use crate::invalid::FieldError;
use crate::text::quoted;

/// How long a call may take unless it is said.
pub const DEFAULT_DEADLINE: Duration = Duration::from_secs(60);
/// How much a call may say unless it is said.
pub const DEFAULT_OUTPUT: usize = 64 << 10;

const MAX_DEADLINE: u64 = 86_400;
const MIN_OUTPUT: u64 = 1 << 10;
const MAX_OUTPUT: u64 = 16 << 20;
/// Of arguments or variables, and of bytes in them: less than any system allows.
const MAX_WORDS: usize = 1_000;
const MAX_WORD_BYTES: usize = 64 << 10;
const MAX_URL_BYTES: usize = 2 << 10;
/// Longer scripts are refused.
pub const MAX_SOURCE: usize = 512 << 10;
/// Variables that are set for every call.
const OWN_VARIABLES: &str = "SEXTON_";

/// A method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Method {
    /// What is run.
    pub run: Run,
    /// How long that may take.
    pub deadline: Duration,
    /// How many bytes it may say.
    pub max_output: usize,
}

/// What is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Run {
    /// A program on the machine of the collector.
    Exec {
        /// The program and its arguments; never empty, and no shell sees it.
        argv: Vec<String>,
        /// Where it runs: an absolute path. A program that is named by a relative path is looked for there.
        dir: Option<String>,
        /// Added to the few variables that every program gets.
        env: BTreeMap<String, String>,
    },
    /// A service that is sent a POST.
    Http {
        /// `http://…` or `https://…`.
        url: String,
    },
    /// The method of the class of this name in a script.
    Lua {
        /// The whole script; without it, that of the environment to which the object belongs.
        source: Option<String>,
    },
}

impl Run {
    /// `exec`, `http` or `lua`.
    pub fn word(&self) -> &'static str {
        match self {
            Run::Exec { .. } => "exec",
            Run::Http { .. } => "http",
            Run::Lua { .. } => "lua",
        }
    }

    /// The whole call as a person would type it, for plans that have to be approved; a script by its kind alone.
    pub fn command(&self) -> String {
        let (argv, dir, env) = match self {
            Run::Exec { argv, dir, env } => (argv, dir.as_deref(), env),
            Run::Http { url } => return url.clone(),
            Run::Lua { source: None } => return "in its program".to_owned(),
            Run::Lua { source: Some(_) } => return "in the script of its class".to_owned(),
        };
        let mut words: Vec<String> =
            env.iter().map(|(name, value)| format!("{name}={}", quoted(value))).collect();
        let mut argv = argv.iter();
        let program = argv.next().map_or("", String::as_str);
        let is_relative = program.contains('/') && !program.starts_with('/');
        match dir.filter(|_| is_relative) {
            Some(dir) => words.push(quoted(&format!("{}/{program}", dir.trim_end_matches('/')))),
            None => words.push(quoted(program)),
        }
        words.extend(argv.map(|word| quoted(word)));
        words.join(" ")
    }
}

pub(super) fn read(value: &Value, path: &str, errors: &mut Errors) -> Option<Method> {
    let map = object(value, path, &["exec", "http", "lua", "deadlineSeconds", "maxOutputBytes"], errors)?;
    let usual = DEFAULT_DEADLINE.as_secs();
    let deadline = number(map, path, "deadlineSeconds", 1..=MAX_DEADLINE, usual, errors);
    let usual = DEFAULT_OUTPUT as u64;
    let max_output = number(map, path, "maxOutputBytes", MIN_OUTPUT..=MAX_OUTPUT, usual, errors);
    let run = match (map.get("exec"), map.get("http"), map.get("lua")) {
        (Some(value), None, None) => exec(value, &within(path, "exec"), errors),
        (None, Some(value), None) => http(value, &within(path, "http"), errors),
        (None, None, Some(value)) => lua(value, &within(path, "lua"), errors),
        (None, None, None) => {
            let detail = "what is run, e.g. exec: {argv: [/usr/bin/true]} or http: {url: https://…}";
            errors.push(FieldError::required(path, detail));
            None
        }
        _ => {
            errors.push(FieldError::forbidden(path, "one of exec, http and lua, not more"));
            None
        }
    };
    let max_output = usize::try_from(max_output?).ok()?;
    Some(Method { run: run?, deadline: Duration::from_secs(deadline?), max_output })
}

fn exec(value: &Value, path: &str, errors: &mut Errors) -> Option<Run> {
    let map = object(value, path, &["argv", "dir", "env"], errors)?;
    let argv = argv(map, path, errors);
    let dir = match map.get("dir") {
        None => Some(None),
        Some(_) => text(map, path, "dir", errors).map(Some),
    };
    let env = env(map, path, errors);
    let (argv, dir, env) = (argv?, dir?, env?);
    if let Some(dir) = dir.filter(|dir| !dir.starts_with('/') || dir.contains('\0')) {
        let detail = "must be an absolute path, because nobody can know from where it would be relative";
        errors.push(FieldError::invalid(within(path, "dir"), dir, detail));
    }
    let program = &argv[0];
    if dir.is_none() && program.contains('/') && !program.starts_with('/') {
        let detail = "a program with a relative path needs a dir from which it is looked for";
        errors.push(FieldError::invalid(format!("{path}.argv[0]"), program.as_str(), detail));
    }
    Some(Run::Exec { argv, dir: dir.map(str::to_owned), env })
}

fn argv(map: &Map<String, Value>, path: &str, errors: &mut Errors) -> Option<Vec<String>> {
    let place = within(path, "argv");
    let detail = "the program and its arguments as a list of texts, e.g. [/usr/local/bin/vm-rm, --now]";
    let Some(value) = map.get("argv") else {
        errors.push(FieldError::required(place, detail));
        return None;
    };
    let words: Option<Vec<String>> =
        value.as_array().and_then(|list| list.iter().map(|word| word.as_str().map(str::to_owned)).collect());
    let Some(words) = words else {
        errors.push(FieldError::invalid(place, value.clone(), format!("must be {detail}")));
        return None;
    };
    if words.first().is_none_or(String::is_empty) {
        errors.push(FieldError::invalid(place, value.clone(), format!("names no program; must be {detail}")));
        return None;
    }
    fits(words.iter().map(String::as_str), &place, errors).then_some(words)
}

fn env(map: &Map<String, Value>, path: &str, errors: &mut Errors) -> Option<BTreeMap<String, String>> {
    let place = within(path, "env");
    let Some(value) = map.get("env") else { return Some(BTreeMap::new()) };
    let Some(map) = value.as_object() else {
        errors.push(FieldError::invalid(place, value.clone(), "must be a map of names to texts"));
        return None;
    };
    let mut env = BTreeMap::new();
    for (name, value) in map {
        let place = format!("{place}[{name}]");
        if name.is_empty() || name.contains('=') {
            errors.push(FieldError::invalid(place, name.as_str(), "is not the name of a variable"));
        } else if name.starts_with(OWN_VARIABLES) {
            let detail = format!("variables that begin with {OWN_VARIABLES} are set by the collector");
            errors.push(FieldError::forbidden(place, detail));
        } else if let Some(text) = value.as_str() {
            env.insert(name.clone(), text.to_owned());
        } else {
            let detail = "must be a text; numbers and true need quotes";
            errors.push(FieldError::invalid(place, value.clone(), detail));
        }
    }
    let words = env.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]);
    fits(words, &place, errors).then_some(env)
}

/// Whether a system will take the words.
fn fits<'a>(words: impl Iterator<Item = &'a str>, place: &str, errors: &mut Errors) -> bool {
    let (mut count, mut bytes, mut zero) = (0, 0, false);
    for word in words {
        count += 1;
        bytes += word.len();
        zero |= word.contains('\0');
    }
    if zero {
        errors.push(FieldError::forbidden(place, "no text may contain a zero byte"));
    }
    if count > MAX_WORDS {
        errors.push(FieldError::too_many(place, count, MAX_WORDS));
    }
    if bytes > MAX_WORD_BYTES {
        errors.push(FieldError::too_long(place, MAX_WORD_BYTES));
    }
    !zero && count <= MAX_WORDS && bytes <= MAX_WORD_BYTES
}

fn http(value: &Value, path: &str, errors: &mut Errors) -> Option<Run> {
    let map = object(value, path, &["url"], errors)?;
    let url = text(map, path, "url", errors)?;
    match check_url(url) {
        Ok(()) => Some(Run::Http { url: url.to_owned() }),
        Err(complaint) => {
            errors.push(FieldError::invalid(within(path, "url"), url, complaint));
            None
        }
    }
}

fn lua(value: &Value, path: &str, errors: &mut Errors) -> Option<Run> {
    let map = object(value, path, &["source"], errors)?;
    if !map.contains_key("source") {
        return Some(Run::Lua { source: None });
    }
    let source = text(map, path, "source", errors)?;
    if source.len() > MAX_SOURCE {
        errors.push(FieldError::too_long(within(path, "source"), MAX_SOURCE));
        return None;
    }
    Some(Run::Lua { source: Some(source.to_owned()) })
}

fn check_url(url: &str) -> Result<(), String> {
    if url.len() > MAX_URL_BYTES {
        return Err(format!("may not be more than {MAX_URL_BYTES} bytes"));
    }
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    let Some(rest) = rest else { return Err("must begin with http:// or https://".into()) };
    let odd = |c: char| !c.is_ascii_graphic() || "\"<>\\^`{|}".contains(c);
    if let Some(odd) = url.chars().find(|c| odd(*c)) {
        return Err(format!("{odd:?} must be escaped in an address"));
    }
    if url.contains('#') {
        return Err("a fragment is never sent, so it may not be there".into());
    }
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err("a user name or password in an address would be read by everybody".into());
    }
    // The colons of an IPv6 address stand in brackets.
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let named = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    let inside = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let good = match inside {
        Some(address) => address.parse::<core::net::Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.chars().all(named),
    };
    if !good {
        return Err("names no host".into());
    }
    match port {
        Some(port) if port.starts_with('+') || port.parse::<u16>().map_or(true, |port| port == 0) => {
            Err(format!("{port:?} is not a port"))
        }
        _ => Ok(()),
    }
}
