//! Rules in the Common Expression Language: `x-kubernetes-validations`.
//!
//! Read when the definition is written, and run on documents that are valid otherwise. Work is bounded: expressions are
//! short, and what a document's expressions may iterate over is counted. Types are those of values, not of schemas: an
//! expression that names a field which is not there fails when it is run, as one that is not true.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use cel::common::ast::{CallExpr, Expr, IdedExpr};
use cel::{Context, Env, ExecutionError, ResolveResult, Value as Cel};
use serde_json::{Map, Value};

use super::complaints::{Complaints, Place};
use super::lists::Before;
use super::node::Structural;
use super::validate::shown;
use crate::invalid::{FieldError, Wrong};

/// Longer expressions are programs.
const MOST_TEXT: usize = 8 << 10;
/// So many items are iterated over for one document, by all of its expressions.
const MOST_ITERATED: usize = 50_000;
/// Counts what is iterated over. Nobody can type this name.
const COUNT: &str = "@count";

/// What can be called.
const FUNCTIONS: &str = "size contains startsWith endsWith matches int uint double string bytes bool dyn type \
    duration timestamp getFullYear getMonth getDayOfYear getDayOfMonth getDate \
    getDayOfWeek getHours getMinutes getSeconds getMilliseconds charAt indexOf \
    lastIndexOf join lowerAscii upperAscii replace split substring trim";

static ENVIRONMENT: LazyLock<Arc<Env>> = LazyLock::new(|| {
    let mut env = Env::stdlib();
    // What cannot be added cannot be called, and a test tells.
    let _ = env.add_extension(cel::extensions::strings);
    Arc::new(env)
});

/// A rule, read.
#[derive(Debug)]
pub(super) struct Expression {
    text: String,
    rule: IdedExpr,
    message: Option<String>,
    message_expression: Option<IdedExpr>,
    wrong: Wrong,
    field_path: String,
    /// Whether it compares with what was there before.
    transition: bool,
    optional_old: bool,
}

impl Expression {
    /// Reads a rule, or says what is wrong with it, and in which part.
    pub(super) fn read(rule: &Value) -> Result<Expression, (&'static str, String)> {
        let text = |name: &str| {
            rule.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
        };
        let Some(source) = text("rule") else { return Err(("rule", "rule is not specified".into())) };
        let optional_old = rule.get("optionalOldSelf") == Some(&Value::Bool(true));
        let wrong = match text("reason") {
            None | Some("FieldValueInvalid") => Wrong::Invalid,
            Some("FieldValueForbidden") => Wrong::Forbidden,
            Some("FieldValueRequired") => Wrong::Required,
            Some("FieldValueDuplicate") => Wrong::Duplicate,
            Some(other) => return Err(("reason", format!("{other:?} is not a reason"))),
        };
        let parsed = parse(source).map_err(|why| ("rule", why))?;
        let transition = names(&parsed).1.contains("oldSelf");
        let message_expression = text("messageExpression").map(parse).transpose();
        Ok(Expression {
            text: source.to_owned(),
            rule: parsed,
            message: text("message").map(str::to_owned),
            message_expression: message_expression.map_err(|why| ("messageExpression", why))?,
            wrong,
            field_path: text("fieldPath").unwrap_or_default().to_owned(),
            transition,
            optional_old,
        })
    }
}

/// Reads an expression that calls what is there and names what is given.
fn parse(source: &str) -> Result<IdedExpr, String> {
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
    let known = |name: &str| matches!(name, "self" | "oldSelf") || types.contains(&name) || operator(name);
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
fn nests_deeper(source: &str) -> bool {
    const MOST_BRACKETS: usize = 7;
    const MOST_JOINED: usize = 24;
    const MOST_SIGNS: usize = 160;
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
    deepest > MOST_BRACKETS || joined > MOST_JOINED || signs > MOST_SIGNS
}

/// The functions that are called and the variables that are not bound inside.
fn names(expr: &IdedExpr) -> (BTreeSet<String>, BTreeSet<String>) {
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

/// A value as expressions see it: fields that a schema names have names that can be typed.
fn seen(value: &Value, schema: Option<&Structural>) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(value) => Cel::Bool(*value),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Cel::Int(whole),
            None => Cel::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => Cel::String(Arc::new(text.clone())),
        Value::Array(items) => {
            let schema = schema.and_then(|schema| schema.items.as_deref());
            Cel::List(Arc::new(items.iter().map(|item| seen(item, schema)).collect()))
        }
        Value::Object(map) => {
            let named = |name: &str| schema.is_some_and(|schema| schema.properties.contains_key(name));
            let key = |name: &String| if named(name) { typed(name) } else { name.clone() };
            let below = |name: &str| schema.and_then(|schema| schema.field(name));
            let fields = map.iter().map(|(name, value)| (key(name), seen(value, below(name))));
            Cel::Map(fields.collect::<std::collections::HashMap<String, Cel>>().into())
        }
    }
}

