//! Reading expressions: what they call and name must be there, and how deep they nest is bounded.
//!
//! It must not know what expressions are run on.

use std::collections::BTreeSet;

use cel::common::ast::{CallExpr, EntryExpr, Expr, IdedExpr, operators};

use super::MOST_TEXT;
use super::functions::making::{COUNT, FORMAT, MADE, REPLACED};
use super::functions::{ENVIRONMENT, FUNCTIONS, NAMESPACES};

/// Reads an expression that calls what is there and names what is given.
pub(super) fn parse(source: &str) -> Result<IdedExpr, String> {
    if source.len() > MOST_TEXT {
        return Err(format!("it is longer than {MOST_TEXT} bytes"));
    }
    if nests_deeper(source) {
        return Err("compilation failed: it is nested too deep".into());
    }
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
    each(&mut parsed, &mut metered);
    Ok(parsed)
}

/// Makes an expression count what it iterates over and what it makes. Those below it do already.
fn metered(expr: &mut IdedExpr) {
    match &mut expr.expr {
        Expr::Comprehension(loop_) => {
            wrap(&mut loop_.iter_range, COUNT);
            // A constant costs nothing where it stands once; here it may be made again and again.
            each(&mut loop_.loop_step, &mut |expr| elements(expr, true));
        }
        Expr::Call(call) => {
            if let Some((_, ours)) = REPLACED.iter().find(|(name, _)| *name == call.func_name) {
                call.func_name = (*ours).to_owned();
                return;
            }
            if call.func_name == "format"
                && let Some(target) = &mut call.target
            {
                wrap(target, FORMAT);
            }
            match call.func_name.as_str() {
                // What a loop gathers is counted item by item, where it comes into being.
                operators::ADD if !is_gathered(&call.args[0]) => call.args.iter_mut().for_each(summand),
                "format" | "quote" => wrap(expr, MADE),
                _ => {}
            }
        }
        _ => elements(expr, false),
    }
}

/// Makes what is added to something be counted before it is. A sum of sums is not: that would nest twice as deep, and what
/// they are made of has been counted.
fn summand(part: &mut IdedExpr) {
    let sum = matches!(&part.expr, Expr::Call(call) if call.func_name == operators::ADD);
    if !sum && !matches!(part.expr, Expr::Literal(_)) {
        wrap(part, MADE);
    }
}

/// Whether this is what a loop has gathered so far. No expression can contain such a name.
fn is_gathered(expr: &IdedExpr) -> bool {
    matches!(&expr.expr, Expr::Ident(name) if name.starts_with('@'))
}

/// Makes the parts of a list or a map be counted before they are copied into it: constants, or everything else.
fn elements(expr: &mut IdedExpr, constants: bool) {
    let count = |part: &mut IdedExpr| {
        if matches!(part.expr, Expr::Literal(_)) == constants && !is_counted(part) {
            wrap(part, MADE);
        }
    };
    match &mut expr.expr {
        Expr::List(list) => list.elements.iter_mut().for_each(count),
        Expr::Map(map) => {
            for entry in &mut map.entries {
                if let EntryExpr::MapEntry(entry) = &mut entry.expr {
                    count(&mut entry.key);
                    count(&mut entry.value);
                }
            }
        }
        _ => {}
    }
}

fn is_counted(expr: &IdedExpr) -> bool {
    matches!(&expr.expr, Expr::Call(call) if call.func_name == MADE)
}

/// Hands what an expression comes to through a function.
fn wrap(expr: &mut IdedExpr, function: &str) {
    let inner = std::mem::take(expr);
    let call = CallExpr { func_name: function.to_owned(), target: None, args: vec![inner] };
    *expr = IdedExpr { id: call.args[0].id, expr: Expr::Call(call) };
}

/// Whether an expression may nest deeper than its reader can follow. Brackets nest, and so may anything else that joins
/// one thing to another, so there is a bound on how much of that there is.
fn nests_deeper(source: &str) -> bool {
    const MOST_BRACKETS: usize = 7;
    const MOST_ADDED: usize = 24;
    const MOST_INDEXED: usize = 24;
    const MOST_SIGNS: usize = 160;
    const MOST_CHAINED: usize = 32;
    let (mut depth, mut added, mut indexed, mut signs, mut deepest) = (0_usize, 0, 0, 0, 0);
    let (mut quoted, mut escaped) = (None, false);
    // What is called on what another call comes to.
    let (mut chained, mut called) = (0, false);
    for sign in source.chars() {
        if quoted.is_none() && !sign.is_whitespace() {
            chained += usize::from(called && sign == '.');
            called = sign == ')';
        }
        match (quoted, sign) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(quote), sign) if quote == sign => quoted = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quoted = Some(sign),
            (None, '(' | '[' | '{') => {
                depth += 1;
                deepest = deepest.max(depth);
                indexed += usize::from(sign == '[');
            }
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, '+' | '-' | '*' | '/' | '%') => added += 1,
            (None, '.' | '!' | '?' | '&' | '|') => signs += 1,
            (None, _) => {}
        }
    }
    deepest > MOST_BRACKETS
        || added > MOST_ADDED
        || indexed > MOST_INDEXED
        || signs > MOST_SIGNS
        || chained > MOST_CHAINED
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

/// Applies `act` to an expression and all below it. The parser bounds how deep they nest.
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
                if let EntryExpr::MapEntry(entry) = &mut entry.expr {
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
