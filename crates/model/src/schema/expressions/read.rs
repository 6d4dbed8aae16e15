//! Reading expressions: what they call and name must be there, and how deep they nest is bounded.
//!
//! It must not know what expressions are run on.

use std::collections::BTreeSet;
use std::thread;

use cel::common::ast::{CallExpr, Expr, IdedExpr};

use super::functions::{ENVIRONMENT, FUNCTIONS, NAMESPACES};
use super::{COUNT, MOST_TEXT};

/// The stack on which a long expression is read: the reader needs much of it.
const STACK: usize = 64 << 20;
/// As deep may a long expression be once it is read.
const MOST_DEPTH: usize = 48;

/// How much of an expression there may be, of what makes it deep.
struct Bounds {
    brackets: usize,
    joined: usize,
    signs: usize,
}

/// Anybody's stack is large enough for this.
const SMALL: Bounds = Bounds { brackets: 7, joined: 24, signs: 160 };
/// More is a program.
const LARGE: Bounds = Bounds { brackets: 20, joined: 128, signs: 640 };

/// Reads an expression that calls what is there and names what is given.
pub(super) fn parse(source: &str) -> Result<IdedExpr, String> {
    const TOO_DEEP: &str = "compilation failed: it is nested too deep";
    if source.len() > MOST_TEXT {
        return Err(format!("it is longer than {MOST_TEXT} bytes"));
    }
    if !nests_deeper(source, &SMALL) {
        return parse_here(source);
    }
    if nests_deeper(source, &LARGE) {
        return Err(TOO_DEEP.into());
    }
    let read = || {
        parse_here(source).and_then(|expr| match depth(&expr) > MOST_DEPTH {
            true => Err(TOO_DEEP.into()),
            false => Ok(expr),
        })
    };
    thread::scope(|scope| {
        let reader = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, read);
        let read = reader.ok().and_then(|reader| reader.join().ok());
        read.unwrap_or_else(|| Err("compilation failed: it could not be read".into()))
    })
}

fn parse_here(source: &str) -> Result<IdedExpr, String> {
    let parsed = ENVIRONMENT.parser().parse(source);
    let mut parsed = parsed.map_err(|errors| format!("compilation failed: {}", errors.to_string().trim()))?;
    let (functions, variables) = names(&parsed);
    let operator = |name: &str| !name.starts_with(|c: char| c.is_ascii_alphabetic());
    if let Some(name) = functions
        .iter()
        .find(|name| !operator(name) && !FUNCTIONS.split(' ').any(|known| known == name.as_str()))
    {
        return Err(format!("compilation failed: undeclared reference to the function '{name}'"));
    }
    let types = ["int", "uint", "double", "string", "bytes", "bool", "list", "map", "null_type", "type"];
    let known = |name: &str| {
        matches!(name, "self" | "oldSelf")
            || types.contains(&name)
            || NAMESPACES.contains(&name)
            || operator(name)
    };
    if let Some(name) = variables.iter().find(|name| !known(name)) {
        return Err(format!("compilation failed: undeclared reference to '{name}'"));
    }
    each(&mut parsed, &mut |expr| {
        if let Expr::Comprehension(loop_) = &mut expr.expr {
            let range = std::mem::take(&mut loop_.iter_range);
            loop_.iter_range = IdedExpr {
                id: range.id,
                expr: Expr::Call(CallExpr { func_name: COUNT.into(), target: None, args: vec![range] }),
            };
        }
    });
    Ok(parsed)
}

/// Whether an expression may nest deeper than its reader can follow. Brackets nest, and so may anything else that joins
/// one thing to another, so there is a bound on how much of that there is.
fn nests_deeper(source: &str, bounds: &Bounds) -> bool {
    let (mut depth, mut joined, mut signs, mut deepest) = (0_usize, 0, 0, 0);
    let (mut quoted, mut escaped) = (None, false);
    for sign in source.chars() {
        match (quoted, sign) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(quote), sign) if quote == sign => quoted = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quoted = Some(sign),
            (None, '(' | '[' | '{') => {
                depth += 1;
                deepest = deepest.max(depth);
                joined += usize::from(sign == '[');
            }
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, '+' | '-' | '*' | '/' | '%') => joined += 1,
            (None, '.' | '!' | '?' | '&' | '|') => signs += 1,
            (None, _) => {}
        }
    }
    deepest > bounds.brackets || joined > bounds.joined || signs > bounds.signs
}

/// The functions that are called and the variables that are not bound inside.
pub(super) fn names(expr: &IdedExpr) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut functions, mut variables, mut bound) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    each(&mut expr.clone(), &mut |expr| match &expr.expr {
        Expr::Call(call) => {
            functions.insert(call.func_name.clone());
        }
        Expr::Ident(name) => {
            variables.insert(name.clone());
        }
        Expr::Comprehension(loop_) => {
            bound.extend([loop_.iter_var.clone(), loop_.accu_var.clone()]);
            bound.extend(loop_.iter_var2.clone());
        }
        _ => {}
    });
    (functions, variables.difference(&bound).cloned().collect())
}

/// How deep an expression is.
fn depth(expr: &IdedExpr) -> usize {
    let deepest = |parts: &mut dyn Iterator<Item = &IdedExpr>| parts.map(depth).max().unwrap_or(0);
    1 + match &expr.expr {
        Expr::Call(call) => deepest(&mut call.target.as_deref().into_iter().chain(&call.args)),
        Expr::Comprehension(loop_) => deepest(
            &mut [&loop_.iter_range, &loop_.accu_init, &loop_.loop_cond, &loop_.loop_step, &loop_.result]
                .into_iter(),
        ),
        Expr::List(list) => deepest(&mut list.elements.iter()),
        Expr::Map(map) => {
            let entries = map.entries.iter().filter_map(|entry| match &entry.expr {
                cel::common::ast::EntryExpr::MapEntry(entry) => Some([&entry.key, &entry.value]),
                _ => None,
            });
            deepest(&mut entries.flatten())
        }
        Expr::Select(select) => depth(&select.operand),
        _ => 0,
    }
}

/// Does something with an expression and all below. How deep they nest is bounded by who reads them.
fn each(expr: &mut IdedExpr, act: &mut impl FnMut(&mut IdedExpr)) {
    match &mut expr.expr {
        Expr::Call(call) => {
            call.target.iter_mut().for_each(|target| each(target, act));
            call.args.iter_mut().for_each(|arg| each(arg, act));
        }
        Expr::Comprehension(loop_) => {
            for part in [
                &mut loop_.iter_range,
                &mut loop_.accu_init,
                &mut loop_.loop_cond,
                &mut loop_.loop_step,
                &mut loop_.result,
            ] {
                each(part, act);
            }
        }
        Expr::List(list) => list.elements.iter_mut().for_each(|element| each(element, act)),
        Expr::Map(map) => {
            for entry in &mut map.entries {
                if let cel::common::ast::EntryExpr::MapEntry(entry) = &mut entry.expr {
                    each(&mut entry.key, act);
                    each(&mut entry.value, act);
                }
            }
        }
        Expr::Select(select) => each(&mut select.operand, act),
        _ => {}
    }
    act(expr);
}
