//! Rules in the Common Expression Language: `x-kubernetes-validations`.
//!
//! Read when the definition is written, and run on documents that are valid otherwise. Work is bounded: expressions are
//! short, and what a document's expressions iterate over and make is counted. Types are those of values, not of schemas: an
//! expression that names a field which is not there fails when it is run, as one that is not true.

mod fields;
mod functions;
mod meter;
mod read;
mod seen;

use cel::common::ast::IdedExpr;
use cel::common::types::CelOptional;
use cel::common::value::Val;
use cel::{Context, Value as Cel};
use serde_json::{Map, Value};

use self::functions::ENVIRONMENT;
use self::meter::Meter;
use self::read::{names, parse};
use self::seen::seen;
use super::complaints::{Complaints, Place};
use super::lists::Before;
use super::node::Structural;
use super::validate::shown;
use crate::invalid::{FieldError, Wrong};

/// Longer expressions are programs.
const MOST_TEXT: usize = 8 << 10;
/// Longer messages that an expression makes are not told, as in Kubernetes.
const MAX_MESSAGE_BYTES: usize = 5 << 10;

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

    /// What is wrong with a rule on values of a schema: it names a field that none of them can have.
    pub(super) fn check(&self, schema: &Value) -> Result<(), (&'static str, String)> {
        let parts = [("rule", Some(&self.rule)), ("messageExpression", self.message_expression.as_ref())];
        for (part, expr) in parts {
            if let Some(name) = expr.and_then(|expr| fields::unknown(expr, schema, self.optional_old)) {
                return Err((part, format!("compilation failed: undefined field '{name}'")));
            }
        }
        Ok(())
    }
}

/// Runs the expressions of a document that is valid otherwise.
pub(super) fn run(schema: &Structural, document: &Value, old: Option<&Value>, complaints: &mut Complaints) {
    Run::default().visit(schema, document, old, &mut Place::default(), complaints);
}

#[derive(Default)]
struct Run {
    meter: Meter,
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
            let context = context(&given, before.as_ref(), expression.optional_old);
            let detail = match self.meter.measure(|| context.resolve(&expression.rule)) {
                Ok(Cel::Bool(true)) => continue,
                Ok(Cel::Bool(false)) => self.message(expression, &context),
                Ok(_) => format!("{}: it is neither true nor false", self.message(expression, &context)),
                Err(error) => format!("{error} evaluating rule: {}", self.message(expression, &context)),
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

    fn message(&self, expression: &Expression, context: &Context<'_, '_>) -> String {
        if let Some(made) = &expression.message_expression
            && let Ok(Cel::String(text)) = self.meter.measure(|| context.resolve(made))
            && !text.trim().is_empty()
            && text.len() <= MAX_MESSAGE_BYTES
        {
            return text.trim().to_owned();
        }
        expression.message.clone().unwrap_or_else(|| format!("failed rule: {}", expression.text))
    }
}

fn context(given: &Cel, before: Option<&Cel>, optional: bool) -> Context<'static, 'static> {
    let mut context = Context::with_env(ENVIRONMENT.clone());
    context.add_variable_from_value("self", given.clone());
    if optional {
        // A rule that is run even where there is nothing tests first whether there is something.
        let before = before.and_then(|before| Box::<dyn Val>::try_from(before.clone()).ok());
        context.add_variable_as_val("oldSelf", Box::new(CelOptional::from(before)));
    } else {
        context.add_variable_from_value("oldSelf", before.cloned().unwrap_or(Cel::Null));
    }
    context
}