/// As a name is typed: signs that would mean something else are spelled out.
fn typed(name: &str) -> String {
    const RESERVED: [&str; 20] = [
        "true",
        "false",
        "null",
        "in",
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
    ];
    if RESERVED.contains(&name) {
        return format!("__{name}__");
    }
    let spelled = name.replace("__", "__underscores__");
    spelled.replace('.', "__dot__").replace('-', "__dash__").replace('/', "__slash__")
}

/// Runs the expressions of a document that is valid otherwise.
pub(super) fn run(schema: &Structural, document: &Value, old: Option<&Value>, complaints: &mut Complaints) {
    let left = Arc::new(AtomicUsize::new(MOST_ITERATED));
    Run { left }.visit(schema, document, old, &mut Place::default(), complaints);
}

struct Run {
    left: Arc<AtomicUsize>,
}

impl Run {
    fn visit(
        &self,
        schema: &Structural,
        value: &Value,
        old: Option<&Value>,
        place: &mut Place,
        complaints: &mut Complaints,
    ) {
        if !schema.has_expressions || value.is_null() || old == Some(value) || !complaints.step(1) {
            return;
        }
        if !schema.expressions.is_empty() {
            self.own(schema, value, old, place, complaints);
        }
        match value {
            Value::Object(map) => self.fields(schema, map, old, place, complaints),
            Value::Array(items) => {
                let Some(below) = schema.items.as_deref() else { return };
                let before = Before::new(schema, old);
                for (at, item) in items.iter().enumerate() {
                    place.in_item(at, |place| self.visit(below, item, before.find(item), place, complaints));
                }
            }
            _ => {}
        }
    }

    fn fields(
        &self,
        schema: &Structural,
        map: &Map<String, Value>,
        old: Option<&Value>,
        place: &mut Place,
        complaints: &mut Complaints,
    ) {
        for (name, value) in map {
            let Some(below) = schema.field(name) else { continue };
            let old = old.and_then(|old| old.get(name));
            place.in_field(name, |place| self.visit(below, value, old, place, complaints));
        }
    }

    fn own(
        &self,
        schema: &Structural,
        value: &Value,
        old: Option<&Value>,
        place: &Place,
        complaints: &mut Complaints,
    ) {
        let size =
            |value: &Value| value.as_array().map_or(1, Vec::len) + value.as_object().map_or(1, Map::len);
        if !complaints.step(size(value)) {
            return;
        }
        let (given, before) = (seen(value, Some(schema)), old.map(|old| seen(old, Some(schema))));
        for expression in &schema.expressions {
            if expression.transition && before.is_none() && !expression.optional_old {
                continue;
            }
            let context = self.context(&given, before.as_ref());
            let detail = match context.resolve(&expression.rule) {
                Ok(Cel::Bool(true)) => continue,
                Ok(Cel::Bool(false)) => message(expression, &context),
                Ok(_) => format!("{}: it is neither true nor false", message(expression, &context)),
                Err(error) => format!("{error} evaluating rule: {}", message(expression, &context)),
            };
            let field = format!("{}{}", place.text(), expression.field_path);
            let field = field.strip_prefix('.').unwrap_or(&field).to_owned();
            let field = if field.is_empty() { shown(place).to_owned() } else { field };
            let kind = Value::from(schema.type_names());
            complaints.add(FieldError {
                wrong: expression.wrong,
                value: (!matches!(expression.wrong, Wrong::Required | Wrong::Forbidden)).then_some(kind),
                ..FieldError::required(field, detail)
            });
        }
    }

    fn context(&self, given: &Cel, before: Option<&Cel>) -> Context<'static, 'static> {
        let mut context = Context::with_env(ENVIRONMENT.clone());
        let left = self.left.clone();
        let count = move |range: Cel| -> ResolveResult {
            let size = match &range {
                Cel::List(items) => items.len(),
                Cel::Map(map) => map.map.len(),
                _ => 1,
            };
            let spent =
                left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(size + 1));
            spent.map(|_| range).map_err(|_| ExecutionError::function_error("rule", "cost limit exceeded"))
        };
        // The name is ours alone, so there is nothing that it could be in conflict with.
        let _ = context.add_function(COUNT, count);
        context.add_variable_from_value("self", given.clone());
        context.add_variable_from_value("oldSelf", before.cloned().unwrap_or(Cel::Null));
        context
    }
}

fn message(expression: &Expression, context: &Context<'_, '_>) -> String {
    if let Some(made) = &expression.message_expression
        && let Ok(Cel::String(text)) = context.resolve(made)
        && !text.trim().is_empty()
    {
        return text.trim().to_owned();
    }
    expression.message.clone().unwrap_or_else(|| format!("failed rule: {}", expression.text))
}
